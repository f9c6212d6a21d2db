"""The write path: what becomes of what is said."""

from __future__ import annotations

from datetime import timedelta

import pytest

import recollect
from conftest import START, Clock, Opener, Places
from recollect import BadInput, Draft, NotFound, Refused, Scope, Source
from replay import replayed, state_of

TOKEN = "gh" + "p_" + "a1B2c3D4e5F6" * 3


def test_a_new_memory_is_created_with_its_fields_source_and_trust(memory: recollect.Engine) -> None:
    result = memory.remember(
        "We deploy on Thursdays.", kind="decision", title="Deploy day", reasoning="Support.", tags=["release"],
        keywords=["deploy"], refs=["ADR-007"], importance=8, confidence=0.9, scope=Scope(project="web"),
    )  # fmt: skip
    assert result.action == "created"
    kept = memory.get(result.id)
    assert (kept.kind, kept.network, kept.title, kept.importance) == ("decision", "bank", "Deploy day", 8)
    assert (kept.tags, kept.refs, kept.scope.project) == (("release",), ("ADR-007",), "web")
    assert (kept.trust, kept.state) == ("stated", "active")
    source, _ = memory.evidence(result.id)
    assert source is not None
    assert source.author == "test"


def test_saying_the_same_again_counts_the_observation_and_adds_its_evidence(memory: recollect.Engine) -> None:
    first = memory.remember("Use pnpm.", evidence="«use pnpm please»")
    again = memory.remember("  use PNPM ", evidence="«pnpm, as always»")
    assert (again.action, again.id) == ("duplicate", first.id)
    assert memory.get(first.id).observed == 2
    assert memory.get(first.id).content == "Use pnpm."
    assert {quote.quote for quote in memory.evidence(first.id)[1]} == {"«use pnpm please»", "«pnpm, as always»"}


@pytest.mark.parametrize(
    "disguise", ["Use pnpm!", "USE  PNPM", "use\u200b pnpm", "Ｕｓｅ ｐｎｐｍ", "use рnpm", "\ufeffUse pnpm."]
)
def test_look_alikes_spacing_and_case_are_the_same_value(memory: recollect.Engine, disguise: str) -> None:
    memory.remember("Use pnpm.")
    assert memory.remember(disguise).action == "duplicate"


def test_the_text_itself_keeps_its_case_spacing_and_letters(memory: recollect.Engine) -> None:
    said = "Use  `getName()`\n\n  – nаїve"
    assert memory.get(memory.remember(said).id).content == said


def test_the_same_words_in_another_scope_are_another_memory(memory: recollect.Engine) -> None:
    ids = {
        memory.remember("Use pnpm.", scope=scope).id
        for scope in (Scope(), Scope(project="web"), Scope(user="ana"), Scope(project="web", session="s"))
    }
    assert len(ids) == 4


def test_secrets_are_taken_out_of_every_field_before_anything_is_kept(memory: recollect.Engine, place: Places) -> None:
    result = memory.remember(
        f"The deploy key is {TOKEN} for now.", title=f"key {TOKEN}", reasoning=f"because {TOKEN}", tags=[f"t {TOKEN}"],
        refs=[f"https://x.test/?t={TOKEN}"], evidence=[f"he said {TOKEN}"],
        source=Source("", "turn", uri=f"turn:{TOKEN}", content=f"raw {TOKEN}"),
    )  # fmt: skip
    assert result.redacted == ("github-token",)
    kept = memory.get(result.id)
    assert kept.content == "The deploy key is [redacted:github-token] for now."
    memory.close()
    assert TOKEN.encode() not in place.everything()


def test_secrets_in_an_edit_or_a_reason_are_taken_out_too(memory: recollect.Engine) -> None:
    id = memory.remember("The key is elsewhere.").id
    memory.edit(id, content=f"The key is {TOKEN}", reason=f"found {TOKEN}")
    assert TOKEN not in repr(memory.history(id))


def test_a_near_duplicate_is_reported_and_stands_beside_unless_merging_is_asked(memory: recollect.Engine) -> None:
    first = memory.remember("The billing service retries failed payments three times a day.")
    second = memory.remember("The billing service retries failed payments three times each day.", tags=["billing"])
    assert second.action == "created"
    assert [near.id for near in second.near] == [first.id]
    third = memory.remember(
        "The billing service retries all failed payments three times a day.", importance=9, tags=["money"], merge=True
    )
    assert third.action == "merged"
    kept = memory.get(third.id)
    assert (kept.observed, kept.importance) == (2, 9)
    assert "money" in kept.tags
    assert memory.evidence(third.id)[1][0].quote == "The billing service retries all failed payments three times a day."


@pytest.mark.parametrize("other", ["The billing service retries failed payments 5 times a day.",
                                   "The billing service never retries failed payments 3 times a day."])  # fmt: skip
def test_another_number_or_a_negation_is_never_merged(memory: recollect.Engine, other: str) -> None:
    memory.remember("The billing service retries failed payments 3 times a day.")
    assert memory.remember(other, merge=True).action == "created"


def test_many_at_once_are_checked_together_and_one_bad_draft_changes_nothing(memory: recollect.Engine) -> None:
    with pytest.raises(BadInput, match="Draft 2 of 3"):
        memory.remember_many([Draft("good"), Draft("bad", importance=11), Draft("good too")])
    assert memory.stats()["memories"] == 0


def test_many_at_once_give_one_result_each_in_order(memory: recollect.Engine) -> None:
    seen: list[tuple[int, int]] = []
    results = memory.remember_many(
        ["one", "two", Draft("ONE", tags=("x",)), "three"], progress=lambda done, total: seen.append((done, total))
    )
    assert [result.action for result in results] == ["created", "created", "duplicate", "created"]
    assert results[2].id == results[0].id
    assert seen == [(4, 4)]


def test_the_source_decides_the_trust_and_is_kept_once(memory: recollect.Engine) -> None:
    said = memory.remember("From a page.", source="https://example.test/page")
    also = memory.remember("Also from it.", source="https://example.test/page")
    assert memory.get(said.id).trust == "cited"
    assert memory.get(said.id).source == memory.get(also.id).source
    turn = Source("", "turn", "session:1", content="hi, we use pnpm", session="1", position=4, occurred_at=START)
    kept = memory.remember("pnpm is used", source=turn)
    source, _ = memory.evidence(kept.id)
    assert source is not None
    assert (source.kind, source.content, source.position) == ("turn", "hi, we use pnpm", 4)


# -- edit, forget, reject ---------------------------------------------------------------------------------------------


def test_an_edit_changes_the_memory_its_text_index_and_its_vector(memory: recollect.Engine, clock: Clock) -> None:
    id = memory.remember("Use yarn for everything.").id
    clock.forward(days=1)
    memory.edit(id, content="Use pnpm for everything.", reason="moved")
    kept = memory.get(id)
    assert kept.content == "Use pnpm for everything."
    assert kept.updated_at > kept.created_at
    assert not any("yarn" in hit.why for hit in memory.recall("yarn"))
    assert memory.recall("pnpm everything").hits[0].arms.keys() == {"text", "vector"}


def test_counters_and_importance_do_not_move_the_time_of_change(memory: recollect.Engine, clock: Clock) -> None:
    id = memory.remember("A fact.").id
    clock.forward(days=1)
    memory.edit(id, importance=9)
    memory.remember("A fact.")
    memory.recall("fact")
    kept = memory.get(id)
    assert kept.updated_at == kept.created_at
    assert kept.recalled == 1


def test_history_tells_every_change_with_actor_reason_before_and_after(memory: recollect.Engine) -> None:
    id = memory.remember("Node 18.").id
    memory.edit(id, content="Node 20.", reason="upgraded")
    memory.forget(id, reason="moot")
    story = memory.history(id)
    assert [entry.operation for entry in story] == ["create", "edit", "forget"]
    assert {entry.actor for entry in story} == {"test"}
    assert story[1].before is not None
    assert story[1].after is not None
    assert (story[1].before["content"], story[1].after["content"], story[1].reason) == (
        "Node 18.",
        "Node 20.",
        "upgraded",
    )


def test_what_is_forgotten_leaves_recall_and_can_be_brought_back(memory: recollect.Engine) -> None:
    id = memory.remember("Deploys go out on Thursdays.").id
    assert memory.forget(id).memories[0].state == "archived"
    assert len(memory.recall("deploys thursdays")) == 0
    assert len(memory.recall("deploys thursdays", states=["archived"])) == 1
    memory.edit(id, state="active")
    assert len(memory.recall("deploys thursdays")) == 1


def test_what_was_forgotten_may_be_said_again(memory: recollect.Engine) -> None:
    memory.forget(memory.remember("Use pnpm.").id)
    assert memory.remember("Use pnpm.").action == "created"


def test_a_dry_run_shows_what_would_go_and_changes_nothing(memory: recollect.Engine) -> None:
    memory.remember("Deploys go out on Thursdays.", scope=Scope(project="web"))
    memory.remember("Ana owns billing.", scope=Scope(project="api"))
    before = memory.stats()["journal"]
    for way in ({"query": "deploys"}, {"scope": Scope(project="web")}):
        shown = memory.forget(dry_run=True, **way)
        assert shown.memories[0].content == "Deploys go out on Thursdays."
        assert shown.dry_run
    assert memory.stats()["journal"] == before


def test_forgetting_a_scope_touches_only_what_is_inside_it(memory: recollect.Engine) -> None:
    memory.remember("everywhere")
    memory.remember("in web", scope=Scope(project="web"))
    memory.remember("in web of ana", scope=Scope(user="ana", project="web"))
    memory.remember("in api", scope=Scope(project="api"))
    gone = memory.forget(scope=Scope(project="web"))
    assert {m.content for m in gone.memories} == {"in web", "in web of ana"}
    assert {m.content for m in memory.list().memories} == {"everywhere", "in api"}


@pytest.mark.parametrize("ways", [{}, {"scope": Scope()}, {"id": "x", "query": "y"}])
def test_forgetting_needs_exactly_one_way_to_say_what(memory: recollect.Engine, ways: dict[str, object]) -> None:
    memory.remember("Precious.")
    with pytest.raises(BadInput):
        memory.forget(**ways)  # type: ignore[arg-type]
    assert memory.stats()["by_state"] == {"active": 1}


def test_purging_leaves_no_trace_but_the_fact_that_it_happened(memory: recollect.Engine) -> None:
    id = memory.remember("Ana's salary is 123.", evidence="she told me").id
    memory.forget(id, purge=True)
    with pytest.raises(NotFound):
        memory.get(id)
    assert [(e.operation, e.after) for e in memory.history(id)] == [("create", None), ("purge", None)]


def test_a_rejected_value_is_refused_however_it_is_spelt_until_the_rejection_is_taken_back(
    memory: recollect.Engine,
) -> None:
    id = memory.remember("The staging server is called zeus.", scope=Scope(project="web", session="s1")).id
    memory.reject(id, reason="there is none")
    for spelt in ("the staging server is called ZEUS", "The staging\u200b server is called zеus!"):
        for scope in (Scope(project="web"), Scope(), Scope(project="web", session="s2", branch="b")):
            result = memory.remember(spelt, scope=scope)
            assert (result.action, result.memory) == ("refused", None)
            assert "there is none" in result.reason
    assert memory.remember("The staging server is called zeus.", scope=Scope(project="api")).action == "created"
    with pytest.raises(Refused):
        memory.edit(id, state="active")
    assert len(memory.recall("staging server zeus", scope=Scope(project="web"))) == 0
    memory.reject(id, undo=True)
    assert len(memory.recall("staging server zeus", scope=Scope(project="web"))) == 1
    assert memory.remember("The staging server is called zeus", scope=Scope(project="web")).action == "created"


def test_an_edit_cannot_bring_a_rejected_value_back(memory: recollect.Engine) -> None:
    memory.reject(memory.remember("The sky is green.").id)
    other = memory.remember("The sky is blue.").id
    with pytest.raises(Refused):
        memory.edit(other, content="the sky is GREEN")
    assert memory.get(other).content == "The sky is blue."


def test_a_refusal_is_recorded(memory: recollect.Engine) -> None:
    memory.reject(memory.remember("The sky is green.").id)
    before = memory.stats()["journal"]
    memory.remember("The sky is green.")
    (entry,) = memory._store.journal("default", after=before)
    assert (entry.operation, entry.noun) == ("refuse", "note")


def test_forgetting_a_rejected_memory_does_not_lift_the_rejection(memory: recollect.Engine) -> None:
    id = memory.remember("The sky is green.").id
    memory.reject(id)
    memory.forget(id)
    assert memory.get(id).state == "rejected"
    memory.forget(id, purge=True)
    assert memory.remember("The sky is green.").action == "refused"


# -- links ------------------------------------------------------------------------------------------------------------


def test_a_superseded_memory_leaves_recall_and_ends_its_validity(memory: recollect.Engine, clock: Clock) -> None:
    old, new = memory.remember("We use Node 18.").id, memory.remember("We use Node 22.").id
    clock.forward(days=1)
    memory.link(new, "supersedes", old, reason="upgrade")
    kept = memory.get(old)
    assert kept.state == "superseded"
    assert kept.valid_to is not None
    assert kept.valid_to >= START + timedelta(days=1)
    assert [hit.memory.id for hit in memory.recall("which Node do we use")] == [new]
    assert [link.relation for link in memory.links(old)] == ["contradicts", "supersedes"]


def test_linking_twice_is_one_link(memory: recollect.Engine) -> None:
    a, b = memory.remember("a fact").id, memory.remember("b fact").id
    assert memory.link(a, "related", b) == memory.link(a, "related", b)
    assert len(memory.links(b)) == 1


def test_ids_may_be_shortened_to_their_end(memory: recollect.Engine) -> None:
    id = memory.remember("Short.").id
    assert memory.get(id[-6:]).id == id
    assert memory.get(id.upper()).id == id


def test_a_memory_is_seen_by_every_engine_on_the_file(opened: Opener) -> None:
    one, other = opened(), opened()
    id = one.remember("Written here.").id
    assert other.get(id).content == "Written here."
    assert [hit.memory.id for hit in other.recall("written")] == [id]


def test_tenants_share_a_file_and_nothing_else(opened: Opener) -> None:
    ours, theirs = opened(tenant="acme"), opened(tenant="globex")
    id = ours.remember("Our plan.").id
    assert len(theirs.recall("our plan")) == 0
    with pytest.raises(NotFound):
        theirs.get(id)
    assert theirs.remember("Our plan.").action == "created"
    theirs.reject(theirs.recall("our plan").hits[0].memory.id)
    assert ours.remember("Our plan.").action == "duplicate"


# -- two at once ------------------------------------------------------------------------------------------------------


def test_an_edit_changes_only_its_own_fields_whatever_happened_meanwhile(
    opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = opened(), opened()
    id = one.remember("Use yarn.").id
    seen = one.get(id)
    other.edit(id, content="Use pnpm.")
    monkeypatch.setattr(one, "_find", lambda _: seen)
    one.edit(id, importance=9)
    kept = other.get(id)
    assert (kept.content, kept.importance) == ("Use pnpm.", 9)


def test_what_was_purged_meanwhile_does_not_come_back(opened: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = opened(), opened()
    id = one.remember("A secret.").id
    seen = one.get(id)
    other.forget(id, purge=True)
    monkeypatch.setattr(one, "_find", lambda _: seen)
    for act in (lambda: one.forget(id), lambda: one.edit(id, importance=9), lambda: one.reject(id)):
        with pytest.raises(NotFound):
            act()
    assert other.stats()["memories"] == 0


def test_purging_a_turn_takes_its_words_out_of_the_turn_after_it(memory: recollect.Engine, place: Places) -> None:
    turns = [
        memory.remember(said, kind="turn", scope=Scope(session="s"), position=n)
        for n, said in enumerate(["My number is xyzzy-77.", "Thanks, noted."])
    ]
    assert memory.get(turns[1].id).context == "My number is xyzzy-77."
    memory.forget(turns[0].id, purge=True)
    assert memory.get(turns[1].id).context == ""
    copy = replayed(memory._store, "default", place("copy.db"))
    assert state_of(copy, "default") == state_of(memory._store, "default")
    copy.close()
    memory.close()
    assert b"xyzzy" not in place.everything() + place.everything("copy.db")


def test_forgetting_by_words_takes_all_that_say_them_twins_and_forgotten_ones_too(memory: recollect.Engine) -> None:
    first = memory.remember("Alpha beta gamma delta epsilon zeta.", scope=Scope(session="1"))
    memory.remember("Alpha beta gamma delta: epsilon zeta", scope=Scope(session="2"))
    memory.remember("Alpha only.")
    memory.forget(first.id)
    assert len(memory.forget(query="epsilon zeta").memories) == 1
    assert len(memory.forget(query="epsilon zeta", purge=True).memories) == 2
    assert memory.stats()["memories"] == 1


def test_taking_one_rejection_back_leaves_a_wider_one_standing(memory: recollect.Engine) -> None:
    wide = memory.remember("The sky is green.").id
    own = memory.remember("The sky is green.", scope=Scope(user="bob")).id
    memory.reject([own, wide])
    with pytest.raises(Refused):
        memory.reject(own, undo=True)
    assert memory.remember("The sky is green.").action == "refused"
    memory.reject(wide, undo=True)
    assert memory.get(wide).state == "active"


def test_what_contradicts_is_tied_and_said_and_both_stand(memory: recollect.Engine) -> None:
    old = memory.remember("The gateway listens on port 8080.")
    new = memory.remember("The gateway listens on port 8443.")
    assert (new.action, new.conflicts, new.superseded) == ("created", (old.id,), ())
    assert [(one.relation, one.target) for one in memory.links(new.id)] == [("contradicts", old.id)]
    assert memory.get(old.id).state == "active"
    assert memory.remember("The gateway is written in Go.").conflicts == ()


def test_what_says_that_something_changed_stands_for_what_it_contradicts(memory: recollect.Engine) -> None:
    old = memory.remember("We use yarn for packages.")
    new = memory.remember("We switched from yarn to pnpm for packages.")
    assert new.superseded == (old.id,)
    before = memory.get(old.id)
    assert before.state == "superseded"
    assert before.valid_to is not None
    assert [hit.memory.id for hit in memory.recall("packages")] == [new.id]
    assert {hit.memory.id for hit in memory.recall("packages", states=("active", "superseded"))} == {old.id, new.id}


def test_the_better_supported_wins_and_the_lesser_does_not(memory: recollect.Engine) -> None:
    heard = memory.remember("Deploys go out on Thursdays.", source=recollect.Source("", "import", "old.json"))
    stated = memory.remember("Deploys go out on Mondays.")
    assert stated.superseded == (heard.id,)
    again = memory.remember("Deploys go out on Fridays.", source=recollect.Source("", "import", "older.json"))
    assert again.conflicts == (stated.id,)
    assert memory.get(stated.id).state == "active"


def test_a_contradiction_elsewhere_is_tied_and_left_alone(memory: recollect.Engine) -> None:
    everywhere = memory.remember("We use yarn for packages.")
    here = memory.remember("We switched from yarn to pnpm for packages.", scope=recollect.Scope(project="shop"))
    assert (here.superseded, here.conflicts) == ((), (everywhere.id,))
    assert memory.get(everywhere.id).state == "active"
