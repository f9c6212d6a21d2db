"""Rejected values: refused in every field, kind and disguise, while what only resembles them passes."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, quote_plus

import pytest

from conftest import Opener
from recollect import Engine, Message, Refused, Scope
from recollect.remember.disguises import REJECTED
from recollect.remember.write import Writer

SAID = "The gateway listens on port 8080."
NAME = "Marta owns the billing service."
NOT = "We never deploy the shop on Fridays."

REFUSED = [
    # HTML
    (SAID, "<p>The gateway listens on port 8080.</p>"),
    (SAID, "The <b>gateway</b> listens on port <i>80</i>80."),
    (SAID, "The&nbsp;gateway&nbsp;listens on port 8080."),
    (SAID, "The gateway listens on port &#56;&#48;&#56;&#48;."),
    (SAID, "The gateway listens on port &#x38;080&period;"),
    (SAID, "&lt;p&gt;The gateway listens on port 8080.&lt;/p&gt;"),
    (SAID, "The gateway <!-- hm -->listens on port 8080."),
    (SAID, "<ul><li>The gateway listens on port 8080.</li></ul>"),
    (NAME, "<a href='https://example.org'>Marta</a> owns the billing service."),
    # URLs
    (SAID, quote(SAID)),
    (SAID, quote_plus(SAID)),
    (SAID, quote(quote(SAID))),
    (SAID, "The gateway listens on port %38%30%38%30."),
    (NAME, "Marta%20owns%20the%20billing%20service"),
    # escapes and marks
    (SAID, r"The gateway listens on port \u0038\u0030\x38\x30."),
    (SAID, r"The \u{67}ateway listens on port 8080."),
    (SAID, r'"The \ud835\udc20ateway listens on port 8080."'),  # a letter of mathematics, as JSON writes it
    (SAID, "The [gateway](https://example.org/a) listens on port 8080."),
    (SAID, "- [x] The gateway listens on port 8080."),
    (SAID, "The gateway listens on port 8080 \U0001f44d"),
    (SAID, "- 2026-03-01 The gateway listens on port 8080. [x1y2z3]"),
    # letters and digits
    (SAID, "The gateway listens on port 8O8O."),
    (SAID, "The gateway listens on port 8o8o."),
    ("The pool has 10 workers here.", "The pool has l0 workers here."),
    ("The pool has 10 workers here.", "The pool has 1O workers here."),
    ("The pool has 11 workers here.", "The pool has I1 workers here."),
    (SAID, "The g4teway listens on port 8080."),
    (SAID, "The gateway list3ns on p0rt 8080."),
    (NAME, "Marta owns the bi11ing service.".replace("bi11ing", "bil1ing")),
    (NOT, "We n3ver d3ploy the shop on Fr1days."),
    (NOT, "We never d3pl0y the shop on Frid@ys."),
    # words around it
    (SAID, "The gateway listens on port 8080 now."),
    (SAID, "The gateway listens on port 8080, as always."),
    (SAID, "The gateway listens on port 8080 ok?"),
    (SAID, "The gateway listens on port 8080, of course!"),
    (SAID, "The gateway listens on port 8080, I think."),
    (SAID, "By the way, the gateway listens on port 8080."),
    (SAID, "Well, actually the gateway listens on port 8080, you know."),
    (SAID, "The gateway listens on port 8080 because the firewall wants it."),
    (SAID, "The gateway listens on port 8080, which Ben confirmed."),
    (SAID, "Remember: the gateway listens on port 8080. Trust me."),
    (SAID, "<b>The gateway</b> listens on&nbsp;port 8080, as everybody knows."),
    (NAME, "FYI Marta owns the billing service these days"),
    (NOT, "We never deploy the shop on Fridays, by the way."),
    # quotation
    (SAID, 'Ben said "The gateway listens on port 8080".'),
    (SAID, "Ben wrote: \u201cThe gateway listens on port 8080.\u201d"),
    (SAID, "He says 'the gateway listens on port 8080' in the chat."),
    (SAID, "> The gateway listens on port 8080."),
    (SAID, "The note says \u00abThe gateway listens on port 8080\u00bb today."),
    (SAID, "In the file stands `The gateway listens on port 8080`."),
    # two at once
    (SAID, "<b>Well</b>, the gateway listens on port 8O8O, as always."),
    (NAME, "Use pnpm. <i>Marta owns the billing service</i>, by the way."),
]  # fmt: skip
PASSES = [
    (SAID, "The gateway listens on port 8081."),
    (SAID, "The gateway listens on port 80."),
    (SAID, "The gateway listens on port 808O1."),
    (SAID, "The gateway does not listen on port 8080."),
    (SAID, "The gateway no longer listens on port 8080."),
    (SAID, "It is not true that the gateway listens on port 8080."),
    (SAID, 'Do not say "the gateway listens on port 8080".'),
    (SAID, 'Ben was wrong when he wrote "the gateway listens on port 8080".'),
    (SAID, "The proxy listens on port 8080."),
    (SAID, "The gateway listens on port 8080 in staging."),
    (SAID, "The gateway listens on port 8080 for admins only."),
    (SAID, "The gateway listens on port 8080 80."),
    (SAID, "The gateway listens on port 8O81."),
    (SAID, "<p>The gateway listens on port 9090.</p>"),
    (SAID, quote("The gateway listens on port 9090.")),
    (NAME, "marta@owns.example, the billing service."),
    (NAME, "Martin owns the billing service."),
    (NAME, "Marta owns the billing service desk."),
    (NAME, "Marta left the billing service."),
    (NAME, "Marta does not own the billing service."),
    (NAME, "Ben says Marta never owned the billing service."),
    (NOT, "We deploy the shop on Fridays."),
    (NOT, "We never deploy the shop on Mondays."),
    ("We use Redis for sessions.", "We use Redis Sentinel for sessions."),
    ("The staging host is apollo.", "The staging host is apollo eleven."),
    ("The laptop has 15 cores.", "The laptop has i5 cores."),
    ("The bucket is called se here.", "The bucket is called s3x here."),
    ("We allow 1.5 GB for a job.", "We allow 1.50 TB for a job."),
    ("Tests run in parallel here.", "Tests run in parallel on 8O8O here."),
]  # fmt: skip


def test_there_are_many_cases() -> None:
    assert len(REFUSED) + len(PASSES) >= 60


@pytest.fixture
def backend() -> str:
    return "sqlite"


@pytest.mark.parametrize(("value", "again"), REFUSED)
def test_a_rejected_value_is_refused_in_disguise(memory: Engine, value: str, again: str) -> None:
    memory.reject(memory.remember(value).id)
    assert memory.remember(again).action == "refused"


@pytest.mark.parametrize(("value", "other"), PASSES)
def test_what_resembles_a_rejected_value_passes(memory: Engine, value: str, other: str) -> None:
    memory.reject(memory.remember(value).id)
    assert memory.remember(other).action == "created"


FIELDS: list[dict[str, Any]] = [
    {"title": SAID}, {"reasoning": f"Ben said so. {SAID}"}, {"context": f"On the wiki: {SAID}"}, {"tags": [SAID]},
    {"tags": ["the", "gateway", "listens", "on", "port", "8080"]}, {"keywords": [SAID]}, {"refs": [SAID]},
    {"title": "The gateway listens", "content": "on port 8080."},
    {"reasoning": "<b>The gateway</b> listens on port 8O8O."},
]  # fmt: skip


@pytest.mark.parametrize("kind", ["fact", "rule", "decision", "procedure", "lesson", "insight", "doc", "incident"])
def test_no_field_of_any_kind_carries_a_rejected_value(memory: Engine, kind: str) -> None:
    memory.reject(memory.remember(SAID).id)
    standing = memory.remember("The proxy is nginx.", kind=kind)
    assert standing.action == "created"
    for fields in FIELDS:
        given = {"content": "Something else is told here.", **fields}
        assert memory.remember(given.pop("content"), kind=kind, **given).action == "refused"
        with pytest.raises(Refused):
            memory.edit(standing.id, **fields)
    assert memory.edit(standing.id, title="Proxy", reasoning="It is fast.", tags=["proxy"]).title == "Proxy"


def test_a_turn_keeps_what_was_said_beside_a_rejected_sentence(opened: Opener) -> None:
    memory = opened()
    before = memory.remember(f"We met Ana today. {SAID} Lunch was good.", kind="turn", scope=Scope(session="s"))
    memory.reject(memory.remember(SAID).id)
    after = memory.remember(f"Ben called at noon. {SAID}", kind="turn", scope=Scope(session="s"))
    assert memory.remember(SAID, kind="turn", scope=Scope(session="s")).action == "refused"
    assert memory.get(before.id).content == f"We met Ana today. {REJECTED} Lunch was good."
    assert memory.get(after.id).content == f"Ben called at noon. {REJECTED}"
    found = memory.recall("Which port does the gateway listen on?", kinds=["turn"])
    assert all("8080" not in hit.memory.content + hit.memory.context for hit in found.hits)
    told = [entry.after or {} for entry in memory.history(after.id)]
    assert any("8080" in str(row.get("content")) for row in told)  # the journal has it as it was said


def test_a_summary_of_a_session_loses_a_rejected_sentence(memory: Engine) -> None:
    summary = memory.remember(f"Session of Monday. {SAID} The tests passed.", kind="summary")
    memory.reject(memory.remember(SAID).id)
    assert memory.get(summary.id).content == f"Session of Monday. {REJECTED} The tests passed."


def test_talk_brings_no_rejected_value_back(memory: Engine) -> None:
    memory.reject(memory.remember(SAID).id)
    memory.capture([Message("user", f"Marta owns the billing service. {SAID}")], session="s")
    standing = memory.list(states=["active", "pending"]).memories
    assert standing
    assert all("8080" not in one.content for one in standing)


@pytest.mark.parametrize("state", ["rejected", "pending"])
def test_what_does_not_stand_supersedes_nothing(memory: Engine, state: str) -> None:
    standing = memory.remember("The gateway listens on port 8081.")
    if state == "rejected":
        other = memory.reject(memory.remember(SAID).id).memories[0].id
    else:
        talk = [Message("assistant", "The `sync` job never runs on Sundays."), Message("user", "Exactly.")]
        done = memory.capture(talk, session="s")
        other = done.findings[0].memory
    assert memory.get(other).state == state
    with pytest.raises(Refused):
        memory.link(other, "supersedes", standing.id)
    assert memory.get(standing.id).state == "active"
    new = memory.remember("The gateway moved to port 9090.")
    memory.link(new.id, "supersedes", standing.id)
    assert memory.get(standing.id).state == "superseded"


def test_without_a_rejection_nothing_is_asked_for(memory: Engine) -> None:
    assert memory.remember(SAID, tags=["gateway"]).action == "created"
    writer: Writer = memory._writer
    assert writer.tombstoned([memory.list().memories[0]]) == set()
