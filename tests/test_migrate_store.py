"""A store copied into another is the same store: through either kind, killed anywhere, written meanwhile."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import recollect
from conftest import START, Clock, Places, open_store
from nouns import unit
from recollect import BadInput, CopyDiffers, Job, Memory, Scope, exchange
from recollect.agent_types import Agent, AgentSession, Handoff, Member, Pool, Share
from recollect.cli import cli
from recollect.history_types import Checkpoint, Hold, Retention, Sighting
from recollect.language.terms import of_query
from recollect.settings import shown
from recollect.store import copy as copying
from recollect.store.answers import Answer, Depends
from recollect.store.contract import Store
from recollect.store.copy import Copied, Part, copy, parts
from recollect.store.ledger import Spent
from recollect.types import Entity, Filter, Token, Webhook
from workers import copy_slowly
from writers import context, lines

TENANTS = ("acme", "globex")
SECRET = "xyzzy-plugh"


def live(place: str, clock: Clock) -> None:
    """A life with everything in it that a store can hold, in two tenants."""
    for tenant in TENANTS:
        with recollect.open(place, tenant=tenant, embedder="hashing", actor="test", now=clock) as memory:
            kept = [
                memory.remember(
                    f"{tenant} service {number} deploys on {day} — «naïve» 東京",
                    title=f"Service {number}", tags=["deploy", day], refs=["deploy.py", "ADR-005"],
                    evidence=("said so", f"quote {number}"), importance=1 + number % 10, confidence=number / 13,
                    scope=Scope(project="web"),
                )
                for number, day in enumerate(["Monday", "Tuesday", "Friday"] * 4)
            ]  # fmt: skip
            talk = Scope(session="s")
            first = memory.remember(f"The word is {SECRET}.", kind="turn", position=1, scope=talk, evidence=SECRET)
            memory.remember("Then use it.", kind="turn", position=2, scope=talk, evidence="Then use it.")
            memory.edit(kept[0].id, content="Edited content.", title="", reason="because")
            memory.link(kept[1].id, "supersedes", kept[2].id, reason="newer")
            memory.forget(kept[3].id, reason="old")
            memory.reject(kept[4].id, reason="wrong")
            assert memory.remember(kept[4].memory.content, scope=Scope(project="web")).action == "refused"  # type: ignore[union-attr]
            memory.forget(first.id, purge=True)
            memory.recall("deploys on Monday")
            memory.get(kept[5].id)
            memory.jobs.add("embed:hashing/1", {"b": [1], "a": "ü"})
    with closing(open_store(place, clock())) as store:
        with store.transaction(TENANTS[0], "test", clock()) as changes:
            changes.embed(kept_in(store)[0].id, "other/1", np.stack([unit(1, 2), unit(3)]))
        with store.transaction(TENANTS[0], "test", clock()) as changes:
            changes.put(Entity("e" * 26, "service", "billing", "k", created_at=START), "create")
            changes.put(Checkpoint("h" * 26, "before", 3, Scope(project="web"), created_at=START), "create")
            changes.put(Hold("i" * 26, "case 7", Scope(user="ana"), "a court", START), "create")
            changes.put(Retention("j" * 26, "turn", 90, scope=Scope(project="web"), created_at=START), "create")
            for noun in (
                Agent("k" * 26, "codex", "codex", Scope(user="ana"), ("kb_search",), "team", "program codex", {"a": 1}),
                Pool("l" * 26, "team", "to share"), Member("m" * 26, "l" * 26, "k" * 26, "write"),
                Share("n" * 26, "l" * 26, kept_in(store)[0].id, "team", "k" * 26, "ana"),
                Handoff("o" * 26, "k" * 26, needs="kb_search", task="Look.", progress={"b": [1]}, files=("a",)),
            ):  # fmt: skip
                changes.put(noun, "create")
            changes.put_token(Token("f" * 26, TENANTS[0], "laptop", created_at=START), "0" * 64)
            changes.put_webhook(Webhook("g" * 26, TENANTS[0], "https://example.org", created_at=START))
        seen = kept_in(store)[0].id
        store.saw(TENANTS[0], [Sighting(seen, START, f"s{n}", "prompt", "hook", "web", "api", n - 1) for n in range(3)])
        store.attend(TENANTS[0], AgentSession("k" * 26, "s", START, START))
        store.moved(Token("f" * 26, TENANTS[0], last_used_at=START))
        store.restore_jobs(
            TENANTS[0], [Job("a" * 26, "done", state="done", finished_at=START, progress={"b": 1, "a": 2})]
        )
        store.book(TENANTS[0], Spent("2026-03-02", "web", "extract", "openai:m", 2, 1, 900, 40, 123_456, 1))
        answered = Answer(
            "c" * 26, "Which day?", "h" * 64, "ana", "web", answer="Friday — «naïve»", sources=({"memory": "x"},),
            tier="hot", asked=5, hits=3, model="m", first_asked_at=START, last_asked_at=START,
            depends=(Depends("file", "/a", "1"), Depends("memory", kept_in(store)[0].id)),
        )  # fmt: skip
        with store.transaction(TENANTS[0], "test", clock()) as changes:
            changes.put_answer(answered, b"ab")
            changes.put_answer(Answer("d" * 26, "Cold?", "i" * 64, asked=1))
        store.enqueue("jobs only", Job("b" * 26, "embed", run_at=START, created_at=START))


def kept_in(store: Store, tenant: str = TENANTS[0]) -> list[Memory]:
    return store.all(tenant, Memory, "", 1000)


def everything(store: Store) -> list[Part]:
    return list(parts(store, lambda done, total: None))


def exported(store: Store, path: Path) -> bytes:
    """Every tenant's export with its history, as bytes."""
    whole = b""
    for tenant in store.tenants():
        exchange.export(store, tenant, path, START, key=b"key", journal=True, progress=None)
        whole += path.read_bytes()
    return whole


@pytest.fixture
def source(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    live(str(tmp_path / "source.db"), clock)
    with closing(open_store(str(tmp_path / "source.db"), clock())) as store:
        yield store


@pytest.fixture
def target(place: Places, clock: Clock) -> Iterator[Store]:
    with closing(open_store(place("target.db"), clock())) as store:
        yield store


def test_there_and_back_is_the_same_byte_for_byte(source: Store, target: Store, tmp_path: Path, clock: Clock) -> None:
    result = copy(source, target)
    assert {part.tenant for part in result.parts} == {*TENANTS, "jobs only"}
    counts = {part.noun: part.count for part in result.parts if part.tenant == TENANTS[0]}
    assert all(counts.values()), counts
    assert counts["journal"] == source.head(TENANTS[0])
    assert counts["vector"] == len(kept_in(source)) + 2
    assert result.written == sum(source.head(tenant) for tenant in TENANTS)
    with closing(open_store(str(tmp_path / "back.db"), clock())) as back:
        assert copy(target, back) == Copied(result.parts, result.written)
        wanted = exported(source, tmp_path / "export.jsonl")
        assert exported(target, tmp_path / "export.jsonl") == wanted
        assert exported(back, tmp_path / "export.jsonl") == wanted
        for store in (target, back):
            for tenant in TENANTS:
                assert [check for check in store.check(tenant) if check.status != "ok"] == []


def test_a_copy_finds_what_its_source_finds(source: Store, target: Store) -> None:
    copy(source, target)
    (by_model,) = source.vectors("acme", [kept_in(source)[5].id]).values()
    like = by_model["hashing/1"][0]
    for tenant in TENANTS:
        asked = of_query("service deploys on Monday")
        words = [dict(store.match(tenant, asked, Filter(), 99)) for store in (source, target)]
        near = [dict(store.nearest(tenant, "hashing/1", like, Filter(), 99)) for store in (source, target)]
        assert words[0].keys() == words[1].keys() != set()
        assert near[1] == pytest.approx(near[0], abs=1e-3)
    used = {memory.id: memory.recalled for memory in source.page(TENANTS[0], Filter(), None, 99)}
    assert any(used.values())
    assert {memory.id: memory.recalled for memory in target.page(TENANTS[0], Filter(), None, 99)} == used


def test_copied_again_only_what_is_new_is_written(source: Store, target: Store, tmp_path: Path, clock: Clock) -> None:
    copy(source, target)
    assert copy(source, target).written == 0
    with recollect.open(tmp_path / "source.db", tenant="acme", embedder="hashing", now=clock) as memory:
        memory.remember("Something new.")
        memory.recall("service deploys")
        memory.jobs.cancel(memory.jobs.list()[0].id)
    assert copy(source, target).written == 2
    assert everything(source) == everything(target)


def test_killed_at_any_moment_a_copy_goes_on_where_it_stopped(
    source: Store, place: Places, tmp_path: Path, clock: Clock
) -> None:
    log, path, heads = tmp_path / "steps", str(tmp_path / "source.db"), []
    for number in range(5):
        victim = context.Process(target=copy_slowly, args=(path, place("target.db"), log), daemon=True)
        seen = len(lines(log))
        victim.start()
        while len(lines(log)) < seen + 2 + number and victim.is_alive():
            time.sleep(0.002)
        victim.kill()
        victim.join()
        with closing(open_store(place("target.db"), clock())) as target:
            heads.append(sum(target.head(tenant) for tenant in TENANTS))
    assert heads == sorted(set(heads)), "each went on where the one before was killed"
    total = sum(source.head(tenant) for tenant in TENANTS)
    assert 0 < heads[0] < heads[-1] < total
    with closing(open_store(place("target.db"), clock())) as target:
        assert copy(source, target).written == total - heads[-1]
        assert exported(target, tmp_path / "export.jsonl") == exported(source, tmp_path / "export.jsonl")


def test_a_source_that_is_written_meanwhile_is_followed(
    source: Store, target: Store, tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is learnt, changed, embedded and purged while the copy runs ends in it; what was purged is in it nowhere."""
    monkeypatch.setattr(copying, "BATCH", 7)
    memory = recollect.open(tmp_path / "source.db", tenant="acme", embedder="hashing", actor="late", now=clock)
    talk = Scope(session="late", project="web")
    secret = memory.remember(f"Between us: {SECRET} again.", kind="turn", position=1, scope=talk, evidence=SECRET)
    heard = memory.remember("I heard.", kind="turn", position=2, scope=talk, evidence="heard", title=SECRET)
    assert SECRET in memory.get(heard.id).context
    memory.link(secret.id, "related", heard.id, reason=SECRET)
    steps = 0

    def write(done: int, total: int) -> None:
        nonlocal steps
        steps += 1
        if source.head("acme") == target.head("acme") and steps < 1000:
            steps = 1000  # all of it has been copied once
            memory.edit(heard.id, title="", content="I heard it.")
            memory.forget(secret.id, purge=True)
        elif steps in (1005, 1010):
            memory.remember(f"Learnt at step {steps}.")
            source.used("acme", {heard.id: (1, 1)}, clock())

    result = copy(source, target, write)
    memory.close()
    assert steps > 1010
    assert everything(target) == everything(source) == list(result.parts)
    whole = exported(target, tmp_path / "export.jsonl")
    assert whole == exported(source, tmp_path / "export.jsonl")
    kept = target.memories("acme", [secret.id, heard.id])
    assert set(kept) == {heard.id}
    assert (kept[heard.id].context, kept[heard.id].title) == ("", "")
    assert b"Between us" not in whole
    assert target.match("acme", of_query("between us"), Filter(), 9) == []


@pytest.mark.parametrize("what", ["a memory", "another tenant", "more than the source", "another job"])
def test_a_target_that_holds_something_else_is_left_as_it_is(
    source: Store, target: Store, place: Places, clock: Clock, what: str
) -> None:
    def write(tenant: str) -> None:
        with recollect.open(place("target.db"), tenant=tenant, embedder="hashing", now=clock) as memory:
            memory.remember("Something else.")

    if what == "a memory":
        write("acme")
    elif what == "another tenant":
        copy(source, target)
        write("initech")
    elif what == "more than the source":
        copy(source, target)
        write("acme")
    else:
        target.enqueue("acme", Job("0" * 26, "embed"))
    before = everything(target)
    with pytest.raises(BadInput, match="something else") as raised:
        copy(source, target)
    assert "empty store" in raised.value.fix
    assert everything(target) == before


def test_a_copy_that_is_not_what_its_source_is_is_found_out(source: Store, target: Store) -> None:
    copy(source, target)
    with target.transaction("acme", "test", START) as changes:
        changes.restore_vectors(kept_in(source)[0].id, "hashing/1", unit(1)[None, :])
    with pytest.raises(CopyDiffers, match="vector of acme"):
        copy(source, target)


def test_a_source_that_never_rests_is_given_up(source: Store, target: Store, clock: Clock) -> None:
    wanted = kept_in(source)[0].id

    def use(done: int, total: int) -> None:
        source.used("acme", {wanted: (1, 0)}, clock())

    with pytest.raises(CopyDiffers, match="usage of acme"):
        copy(source, target, use)


def test_a_webhook_that_was_dropped_since_is_dropped_in_the_copy(source: Store, target: Store, clock: Clock) -> None:
    copy(source, target)
    assert len(target.webhooks(TENANTS[0])) == 1
    with source.transaction(TENANTS[0], "test", clock()) as changes:
        changes.drop_webhook("g" * 26)
    copy(source, target)
    assert target.webhooks(TENANTS[0]) == []


def test_an_empty_store_is_copied_as_an_empty_store(tmp_path: Path, target: Store, clock: Clock) -> None:
    with closing(open_store(str(tmp_path / "empty.db"), clock())) as empty:
        assert copy(empty, target) == Copied((), 0)


# -- the command line -------------------------------------------------------------------------------------------------


@pytest.fixture
def run() -> Callable[..., str]:
    def runner(*words: str, code: int = 0) -> str:
        result = CliRunner().invoke(cli, ["migrate-store", *words])
        assert result.exit_code == code, result.output
        return result.output

    return runner


def test_the_command_copies_and_tells_what(
    source: Store, place: Places, tmp_path: Path, run: Callable[..., str]
) -> None:
    told = json.loads(run(str(tmp_path / "source.db"), place("target.db"), "--json"))
    assert [Part(**part) for part in told["parts"]] == everything(source)
    assert (told["to"], len(told["sha256"])) == (shown(place("target.db")), 64)
    said = run(str(tmp_path / "source.db"), place("target.db"))
    assert f"copied {2 * len(kept_in(source))} memories of 3 tenants" in said
    assert "written this time: 0 changes" in said
    assert told["sha256"] in said
    back = run(place("target.db"), str(tmp_path / "back.db"))
    assert told["sha256"] in back


def test_the_command_names_what_is_wrong(source: Store, tmp_path: Path, run: Callable[..., str]) -> None:
    nowhere = tmp_path / "nowhere.db"
    assert "There is no store at" in run(str(nowhere), str(tmp_path / "target.db"), code=2)
    assert not nowhere.exists()
    assert "the same store" in run(str(tmp_path / "source.db"), f"{tmp_path}/../{tmp_path.name}/source.db", code=2)
    (tmp_path / "letter.txt").write_text("Dear Ana," * 1000)
    assert "not a database" in run(str(tmp_path / "source.db"), str(tmp_path / "letter.txt"), code=6)
    assert (tmp_path / "letter.txt").read_text() == "Dear Ana," * 1000
    with recollect.open(tmp_path / "other.db", embedder="hashing") as memory:
        memory.remember("Something else.")
    assert "something else" in run(str(tmp_path / "source.db"), str(tmp_path / "other.db"), code=2)


def test_a_history_with_a_restated_turn_can_be_taken_in(tmp_path: Path, clock: Clock) -> None:
    """A turn that lost a purged one's words is told anew, and what supports it after it."""
    talk = Scope(session="s")
    with recollect.open(tmp_path / "one.db", embedder="hashing", now=clock) as memory:
        first = memory.remember(f"The word is {SECRET}.", kind="turn", position=1, scope=talk)
        clock.forward(seconds=timedelta(minutes=1).total_seconds())
        memory.remember("Then use it.", kind="turn", position=2, scope=talk, evidence="Then use it.")
        memory.forget(first.id, purge=True)
        memory.export(tmp_path / "one.jsonl", journal=True)
    with recollect.open(tmp_path / "two.db", embedder="hashing", now=clock) as memory:
        assert memory.import_(tmp_path / "one.jsonl").created == 1
        memory.export(tmp_path / "two.jsonl", journal=True)
    one, two = ((tmp_path / name).read_text("utf-8").splitlines()[1:-1] for name in ("one.jsonl", "two.jsonl"))
    assert [line for line in two if '"embed"' not in line] == one
