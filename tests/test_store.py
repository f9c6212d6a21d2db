"""The contract of a store: what every implementation must do."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from conftest import START, Places
from nouns import A, B, found, memory, purge_a_secret, put, source, unit
from recollect import Memory, NotFound, Scope, Source
from recollect.ids import make
from recollect.store.contract import Store
from recollect.types import Filter, Tombstone
from writers import context, write_one


def test_a_memory_comes_back_as_it_was_put(store: Store) -> None:
    whole = memory(
        1, "Deploys go out on Thursdays.", kind="decision", network="bank", title="Deploys", reasoning="staffing",
        keywords=("deploy",), tags=("release", "ops"), refs=("ADR-005",), importance=8, confidence=0.75, trust="cited",
        scope=Scope("ana", "web", "main", "bot", "s1"), valid_from=START, valid_to=START + timedelta(days=9),
        expires_at=START + timedelta(days=99), observed=3,
    )  # fmt: skip
    put(store, whole)
    assert store.memories(A, [whole.id]) == {whole.id: whole}


def test_a_transaction_lands_whole_or_not_at_all(store: Store) -> None:
    def stop_half_way() -> None:
        with store.transaction(A, "test", START) as changes:
            changes.put(source(), "create")
            changes.put(memory(1, "half done"), "create")
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        stop_half_way()
    assert store.memories(A, [make(1, 1)]) == {}
    assert store.head(A) == 0
    assert found(store, "half done") == []


def test_every_change_appends_one_numbered_row_that_tells_before_and_after(store: Store) -> None:
    first = memory(1, "Node 18 is used.")
    put(store, first)
    put(store, replace(first, importance=9), operation="edit")
    entries = store.journal(A)
    assert [(e.seq, e.operation, e.noun) for e in entries] == [
        (1, "create", "source"), (2, "create", "memory"), (3, "edit", "memory"),
    ]  # fmt: skip
    assert entries[1].before is None
    assert entries[1].after is not None
    assert entries[1].after["content"] == "Node 18 is used."
    assert (entries[2].before, entries[2].after) == ({"importance": 5}, {"importance": 9})


def test_putting_the_same_again_changes_and_journals_nothing(store: Store) -> None:
    put(store, memory(1, "Same."))
    put(store, memory(1, "Same."))
    assert store.head(A) == 2


def test_tenants_do_not_see_each_other_by_any_read(store: Store) -> None:
    same = memory(1, "The launch code is a secret plan.", tags=("plan",))
    put(store, same)
    put(store, memory(2, "Nothing to see."), tenant=B)
    with store.transaction(A, "test", START) as changes:
        changes.embed(same.id, "m", unit(1)[None, :])
    wide = Filter(states=())
    assert store.memories(B, [same.id]) == {}
    assert store.page(B, wide, None, 10) == [memory(2, "Nothing to see.")]
    assert store.count(B, wide) == 1
    assert found(store, "launch code secret plan", wide, B) == []
    assert store.nearest(B, "m", unit(1), wide, 10) == []
    assert store.cosines(B, "m", unit(1), [same.id]) == {}
    assert store.ending(B, same.id[-8:], 5) == []
    assert store.of(B, Memory, [same.id]) == []
    assert [m.id for m in store.all(B, Memory, "", 10)] == [make(2, 2)]
    assert store.unembedded(B, "m", 10) == [memory(2, "Nothing to see.")]
    assert {entry.target for entry in store.journal(B)} == {source().id, make(2, 2)}
    assert store.stats(B)["memories"] == 1
    with store.transaction(B, "test", START) as changes:
        assert changes.get(Memory, same.id) is None
        assert changes.same(same.content_hash, Scope()) is None
        assert changes.drop(Memory, same.id, "drop") is False
        with pytest.raises(NotFound):
            changes.purge(same.id)
    store.used(B, {same.id: (1, 1)}, START)
    assert store.memories(A, [same.id])[same.id] == same


def test_two_tenants_may_hold_the_same_id(store: Store) -> None:
    put(store, memory(1, "ours"))
    put(store, memory(1, "theirs"), tenant=B)
    assert store.memories(A, [make(1, 1)])[make(1, 1)].content == "ours"
    assert store.memories(B, [make(1, 1)])[make(1, 1)].content == "theirs"


@pytest.mark.parametrize(
    ("question", "content"),
    [
        ("user name", "call getUserName() first"),
        ("getUserName", "call getUserName() first"),
        ("GETUSERNAME", "call getUserName() first"),
        ("adr 5", "see ADR-005 for why"),
        ("ADR-005", "see ADR-005 for why"),
        ("ADR-5", "see ADR-005 for why"),
        ("snake case", "the snake_case_name is used"),
        ("snake_case_name", "the snake_case_name is used"),
        ("token_store.py", "look into src/auth/token_store.py"),
        ("auth token", "look into src/auth/token_store.py"),
        ("src/auth/token_store.py", "look into src/auth/token_store.py"),
        ("path join", "os.path.join breaks on Windows"),
        ("os.path", "os.path.join breaks on Windows"),
        ("deploying", "we deployed it yesterday"),
        ("deployment", "deployments are slow"),
        ("http server", "HTTPServer2 crashed"),
        ("cafe", "the café meeting"),
        ("--dry-run", "always pass --dry-run"),
        ("error E1234", "it fails with E1234"),
        ("京都", "東京都に行く"),
    ],
)
def test_full_text_finds_identifiers_paths_numbers_and_word_forms(store: Store, question: str, content: str) -> None:
    put(store, memory(1, content), memory(2, "something else entirely, of no use here"))
    assert found(store, question)[:1] == [make(1, 1)]


def test_title_and_keywords_weigh_more_than_content(store: Store) -> None:
    put(
        store,
        memory(1, "A long text that mentions caching once, among many other things of the day."),
        memory(2, "A long text about many other things of the day and of the week.", title="Caching"),
    )
    assert found(store, "caching") == [make(2, 2), make(1, 1)]


def test_full_text_follows_edits_and_removal(store: Store) -> None:
    first = memory(1, "Use yarn.", tags=("old",))
    put(store, first)
    put(store, replace(first, content="Use pnpm.", tags=("new",)), operation="edit")
    assert found(store, "yarn") == []
    assert found(store, "pnpm") == [first.id]
    assert store.page(A, Filter(tags=("old",)), None, 5) == []
    with store.transaction(A, "test", START) as changes:
        changes.drop(Memory, first.id, "drop")
    assert found(store, "pnpm") == []


FILTERS: dict[str, tuple[Filter, dict[str, object]]] = {
    "kind": (Filter(kinds=("decision",)), {"kind": "decision"}),
    "tag": (Filter(tags=("x", "y")), {"tags": ("x", "y", "z")}),
    "state": (Filter(states=("archived",)), {"state": "archived"}),
    "importance": (Filter(min_importance=7), {"importance": 7}),
    "since": (Filter(since=START + timedelta(days=1)), {"valid_from": START + timedelta(days=1)}),
    "until": (Filter(until=START - timedelta(days=1)), {"valid_from": START - timedelta(days=1)}),
    "inside": (Filter(scope=Scope(project="web"), inside=True), {"scope": Scope(project="web", session="s")}),
    "session": (Filter(scope=Scope(session="s"), inside=True), {"scope": Scope(user="u", session="s")}),
}


@pytest.mark.parametrize("name", FILTERS)
def test_each_filter_holds_in_every_way_of_reading(store: Store, name: str) -> None:
    filter, fields = FILTERS[name]
    put(store, memory(1, "alpha beta"), memory(2, "alpha gamma", **fields))
    with store.transaction(A, "test", START) as changes:
        for number in (1, 2):
            changes.embed(make(number, number), "m", unit(1, number)[None, :])
    wanted = [make(2, 2)]
    assert [m.id for m in store.page(A, filter, None, 10)] == wanted
    assert store.count(A, filter) == 1
    assert found(store, "alpha", filter) == wanted
    assert [id for id, _ in store.nearest(A, "m", unit(1), filter, 10)] == wanted


def test_a_scope_sees_itself_and_what_encloses_it(store: Store) -> None:
    put(
        store,
        memory(1, "alpha everywhere"),
        memory(2, "alpha web", scope=Scope(project="web")),
        memory(3, "alpha api", scope=Scope(project="api")),
        memory(4, "alpha ana", scope=Scope(user="ana", project="web")),
    )
    seen = found(store, "alpha", Filter(scope=Scope(user="bo", project="web")))
    assert set(seen) == {make(1, 1), make(2, 2)}


def test_only_what_is_valid_and_unexpired_is_current(store: Store) -> None:
    day = timedelta(days=1)
    put(
        store,
        memory(1, "alpha now", valid_from=START - day, valid_to=START + day, expires_at=START + day),
        memory(2, "alpha not yet", valid_from=START + day),
        memory(3, "alpha no more", valid_to=START),
        memory(4, "alpha expired", expires_at=START - day),
    )
    assert found(store, "alpha", Filter(current_at=START)) == [make(1, 1)]
    assert len(found(store, "alpha", Filter())) == 4


def test_a_narrow_filter_finds_what_lies_behind_hundreds_of_better_matches(store: Store) -> None:
    crowd = [memory(n, "alpha alpha alpha", scope=Scope(project="big")) for n in range(10, 500)]
    mine = memory(5, "alpha somewhere in a much longer sentence about other things", scope=Scope(project="small"))
    late = memory(
        6, "alpha in another long sentence about quite other matters", kind="decision", scope=Scope(project="big")
    )
    put(store, *crowd, mine, late)
    assert found(store, "alpha", Filter(scope=Scope(project="small"))) == [mine.id]
    assert found(store, "alpha", Filter(kinds=("decision",))) == [late.id]


def test_vectors_are_found_by_meaning_with_the_best_chunk_and_only_of_their_model(store: Store) -> None:
    put(store, memory(1, "one"), memory(2, "two"), memory(3, "three"))
    with store.transaction(A, "test", START) as changes:
        changes.embed(make(1, 1), "m", np.stack([unit(0, 1), unit(1, 0.1)]))
        changes.embed(make(2, 2), "m", unit(1, 1)[None, :])
        changes.embed(make(3, 3), "other", unit(1)[None, :])
    hits = store.nearest(A, "m", unit(1), Filter(), 10)
    assert [id for id, _ in hits] == [make(1, 1), make(2, 2)]
    assert hits[0][1] == pytest.approx(float(unit(1, 0.1) @ unit(1)), abs=1e-3)
    assert store.cosines(A, "m", unit(1), [make(2, 2), make(3, 3)]).keys() == {make(2, 2)}
    assert [m.id for m in store.unembedded(A, "m", 10)] == [make(3, 3)]


def test_another_process_sees_new_changed_and_removed_vectors_at_once(stores: Callable[[], Store]) -> None:
    store, other = stores(), stores()
    put(store, memory(1, "one"), memory(2, "two"))
    with store.transaction(A, "test", START) as changes:
        changes.embed(make(1, 1), "m", unit(1)[None, :])
        changes.embed(make(2, 2), "m", unit(0, 1)[None, :])
    assert [id for id, _ in other.nearest(A, "m", unit(1), Filter(), 1)] == [make(1, 1)]
    with store.transaction(A, "test", START) as changes:
        changes.embed(make(1, 1), "m", unit(-1)[None, :])
        changes.embed(make(2, 2), "m", unit(1)[None, :])
    assert [id for id, _ in other.nearest(A, "m", unit(1), Filter(), 1)] == [make(2, 2)]
    put(store, replace(memory(2, "two"), state="archived"), operation="forget")
    assert [id for id, _ in other.nearest(A, "m", unit(1), Filter(), 5)] == [make(1, 1)]
    with store.transaction(A, "test", START) as changes:
        changes.purge(make(1, 1))
    assert other.nearest(A, "m", unit(1), Filter(), 5) == []


def test_changed_content_loses_its_old_vector(store: Store) -> None:
    put(store, memory(1, "one"))
    with store.transaction(A, "test", START) as changes:
        changes.embed(make(1, 1), "m", unit(1)[None, :])
    put(store, replace(memory(1, "one"), content="quite another"), operation="edit")
    assert store.nearest(A, "m", unit(1), Filter(), 5) == []
    assert [m.id for m in store.unembedded(A, "m", 5)] == [make(1, 1)]


def test_purging_erases_content_everywhere_and_blanks_the_journal(store: Store, place: Places) -> None:
    secret = purge_a_secret(store)
    assert [one.content for one in store.page(A, Filter(states=()), None, 10)] == ["harmless"]
    assert store.memories(A, [secret.id, make(2, 2)]).keys() == {make(2, 2)}
    assert found(store, "xyzzy plugh cave") == []
    assert store.nearest(A, "m", unit(1), Filter(), 5) == []
    assert store.of(A, Source, [source(3).id]) == []
    blanked = [e for e in store.journal(A) if e.target in (secret.id, source(3).id, make(9, 9), make(8, 8))]
    assert blanked
    assert all(e.purged and e.before is None and e.after is None and not e.reason for e in blanked)
    with store.transaction(A, "test", START) as changes:
        assert changes.was_purged(secret.id)
    store.close()
    left = place.everything()
    assert b"xyzzy" not in left
    assert b"harmless" in left


def test_a_tombstone_forbids_its_value_wherever_it_would_be_seen(store: Store) -> None:
    with store.transaction(A, "test", START) as changes:
        changes.put(Tombstone(make(1, 1), "k", Scope(project="web"), created_at=START), "create")
        for scope, forbidden in (
            (Scope(project="web"), True),
            (Scope(project="web", session="s", branch="b"), True),
            (Scope(), True),
            (Scope(user="ana"), True),
            (Scope(project="api"), False),
        ):
            assert bool(changes.tombstone("k", scope)) is forbidden, scope
        assert changes.tombstone("another", Scope(project="web")) is None


def test_counters_of_use_add_up_without_a_journal_row(store: Store) -> None:
    put(store, memory(1, "one"))
    before = store.head(A)
    store.used(A, {make(1, 1): (2, 1)}, START)
    store.used(A, {make(1, 1): (1, 0), make(7, 7): (5, 5)}, START + timedelta(days=1))
    one = store.memories(A, [make(1, 1)])[make(1, 1)]
    assert (one.recalled, one.accessed) == (3, 1)
    assert (one.last_recalled_at, one.last_accessed_at) == (START + timedelta(days=1), START)
    assert store.head(A) == before


def test_memories_come_by_the_time_they_are_of(store: Store) -> None:
    past = START - timedelta(days=9)
    dated = [memory(1, "old"), memory(2, "oldest", valid_from=past), memory(3, "other", kind="task")]
    put(store, *dated, memory(4, "newest", valid_from=START + timedelta(days=9)))
    assert [m.content for m in store.dated(A, Filter(kinds=("fact",)), 10)] == ["newest", "old", "oldest"]
    assert [m.content for m in store.dated(A, Filter(kinds=("fact",), until=START + timedelta(days=1)), 1)] == ["old"]
    assert store.dated(B, Filter(), 10) == []


def test_pages_go_through_everything_once_newest_first(store: Store) -> None:
    put(store, *(memory(n, f"number {n}") for n in range(25)))
    seen: list[str] = []
    while batch := store.page(A, Filter(), seen[-1] if seen else None, 7):
        seen.extend(m.id for m in batch)
    assert seen == [make(n, n) for n in reversed(range(25))]


def test_a_healthy_store_passes_its_own_check(store: Store) -> None:
    put(store, memory(1, "one"))
    assert [check for check in store.check(A) if check.status != "ok"] == []


def test_who_waits_for_a_change_hears_of_it_from_another_process(stores: Callable[[], Store], place: Places) -> None:
    store = stores()
    tenant = "default"
    assert store.changed(tenant, 0, timeout=0) == 0
    put(store, memory(1, "one"), tenant=tenant)
    assert store.changed(tenant, 0, timeout=600) == 2
    assert store.changed(tenant, 2, timeout=0) == 2
    assert store.changed(A, 0, timeout=0) == 0
    heard: list[int] = []
    # The time it may wait is far longer than the test has patience for: only being woken ends the waiting.
    waiting = threading.Thread(target=lambda: heard.append(store.changed(tenant, 2, timeout=600)), daemon=True)
    waiting.start()
    neighbour = context.Process(target=write_one, args=(place(), "News."))
    neighbour.start()
    neighbour.join()
    waiting.join(60)
    assert heard == [store.head(tenant)]
    assert heard[0] > 2
