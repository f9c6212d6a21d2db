"""The parsers of decisions, incidents and documents: the forms people use, and whatever else there is."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect import text as texts
from recollect.project import adr, documents, incidents
from recollect.project.ingest import draft_of
from recollect.project.markdown import is_form
from recollect.project.recognise import KINDS, decoded, has_no_suffix, recognise, skip_reason
from recollect.remember.drafts import prepare
from recollect.remember.labels import NONE
from recollect.types import Scope, Source

NYGARD = """# 9. Use Postgres

Date: 2020-05-04

## Status

Accepted

Supercedes [4. Use MySQL](0004-use-mysql.md)

## Context

We need transactions.

## Decision

We will use Postgres.

## Consequences

Somebody has to know it.
"""
MADR_2 = """# Use Markdown for docs

* Status: superseded by [ADR-0012](0012-use-asciidoc.md)
* Deciders: Ana, Ben
* Date: 2019-02-03

Technical Story: none

## Context and Problem Statement

How do we write docs?

## Considered Options

* Markdown
* Asciidoc

## Decision Outcome

Chosen option: "Markdown", because it is simple.

### Positive Consequences

* Everybody can write it.

### Negative Consequences

* No includes.
"""
MADR_4 = """---
status: "deprecated by ADR-0007"
date: 2024-11-30
decision-makers: Ana
---

# Keep sessions in Redis

## Context and Problem Statement

Where do sessions live?

## Decision Outcome

Chosen option: "Redis", because it is there.
"""
TABLE = """# ADR-0021: Deploy from main

| Status | Approved |
|--------|----------|
| Date   | 12 March 2023 |

## Problem

Branches rot.

## Solution

We deploy from main.

## Trade-offs

Main must be green.
"""
FREE = """# Why we left Heroku

2021/07/01. It cost too much, and the build was slow. We moved to our own cluster.
"""
WIDE = """| Status | Date | Author |
|:-------|:-----|:-------|
| Accepted | 2022-02-09 | Ana |

## Context

The mailer is one more thing to run.

## Decision

We send mail from the shop itself. The queue of ADR 3 stays.
"""
SHOUTED = """# STATUS

Accepted (partly superseded by ADR-0018), since 2021-10-05

# CONTEXT

Captains sign in on shared tablets.

# DECISION

They sign in with a badge.
"""
LISTED = """# ADR 0016: Print tickets at the berth

- Status: Superseded by ADR 0022
- Date: 2023-01-17
- Supersedes: Part of ADR 0009
- Supersedes in part: ADR 0006

## Decision

There is a printer at each berth.
"""
MAILED = """ADR 5: Queue jobs in Postgres
=============================

Status
------

Proposed

Decision
--------

One table, `select … for update skip locked`. This decision replaces ADR 2 and partly supersedes ADR-3.
"""


@pytest.mark.parametrize(
    ("text", "path", "wanted"),
    [
        (NYGARD, "doc/adr/0009-use-postgres.md",
         {"number": 9, "title": "Use Postgres", "status": "accepted", "supersedes": ("4",), "state": "active"}),
        (MADR_2, "docs/adr/0003-use-markdown.md",
         {"number": 3, "status": "superseded", "superseded_by": ("12",), "state": "superseded",
          "consequences": "* Everybody can write it.\n\n* No includes."}),
        (MADR_4, "docs/decisions/0005-redis.md",
         {"number": 5, "title": "Keep sessions in Redis", "date": datetime(2024, 11, 30, tzinfo=UTC),
          "superseded_by": ("7",)}),
        (TABLE, "notes/deploy.md",
         {"number": 21, "title": "Deploy from main", "status": "approved", "date": datetime(2023, 3, 12, tzinfo=UTC),
          "context": "Branches rot.", "decision": "We deploy from main.", "consequences": "Main must be green."}),
        (FREE, "docs/adr/2021-07-01-heroku.md",
         {"number": None, "title": "Why we left Heroku", "date": datetime(2021, 7, 1, tzinfo=UTC), "status": ""}),
        (WIDE, "docs/decisions/002-send-mail-ourselves.md",
         {"number": 2, "title": "send mail ourselves", "status": "accepted",
          "date": datetime(2022, 2, 9, tzinfo=UTC)}),
        (SHOUTED, "docs/adr/ADR011-badges.md",
         {"number": 11, "status": "accepted", "amended_by": ("18",), "superseded_by": (), "state": "active",
          "context": "Captains sign in on shared tablets."}),
        (LISTED, "docs/adr/0016-tickets.md",
         {"status": "superseded", "superseded_by": ("22",), "supersedes": (), "amends": ("9", "6")}),
        (MAILED, "adr/005.md",
         {"number": 5, "title": "Queue jobs in Postgres", "status": "proposed", "supersedes": ("2",),
          "amends": ("3",)}),
    ],
)  # fmt: skip
def test_each_form_of_a_decision_record_is_read(text: str, path: str, wanted: dict[str, object]) -> None:
    record = adr.parse(text, path)
    assert {name: getattr(record, name) for name in wanted} == wanted
    assert record.decision or record.context
    assert len(adr.read(text, path)) == 1


@pytest.mark.parametrize(
    ("status", "wanted"),
    [
        ("Accepted", "accepted"), ("**Accepted**", "accepted"), ("Accepted (2020-01-02)", "accepted"),
        ("~~Proposed~~ Accepted", "accepted"), ("Accepted, superseded by ADR-9", "superseded"),
        ("Superceded by [9](0009-x.md)", "superseded"), ("Partially superseded by ADR-9", "partly superseded"),
        ("On Hold", "on hold"), ("Draft", "draft"), ("Rejected because it is slow", "rejected"), ("", ""),
        ("Replaced by ADR 4", "superseded"), ("What is the status of `x`?", "what is the status of x?"),
    ],
)  # fmt: skip
def test_a_status_is_one_word_whatever_stands_around_it(status: str, wanted: str) -> None:
    text = f"# 1. X\n\n## Status\n\n{status}\n\n## Decision\n\nYes.\n"
    assert adr.parse(text, "0001-x.md").status == wanted


SECTIONS = "## Context\n\nOne.\n\n## Decision\n\nTwo.\n"
OPEN = "# 3. A\n\n"
HISTORY = "* 2020-01-01 proposed\n* 2021-02-01 accepted\n\n"
HTMX = "20210401-use-htmx"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (f"{OPEN}## Status: Accepted\n## Date: 2020-02-02\n\n{SECTIONS}", ("accepted", 2020, (), ())),
        (f"{OPEN}### Status: Superseded by ADR-7\n\n{SECTIONS}", ("superseded", None, (), ("7",))),
        (f"{OPEN}## Status\n\n- [ ] Proposed\n- [x] Accepted\n\n{SECTIONS}", ("accepted", None, (), ())),
        (f"{OPEN}## Status\n\nNot accepted\n\n{SECTIONS}", ("rejected", None, (), ())),
        (f"{OPEN}## Status\n\nAccepted, will be superseded by ADR 20\n\n{SECTIONS}", ("accepted", None, (), ())),
        (f"{OPEN}Status: Superseded → ADR-0005\n\n{SECTIONS}", ("superseded", None, (), ("5",))),
        (f"{OPEN}## Status\n\n{HISTORY}{SECTIONS}", ("accepted", 2020, (), ())),
        (f"{OPEN}Status: accepted\n## Supersedes\n- [ADR-1](0001-x.md)\n{SECTIONS}", ("accepted", None, ("1",), ())),
        (f"{OPEN}Status: superseded\n## Superseded by\nADR-18\n{SECTIONS}", ("superseded", None, (), ("18",))),
        (f"---\nstatus: accepted\nsupersedes:\n  - 1\n  - ADR-2\n---\n{SECTIONS}", ("accepted", None, ("2", "1"), ())),
        (
            f"# A\n\n- Status: superseded by [{HTMX}]({HTMX}.md)\n\n{SECTIONS}",
            ("superseded", None, (), (f"file:{HTMX}.md",)),
        ),
        (
            f"{OPEN}**Status**\n\nAccepted\n\n**Date:** 2020-02-02\n\n**Context:** One.\n\n**Decision**\n\nTwo.\n",
            ("accepted", 2020, (), ()),
        ),
        ("# Status\nAccepted, 2020-09-09\n# Context\nOne.\n# Decision\nTwo.\n", ("accepted", 2020, (), ())),
    ],
)
def test_status_and_links_are_read_wherever_people_write_them(text: str, wanted: tuple[object, ...]) -> None:
    record = adr.parse(text, "docs/adr/0003-a.md")
    year = record.date.year if record.date else None
    assert (record.status, year, record.supersedes, record.superseded_by) == wanted
    assert (record.context, record.decision) == ("One.", "Two.")
    assert recognise("docs/adr/0003-a.md", text).kind == "adr"


def test_a_record_without_sections_is_known_by_its_number_and_status() -> None:
    text = "# Event sourcing\n\n* Status: proposed\n* Date: 2024/06/07\n\nWe decided for event sourcing.\n"
    assert recognise("docs/adr/adr_013_event_sourcing.md", text).kind == "adr"
    listing = "# Decisions\n\n| # | Title | Status |\n|---|---|---|\n| 1 | Use git | Accepted |\n"
    assert recognise("docs/adr/README.md", listing).kind == "docs"


def test_what_stands_in_a_code_block_is_an_example() -> None:
    text = "# 1. X\n\n## Decision\n\nUse it:\n\n```\n## Status\n\nSuperseded by ADR-2\n```\n"
    record = adr.parse(text, "0001-x.md")
    assert (record.status, record.superseded_by, record.amended_by, record.state) == ("", (), (), "active")


REPORT = """# Incident: payments were refused

**Severity:** SEV-2
**Services:** billing, `ledger`
**Status:** Resolved
**Duration:** 1h 20m

## What happened?

On 3 May 2023 every card was refused.

## Customer impact

4,000 payments failed.

## Root cause

The certificate had expired.

## 3. Timeline (all times UTC)

- 2023-05-03 10:00 UTC the certificate expired
- 2023-05-03 11:20 UTC renewed

## What went wrong

1. Nobody watches certificates.

## Follow-ups

| Action | Owner |
|--------|-------|
| Watch certificates | Ana |
| Renew them by a job | Ben |
"""


def test_a_report_in_another_form_is_read() -> None:
    report = incidents.parse(REPORT, "incidents/2023-05-03-payments.md")
    assert (report.title, report.severity, report.services) == ("payments were refused", "sev2", ("billing", "ledger"))
    assert report.started == report.ended == datetime(2023, 5, 3, tzinfo=UTC)
    assert (report.recovery, report.impact) == (80.0, "4,000 payments failed.")
    assert report.cause == "The certificate had expired."
    assert report.lessons == ("Nobody watches certificates.",)
    assert report.actions == ("Watch certificates — Ana", "Renew them by a job — Ben")
    found = recognise("incidents/2023-05-03-payments.md", REPORT)
    assert found.kind == "incident"
    assert [piece.kind for piece in found.pieces] == ["incident", "lesson", "procedure"]
    assert ("had_incident", "service:billing") in found.pieces[0].links
    assert {"resolved", "severity:sev2", "service:ledger"} <= set(found.pieces[0].tags)


def test_a_report_whose_sections_are_bold_labels_is_read() -> None:
    text = """# Search postmortem

**Date**: 2015-10-21

**Status**: Complete, action items in progress

**Summary**: Search was down for an hour.

**Root Causes**: A leak of file descriptors under load.

**Resolution**: Ten times the capacity.

**Action Items**:

| Action | Owner |
|---|---|
| Update the playbook | Ana |

## Lessons Learned

**What went well**

* We were paged at once
"""
    report = incidents.parse(text, "postmortems/search.md")
    assert report.cause == "A leak of file descriptors under load."
    assert (report.summary, report.resolution) == ("Search was down for an hour.", "Ten times the capacity.")
    assert (report.lessons, report.actions) == (("We were paged at once",), ("Update the playbook — Ana",))
    told = incidents.read(text, "postmortems/search.md")
    assert "resolved" in told[0].tags, "what is in progress are the things to do, not the incident"


def test_a_report_that_asks_its_questions_in_its_headings_is_read() -> None:
    text = """---
incident_id: INC-1042
title: Search index stale
severity: 2 - High
started_at: 2024-01-02T03:04:05Z
resolved_at: 2024-01-03T05:00:00Z
---
## What happened
It was stale.
## Affected services
- search
- indexer
## Why did this happen?
A flag was off.
## How did we fix it?
Switched it on.
## How we keep this from happening again
- [ ] Alert on its age
"""
    report = incidents.parse(text, "incidents/stale.md")
    assert (report.id, report.severity, report.services) == ("INC-1042", "sev2", ("search", "indexer"))
    assert (report.started, report.ended) == (datetime(2024, 1, 2, tzinfo=UTC), datetime(2024, 1, 3, tzinfo=UTC))
    assert (report.cause, report.resolution) == ("A flag was off.", "Switched it on.")
    assert report.actions == ("Alert on its age",)


def test_a_short_report_is_an_incident_and_has_the_day_of_its_title() -> None:
    whys = "# Incident: Login outage\n\n- Severity level: high\n\n## 5 Whys\n\n1. A certificate expired.\n"
    assert recognise("docs/incidents/login.md", whys).kind == "incident"
    assert incidents.parse(whys, "docs/incidents/login.md").cause == "1. A certificate expired."
    blog = "# About the outage on June 13, 2022\n\nThe API was away.\n\n## Root cause\n\nA route.\n"
    assert incidents.parse(blog, "outages/api.md").started == datetime(2022, 6, 13, tzinfo=UTC)


def test_a_severity_that_is_mentioned_in_passing_is_not_the_incidents() -> None:
    summary = "## Summary\n\nA team was busy with severity 1 work."
    text = f"# Outage of search\n\n{summary}\n\n## Timeline\n\n- 2020-01-01 down\n"
    assert incidents.parse(text, "postmortems/search.md").severity == ""


def test_the_files_that_instruct_assistants_become_rules_preferences_and_documents() -> None:
    style = "- Never push to main\n- Prefer pnpm over npm\n- The API is in `api/`\n"
    text = f"# Shop\n\nThis is a shop.\n\n## Style\n\n{style}"
    found = {(piece.kind, piece.content) for piece in documents.read(text, "CLAUDE.md")}
    assert found == {
        ("doc", "This is a shop."), ("rule", "Never push to main"), ("preference", "Prefer pnpm over npm"),
        ("doc", "- The API is in `api/`"),
    }  # fmt: skip


def test_a_cursor_rule_says_which_files_it_is_for() -> None:
    (rule,) = documents.read("---\nglobs: '*.py'\n---\n- Always use type hints here\n", ".cursor/rules/python.mdc")
    assert (rule.kind, rule.content) == ("rule", "Always use type hints here (for *.py)")


@pytest.mark.parametrize(
    ("type", "kind"), [("user", "preference"), ("feedback", "rule"), ("project", "fact"), ("reference", "doc")]
)
def test_a_typed_memory_file_is_what_it_says(type: str, kind: str) -> None:
    text = f"---\nname: Tea\ndescription: about tea\ntype: {type}\n---\n\nTea is at four.\n"
    (piece,) = documents.read(text, "memory/tea.md")
    assert (piece.kind, piece.title, piece.content) == (kind, "Tea", "Tea is at four.")


def test_the_index_of_a_memory_folder_is_not_knowledge_of_its_own() -> None:
    index = "- [Tea](tea.md) — when it is\n- [Coffee](coffee.md) — where it is\n"
    text = f"# Memory\n\n{index}\n## Notes\n\nKettle is broken.\n"
    assert [piece.content for piece in documents.read(text, "memory/MEMORY.md")] == ["Kettle is broken."]


@pytest.mark.parametrize(
    "text",
    [
        "Ana: shall we move to RDS?\nBen: why?\nAna: backups.\nBen: fine, decided.\n",
        "[00:01:02] Ana Lee: shall we move to RDS?\n[00:01:09] Ben: why?\n[00:01:12] Ana Lee: backups.\n"
        "[00:02] Ben: fine\n",
        "**Ana:** shall we move to RDS?\n\n**Ben:** why?\n\n**Ana:** backups.\n\n**Ben:** fine, decided.\n",
        "WEBVTT\n\n00:00:01.000 --> 00:00:02.000\n<v Ana>shall we move to RDS?\n\n"
        "00:00:03.000 --> 00:00:04.000\n<v Ben>why?\n\n"
        "<v Ana>backups.\n\n<v Ben>fine\n",
    ],
)
def test_what_was_said_in_a_meeting_is_kept_with_who_said_it(text: str) -> None:
    (piece,) = documents.read(text, "meetings/2024-03-04-databases.txt")
    assert "shall we move to RDS?" in piece.content
    assert "Ben: why?" in piece.content
    assert "-->" not in piece.content
    assert (piece.tags, piece.valid_from) == (("meeting",), datetime(2024, 3, 4, tzinfo=UTC))


def test_a_document_is_cut_at_its_headings_and_each_part_knows_where_it_stands() -> None:
    found = documents.read(
        "# Guide\n\nHello.\n\n## Set up\n\n### Linux\n\nUse apt.\n\n## Set up\n\nAgain.\n", "guide.md"
    )
    assert [(piece.key, piece.content) for piece in found] == [
        ("Guide", "Hello."), ("Guide > Set up > Linux", "Use apt."), ("Guide > Set up", "Again."),
    ]  # fmt: skip
    assert found[1].title == "Guide > Set up > Linux"


def test_a_long_section_is_cut_between_paragraphs_and_loses_nothing() -> None:
    body = "\n\n".join(f"Paragraph {n} " + "word " * 100 for n in range(60))
    found = documents.read(f"# Long\n\n{body}\n", "long.md")
    assert len(found) > 3
    assert max(len(piece.content) for piece in found) <= documents.MAX_PIECE
    assert "".join(piece.content for piece in found).split() == body.split()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("docs/adr/0000-template.md", "# Title\n\n## Status\n\nWhat is it?\n\n## Decision\n\nWhat do we do?\n"),
        ("docs/adr/new.md", "# {short title}\n\n## Decision\n\nx\n"),
        ("postmortems/postmortem_template.md", "# Post-mortem: [title]\n\n## Timeline\n\n- [HH:MM] x\n"),
        ("incidents/next.md", "# Incident: [short description]\n\n## Root cause\n\nWhy?\n\n## Timeline\n\n- x\n"),
    ],
)
def test_a_template_is_a_document_and_of_little_importance(path: str, text: str) -> None:
    found = recognise(path, text)
    assert found.kind == "docs"
    assert {(piece.kind, piece.importance) for piece in found.pieces} == {("doc", 2)}


HEADINGS = ["# 1. Title", "## Status", "## Context", "## Decision", "## Timeline", "Accepted",
            "Superseded by [2](0002.md)",
            "- item", "| a | b |", "```", "---", "Date: 2020-13-45", "Ana: hi", "Ben: ho", "{hole}", "<!--", "-->", "",
            "1. one", "  - inner", "Severity: SEV-1", "2020-02-30", "===", "status: x", "\t",
            "superseded by 00"]  # fmt: skip
TEXTS = st.one_of(
    st.text(max_size=400),
    st.lists(st.one_of(st.sampled_from(HEADINGS), st.text(max_size=30)), max_size=25).map("\n".join),
)
PATHS = st.one_of(
    st.sampled_from(
        ["docs/adr/0001-x.md", "CLAUDE.md", "postmortems/PM2020-001 - x.md", "a.txt", "x.vtt", "MEMORY.md", "", "/"]
    ),
    st.text(max_size=30),
)


@settings(max_examples=100)
@given(TEXTS, PATHS)
def test_no_text_is_too_odd(text: str, path: str) -> None:
    for parser in (adr, incidents, documents):
        assert 0 <= parser.recognises(path, text) <= 1
        for piece in parser.read(text, path):
            assert piece.content.strip()
            assert piece.kind
        assert len({piece.key for piece in parser.read(text, path)}) == len(parser.read(text, path))
    is_form(path, text)
    for kind in (None, *KINDS):
        recognise(path, text, kind)


@settings(max_examples=80)
@given(TEXTS, PATHS)
def test_whatever_is_found_may_be_stored(text: str, path: str) -> None:
    """Nothing a file says can stop a run: every piece passes the checks of the write path, or says nothing."""
    for kind in KINDS:
        for piece in recognise(path, text, kind).pieces:
            if texts.fold(texts.clean(piece.content)):
                draft = draft_of(piece, path, Source("x", "file", f"file:p/{path}"), Scope(project="p"), 65_536)
                assert prepare(draft, 65_536, "test", NONE).trust == "cited"


@settings(max_examples=50)
@given(st.binary(max_size=300))
def test_bytes_are_text_or_they_are_not(raw: bytes) -> None:
    assert decoded(raw) is None or isinstance(decoded(raw), str)


@pytest.mark.parametrize(
    "text",
    [
        "# " + " " * 200_000 + "x", "|" + "-" * 200_000 + "x", "[" * 100_000, "is " * 100_000, "`" * 100_000,
        "A" * 300_000 + ":", "*" * 100_000, "- " * 100_000, "a: " * 100_000, "(" * 50_000 + ")" * 50_000,
        "<!--" * 50_000,
        "[x](" * 50_000, "1. " * 50_000, "superseded by " * 30_000, "a b " * 80_000, "2020-01-01 " * 20_000,
        "\n" * 200_000,
        "# x\n" * 50_000, "---\n" * 50_000, "_a" * 100_000, "SEV-1 " * 50_000, "Ana: x\nBen: y\n" * 20_000,
    ],
    ids=range(22),
)  # fmt: skip
def test_long_lines_and_many_marks_are_read_in_a_time_that_grows_with_them(text: str) -> None:
    """A regular expression that backtracks would never end here."""
    for parser in (adr, incidents, documents):
        parser.recognises("docs/adr/0001-x.md", text)
        parser.read(text, "docs/adr/0001-x.md")
        is_form("docs/adr/0001-x.md", text)


def test_captions_are_kept_without_their_tags() -> None:
    text = (
        "WEBVTT\n\n8f2c/1-0\n00:00:01.000 --> 00:00:02.000\n<v Ana Ruiz>We move to <b>RDS</b>.</v>\n\n"
        "2\n00:00:03.000 --> 00:00:04.000\n<v.loud Ben>R&amp;D <00:00:03.500><c.yellow>agrees</c>.</v>\n"
    )
    (piece,) = documents.read(text, "meetings/databases.vtt")
    assert piece.content == "Ana Ruiz: We move to RDS.\n\nBen: R&D agrees."
    (one,) = documents.read("1\n00:00:01,000 --> 00:00:02,000\n<i>We move to RDS.</i>\n", "meetings/databases.srt")
    assert one.content == "We move to RDS."


@pytest.mark.parametrize(
    ("title", "body", "wanted"),
    [
        ("Checkout was slow", "**Services affected:** cart-api, `payments`\n\n## Impact\nSlow.", "cart-api, payments"),
        ("Slow", "| Field | Value |\n|---|---|\n| Impacted Services | Ledger, Billing |", "Ledger, Billing"),
        ("Slow", "## Impact\n\n- Users affected: 40 %\n- Services affected: mail relay\n", "mail relay"),
        ("Slow", "## Impacted components\n\n- `indexer` - wrote nothing\n- search\n", "indexer, search"),
        ("Slow", "## 2. Affected systems\n\nMailer and Scheduler (partly)\n", "Mailer, Scheduler"),
        ("Slow", "- Category: Kubernetes\n- Area: network\n- Team: core\n\n## Summary\nIt was slow.", ""),
        ("Slow", "Services affected: All\n\n## Summary\nIt was slow.", ""),
        ("Slow", "Services affected: [list of services]\n\n## Summary\nIt was slow.", ""),
        ("Slow", "System: customers could not log in for two hours and more\n\n## Summary\nIt was slow.", ""),
        ("Postmortem: Redis outage on 3 May", "## Summary\nAt noon Redis lost its leader.", "Redis"),
        ("INC-7: auth-service returning 500s", "## Summary\nThe auth-service pods restarted.", "auth-service"),
        ("Bad deploy took down GraphQL API", "## Summary\nThe GraphQL API answered nothing.", "GraphQL API"),
        ("API and Dashboard outage", "## Summary\nBoth the API and the Dashboard were away.", "API, Dashboard"),
        ("Outage of the payment gateway", "## Summary\nThe payment gateway refused all cards.", "payment gateway"),
        ("Certificates expired", "## Summary\nThe `session-store` service was down for an hour.", "session-store"),
        ("Certificates expired", "## Summary\nFor an hour the checkout service was unavailable.", "checkout"),
        ("Noisy alerts", "## Summary\nThe whole service was down. It was odd.", ""),
        ("All services returning 503", "## Summary\nEvery request failed.", ""),
        ("Major incident on Friday", "## Summary\nIt was bad.", ""),
        ("HTTP errors after a deploy", "## Summary\nHTTP errors rose.", ""),
    ],
)  # fmt: skip
def test_the_affected_services_are_those_that_the_report_names(title: str, body: str, wanted: str) -> None:
    text = f"# {title}\n\n{body}\n\n## Timeline\n\n- 10:00 began\n"
    assert ", ".join(incidents.parse(text, "incidents/a.md").services) == wanted


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("**Severity:** SEV1 (Critical - Total Outage)", "sev1"), ("Severity: Sev 2", "sev2"), ("severity: P0", "sev0"),
        ("| Severity | S3 |", "sev3"), ("- Priority: High", "sev2"), ("Severity level: 4/minor", "sev4"),
        ("Severity: Critical | High | Medium", ""), ("Severity: moderate", "sev3"),
    ],
)  # fmt: skip
def test_a_severity_is_one_of_a_few_however_it_is_written(line: str, wanted: str) -> None:
    text = f"# Outage\n\n{line}\n\n## Timeline\n\n- 10:00 began\n"
    assert incidents.parse(text, "incidents/a.md").severity == wanted


HEAD_OF_COLUMNS = """| Status | Date | Author(s) |
|:---|:---|:---|
| Accepted | 11-April-2023 | [@ana](https://example.org/ana) |

## Context

Mail is slow.

## Decision

Send it from a queue.
"""
HEAD_OF_ROWS = """# WEB-ADR-0007 - Serve pages from the edge

| | |
|---|---|
| Date | 22-10-2024 |
| Status | Approved |
| Deciders | Ana Ruiz, Ben Lee |

## What

Pages are served from the edge.

## Why

The origin is far away.

## How

A worker renders them.
"""
TWO_COLUMNS = (
    "# 3. Keep logs\n\n| Status | Date |\n|---|---|\n| Proposed | January, 2026 |\n\n## Decision\n\nFor a year.\n"
)
NOTES = """# 4. Use one queue

## Status

Ratified

## Decision

One queue for all.

## Notes

Author: Cleo
Approved by: the board
"""


@pytest.mark.parametrize(
    ("text", "path", "wanted"),
    [
        (HEAD_OF_COLUMNS, "docs/adr/012-queue.md", (12, "accepted", "2023-04-11", "", "@ana")),
        (HEAD_OF_ROWS, "docs/WEB-ADR-0007-edge.md", (7, "approved", "2024-10-22", "Ana Ruiz, Ben Lee", "")),
        (TWO_COLUMNS, "docs/adr/0003-keep-logs.md", (3, "proposed", "2026-01-01", "", "")),
        (NOTES, "docs/adr/0004-queue.md", (4, "ratified", "", "the board", "Cleo")),
    ],
)
def test_a_record_has_its_head_wherever_it_is_written(text: str, path: str, wanted: tuple[object, ...]) -> None:
    assert recognise(path, text).kind == "adr"
    record = adr.parse(text, path)
    date = f"{record.date:%Y-%m-%d}" if record.date else ""
    assert (record.number, record.status, date, record.deciders, record.authors) == wanted
    [piece] = adr.read(text, path)
    assert all(f"by {people}." in piece.content for people in (record.deciders, record.authors) if people)


def test_what_why_and_how_are_a_record_only_where_its_name_says_so() -> None:
    record = adr.parse(HEAD_OF_ROWS, "docs/WEB-ADR-0007-edge.md")
    assert (record.title, record.context) == ("Serve pages from the edge", "The origin is far away.")
    assert record.decision == "Pages are served from the edge.\n\nA worker renders them."
    assert (
        recognise("README.md", "# Widget\n\n## What\n\nA widget.\n\n## Why\n\nFun.\n\n## How\n\nRun it.\n").kind
        == "docs"
    )


@pytest.mark.parametrize(
    "told",
    [
        "Supersedes: https://github.com/acme/shop/pull/1234",
        "Supersedes: the behaviour of pre-2.16",
        "Supersedes: [the discussion](https://example.org/discussions/12)",
        "Supersedes: version 3 of the interface",
    ],
)
def test_a_number_that_is_no_records_supersedes_nothing(told: str) -> None:
    text = f"# 5. Use one queue\n\n- Status: Accepted\n- {told}\n\n## Decision\n\nOne. This decision {told.lower()}.\n"
    record = adr.parse(text, "docs/adr/0005-queue.md")
    assert (record.supersedes, record.superseded_by, record.amends) == ((), (), ())


def test_numbers_alone_are_records() -> None:
    text = "# 5. Use one queue\n\n- Status: Accepted\n- Supersedes: 3 and #4\n\n## Decision\n\nOne.\n"
    assert set(adr.parse(text, "docs/adr/0005-queue.md").supersedes) == {"3", "4"}


def test_a_record_of_a_part_of_an_organisation_is_known_by_its_name() -> None:
    head = "# Acme - Architecture Decision Record template\n\n| | |\n|---|---|\n| Status | Draft |\n| Authors | TBD |\n"
    text = f"{head}\n## What\n\nOne queue.\n"
    record = adr.parse(text, "ACME-ADR-Billing-0006-one-queue.md")
    assert recognise("ACME-ADR-Billing-0006-one-queue.md", text).kind == "adr"
    assert (record.number, record.title, record.status, record.authors) == (6, "one queue", "draft", "")


def test_fields_on_one_line_and_a_record_without_a_decision_are_read() -> None:
    line = "# ADR 007: Logs\n\n**Status:** Accepted | **Date:** 2025-02-25\n\n## Decision\n\nIn one place.\n"
    record = adr.parse(line, "operations/007-logs.md")
    assert (record.status, record.date) == ("accepted", datetime(2025, 2, 25, tzinfo=UTC))
    head = "# Levels\n\n- status: accepted\n- author: @ana\n\n## Context and Problem Statement\n\nToo many.\n"
    told = f"{head}\n## Levels\n\nThere are six.\n"
    assert recognise("dev/0005-levels.md", told).kind == "adr"
    assert "There are six." in adr.parse(told, "dev/0005-levels.md").decision


ASKING = """# Export traces with OpenTelemetry

- **State**: Accepted on 3 Feb 2025
- **Decision makers**: Ingrid Holm, Ravi Shah
- **Replaces**: [Zipkin](0007-zipkin.md)

## Why now?
The Java agent is unmaintained.

## What we do
All services export OTLP. Checkout is never sampled.

## What follows
Dashboards must be rebuilt.
"""
BARE_DATE = "# 9. Feature flags\n\n2022-11-08\n\n## Status\n\nAccepted\n\n## Decision\n\nWe use Unleash.\n"


def test_a_record_is_known_by_who_decided_it_and_by_headings_that_ask() -> None:
    found = recognise("docs/decisions/use-opentelemetry.md", ASKING)
    record = adr.parse(ASKING, "docs/decisions/use-opentelemetry.md")
    assert found.kind == "adr"
    assert record.context == "The Java agent is unmaintained."
    assert record.decision == "All services export OTLP. Checkout is never sampled."
    assert record.consequences == "Dashboards must be rebuilt."
    assert (record.deciders, record.supersedes) == ("Ingrid Holm, Ravi Shah", ("7",))
    assert recognise("docs/guide/tracing.md", ASKING).kind == "docs"


def test_a_date_by_itself_below_the_title_is_the_date_of_a_record() -> None:
    assert adr.parse(BARE_DATE, "adr/0009-flags.md").date == datetime(2022, 11, 8, tzinfo=UTC)


PLAIN = """INC-4471 Search returns stale results

Status: Resolved
Priority: High
Customer impact: 12 % of searches were old,
but not those of administrators.
Service: search-indexer
Opened: 2025-05-06 22:10
Closed: 2025-05-07 04:30
Root cause: A deploy reset the consumer group.
Note: only in Europe.
Resolution: Offsets were restored.

Action items:
1. Alert on lag
2. Guard the offsets
"""
TABLE = """# Outage of DNS

| Field | Value |
|---|---|
| Severity | Critical (SEV-1) |
| Category | Network |
| Systems hit | edge-proxy, auth |

Nothing was lost.

## Contributing factors
The cache had no limit.
"""


def test_a_report_of_plain_labels_is_read_like_one_with_headings() -> None:
    path = "ops/reports/INC-4471"
    report = incidents.parse(PLAIN, path)
    assert recognise(path, PLAIN).kind == "incident"
    assert (report.title, report.severity) == ("Search returns stale results", "sev2")
    assert report.services == ("search-indexer",)
    assert report.impact == "12 % of searches were old,\nbut not those of administrators."
    assert report.cause == "A deploy reset the consumer group.\nNote: only in Europe."
    assert report.resolution == "Offsets were restored."
    assert report.actions == ("Alert on lag", "Guard the offsets")
    assert (report.started, report.ended) == (datetime(2025, 5, 6, tzinfo=UTC), datetime(2025, 5, 7, tzinfo=UTC))
    titled = incidents.parse(f"# Incident Report\n\nTitle: Twice paid\n\n{PLAIN}", "incidents/mail.md")
    assert titled.title == "Twice paid"


def test_the_fields_of_a_report_are_not_its_summary() -> None:
    report = incidents.parse(TABLE, "docs/outages/dns.md")
    assert (report.summary, report.severity, report.services) == ("Nothing was lost.", "sev1", ("edge-proxy", "auth"))


def test_a_changelog_without_a_suffix_is_read_by_version() -> None:
    told = "coming next:\n\n6.0.9 - 19 May 2022\n    *   A crash with GeoRSS.\n\nv6.0.8\n* Fix a link in 1.2.3.\n"
    found = recognise("NEWS", told)
    assert found.kind == "docs"
    assert [piece.title for piece in found.pieces] == ["NEWS", "NEWS > 6.0.9 - 19 May 2022", "NEWS > v6.0.8"]
    assert "GeoRSS" in found.pieces[1].content
    assert skip_reason("NEWS", 100, known=False) == ""
    assert not has_no_suffix("pkg/CHANGES")
