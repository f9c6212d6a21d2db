"""Ingestion: what a folder tells is taken in once, follows the files as they change, and goes with them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import recollect
from recollect import BadInput, Link, Scope
from recollect.cli import cli
from recollect.project import known_files
from recollect.project.ingest import Report, ingest
from recollect.project.known_files import UNNAMED, Roots
from replay import replayed, state_of

GUIDE = "# Guide\n\nHello.\n\n## Deploys\n\nWe deploy on Thursdays.\n\n## Tests\n\nRun make test.\n"
ANY = ("active", "superseded", "archived")


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_md", ".md")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def record(number: int, title: str, status: str = "Accepted", date: str = "2020-01-01", decision: str = "") -> str:
    told = decision or f"We settle on {title.lower()}."
    head = f"# {number}. {title}\n\nDate: {date}\n\n## Status\n\n{status}\n\n"
    return f"{head}## Context\n\nBecause.\n\n## Decision\n\n{told}\n"


def repository(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


def contents(engine: recollect.Engine, **filters: Any) -> set[str]:
    return {memory.content for memory in engine.list(limit=1000, **filters).memories}


def nothing_happens(engine: recollect.Engine, path: Path) -> Report:
    head = engine.head
    report = ingest(engine, path)
    assert (report.files, engine.head) == (0, head)
    return report


def test_a_folder_is_taken_in_once(memory: recollect.Engine, tmp_path: Path) -> None:
    folder = write(tmp_path / "shop", guide_md=GUIDE)
    report = ingest(memory, folder)
    assert (report.project, report.files, report.created, report.kinds) == ("shop", 1, 3, {"docs": 1})
    assert contents(memory, scope=Scope(project="shop")) == {"Hello.", "We deploy on Thursdays.", "Run make test."}
    assert nothing_happens(memory, folder).unchanged == 1
    (found,) = memory.recall("when do we deploy?", limit=1, scope=Scope(project="shop")).hits
    assert (found.memory.title, found.memory.trust) == ("Guide > Deploys", "cited")
    source, (proof,) = memory.evidence(found.memory.id)
    assert source is not None
    assert (source.uri, proof.place) == ("file:shop/guide.md", "Guide > Deploys")


def test_the_hash_in_the_store_is_the_truth(memory: recollect.Engine, tmp_path: Path) -> None:
    folder = write(tmp_path / "shop", guide_md=GUIDE)
    ingest(memory, folder)
    shutil.rmtree(memory.settings.home / known_files.FOLDER)
    nothing_happens(memory, folder)
    os.utime(folder / "guide.md", (1, 1))
    nothing_happens(memory, folder)


def test_a_changed_file_keeps_supersedes_and_retires(memory: recollect.Engine, tmp_path: Path) -> None:
    folder = write(tmp_path / "shop", guide_md=GUIDE)
    ingest(memory, folder)
    kept = {memory.content: memory.id for memory in memory.list().memories}
    write(folder, guide_md="# Guide\n\nHello.\n\n## Deploys\n\nWe deploy on Mondays.\n\n## Style\n\nTabs.\n")
    report = ingest(memory, folder)
    assert (report.kept, report.created, report.superseded, report.retired) == (1, 2, 1, 1)
    assert contents(memory) == {"Hello.", "We deploy on Mondays.", "Tabs."}
    assert memory.get(kept["Hello."]).state == "active"
    assert memory.get(kept["We deploy on Thursdays."]).state == "superseded"
    assert memory.get(kept["Run make test."]).state == "archived"
    assert [link.relation for link in memory.links(kept["We deploy on Thursdays."])] == ["supersedes"]
    assert "does not say" in memory.history(kept["Run make test."])[-1].reason
    nothing_happens(memory, folder)


def test_a_section_that_comes_back_is_known_again(memory: recollect.Engine, tmp_path: Path) -> None:
    folder = write(tmp_path / "shop", guide_md=GUIDE)
    ingest(memory, folder)
    write(folder, guide_md="# Guide\n\nHello.\n")
    ingest(memory, folder)
    write(folder, guide_md=GUIDE)
    ingest(memory, folder)
    assert contents(memory) == {"Hello.", "We deploy on Thursdays.", "Run make test."}


def test_a_deleted_file_retires_what_it_said_and_may_come_back(memory: recollect.Engine, tmp_path: Path) -> None:
    folder = write(tmp_path / "shop", guide_md=GUIDE, other_md="# Other\n\nStays.\n")
    ingest(memory, folder)
    (folder / "guide.md").unlink()
    report = ingest(memory, folder)
    assert (report.deleted, report.retired, contents(memory)) == (1, 3, {"Stays."})
    nothing_happens(memory, folder)
    write(folder, guide_md=GUIDE)
    ingest(memory, folder)
    assert len(contents(memory)) == 4
    shutil.rmtree(memory.settings.home / known_files.FOLDER)
    (folder / "other.md").unlink()
    assert ingest(memory, folder).retired == 1, "found without the stamps"
    (folder / "guide.md").unlink()
    assert ingest(memory, folder / "guide.md").retired == 3, "a file by itself, once it is gone"
    with pytest.raises(BadInput, match="There is no"):
        ingest(memory, folder / "guide.md")


def test_what_two_files_say_outlives_one_of_them(memory: recollect.Engine, tmp_path: Path) -> None:
    folder = write(tmp_path / "shop", a_md="# A\n\nThe same words.\n", b_md="# B\n\nThe same words.\n")
    ingest(memory, folder)
    (folder / "a.md").unlink()
    assert ingest(memory, folder).retired == 0
    assert contents(memory) == {"The same words."}
    (folder / "b.md").unlink()
    assert ingest(memory, folder).retired == 1


def test_a_file_that_was_moved_takes_its_memories_along(memory: recollect.Engine, tmp_path: Path) -> None:
    folder = write(tmp_path / "shop", old_md=GUIDE)
    ingest(memory, folder)
    ids = {one.id for one in memory.list().memories}
    (folder / "old.md").rename(folder / "new.md")
    report = ingest(memory, folder)
    assert (report.created, report.kept, report.retired, report.deleted) == (0, 3, 0, 1)
    assert {one.id for one in memory.list().memories} == ids
    assert {one.refs for one in memory.list().memories} == {("new.md",)}
    nothing_happens(memory, folder)


def test_what_a_person_said_does_not_go_with_a_file(memory: recollect.Engine, tmp_path: Path) -> None:
    folder = write(tmp_path / "shop", a_md="# A\n\nThe same words.\n")
    memory.remember("The same words.", scope=Scope(project="shop"))
    ingest(memory, folder)
    (folder / "a.md").unlink()
    ingest(memory, folder)
    assert contents(memory) == {"The same words."}


def test_what_was_forgotten_by_hand_stays_forgotten_and_what_was_rejected_is_refused(
    memory: recollect.Engine, tmp_path: Path
) -> None:
    folder = write(tmp_path / "shop", guide_md=GUIDE)
    ingest(memory, folder)
    ids = {memory.content: memory.id for memory in memory.list().memories}
    memory.forget(ids["Hello."])
    memory.reject(ids["Run make test."], reason="it is just test")
    write(folder, guide_md=f"{GUIDE}\n## More\n\nNews.\n", other_md="# Other\n\nRun make test.\n")
    assert ingest(memory, folder).refused == 1
    assert contents(memory) == {"We deploy on Thursdays.", "News."}


def test_a_superseded_decision_leaves_recall_unless_it_is_asked_for(memory: recollect.Engine, tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    write(folder / "docs" / "adr", **{
        "0001-mysql_md": record(1, "Use MySQL", "Superseded by [3. Use Postgres](0003-postgres.md)"),
        "0002-redis_md": record(2, "Use Redis"),
        "0003-postgres_md": record(3, "Use Postgres", date="2021-06-01"),
    })  # fmt: skip
    report = ingest(memory, folder)
    assert (report.kinds, report.superseded) == ({"adr": 3}, 1)
    seen = [hit.memory.title for hit in memory.recall("which database do we use?", scope=Scope(project="shop"))]
    assert "ADR 3: Use Postgres" in seen
    assert not [title for title in seen if "MySQL" in title]
    (old,) = memory.list(states=("superseded",)).memories
    assert old.title == "ADR 1 (superseded): Use MySQL"
    assert (old.valid_from, old.valid_to) == (datetime(2020, 1, 1, tzinfo=UTC), datetime(2021, 6, 1, tzinfo=UTC))
    (link,) = memory.links(old.id)
    assert (link.relation, memory.get(link.origin).title) == ("supersedes", "ADR 3: Use Postgres")
    asked = memory.recall("MySQL", states=["superseded"], scope=Scope(project="shop"))
    assert [hit.memory.id for hit in asked] == [old.id]
    nothing_happens(memory, folder)


def test_a_decision_is_superseded_by_one_of_a_later_run_and_by_its_own_status(
    memory: recollect.Engine, tmp_path: Path
) -> None:
    folder = tmp_path / "shop" / "adr"
    write(folder, **{"0001-mysql_md": record(1, "Use MySQL"), "0002-cron_md": record(2, "Use cron")})
    ingest(memory, folder)
    assert len(contents(memory, kinds=("decision",))) == 2
    write(folder, **{
        "0002-cron_md": record(2, "Use cron", "Deprecated"),
        "0003-postgres_md": record(3, "Use Postgres", "Accepted\n\nSupersedes ADR-0001", "2021-06-01"),
    })  # fmt: skip
    report = ingest(memory, folder)
    assert (report.created, report.kept, report.superseded) == (1, 1, 2)
    assert [memory.title for memory in memory.list().memories] == ["ADR 3: Use Postgres"]
    write(folder, **{"0002-cron_md": record(2, "Use cron")})
    ingest(memory, folder)
    assert {memory.title for memory in memory.list().memories} == {"ADR 2: Use cron", "ADR 3: Use Postgres"}


def test_incidents_are_tied_to_their_services(memory: recollect.Engine, tmp_path: Path) -> None:
    text = (
        "# Cards refused\n\nSeverity: SEV-1\nService: billing\n\n## Summary\n\nAll cards were refused.\n\n"
        "## Root cause\n\nA certificate.\n\n## Timeline\n\n- 2023-05-03 down\n\n"
        "## Lessons learned\n\n- Watch certificates.\n"
    )
    folder = write(tmp_path / "shop", incidents__cards_md=text)
    report = ingest(memory, folder)
    assert report.kinds == {"incident": 1}
    graph = memory.graph(Scope(project="shop"))
    assert [(node.name, node.kind) for node in graph.read().nodes] == [("billing", "service")]
    ties = [(one.origin, one.relation, one.target) for one in graph.ties(("had_incident", "mentions", "derived_from"))]
    assert ("billing", "had_incident", "Cards refused") in ties
    assert ("Lesson of Cards refused", "mentions", "billing") in ties
    assert ("Lesson of Cards refused", "derived_from", "Cards refused") in ties
    ingest(memory, folder, kind="incident")
    assert len(graph.ties(("had_incident",))) == 1


def test_a_decision_stands_again_when_what_took_its_place_is_gone(memory: recollect.Engine, tmp_path: Path) -> None:
    folder = write(
        tmp_path / "shop", adr__0001_oracle_md=record(1, "Oracle"),
        adr__0002_postgres_md=record(2, "Postgres", "Accepted\n\nSupersedes ADR-1", "2021-01-01"),
    )  # fmt: skip
    ingest(memory, folder)
    assert contents(memory) == {"Postgres\n\nWe settle on postgres."}
    (folder / "adr" / "0002_postgres.md").unlink()
    ingest(memory, folder)
    assert contents(memory) == {"Oracle\n\nWe settle on oracle."}
    assert memory.list().memories[0].valid_to is None
    write(folder, adr__0001_oracle_md=record(1, "Oracle", decision="Oracle, in a container."))
    ingest(memory, folder)
    (folder / "adr" / "0001_oracle.md").unlink()
    ingest(memory, folder)
    assert contents(memory) == set(), "an older text of a file that is gone does not come back"


def test_a_folder_that_is_said_to_be_of_a_kind_gives_what_is_of_it(memory: recollect.Engine, tmp_path: Path) -> None:
    folder = write(
        tmp_path / "shop", docs__adr__0001_use_x_md=record(1, "Use X"),
        docs__adr__README_md="# Decisions\n\nA list of them.\n",
        notes_md="# Notes\n\nTea is served at four.\n",
    )  # fmt: skip
    (folder / "pool.py").write_text("def take():\n    return 1\n")
    ingest(memory, folder)
    before = {(one.id, one.kind) for one in memory.list().memories}
    report = ingest(memory, folder, kind="code")
    assert (report.kinds, report.unchanged, report.retired) == ({}, 1, 0)
    assert report.skipped == {"not code": 3}
    report = ingest(memory, folder, kind="adr")
    assert (report.unchanged, report.retired, report.skipped) == (1, 0, {"not a decision record": 3})
    assert {(one.id, one.kind) for one in memory.list().memories} == before
    report = ingest(memory, folder / "notes.md", kind="adr")
    assert report.kinds == {"adr": 1}, "a file that somebody names is what they say"


def test_a_file_that_somebody_named_stays_when_its_folder_is_taken_in(memory: recollect.Engine, tmp_path: Path) -> None:
    folder = write(tmp_path / "shop", notes_md="# Notes\n\nTea is served at four.\n")
    (folder / "plan.xyz").write_text("We ship on Friday.\n")
    ingest(memory, folder)
    ingest(memory, folder / "plan.xyz", kind="docs")
    report = ingest(memory, folder)
    assert (report.retired, report.skipped) == (0, {})
    assert "We ship on Friday." in contents(memory)


def test_git_and_our_own_file_say_what_is_ignored(memory: recollect.Engine, tmp_path: Path) -> None:
    folder = repository(tmp_path / "shop")
    write(folder, kept_md="# Kept\n\nYes.\n", made_md="# Made\n\nNo.\n", docs__private_md="# Private\n\nNo.\n",
          docs__public_md="# Public\n\nAlso.\n")  # fmt: skip
    (folder / ".gitignore").write_text("made.md\n")
    (folder / "docs" / ".recollectignore").write_text("private.md\n")
    (folder / "image.png").write_bytes(b"\x89PNG\0\0")
    (folder / "odd.txt").write_bytes(b"\0\1\2")
    (folder / "huge.md").write_text("x" * 2_000_000)
    (folder / "link.md").symlink_to("/etc/passwd")
    report = ingest(memory, folder)
    assert contents(memory) == {"Yes.", "Also."}
    assert report.skipped == {
        "of no kind that is read": 2, "not text": 1, "larger than 1024 KB": 1, "a link": 1,
        "ignored by .recollectignore": 1,
    }  # fmt: skip
    assert nothing_happens(memory, folder).skipped == report.skipped
    part = nothing_happens(memory, folder / "docs")
    assert (part.project, part.unchanged, part.retired) == ("shop", 1, 0)


def test_a_folder_that_is_no_repository_is_read_by_its_own_gitignore(memory: recollect.Engine, tmp_path: Path) -> None:
    folder = write(tmp_path / "notes", a_md="# A\n\nYes.\n", tmp__b_md="# B\n\nNo.\n", sub__c_md="# C\n\nNo.\n",
                   sub__keep__c_md="# C\n\nAlso.\n", node_modules__x_md="# X\n\nNo.\n")  # fmt: skip
    (folder / ".gitignore").write_text("tmp/\nc.md\n")
    (folder / "sub" / "keep" / ".gitignore").write_text("!c.md\n")
    ingest(memory, folder)
    assert contents(memory) == {"Yes.", "Also."}


def test_secrets_are_taken_out_and_told(memory: recollect.Engine, tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2" * 9
    folder = write(tmp_path / "shop", guide_md=f"# Guide\n\nThe token is {secret}.\n")
    report = ingest(memory, folder)
    assert sum(report.secrets.values()) == 1
    assert not [text for text in contents(memory) if secret in text]
    nothing_happens(memory, folder)
    write(folder, guide_md=f"# Guide\n\nThe token is {secret}.\n\n## New\n\nMore.\n")
    assert (ingest(memory, folder).kept, len(contents(memory))) == (1, 2), "compared as it is stored"


def test_a_dry_run_tells_and_changes_nothing(memory: recollect.Engine, tmp_path: Path) -> None:
    folder = write(tmp_path / "shop", guide_md=GUIDE, **{"adr__0001-x_md": record(1, "Use X")})
    head = memory.head
    report = ingest(memory, folder, dry_run=True)
    assert (report.files, report.created, report.kinds) == (2, 4, {"docs": 1, "adr": 1})
    assert memory.head == head
    ingest(memory, folder)
    head = memory.head
    write(folder, guide_md="# Guide\n\nHello.\n\n## Deploys\n\nWe deploy on Mondays.\n")
    report = ingest(memory, folder, dry_run=True)
    assert (report.kept, report.created, report.superseded, report.retired, memory.head) == (1, 1, 1, 1, head)


def test_a_run_that_was_broken_off_is_finished_by_the_next(
    memory: recollect.Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.project.ingest.BATCH", 3)
    folder = write(tmp_path / "shop", **{f"f{n}_md": GUIDE.replace(".", f" {n}.") for n in range(6)})

    def stop(done: int, _: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ingest(memory, folder, progress=stop)
    assert 0 < len(contents(memory)) < 18
    ingest(memory, folder)
    assert len(contents(memory)) == 18
    nothing_happens(memory, folder)


def test_the_journal_tells_all_of_it(memory: recollect.Engine, place: Any, tmp_path: Path) -> None:
    folder = write(tmp_path / "shop", guide_md=GUIDE, **{"adr__0001-x_md": record(1, "Use X", "Superseded by ADR-2"),
                   "adr__0002-y_md": record(2, "Use Y")})  # fmt: skip
    ingest(memory, folder)
    write(folder, guide_md="# Guide\n\nHello.\n\n## Deploys\n\nWe deploy on Mondays.\n")
    ingest(memory, folder)
    (folder / "guide.md").unlink()
    ingest(memory, folder)
    copy = replayed(memory._store, "default", place("copy.db"))
    assert state_of(copy, "default") == state_of(memory._store, "default")
    copy.close()


def test_one_project_is_found_from_another_when_all_are_asked(memory: recollect.Engine, tmp_path: Path) -> None:
    ingest(memory, write(tmp_path / "shop", guide_md=GUIDE))
    ingest(memory, write(tmp_path / "ferry", guide_md="# Guide\n\n## Tides\n\nThe tide table is in `tides.csv`.\n"))
    query = "when do we deploy?"
    assert not [hit for hit in memory.recall(query, scope=Scope(project="ferry")) if "Thursdays" in hit.memory.content]
    best = memory.recall(query, scope=Scope(), limit=1).hits[0].memory
    assert (best.content, best.scope.project) == ("We deploy on Thursdays.", "shop")


def test_code_is_read_symbol_by_symbol_and_only_what_changed_is_written(
    memory: recollect.Engine, tmp_path: Path
) -> None:
    code = (
        '"""Money."""\n\n\ndef refund(order):\n    """Give the money back."""\n    return order\n\n\n'
        "def charge(card):\n    return card\n"
    )
    folder = write(tmp_path / "shop")
    folder.mkdir(exist_ok=True)
    (folder / "money.py").write_text(code)
    report = ingest(memory, folder)
    assert report.kinds == {"code": 1}
    assert [hit.memory.kind for hit in memory.recall("give money back", scope=Scope(project="shop"), limit=1)] == [
        "code"
    ]
    (folder / "money.py").write_text(code.replace("return card", "return card.number"))
    again = ingest(memory, folder)
    assert again.kept >= 1
    assert again.superseded >= 1
    nothing_happens(memory, folder)


def test_what_could_not_be_read_by_a_grammar_is_said(memory: recollect.Engine, tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "money.rb").write_text("def refund(order)\n  order\nend\n")
    report = ingest(memory, folder)
    assert (report.kinds, list(report.as_text.values())) == ({"code": 1}, [1])
    assert "no grammar for ruby" in next(iter(report.as_text))


def test_the_command_tells_what_it_did(tmp_path: Path) -> None:
    folder = write(tmp_path / "shop", guide_md=GUIDE)
    store = ["--store", str(tmp_path / "store.db")]
    done = CliRunner().invoke(cli, [*store, "ingest", str(folder), "--json"], env={"RECOLLECT_EMBEDDER": "hashing"})
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["created"] == 3
    done = CliRunner().invoke(cli, [*store, "ingest", str(folder), "--project", "x", "--dry-run", "--as", "docs"])
    assert "3 would be remembered" in done.stdout
    done = CliRunner().invoke(cli, [*store, "ingest", str(tmp_path / "nowhere")])
    assert done.exit_code == BadInput.exit
    assert "There is no" in done.stderr


# -- several roots of one project -------------------------------------------------------------------------------------


def test_two_folders_of_one_project_do_not_take_each_other_back(memory: recollect.Engine, tmp_path: Path) -> None:
    first = write(tmp_path / "ra", guide_md="# A\n\nAlpha deploys on Thursdays.\n", adr__0001_x_md=record(1, "Kafka"))
    second = write(tmp_path / "rb", guide_md="# B\n\nBeta deploys on Mondays.\n", adr__0002_y_md=record(2, "Redis"))
    ingest(memory, first, project="p")
    report = ingest(memory, second, project="p")
    assert (report.retired, report.superseded, report.deleted) == (0, 0, 0)
    assert {"Alpha deploys on Thursdays.", "Beta deploys on Mondays."} <= contents(memory)
    shutil.rmtree(memory.settings.home / known_files.FOLDER)
    assert ingest(memory, first, project="p").retired == ingest(memory, second, project="p").retired == 0
    (second / "guide.md").unlink()
    assert ingest(memory, second, project="p").retired == 1
    assert "Alpha deploys on Thursdays." in contents(memory)
    assert "Beta deploys on Mondays." not in contents(memory)


def test_a_record_supersedes_records_of_its_own_root(memory: recollect.Engine, tmp_path: Path) -> None:
    ingest(memory, write(tmp_path / "ra", **{"adr__0001-kafka_md": record(1, "Kafka")}), project="p")
    later = {"adr__0002-nats_md": record(2, "NATS", "Accepted. Supersedes ADR 1.")}
    ingest(memory, write(tmp_path / "rb", **later), project="p")
    assert {one.title for one in memory.list(kinds=("decision",)).memories} == {"ADR 1: Kafka", "ADR 2: NATS"}


@pytest.mark.parametrize("inner_first", [True, False])
def test_a_folder_inside_another_is_the_same_file(memory: recollect.Engine, tmp_path: Path, inner_first: bool) -> None:
    outer = write(tmp_path / "work", docs__guide_md="# G\n\nWe deploy on Thursdays.\n", top_md="# T\n\nTop.\n")
    both = [outer / "docs", outer] if inner_first else [outer, outer / "docs"]
    for folder in both:
        ingest(memory, folder, project="p")
    write(outer, docs__guide_md="# G\n\nWe deploy on Mondays.\n")
    assert ingest(memory, both[1], project="p").superseded == 1
    assert contents(memory) == {"We deploy on Mondays.", "Top."}
    (outer / "docs" / "guide.md").unlink()
    shutil.rmtree(memory.settings.home / known_files.FOLDER)
    assert ingest(memory, both[0], project="p").retired == 1
    assert contents(memory) == {"Top."}


def test_a_folder_that_was_moved_keeps_what_it_said(memory: recollect.Engine, tmp_path: Path) -> None:
    old = write(tmp_path / "old", guide_md=GUIDE, other_md="# O\n\nStays.\n")
    ingest(memory, old, project="p")
    moved = old.rename(tmp_path / "new")
    write(moved, guide_md=GUIDE.replace("Thursdays", "Mondays"))
    report = ingest(memory, moved, project="p")
    assert (report.superseded, report.retired, report.created) == (1, 0, 1)
    assert contents(memory) == {"Hello.", "Stays.", "We deploy on Mondays.", "Run make test."}
    nothing = ingest(memory, moved, project="p")
    assert (nothing.files, nothing.deleted) == (0, 0)


def test_two_clones_of_a_repository_are_one_root(memory: recollect.Engine, tmp_path: Path) -> None:
    for name, address in (("one", "git@example.org:team/shop.git"), ("two", "https://example.org/team/shop")):
        repository(tmp_path / name)
        subprocess.run(["git", "-C", str(tmp_path / name), "remote", "add", "origin", address], check=True)
    ingest(memory, write(tmp_path / "one", guide_md=GUIDE), project="p")
    later = write(tmp_path / "two", guide_md=GUIDE.replace("Thursdays", "Mondays"))
    assert ingest(memory, later, project="p").superseded == 1


def older_version(memory: recollect.Engine, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ingest as it was done when files were known by their project alone."""
    with monkeypatch.context() as patched:
        patched.setattr(Roots, "_name", lambda self: UNNAMED)
        ingest(memory, folder, project="p")
    (memory.settings.home / "projects.json").unlink()


@pytest.mark.parametrize("stamped", [True, False])
def test_what_an_older_version_ingested_is_known_again(
    memory: recollect.Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stamped: bool
) -> None:
    folder = write(tmp_path / "shop", guide_md=GUIDE, other_md="# O\n\nStays.\n")
    older_version(memory, folder, monkeypatch)
    if not stamped:
        shutil.rmtree(memory.settings.home / known_files.FOLDER)
    other = write(tmp_path / "other", guide_md="# X\n\nAnother folder.\n")
    assert ingest(memory, other, project="p").retired == 0
    write(folder, guide_md=GUIDE.replace("Thursdays", "Mondays"))
    report = ingest(memory, folder, project="p")
    assert (report.superseded, report.retired, report.created) == (1, 0, 1)
    (folder / "other.md").unlink()
    assert ingest(memory, folder, project="p").retired == 1


REPORT = (
    "# Outage of the shop\n\n## Impact\n\nNo orders.\n\n## Root cause\n\nA full disk.\n\n## Timeline\n\n10:00 down.\n"
)


def test_a_report_without_a_suffix_is_read_and_other_files_without_one_are_told(
    memory: recollect.Engine, tmp_path: Path
) -> None:
    folder = write(tmp_path / "shop", **{"incidents__2024-03-outage": REPORT, "LICENSE": "Do as you like.\n"})
    report = ingest(memory, folder)
    assert (report.kinds, report.skipped) == ({"incident": 1}, {"of no kind that is read": 1})
    again = ingest(memory, folder)
    assert (again.unchanged, again.skipped) == (1, {"of no kind that is read": 1})
    assert ingest(memory, folder / "LICENSE").kinds == {"docs": 1}, "somebody named it"
    assert ingest(memory, folder).retired == 0


# -- what code needs --------------------------------------------------------------------------------------------------


def needs(engine: recollect.Engine) -> set[tuple[str, str]]:
    return {(one.origin, one.target) for one in engine.graph(Scope(project="shop")).ties(("depends_on",))}


def test_a_file_depends_on_its_modules_and_on_the_projects_own_files(memory: recollect.Engine, tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    both = '"""{}"""\n{}\n\ndef one():\n    return 1\n\n\ndef two():\n    return 2\n'
    files = {
        "src/shop/__init__.py": '"""The shop."""\n', "src/shop/db.py": both.format("Database.", ""),
        "auth_service/pool.py": both.format("Pool.", "import psycopg\nfrom shop.db import one\n"),
        "auth_service/routes.py": both.format("Routes.", "from auth_service import pool\nimport shop.db\n"),
        "tests/test_db.py": both.format("Tests.", "import pytest\nfrom auth_service.pool import one\n"),
        "web/src/lib/money.ts": "export function cents() { return 1 }\nexport function euros() { return 2 }\n",
        "web/src/cart.ts": "import {cents} from '@/lib/money'\nimport axios from 'axios'\n"
                           "export function total() { return cents() }\nexport function count() { return 2 }\n",
    }  # fmt: skip
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    ingest(memory, folder)
    assert needs(memory) == {
        ("auth_service/pool.py", "psycopg"), ("auth_service/pool.py", "src/shop/db.py"),
        ("auth_service/routes.py", "auth_service/pool.py"), ("auth_service/routes.py", "src/shop/db.py"),
        ("tests/test_db.py", "pytest"), ("tests/test_db.py", "auth_service/pool.py"),
        ("web/src/cart.ts", "axios"), ("web/src/cart.ts", "web/src/lib/money.ts"),
    }  # fmt: skip
    graph = memory.graph(Scope(project="shop"))
    assert graph.remove(["psycopg"]) == 1
    assert "auth_service/pool.py" in {one.title for one in memory.list(kinds=("code",)).memories}


def test_what_an_older_version_tied_the_wrong_way_round_is_put_right(memory: recollect.Engine, tmp_path: Path) -> None:
    folder = write(tmp_path / "shop", **{"pool.py": "import psycopg\n\n\ndef one():\n    return 1\n"})
    ingest(memory, folder)
    [code] = memory.list(kinds=("code",)).memories
    [right] = [link for link in memory.links(code.id) if link.relation == "depends_on"]
    store = memory._store
    with store.transaction(memory.settings.tenant, "test", datetime(2026, 3, 2, tzinfo=UTC)) as changes:
        changes.drop(Link, right.id, "unlink", "")
        changes.put(Link(right.id, right.target, "depends_on", right.origin, "entity", "memory"), "link")
    stamp = next((memory.settings.home / known_files.FOLDER).iterdir())
    told = json.loads(stamp.read_text())
    stamp.write_text(json.dumps(told | {"files": {path: one[:5] for path, one in told["files"].items()}}))
    assert needs(memory) == {("psycopg", "one")}
    ingest(memory, folder)
    assert needs(memory) == {("one", "psycopg")}
    nothing_happens(memory, folder)
