"""The retrospective proposes what was learnt, once; approved, it is in the files of the knowledge bank."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from conftest import Clock, Opener
from recollect import Scope
from recollect.cli import cli
from recollect.project.bank import BankWriter
from recollect.project.retro import retro

SHOP = Scope(project="shop")


def test_what_a_week_taught_waits_and_is_written_once_approved(opened: Opener, clock: Clock) -> None:
    memory = opened()
    memory.remember("Old lesson about caches.", kind="lesson", scope=SHOP)
    clock.forward(days=10)
    memory.remember(
        "Retries without jitter overload the gateway.", kind="incident", scope=SHOP, reasoning="It fell over."
    )
    memory.remember("We do not use Redis for sessions.", kind="decision", tags=["rejected"], scope=SHOP)
    memory.remember("Read a real sample before writing a parser.", kind="lesson", scope=SHOP)
    memory.remember("Deploys go out on Thursdays.", kind="decision", scope=SHOP)
    memory.remember("A lesson of another project.", kind="lesson", scope=Scope(project="other"))
    since, now = clock() - timedelta(days=7), clock()
    assert len(retro(memory, since, SHOP, now, dry_run=True).drafts) == 3
    assert memory.pending().memories == ()
    found = retro(memory, since, SHOP, now)
    assert {(one.kind, one.content.partition(":")[0]) for one in found.proposed} == {
        ("anti-pattern", "Avoid"), ("heuristic", "Keep in mind"),
    }  # fmt: skip
    assert len(found.proposed) == 3
    assert {one.state for one in found.proposed} == {"pending"}
    again = retro(memory, since, SHOP, now)
    assert (again.proposed, again.known) == ((), 3)
    fell = next(one for one in found.proposed if "jitter" in one.content)
    assert (fell.reasoning, fell.trust) == ("It fell over.", "derived")
    memory.approve(fell.id)
    memory.reject(next(one for one in found.proposed if "Redis" in one.content).id)
    BankWriter(memory).run()
    told = (memory.settings.bank_path / "anti-patterns.md").read_text("utf-8")
    assert "Avoid: Retries without jitter overload the gateway." in told
    assert "Redis" not in told
    assert retro(memory, since, SHOP, now).proposed == (), "what was turned down is not proposed again"
    assert memory.recall("jitter gateway", scope=SHOP).hits


def test_the_command_names_what_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "hashing")
    run = CliRunner()
    assert "nothing new was learnt" in run.invoke(cli, ["retro", "--project", "shop"]).output
    run.invoke(cli, ["remember", "Read a real sample first.", "--kind", "lesson", "--project", "shop"])
    assert "would wait" in run.invoke(cli, ["retro", "--project", "shop", "--dry-run"]).output
    told = run.invoke(cli, ["retro", "--project", "shop"])
    assert "heuristic: Keep in mind: Read a real sample first." in told.output, told.output
    assert "1 wait for you: recollect review" in told.output
    assert "proposed before" in run.invoke(cli, ["retro", "--project", "shop"]).output
