"""Grounding: what may be believed, and what takes itself back."""

from __future__ import annotations

import pytest

from recollect import Engine
from recollect.grounding import ground, hedged
from recollect.types import Message, Scope

HEDGES = """Pretty sure the gateway runs on port 8080.
As far as I know the gateway runs on port 8080.
If I'm not mistaken, the gateway runs on port 8080.
The gateway runs on port 8080, I reckon.
My guess is that the gateway runs on port 8080.
The gateway runs on port 8080 or something like that.
Don't quote me on this, but the gateway runs on port 8080.
It's possible that the gateway runs on port 8080.
There's a chance the gateway runs on port 8080.
The gateway potentially runs on port 8080.
Let's assume the gateway runs on port 8080.
The gateway runs on port 8080, but I need to check.
The gateway runs on port 8080 (not verified).
I heard the gateway runs on port 8080.
Someone said that the gateway runs on port 8080.
We may switch the gateway to port 8080.
We would run the gateway on port 8080 if we had time.
We are leaning towards port 8080 for the gateway.
The gateway runs on port 8080, right?
M\u0430ybe the gateway runs on port 8080.
May\u200bbe the gateway runs on port 8080.
\uff2d\uff21\uff39\uff22\uff25 the gateway runs on port 8080.""".splitlines()
FIRM = """We may not deploy the gateway on Fridays.
Use the Maybe monad from `purify-ts`.
The `maybe` helper lives in src/util.ts.
The sort of index we use is GIN.
Never guess the tenant from the URL.
Don't assume that the cache is warm.
I'd rather use tabs in Go.
The parser could not read the file because of tabs.""".splitlines()


@pytest.mark.parametrize("said", HEDGES)
def test_what_takes_itself_back_is_never_believed(said: str) -> None:
    assert [ground(said, path).tier for path in ("user", "assistant", "document", "tool")] == [3, 3, 3, 3]


@pytest.mark.parametrize("said", FIRM)
def test_what_is_said_firmly_is_no_hedge(said: str) -> None:
    assert hedged(said) == ""


def test_no_hedge_becomes_a_memory(memory: Engine) -> None:
    memory.capture([Message("user", f"remember: {said}", id=str(n)) for n, said in enumerate(HEDGES)], session="s")
    kept = memory.list(states=("active", "pending"), limit=200).memories
    assert [one.content for one in kept if one.kind != "turn"] == []


@pytest.mark.parametrize(
    ("cites", "becomes"),
    [
        ("The `gateway` only listens on port 99, see #12.", "pending"),
        ("The `parser` only reads UTF-8 files.", "pending"),
        ("The `gateway` never uses port 98, as ADR-12 says.", "pending"),
        ("The `gateway` only listens on port 97, as ADR-7 says.", "created"),
        ("The `gateway` only listens on port 96, see docs/ports.md.", "created"),
        ("The `gateway` only listens on port 95, see SHOP-41.", "created"),
    ],
)
def test_a_number_that_happens_to_be_somewhere_is_no_citation(memory: Engine, cites: str, becomes: str) -> None:
    shop = Scope(project="shop")
    known = "We have 12 services, the reader takes UTF-8 text, and ADR-007 lists them for SHOP-41 in docs/ports.md."
    memory.remember(known, source="file:readme.md", scope=shop)
    done = memory.capture([Message("assistant", cites), Message("user", "Exactly.")], session="s", scope=shop)
    assert [one.action for one in done.findings] == [becomes]
