"""Grounding: what may be believed. Pure.

Three tiers. **1**, believed at once: what a person said about their own project, or what cites something that was
found. **2**, for a person to look at: what a model concluded without a citation, what is about systems of others, and
what speaks to the assistant. **3**, not kept: what its own words do not claim ("maybe", "I think"). Trust comes from
the way a statement came in, never from what it says about itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources

from . import text
from .types import TRUSTS

PATHS = {"user": "stated", "document": "cited", "assistant": "derived", "tool": "unverified", "import": "unverified"}

STALE = "stale:"  # how a reference begins that says why the others do not stand any more

_WORDS: dict[str, list[str]] = json.loads(resources.files(__package__).joinpath("hedges.json").read_text("utf-8"))
_ANY = {name: "|".join(patterns) for name, patterns in _WORDS.items()}
_HEDGE = re.compile(rf"\b(?:{_ANY['hedges']})\b|{_ANY['at_the_edges']}", re.IGNORECASE)
_NO_HEDGE = re.compile(_ANY["no_hedges"], re.IGNORECASE)  # words that are hedges elsewhere and none here
_ASKS = re.compile(r"\?[\s!?\"'”»)*_]*$")
_ABROAD = re.compile(rf"^(?:the )?(?:{_ANY['others']})\b", re.IGNORECASE)
_OURS = re.compile(r"\b(?:we|our|ours|us|my|i|this (?:project|repo))\b", re.IGNORECASE)
CITATION = re.compile(
    r"\bADR[- ]?\d{1,4}\b|\bhttps?://[^\s)>\]\"'`]+|\b(?:commit:?\s+)[0-9a-f]{7,40}\b|"
    # A ticket; names that end in a number, such as UTF-8, cite nothing.
    r"\b(?!(?:UTF|SHA|ISO|HTTP|AES|RSA|MD|GPT|IPV|TLS|SSL|BASE|CRC|CP|PKCS|ECMA|ES|WPA|ARM|USB|TCP|UDP|LTS|MP|GB|IEEE)-)"
    r"[A-Z][A-Z0-9]{1,9}-\d{1,6}\b|"
    r"(?<![\w/])#\d{1,6}\b|(?<![\w/:.])(?:[\w-]+/)+[\w-]+\.\w{1,8}\b"
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a statement may be believed: its tier, the trust it has, and why."""

    tier: int
    trust: str
    reason: str


def hedged(statement: str) -> str:
    """The words by which a statement takes itself back, or nothing.

    >>> hedged("I think the cache might be full"), hedged("The cache is full")
    ('I think', '')
    """
    plain = _NO_HEDGE.sub("", statement)
    for said in (plain, text.fold(plain)):  # a hedge in letters that only look like it is one as well
        if found := _HEDGE.search(said):
            return found[0].strip(" ,")
    return ""


def stale(refs: Iterable[str]) -> str:
    """Why what a memory cites does not stand any more, or nothing.

    >>> stale(["src/pool.py", "stale:src/pool.py changed since"])
    'src/pool.py changed since'
    """
    return next((ref.removeprefix(STALE) for ref in refs if ref.startswith(STALE)), "")


def citations(statement: str) -> tuple[str, ...]:
    """
    >>> citations("As ADR-012 says (docs/adr/012.md), since commit 9fceb02.")
    ('ADR-012', 'docs/adr/012.md', 'commit 9fceb02')
    """
    return tuple(dict.fromkeys(found[0] for found in CITATION.finditer(statement)))


def cited_in(citation: str, said: str) -> bool:
    """Whether a text names what is cited, and not only has the number of it.

    >>> cited_in("#12", "We have 12 services."), cited_in("#12", "Fixed in #12."), cited_in("ADR-012", "See adr-12.")
    (False, True, True)
    >>> cited_in("commit 9fceb02", "9fceb02d0ae598e95dc970b74767f19372d61af8")
    True
    """
    if (bare := re.sub(r"\Acommit:?\s+", "", citation)) != citation:  # a commit is named by the first of its digits
        return re.search(rf"\b{re.escape(bare)}[0-9a-f]*\b", said, re.IGNORECASE) is not None
    names = [re.sub(r"(?<=[-#])0+(?=\d)", "", text.fold(one)) for one in (citation, said)]
    return re.search(rf"(?<![\w#/]){re.escape(names[0])}(?!\w)", names[1]) is not None


def lowest(trusts: Iterable[str]) -> str:
    """The trust of what was made of several things.

    >>> lowest(["stated", "derived"])
    'derived'
    """
    return min(trusts, key=TRUSTS.index)


def ground(statement: str, path: str, *, resolved: Iterable[str] = (), orders: bool = False) -> Verdict:
    """What may be believed of a statement that came in by a path, citing what was found under `resolved`.

    `orders` says that it speaks to the assistant rather than tells something.

    >>> ground("We deploy on Thursdays.", "user").tier, ground("We might deploy on Thursdays.", "user").tier
    (1, 3)
    >>> ground("The user confirmed that deploys go out on Thursdays.", "tool").tier
    2
    """
    found = tuple(resolved)
    trust = PATHS.get(path, "unverified")
    if words := hedged(statement):
        return Verdict(3, trust, f'it takes itself back: "{words}"')
    if _ASKS.search(statement):
        return Verdict(3, trust, "it asks, and states nothing")
    if path != "user" and orders:
        return Verdict(2, trust, "it speaks to the assistant")
    if path == "user":
        if _ABROAD.search(statement) and not _OURS.search(statement) and not found:
            return Verdict(2, trust, "it is about a system of somebody else")
        return Verdict(1, trust, "said by the user")
    if found and path in ("assistant", "document"):
        return Verdict(1, "cited", f"it cites {found[0]}")
    if path == "assistant":
        return Verdict(2, trust, "concluded by a model, without a citation that was found")
    return Verdict(2, trust, f"it came from a {path}")
