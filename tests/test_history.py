"""The past: what was known and what was true, why something is there, checkpoints, and going back."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

import recollect
from conftest import Clock, Opener, Places
from recollect import BadInput, Memory, NotFound, Scope
from recollect.graph import Node, Relation
from recollect.history.asof import undone
from recollect.types import EVERYWHERE, Entry, Message
from replay import entries_of, replayed, state_of

TENANT = "default"
WEB, API = Scope(project="web"), Scope(project="api")


def contents(found: Any) -> set[str]:
    return {memory.content for memory in found.memories}


def shown(memory: recollect.Engine, query: str, **options: Any) -> set[str]:
    return {hit.memory.content for hit in memory.recall(query, **options)}


def standing(memory: recollect.Engine) -> dict[str, tuple[str, str]]:
    return {m.id: (m.content, m.state) for m in memory.list(states=("active", "pending"), limit=1000).memories}


def whole(memory: recollect.Engine) -> list[dict[str, Any]]:
    return [m.record() for m in memory.list(states=[], limit=1000).memories]


# -- what was known, and what was true --------------------------------------------------------------------------------


def test_rows_are_undone_from_the_newest_on(clock: Clock) -> None:
    def row(seq: int, before: dict[str, Any] | None, after: dict[str, Any] | None) -> Entry:
        return Entry(seq, clock(), "test", "edit", "memory", "m", before, after)

    later = [row(3, {"a": 1}, {"a": 2}), row(5, {"a": 2, "b": 1}, {"a": 3, "b": 2})]
    assert undone({"a": 3, "b": 2, "c": 9}, later) == {"a": 1, "b": 1, "c": 9}
    assert undone(None, [row(6, {"a": 3}, None), *later]) is not None
    assert undone({"a": 3}, [row(1, None, {"a": 1}), *later]) is None
    assert undone({"a": 3}, []) == {"a": 3}


def test_get_and_list_answer_as_of_a_time(memory: recollect.Engine, clock: Clock) -> None:
    first = memory.remember("We deploy on Thursdays.", scope=WEB)
    other = memory.remember("The parser is slow.", scope=WEB)
    then = clock.forward(days=1)
    memory.edit(first.id, content="We deploy on Mondays.", scope=API)
    memory.forget(other.id)
    memory.remember("Ana owns billing.", scope=WEB)
    assert memory.get(first.id, as_of=then).content == "We deploy on Thursdays."
    assert memory.get(first.id, as_of=then).scope == WEB
    assert contents(memory.list(scope=WEB, as_of=then)) == {"We deploy on Thursdays.", "The parser is slow."}
    assert contents(memory.list(scope=API, as_of=then)) == set()
    assert contents(memory.list(scope=WEB)) == {"Ana owns billing."}
    with pytest.raises(NotFound, match="not known then"):
        memory.get(first.id, as_of=then - timedelta(days=9))
    with pytest.raises(recollect.BadTime):
        memory.list(as_of="yesterday")


def test_pages_of_the_past_are_those_that_would_have_been(memory: recollect.Engine, clock: Clock) -> None:
    ids = [memory.remember(f"Thing number {n} of the list.").id for n in range(30)]
    before = [page.id for page in memory.list(limit=1000).memories]
    then = clock.forward(hours=1)
    for id in ids[::3]:
        memory.edit(id, importance=9)
    for id in ids[1::3]:
        memory.forget(id)
    for n in range(10):
        memory.remember(f"Later thing {n}.")
    found: list[str] = []
    cursor = None
    while True:
        page = memory.list(limit=7, cursor=cursor, as_of=then)
        found += [one.id for one in page.memories]
        if (cursor := page.cursor) is None:
            break
    assert found == before


def test_recall_as_of_finds_what_was_said_then_in_the_words_of_then(memory: recollect.Engine, clock: Clock) -> None:
    first = memory.remember("Releases leave the harbour on Thursdays.", scope=WEB)
    then = clock.forward(days=1)
    memory.edit(first.id, content="Nothing of the old words is left here.")
    assert shown(memory, "harbour Thursdays", as_of=then, scope=WEB) == {"Releases leave the harbour on Thursdays."}
    assert shown(memory, "harbour Thursdays", as_of=then, scope=API) == set()
    assert "Releases leave the harbour on Thursdays." not in shown(memory, "harbour Thursdays")


def test_what_was_true_is_another_question_than_what_was_known(memory: recollect.Engine, clock: Clock) -> None:
    old = memory.remember("Deploys happen on Thursdays.", valid_from="2025-01-01T00:00:00Z")
    start = clock.forward(days=1)
    new = memory.remember("Deploys happen on Mondays.")
    memory.link(new.id, "supersedes", old.id)
    later = clock.forward(days=30)
    bounded = memory.remember(
        "Deploys were frozen over the holidays.", valid_from="2025-12-20T00:00:00Z", valid_to="2026-01-05T00:00:00Z"
    )
    # Today: what is true now. True at the start: the one that held then, and not the one that took its place.
    assert contents(memory.list(true_at=start)) == {"Deploys happen on Thursdays."}
    assert contents(memory.list(true_at=later)) == {"Deploys happen on Mondays."}
    held = contents(memory.list(true_at="2025-12-24T00:00:00Z"))
    assert held == {"Deploys happen on Thursdays.", "Deploys were frozen over the holidays."}
    # Known then, true at Christmas: the freeze was not known yet.
    assert contents(memory.list(as_of=later, true_at="2025-12-24T00:00:00Z")) == {"Deploys happen on Thursdays."}
    assert shown(memory, "deploys", true_at=start) == {"Deploys happen on Thursdays."}
    assert "Deploys were frozen over the holidays." in shown(memory, "deploys frozen", true_at="2025-12-24T00:00:00Z")
    assert shown(memory, "deploys", as_of=start) == {"Deploys happen on Thursdays."}
    # Of those that stand for one another, the one that held.
    assert memory.get(new.id, true_at=start).id == old.id
    assert memory.get(old.id, true_at=later).id == new.id
    assert memory.get(bounded.id, true_at="2026-01-01T00:00:00Z").id == bounded.id
    with pytest.raises(NotFound, match="held then"):
        memory.get(bounded.id, true_at="2026-02-01T00:00:00Z")


def test_the_state_of_an_entity_at_a_time(memory: recollect.Engine, clock: Clock) -> None:
    graph = memory.graph(WEB)
    graph.create([Node("billing", "service", ("is written in Go",)), Node("ledger", "service", ())])
    graph.relate([Relation("billing", "uses", "ledger")])
    then = clock.forward(days=1)
    graph.observe([("billing", ["belongs to Ana"])])
    graph.unsay([("billing", ["is written in Go"])])
    graph.unrelate([Relation("billing", "uses", "ledger")])
    state = memory.state("billing", at=then, scope=WEB)
    assert [one.content for one in state.memories] == ["billing: is written in Go"]
    assert state.relations == (("billing", "uses", "ledger"),)
    today = memory.state("billing", scope=WEB)
    assert [one.content for one in today.memories] == ["billing: belongs to Ana"]
    assert today.relations == ()
    gone = clock.forward(days=1)
    graph.remove(["billing"])
    assert memory.state("billing", at=gone, scope=WEB).memories == today.memories
    for scope, at in ((WEB, None), (API, gone), (WEB, then - timedelta(days=9))):
        with pytest.raises(NotFound):
            memory.state("billing", at=at, scope=scope)


# -- why --------------------------------------------------------------------------------------------------------------


def test_why_tells_source_quotes_trust_ties_changes_and_uses(memory: recollect.Engine, clock: Clock) -> None:
    memory.capture([Message("user", "We decided to deploy on Mondays because support is there.", id="1")], session="s1")
    (fact,) = [m for m in memory.list(limit=100).memories if m.kind != "turn"]
    newer = memory.remember("We deploy on Tuesdays since March.", kind="decision")
    memory.link(newer.id, "supersedes", fact.id, reason="said in the meeting")
    memory.saw([memory.get(newer.id, peek=True)], "prompt", session="s2", every=True)
    memory.rate(newer.id, helped=True, session="s2")
    told = memory.why(fact.id)
    assert told.source is not None
    assert told.source.kind == "turn"
    assert [quote.quote for quote in told.evidence] != []
    assert [one.relation for one in told.derived_from] == ["said in"]
    assert [(one.id, one.reason) for one in told.superseded_by] == [(newer.id, "said in the meeting")]
    assert [(step.trust, step.state) for step in told.trust] == [("stated", "active"), ("stated", "superseded")]
    assert told.changes[0].operation == "supersede"
    after = memory.why(newer.id)
    assert [one.id for one in after.superseded] == [fact.id]
    assert [(one.session, one.way, one.helped) for one in after.shown] == [("s2", "prompt", 1)]
    assert (after.helped, after.did_not_help) == (1, 0)


def test_why_is_bounded_and_says_what_it_left_out(memory: recollect.Engine) -> None:
    chain = [memory.remember(f"Version {n} of the plan, long " + "x" * 5000).id for n in range(8)]
    for new, old in zip(chain[1:], chain, strict=False):
        memory.link(new, "supersedes", old)
    for n in range(12):
        memory.edit(chain[-1], importance=1 + n % 2)
    told = memory.why(chain[-1], depth=3, limit=5)
    assert [one.depth for one in told.superseded] == [1, 2, 3]
    assert len(told.changes) == 5
    assert told.left_out["changes"] >= 8
    assert all(len(one.content) < 300 for one in told.superseded)
    assert len(told.memory.content) <= 2000
    assert all(len(str(entry.as_dict())) < 5000 for entry in told.changes)
    hidden = memory.why(chain[-1], sees=lambda other: False)
    assert hidden.superseded == ()
    for depth, limit in ((99, 5), (3, 0), (3, 10**9)):
        with pytest.raises(BadInput):
            memory.why(chain[-1], depth=depth, limit=limit)
    with pytest.raises(NotFound):
        memory.why("zzzz")


def test_a_rating_counts_for_the_last_time_it_was_shown_and_is_kept_without_one(
    memory: recollect.Engine, clock: Clock
) -> None:
    one = memory.remember("Use pnpm.")
    found = memory.get(one.id, peek=True)
    memory.saw([found], "start", session="a", every=True)
    clock.forward(hours=1)
    memory.saw([found], "prompt", session="b", every=True)
    assert memory.rate(one.id, helped=False).session == "b"
    assert memory.rate(one.id, helped=True, session="a").way == "start"
    assert memory.rate(one.id, helped=True, session="c").way == "rated"
    told = memory.why(one.id)
    assert (told.helped, told.did_not_help, len(told.shown)) == (2, 1, 3)


# -- the audit log ----------------------------------------------------------------------------------------------------


def test_the_audit_log_filters_and_pages(opened: Opener, clock: Clock) -> None:
    ana, ben = opened(actor="ana"), opened(actor="ben")
    one = ana.remember("We deploy on Thursdays.", scope=WEB)
    then = clock.forward(days=1)
    ben.edit(one.id, importance=9, reason="it matters")
    ben.remember("The API is versioned.", scope=API)
    assert {e.actor for e in ana.audit(actors=["ben"]).entries} == {"ben"}
    assert [e.reason for e in ana.audit(operations=["edit"]).entries] == ["it matters"]
    assert {e.target for e in ana.audit(nouns=["memory"], project="web").entries} == {one.id}
    assert all(e.at > then for e in ana.audit(since=then).entries)
    assert all(e.at <= then for e in ana.audit(until=then).entries)
    seqs: list[int] = []
    cursor = None
    while True:
        page = ana.audit(limit=2, cursor=cursor)
        seqs += [e.seq for e in page.entries]
        if (cursor := page.cursor) is None:
            break
    assert seqs == list(range(ana.head, 0, -1))
    for wrong in ({"limit": 0}, {"limit": 1001}, {"cursor": 0}, {"since": "noon"}):
        with pytest.raises(BadInput):
            ana.audit(**wrong)


def test_reads_across_projects_are_logged_and_others_are_not(opened: Opener) -> None:
    web = opened(project="web", actor="ana")
    mine = web.remember("The web shop uses Vue.").id
    theirs = web.remember("The API uses FastAPI.", scope=API).id
    common = web.remember("Everybody uses git.", scope=EVERYWHERE).id
    web.recall("uses", scope=EVERYWHERE, limit=10)
    web.get(mine)
    web.get(common)
    web.get(theirs)
    reads = web.audit().reads
    assert {(one.memory, one.project, one.owner, one.actor) for one in reads} == {(theirs, "web", "api", "ana")}
    assert {one.way for one in reads} == {"recall", "get"}
    assert web.audit(reads=False).reads == ()
    assert web.audit(actors=["ben"]).reads == ()


def test_standing_rules_and_facts_of_another_project_in_a_context_are_reads_across(opened: Opener) -> None:
    web = opened(project="web", actor="ana")
    web.remember("Use pnpm in the shop.", kind="rule")
    web.remember("Write in English.", kind="rule", scope=EVERYWHERE)
    rule = web.remember("Version every endpoint.", kind="rule", scope=API).id
    fact = web.remember("The API is behind a proxy.", importance=9, scope=API).id
    web.context("what do we write?")
    assert web.audit().reads == (), "of one's own project, and of none"
    web.context(scope=API)
    assert {(one.memory, one.way, one.project, one.owner) for one in web.audit().reads} == {
        (rule, "context", "web", "api"), (fact, "context", "web", "api"),
    }  # fmt: skip


# -- checkpoints ------------------------------------------------------------------------------------------------------


def test_a_difference_is_told_as_added_changed_removed_and_superseded(memory: recollect.Engine, clock: Clock) -> None:
    old = memory.remember("We deploy on Thursdays.", scope=WEB)
    gone = memory.remember("The parser is slow.", scope=WEB)
    edited = memory.remember("Ana owns billing.", scope=WEB)
    elsewhere = memory.remember("The API is versioned.", scope=API)
    memory.checkpoints.create("before", scope=WEB)
    moment = clock.forward(hours=1)
    new = memory.remember("We deploy on Mondays.", scope=WEB)
    memory.link(new.id, "supersedes", old.id)
    memory.forget(gone.id)
    memory.edit(edited.id, content="Ben owns billing.")
    memory.edit(elsewhere.id, importance=9)
    passing = memory.remember("A passing thought.", scope=WEB)
    memory.forget(passing.id)
    told = memory.checkpoints.diff("before")
    assert [one.id for one in told.added] == [new.id]
    assert [one.id for one in told.removed] == [gone.id]
    assert [(one.id, one.by) for one in told.superseded] == [(old.id, new.id)]
    assert [(one.id, one.fields["content"]) for one in told.changed] == [
        (edited.id, ["Ana owns billing.", "Ben owns billing."])
    ]
    assert told.counts == {"added": 1, "changed": 1, "removed": 1, "superseded": 1, "said_again": 0, "purged": 0}
    memory.checkpoints.create("after")
    memory.remember("Much later.", scope=WEB)
    assert memory.checkpoints.diff("before", "after", scope=WEB).counts == told.counts
    assert memory.checkpoints.diff(moment, "after", scope=WEB).counts == told.counts
    assert memory.checkpoints.diff("after", "before", scope=WEB).counts == told.counts
    assert memory.checkpoints.diff("before", scope=API).counts["changed"] == 1
    assert memory.checkpoints.diff("after", "after").counts["added"] == 0


def test_checkpoints_are_named_once_and_wrong_names_are_refused(memory: recollect.Engine) -> None:
    made = memory.checkpoints.create("one", reason="to try")
    assert [one.name for one in memory.checkpoints.all()] == ["one"]
    for wrong in ("one", "", "now", "#7", "2026-03-01T00:00:00Z", "x" * 1000):
        with pytest.raises(BadInput):
            memory.checkpoints.create(wrong)
    for verb in (memory.checkpoints.get, memory.checkpoints.diff, memory.checkpoints.rollback):
        with pytest.raises(NotFound):
            verb("two")
    assert memory.checkpoints.delete("one") == made
    assert memory.checkpoints.all() == []
    with pytest.raises(NotFound):
        memory.checkpoints.delete("one")


def test_going_back_brings_back_what_was_and_can_be_taken_back_itself(
    memory: recollect.Engine, place: Places, clock: Clock
) -> None:
    old = memory.remember("We deploy on Thursdays.", tags=["deploy"])
    edited = memory.remember("Ana owns billing.", evidence="she said so")
    gone = memory.remember("The parser is slow.")
    memory.graph().create([Node("billing", "service", ("is written in Go",))])
    memory.checkpoints.create("before")
    before, links = standing(memory), len(memory.links(old.id))
    new = memory.remember("We deploy on Mondays.")
    memory.link(new.id, "supersedes", old.id)
    memory.edit(edited.id, content="Ben owns billing.", tags=["people"])
    memory.remember("Ben owns billing.", evidence="heard again")
    memory.forget(gone.id)
    memory.graph().create([Node("ledger", "service", ("is slow",))])
    memory.graph().relate([Relation("billing", "uses", "ledger")])
    after, head = whole(memory), memory.head

    preview = memory.checkpoints.rollback("before", dry_run=True)
    assert (memory.head, whole(memory)) == (head, after)
    done = memory.checkpoints.rollback("before")
    assert (set(done.restored), set(done.archived)) == (set(preview.restored), set(preview.archived))
    assert (done.links, done.evidence, done.entities) == (preview.links, preview.evidence, preview.entities)
    assert preview.undo == ""
    assert done.restored
    assert done.skipped == {}
    assert standing(memory) == before
    assert memory.get(new.id).state == "archived"
    assert len(memory.links(old.id)) == links
    assert memory.evidence(edited.id)[1][0].quote == "she said so"
    assert len(memory.evidence(edited.id)[1]) == 1
    assert [node.name for node in memory.graph().read().nodes] == ["billing"]
    counts = memory.checkpoints.diff("before").counts
    assert not any(counts[sort] for sort in ("added", "changed", "removed", "superseded"))
    assert shown(memory, "when do we deploy?") >= {"We deploy on Thursdays."}
    assert "We deploy on Mondays." not in shown(memory, "when do we deploy?")

    memory.checkpoints.rollback(done.undo)
    assert whole(memory) == after
    assert sorted(node.name for node in memory.graph().read().nodes) == ["billing", "ledger"]
    assert len(memory.evidence(edited.id)[1]) == 2
    store = memory._store
    copy = replayed(store, TENANT, place("copy.db"))
    assert state_of(copy, TENANT) == state_of(store, TENANT)
    copy.close()


def test_going_back_can_be_chosen_by_kind_tag_source_agent_and_scope(memory: recollect.Engine) -> None:
    memory.remember("The first thing.")
    memory.checkpoints.create("before")
    made = {
        "rule": memory.remember("Always review.", kind="rule").id,
        "tagged": memory.remember("It is tagged.", tags=["x"]).id,
        "sourced": memory.remember("It has a source.", source="https://example.org/a").id,
        "agent": memory.remember("An agent said it.", scope=Scope(agent="scout")).id,
        "web": memory.remember("It is of the web project.", scope=WEB).id,
    }
    for choice, name in (
        ({"kinds": ["rule"]}, "rule"),
        ({"tags": ["x"]}, "tagged"),
        ({"sources": ["https://example.org/a"]}, "sourced"),
        ({"agents": ["scout"]}, "agent"),
        ({"scope": WEB}, "web"),
    ):
        done = memory.checkpoints.rollback("before", dry_run=True, **choice)
        assert (done.archived, done.restored) == ((made[name],), ()), name
    memory.checkpoints.rollback("before", kinds=["rule"])
    assert {memory.get(id).state for name, id in made.items() if name != "rule"} == {"active"}
    memory.checkpoints.create("of the web", scope=WEB)
    with pytest.raises(BadInput, match="outside"):
        memory.checkpoints.rollback("of the web", scope=API)
    with pytest.raises(BadInput):
        memory.checkpoints.rollback("before", kinds=["nonsense"])


def test_going_back_in_one_scope_leaves_the_others_alone(memory: recollect.Engine) -> None:
    mine, theirs = memory.remember("Mine is one.", scope=WEB), memory.remember("Theirs is one.", scope=API)
    memory.checkpoints.create("web", scope=WEB)
    memory.edit(mine.id, content="Mine is two.")
    memory.edit(theirs.id, content="Theirs is two.")
    memory.link(mine.id, "related", theirs.id)
    memory.checkpoints.rollback("web")
    assert memory.get(mine.id).content == "Mine is one."
    assert memory.get(theirs.id).content == "Theirs is two."


def test_a_no_and_an_erasure_outlast_going_back(memory: recollect.Engine) -> None:
    wrong = memory.remember("We deploy on Fridays.")
    secret = memory.remember("The word is xyzzy-plugh.")
    back = memory.remember("It was rejected by mistake.")
    reworded = memory.remember("The bad value stands here.")
    memory.reject(back.id)
    memory.checkpoints.create("before")
    memory.reject(wrong.id, reason="false")
    memory.forget(secret.id, purge=True)
    memory.reject(back.id, undo=True)
    memory.edit(reworded.id, content="Something better.")
    again = memory.remember("The bad value stands here.")
    memory.reject(again.id)
    done = memory.checkpoints.rollback("before")
    assert memory.get(wrong.id).state == "rejected"
    assert memory.get(back.id).state == "active"
    assert memory.get(reworded.id).content == "Something better."
    assert set(done.skipped) == {wrong.id, back.id, reworded.id}
    with pytest.raises(NotFound):
        memory.get(secret.id)
    assert memory.remember("We deploy on Fridays.").action == "refused"


def test_checkpoints_are_set_before_an_import_and_before_much_is_forgotten(
    memory: recollect.Engine, tmp_path: Any
) -> None:
    path = tmp_path / "more.jsonl"
    path.write_text('{"content": "Imported thing."}\n')
    memory.import_(path)
    assert memory.checkpoints.all() == [], "an empty store has nothing to go back to"
    memory.forget(memory.list().memories[0].id)
    memory.import_(path)
    assert [one.name.rsplit("-", 2)[0] for one in memory.checkpoints.all()] == ["before-import"]
    ids = [memory.remember(f"Thing {n} in the attic.").id for n in range(12)]
    memory.forget(ids[:2])
    memory.forget(ids[2:])
    (latest, _) = memory.checkpoints.all()
    assert latest.name.startswith("before-forget-")
    memory.checkpoints.rollback(latest.name)
    assert {memory.get(id).state for id in ids[2:]} == {"active"}
    assert {memory.get(id).state for id in ids[:2]} == {"archived"}


def test_automatic_checkpoints_make_room_and_named_ones_stay(memory: recollect.Engine, clock: Clock) -> None:
    memory.remember("Something.")
    memory.checkpoints.create("mine")
    for _ in range(60):
        clock.forward(seconds=2)
        memory.checkpoints.automatic("import")
    names = [one.name for one in memory.checkpoints.all()]
    assert len(names) == 51
    assert "mine" in names


def test_a_rollback_to_a_time_restores_vectors_and_index(memory: recollect.Engine, clock: Clock) -> None:
    one = memory.remember("The lighthouse keeper sleeps at noon.")
    then = clock.forward(hours=1)
    memory.edit(one.id, content="Completely different words about databases.")
    memory.checkpoints.rollback(then)
    memory.embed()
    (hit,) = memory.recall("lighthouse keeper", limit=1)
    assert hit.memory.id == one.id
    assert "vector" in hit.arms
    assert memory._store.unembedded(TENANT, "hashing/1", 10) == []


def test_two_engines_see_a_rollback_alike(opened: Opener) -> None:
    one, other = opened(), opened()
    kept = one.remember("First words.")
    one.checkpoints.create("c")
    other.edit(kept.id, content="Other words.")
    other.checkpoints.rollback("c")
    assert one.get(kept.id).content == "First words."
    assert [e.operation for e in entries_of(one._store, TENANT) if e.noun == "memory"] == ["create", "edit", "rollback"]


def test_a_memory_written_anew_to_take_a_secret_out_is_not_taken_back(memory: recollect.Engine) -> None:
    kept = memory.remember("Some words.")
    memory.checkpoints.create("c")
    found = memory.get(kept.id)
    assert isinstance(found, Memory)
    with memory._store.transaction(TENANT, "test", found.created_at) as changes:
        changes.restate(found)
    done = memory.checkpoints.rollback("c")
    assert memory.get(kept.id).state == "active"
    assert done.skipped == {kept.id: "its history was blanked"}
