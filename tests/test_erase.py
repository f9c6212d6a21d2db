"""Erasing for good: nowhere in the data directory, with a receipt, blocked by a hold, and by age."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import recollect
from conftest import Clock, Opener, Places
from recollect import BadInput, NotFound, Scope, Source
from recollect.agents import access
from recollect.capture.sessions import session
from recollect.entrypoints import spool
from recollect.errors import Held
from recollect.graph import Node
from recollect.history.erase import Words
from recollect.ops import hooks
from recollect.types import EVERYWHERE, Message
from replay import entries_of, replayed, state_of

TENANT = "default"
SECRET = "The vault opens with quixotic-marzipan-771."
RARE = (b"quixotic-marzipan-771", b"marzipan", b"quixot")
ME = access.local(TENANT, "test", EVERYWHERE)


def data(place: Places, home: Path) -> bytes:
    """Everything: the store's files or rows, and every file of the home folder."""
    files = [path for path in home.rglob("*") if path.is_file()] if home.exists() else []
    return place.everything() + b"".join(path.read_bytes() for path in files)


def nowhere(place: Places, home: Path, words: tuple[bytes, ...] = RARE) -> None:
    whole = data(place, home).lower()
    assert [word for word in words if word.lower() in whole] == []


def clean(receipt: dict[str, Any], place: Places) -> None:
    """Nothing is left; what a server keeps beside its tables is named, and then the receipt does not say `verified`."""
    assert receipt["left"] == [], receipt
    assert len(receipt["unsearched"]) == (0 if place().endswith(".db") else 2), receipt
    assert receipt["verified"] is not bool(receipt["unsearched"])


def test_what_is_purged_is_nowhere_in_the_data_directory_and_the_receipt_says_so(
    memory: recollect.Engine, place: Places, tmp_path: Path
) -> None:
    home = memory.settings.home
    secret = memory.remember(
        SECRET, title="marzipan", tags=["marzipan"], reasoning="quixotic-marzipan-771", evidence=SECRET
    )
    other = memory.remember("A harmless thing.")
    memory.link(secret.id, "related", other.id, reason="quixotic-marzipan-771")
    memory.edit(secret.id, content=f"Edited: {SECRET}")
    memory.checkpoints.create("before")
    memory.recall("what opens the vault?")
    memory.saw([secret.id], "prompt", session="s", every=True)
    with session(home, TENANT, "", "claude", "s") as known:
        known.heard(f"Edited: {SECRET}")
    spool.add(str(home), {"host": "claude", "event": "Stop", "input": {"prompt": f"so: Edited: {SECRET}"}})
    spool.refuse(str(home), {"host": "claude", "input": {"prompt": f"Edited: {SECRET}"}}, "no reason")
    old = tmp_path / "old.jsonl"
    memory.export(old, journal=False)
    done = memory.forget(secret.id, purge=True, reason="asked for")
    receipt = done.receipt
    assert receipt["memories"] == [secret.id]
    clean(receipt, place)
    assert receipt["files"] == 3
    assert receipt["searched"]
    assert receipt["first"] <= receipt["last"] == memory.head
    nowhere(place, home)
    # The receipt itself is in the journal, without a word of the content.
    assert [e.reason for e in entries_of(memory._store, TENANT) if e.operation == "erase"] == [
        "1 erased for good: asked for"
    ]
    fresh = tmp_path / "fresh.jsonl"
    memory.export(fresh, journal=True)
    assert b"marzipan" not in fresh.read_bytes()
    assert memory.import_(old).created == 0
    with pytest.raises(NotFound):
        memory.get(secret.id)
    memory.checkpoints.rollback("before")
    nowhere(place, home)
    memory.close()
    nowhere(place, home)


def test_questions_that_repeat_what_was_purged_go_with_it(memory: recollect.Engine, place: Places) -> None:
    answers, home = memory.answers, memory.settings.home
    memory.remember("The vault is in the cellar.")
    memory.remember("Ben has the keys.")
    secret = memory.remember("The word is plover.", reasoning="Ana likes birds")
    with session(home, TENANT, "", "claude", "s") as known:
        known.heard("The word is plover.")
    memory.edit(secret.id, content=SECRET)
    cold = ("Does it open with Quixotic-Marzipan-771?", "Is marzipan sweet?", "Who likes plovers?", "Which birds?")
    for question in cold:
        assert not answers.ask(question).cached
    for _ in range(4):
        answers.ask("What opens the vault?")
    answers.put("What shall I say at the door?", "Just say marzipan.", pin=True)
    answers.put("Where is the vault?", "In the cellar.")
    answers.ask("Who has the keys?")
    receipt = memory.forget(secret.id, purge=True).receipt
    assert receipt["questions"] == len(cold) + 1, "and one was built from it"
    assert {one.question for one in answers.questions()} == {"Where is the vault?", "Who has the keys?"}
    answers.flush()  # what was counted of questions that are gone brings nothing back
    nowhere(place, home, (*RARE, b"plover", b"birds"))


def test_an_answer_that_was_computed_before_a_purge_is_not_kept_after_it(
    opened: Opener, place: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, other = opened(), opened()
    secret = memory.remember(SECRET).id
    web = Scope(project="web")
    for _ in range(2):
        memory.answers.ask("What opens the vault?", scope=web)
    worth = memory.answers._worth

    def meanwhile(*given: Any) -> str:
        other.forget(secret, purge=True)
        return worth(*given)

    monkeypatch.setattr(memory.answers, "_worth", meanwhile)
    assert "marzipan" in memory.answers.ask("What opens the vault?", scope=web).answer
    assert memory.answers.questions(kept=True) == ()
    nowhere(place, memory.settings.home)


def test_quotes_and_links_that_were_dropped_before_are_purged_from_the_journal_too(
    memory: recollect.Engine, place: Places
) -> None:
    secret, other = memory.remember("The vault opens at nine."), memory.remember("Ana has the keys.")
    memory.checkpoints.create("before")
    memory.remember("The vault opens at nine.", evidence="with quixotic-marzipan-771, she said")
    memory.link(secret.id, "related", other.id, reason="quixotic-marzipan-771")
    memory.checkpoints.rollback("before")
    memory.forget(secret.id, purge=True)
    nowhere(place, memory.settings.home)
    copy = replayed(memory._store, TENANT, place("copy.db"))
    assert state_of(copy, TENANT) == state_of(memory._store, TENANT)
    copy.close()


def test_what_was_said_goes_with_what_was_learnt_from_it(memory: recollect.Engine, place: Places) -> None:
    said = "We decided to keep the quixotic-marzipan-771 in the vault because it is safe there."
    memory.capture([Message("user", said, id="1"), Message("user", "Use pnpm for everything.", id="2")], session="s")
    (fact,) = [m for m in memory.list(limit=50).memories if m.kind != "turn" and "marzipan" in m.content]
    receipt = memory.forget(fact.id, purge=True).receipt
    clean(receipt, place)
    assert receipt["kin"]
    nowhere(place, memory.settings.home)
    # Being told the same turn again does not bring it back; what was beside it is untouched.
    memory.capture([Message("user", said, id="1")], session="s")
    nowhere(place, memory.settings.home)
    assert any("pnpm" in m.content for m in memory.list(limit=50).memories)
    store = memory._store
    copy = replayed(store, TENANT, place("copy.db"))
    assert state_of(copy, TENANT) == state_of(store, TENANT)
    copy.close()


def test_a_longer_turn_loses_only_the_words_and_what_came_from_a_purged_turn_is_named(
    memory: recollect.Engine, place: Places
) -> None:
    said = "Always run make lint before a commit. We decided to hide the quixotic-marzipan-771 under the stairs."
    memory.capture([Message("user", said, id="1")], session="s")
    turn = next(m for m in memory.list(kinds=["turn"]).memories)
    facts = [m for m in memory.list(limit=50).memories if m.kind != "turn"]
    secret = next(m for m in facts if "marzipan" in m.content)
    memory.forget(secret.id, purge=True)
    nowhere(place, memory.settings.home)
    kept = memory.get(turn.id)
    assert kept.content.startswith("Always run make lint before a commit.")
    assert "[purged]" in kept.content
    rest = {m.id for m in facts if m.id != secret.id}
    assert {m.id for m in memory.forget(turn.id, purge=True, dry_run=True).derived} == rest
    receipt = memory.forget(turn.id, purge=True, derived="keep").receipt
    assert (receipt["derived"], set(receipt["standing"])) == ([], rest)
    assert all(memory.get(id).state == "active" for id in rest)


def test_a_fact_goes_with_the_only_turn_that_says_it(memory: recollect.Engine, place: Places) -> None:
    memory.capture(
        [Message("user", "We decided to hide the quixotic-marzipan-771 under the stairs.", id="1")], session="s"
    )
    turn = memory.list(kinds=["turn"]).memories[0]
    (fact,) = [m for m in memory.list(limit=50).memories if m.kind != "turn"]
    memory.edit(fact.id, content="The thing lies under the stairs.")
    dry = memory.forget(turn.id, purge=True, dry_run=True)
    assert ([m.id for m in dry.memories], [m.id for m in dry.derived]) == ([turn.id], [fact.id])
    told = memory.forget(turn.id, purge=True)
    assert ([m.id for m in told.derived], told.receipt["derived"], told.receipt["standing"]) == (
        [fact.id],
        [fact.id],
        [],
    )
    with pytest.raises(NotFound):
        memory.get(fact.id)
    nowhere(place, memory.settings.home, (*RARE, b"stairs"))


def test_a_fact_with_other_evidence_loses_only_the_proof_that_goes(memory: recollect.Engine, place: Places) -> None:
    said = "We decided to use pnpm for everything."
    memory.capture([Message("user", said, id="1")], session="s")
    memory.capture([Message("user", f"{said} Thanks!", id="2")], session="t")
    facts = [m for m in memory.list(limit=50).memories if m.kind != "turn"]
    first = next(m for m in memory.list(kinds=["turn"]).memories if m.scope.session == "s")
    stated = memory.remember("Ana has the keys.")
    assert [len(memory.why(m.id).evidence) for m in facts] == [2]
    told = memory.forget(first.id, purge=True)
    assert (told.derived, told.receipt["standing"]) == ((), [facts[0].id])
    kept = memory.why(facts[0].id)
    assert (kept.memory.state, [one.source for one in kept.evidence]) == ("active", [kept.memory.source])
    assert kept.memory.source != first.source
    memory.forget(next(m.id for m in memory.list(kinds=["turn"]).memories), purge=True)
    assert [m.id for m in memory.list(limit=50).memories] == [stated.id], "its last proof took it along"
    copy = replayed(memory._store, TENANT, place("copy.db"))
    assert state_of(copy, TENANT) == state_of(memory._store, TENANT)
    copy.close()


def test_a_summary_loses_the_lines_of_an_erased_turn_and_goes_with_the_last(
    memory: recollect.Engine, place: Places, clock: Clock
) -> None:
    said = [
        "The kettle is loud today.",
        "The kettle opens with quixotic-marzipan-771.",
        *(f"Kettle number {n} is blue." for n in range(4)),
    ]
    memory.capture([Message("assistant", one, id=str(n)) for n, one in enumerate(said)], session="s")
    clock.forward(days=400)
    memory.janitor.run(steps=["compacted"])
    (summary,) = memory.list(kinds=["summary"]).memories
    assert "marzipan" in summary.content
    turns = memory.list(kinds=["turn"], states=["archived"], limit=50).memories
    secret = next(m for m in turns if "marzipan" in m.content)
    assert memory.forget(secret.id, purge=True).receipt["standing"] == [summary.id]
    assert "loud" in memory.get(summary.id).content
    nowhere(place, memory.settings.home)
    copy = replayed(memory._store, TENANT, place("copy.db"))
    assert state_of(copy, TENANT) == state_of(memory._store, TENANT)
    copy.close()
    rest = [m.id for m in turns if m.id != secret.id]
    assert [m.id for m in memory.forget(rest, purge=True).derived] == [summary.id]


def test_retention_of_turns_keeps_what_was_learnt_from_them(memory: recollect.Engine, clock: Clock) -> None:
    memory.capture([Message("user", "We decided to use pnpm for everything.", id="1")], session="s")
    memory.policies.retain(30, kind="turn", action="purge")
    clock.forward(days=31)
    assert len(memory.policies.apply().purged) == 1
    assert [m.content for m in memory.list(limit=50).memories] != []


def test_words_are_taken_out_of_texts_and_short_quotes_are_left() -> None:
    words = Words(("The code is 1234 5678.", "yes"))
    assert words.out_of("He said: The code is 1234 5678. Then he left.") == "He said: [purged] Then he left."
    assert words.out_of("The code is") == "The code is"
    assert words.quoted("The code is 1234") == "[purged]", "a quote from what was purged"
    assert words.out_of("yes") == "[purged]"
    assert words.out_of("oh yes, of course") == "oh yes, of course"
    assert words.within({"a": ["The code is 1234 5678.", 5], "b": "fine"}) == {"a": ["", 5], "b": "fine"}


def test_a_twin_elsewhere_is_named_and_left(memory: recollect.Engine) -> None:
    one = memory.remember(SECRET, scope=Scope(user="ana"))
    two = memory.remember(SECRET, scope=Scope(user="ben"))
    receipt = memory.forget(one.id, purge=True).receipt
    assert not receipt["verified"]
    assert f"memory {two.id} says the same" in receipt["left"]
    assert memory.get(two.id).content == SECRET


def test_another_users_memory_of_the_same_source_keeps_its_words(memory: recollect.Engine, place: Places) -> None:
    page = Source("", "document", "file:vault.md", "Vault", f"Read this first. {SECRET} Tell nobody.")
    one = memory.remember(SECRET, scope=Scope(user="ana"), source=page, evidence=SECRET)
    theirs = f"Ben read: {SECRET}"
    two = memory.remember(theirs, scope=Scope(user="ben"), source=page, evidence=SECRET)
    receipt = memory.forget(one.id, purge=True).receipt
    assert not receipt["verified"], "the receipt says where the words still are"
    assert memory.get(two.id).content == theirs
    told = memory.why(two.id)
    assert [proof.quote for proof in told.evidence] == [SECRET]
    receipt = memory.forget(two.id, purge=True).receipt
    clean(receipt, place)
    nowhere(place, memory.settings.home)


def test_the_name_of_an_entity_goes_with_the_last_memory_that_mentions_it(
    memory: recollect.Engine, place: Places
) -> None:
    node = Node("quixotic-marzipan-771", "thing", ("opens the vault", "is sweet"))
    memory.graph().create([node, Node("kettle", "thing", ("is hot",))])
    first, second = [m for m in memory.list(limit=10).memories if "marzipan" in f"{m.title} {m.content}"]
    memory.forget(first.id, purge=True)
    assert {one.name for one in memory.graph().read().nodes} == {node.name, "kettle"}
    receipt = memory.forget(second.id, purge=True).receipt
    clean(receipt, place)
    assert [one.name for one in memory.graph().read().nodes] == ["kettle"]
    nowhere(place, memory.settings.home)
    copy = replayed(memory._store, TENANT, place("copy.db"))
    assert state_of(copy, TENANT) == state_of(memory._store, TENANT)
    copy.close()


def test_a_person_can_be_erased(opened: Opener, place: Places) -> None:
    memory = opened()
    ana, ben = Scope(user="ana"), Scope(user="ben")
    memory.remember(SECRET, scope=ana)
    memory.remember("Ana likes marzipan.", scope=Scope(user="ana", project="web"))
    kept = memory.remember("Ben likes tea.", scope=ben)
    memory.graph(ana).create([Node("quixotic-marzipan-771", "thing", ("is sweet",))])
    memory.graph(ben).create([Node("kettle", "thing", ("is hot",))])
    no = memory.remember("Ana hates marzipan.", scope=ana)
    memory.reject(no.id, reason="quixotic-marzipan-771 is good")
    token, _ = memory.tokens.create(name="laptop", user="ana")
    memory.answers.put("What do I think of cake?", "It needs quixot.", scope=ana, pin=True)
    memory.answers.ask("Where is my kettle?", scope=Scope(user="ana", project="web"))
    memory.answers.ask("Who likes tea?", scope=ben)
    told = memory.forget(scope=ana, purge=True)
    assert len(told.memories) == 4
    assert told.receipt["questions"] == 2
    assert [(one.question, one.user) for one in memory.answers.questions()] == [("Who likes tea?", "ben")]
    clean(told.receipt, place)
    assert told.receipt["tokens"] == [token.id]
    nowhere(place, memory.settings.home)
    assert [m.id for m in memory.list(scope=ben, kinds=["fact"]).memories if m.content.startswith("Ben")] == [kept.id]
    assert [node.name for node in memory.graph(ben).read().nodes] == ["kettle"]
    assert memory.remember("Ana hates marzipan.", scope=ana).action == "refused", "a no outlasts the person's data"
    store = memory._store
    copy = replayed(store, TENANT, place("copy.db"))
    assert state_of(copy, TENANT) == state_of(store, TENANT)
    copy.close()


def test_a_hold_blocks_every_way_of_erasing_until_it_is_released(memory: recollect.Engine, clock: Clock) -> None:
    ana = memory.remember("Ana's secret.", scope=Scope(user="ana"))
    ben = memory.remember("Ben's secret.", scope=Scope(user="ben"))
    memory.policies.hold("case 7", scope=Scope(user="ana"), reason="a court asked")
    memory.policies.retain(1, action="purge")
    token, _ = memory.tokens.create(user="ana")
    clock.forward(days=9)
    head = memory.head
    for what in ({"id": ana.id}, {"id": [ben.id, ana.id]}, {"scope": Scope(user="ana")}):
        with pytest.raises(Held, match="case 7"):
            memory.forget(**what, purge=True)
    memory.answers.ask("What is mine?", scope=Scope(user="cy"))
    memory.policies.hold("case 8", scope=Scope(user="cy"))
    head = memory.head
    with pytest.raises(Held, match="case 8"):  # of whom there is nothing but a question
        memory.forget(scope=Scope(user="cy"), purge=True)
    memory.policies.release("case 8")
    head += 1
    assert memory.head == head, "nothing changed, not even the part that was not on hold"
    assert memory.tokens.all()[0].revoked_at is None
    told = memory.policies.apply()
    assert (told.held, told.purged) == ((ana.id,), (ben.id,))
    assert memory.get(ana.id).content == "Ana's secret."
    memory.forget(ana.id)  # which is not erasing
    with pytest.raises(BadInput, match="already"):
        memory.policies.hold("case 7")
    memory.policies.release("case 7", reason="closed")
    memory.forget(ana.id, purge=True)
    assert token.id
    with pytest.raises(NotFound):
        memory.policies.release("case 7")


def test_policies_keep_by_kind_and_scope_and_the_narrowest_counts(memory: recollect.Engine, clock: Clock) -> None:
    web, legal = Scope(project="web"), Scope(project="legal")
    made: dict[str, str] = {}
    for name, kind, scope in (
        ("talk", "turn", web), ("contract", "turn", legal), ("fact", "fact", web), ("rule", "rule", EVERYWHERE)
    ):  # fmt: skip
        made[name] = memory.remember(f"This is the {name} of the house.", kind=kind, scope=scope).id
    made["pinned"] = memory.remember("Pinned talk.", kind="turn", scope=web, tags=["pinned"]).id
    memory.policies.retain(90, kind="turn")
    memory.policies.retain(3650, kind="turn", scope=legal, action="purge")
    memory.policies.retain(30, kind="fact", action="purge", scope=web)
    assert len(memory.policies.policies()) == 3
    memory.policies.retain(60, kind="fact", action="purge", scope=web)
    assert len(memory.policies.policies()) == 3, "said again for the same kind and scope, it is replaced"
    clock.forward(days=100)
    young = memory.remember("Young talk.", kind="turn", scope=web).id
    preview = memory.policies.apply(dry_run=True)
    assert (preview.archived, preview.purged) == ((made["talk"],), (made["fact"],))
    assert memory.get(made["talk"]).state == "active"
    assert memory.policies.apply().archived == (made["talk"],)
    assert memory.policies.apply() == type(preview)(), "a second time changes nothing"
    assert {memory.get(made[name]).state for name in ("contract", "rule", "pinned")} == {"active"}
    assert memory.get(young).state == "active"
    with pytest.raises(NotFound):
        memory.get(made["fact"])
    for wrong in ({"days": 0}, {"days": 9, "kind": "nonsense"}, {"days": 9, "action": "burn"}):
        with pytest.raises(BadInput):
            memory.policies.retain(**wrong)
    memory.policies.drop(memory.policies.policies()[0].id)
    assert len(memory.policies.policies()) == 2


def test_what_a_hook_puts_into_a_session_is_told_by_why(memory: recollect.Engine, tmp_path: Path) -> None:
    rule = memory.remember("Always answer in English.", kind="rule", importance=9)
    told: dict[str, Any] = {"session_id": "abc", "cwd": "", "source": "startup"}
    envelope = {"host": "claude", "event": "SessionStart", "input": told, "at": 1772442001.0}
    answer = hooks.answer(memory, ME, tmp_path / "home", envelope)
    assert "Always answer in English." in json.dumps(answer)
    told_why = memory.why(rule.id)
    assert [(one.session, one.way) for one in told_why.shown] == [("abc", "start")]
    memory.rate(rule.id, helped=True, session="abc")
    assert memory.why(rule.id).helped == 1
