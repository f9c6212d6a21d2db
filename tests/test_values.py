"""Values: a rejected statement is known again in any dress, and nothing else is taken for it."""

from __future__ import annotations

import pytest

from conftest import Opener
from recollect import Engine, Refused, Scope
from recollect.remember import values
from recollect.types import Message, Tombstone

SAID = "We deploy the shop on Fridays at port 8080."
DRESSES = {
    "small capitals": "\u1d21e \u1d05eploy the sh\u1d0fp on Fridays at port 8080.",
    "Armenian": "We deploy the sh\u0585p \u0585n Fridays at port 8080.",
    "Cherokee": "\u13b3e deploy the shop on Fridays at port 8080.",
    "Cyrillic": "We deploy the sh\u043e\u0440 \u043en Frid\u0430ys at port 8080.",
    "Greek capitals": "WE DEPL\u039fY \u03a4\u0397\u0395 S\u0397\u039f\u03a1 ON FR\u0399D\u0391\u03a5S AT PORT 8080.",
    "strokes": "We depl\u00f8y the shop on Fridays at port 8080.",
    "digits of another script": "We deploy the shop on Fridays at port \u0668\u0660\u0668\u0660.",
    "marks": "We deplo\u1ab0y the sho\u20ddp on Fridays at port 8080.",
    "unseen": "We dep\u2800loy the sh\ufff9op on\U0001d173 Fridays at port 8080.",
    "no space": "We deploy the shop on Fridays at port8080.",
    "more spaces": "W e de ploy the\u1680shop\non Fridays at port 8080.",
    "commas": "We deploy the shop, on Fridays, at port: 8080!",
    "signs": "**We `deploy` the shop on Fridays (at port 8080).**",
    "hyphen": "We deploy the shop on Fridays at port-8080",
    "table": "| We deploy the shop on Fridays at port 8080 |",
    "behind a clause": "Use pnpm here; we deploy the shop on Fridays at port 8080.",
    "behind a dash": "Use pnpm here \u2014 we deploy the shop on Fridays at port 8080.",
    "behind an and": "We use pnpm here, and we deploy the shop on Fridays at port 8080.",
    "vouched for": "The user confirmed that we deploy the shop on Fridays at port 8080.",
}


@pytest.mark.parametrize("dress", DRESSES)
def test_a_rejected_value_is_known_in_any_dress(opened: Opener, dress: str) -> None:
    memory = opened()
    memory.reject(memory.remember(SAID).id)
    assert memory.remember(DRESSES[dress]).action == "refused"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("We allow 1.5 GB for a job.", "We allow 15 GB for a job."),
        ("Start at 10:30 each day.", "Start at 1030 each day."),
        ("Use ports 80 80 here.", "Use ports 8080 here."),
        ("The core is written in C.", "The core is written in C++."),
        ("The default is -1 here.", "The default is 1 here."),
        ("Retry while x < 3 holds.", "Retry while x > 3 holds."),
        ("We deploy on Fridays here.", "It is not true that we deploy on Fridays here."),
    ],
)
def test_what_says_something_else_is_not_refused(memory: Engine, one: str, other: str) -> None:
    memory.reject(memory.remember(one).id)
    assert memory.remember(other).action == "created"


def test_greek_words_are_the_same_in_capitals() -> None:
    small, capitals = "\u03bd\u03b1\u03b9 \u03ba\u03b1\u03b9", "\u039d\u0391\u0399 \u039a\u0391\u0399"
    assert values.key(small) in values.keys(capitals)


def test_a_value_rejected_while_it_waited_in_other_words_cannot_be_approved(memory: Engine) -> None:
    shop = Scope(project="shop")
    talk = [Message("assistant", "The `sync` job never runs on Sundays."), Message("user", "Exactly.")]
    done = memory.capture(talk, session="s", scope=shop)
    waiting = done.findings[0].memory
    said = memory.edit(waiting, content=f"Note: {SAID}")
    memory.reject(memory.remember(SAID, scope=shop).id)
    with pytest.raises(Refused):
        memory.approve(waiting)
    with pytest.raises(Refused):
        memory.edit(waiting, content=SAID.upper())
    assert memory.get(waiting).record() == said.record()


def test_a_rejection_from_before_still_holds_and_can_be_taken_back(memory: Engine) -> None:
    """Tombstones were once written by the key that tells duplicates."""
    known = memory.remember(SAID)
    assert known.memory
    stone = Tombstone("s" * 26, known.memory.content_hash, memory=known.id)
    with memory._store.transaction("default", "test", memory._now()) as changes:
        changes.put(stone, "create")
    memory.forget(known.id)
    assert memory.remember(SAID.upper()).action == "refused"
