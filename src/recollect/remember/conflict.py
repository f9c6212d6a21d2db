"""Conflict: whether two statements cannot both hold. Pure.

Both must be about the same thing, and then differ where only one can be right: one is denied, a number or a date is
another one, or what stands in the same place of the same sentence is something else. Likeness alone is no conflict:
«the API is slow» and «the API is written in Go» are both true. When in doubt it is none, because a conflict takes a
memory out of recall or puts one before a person.
"""

from __future__ import annotations

import re

from ..terms import STOP_WORDS, terms
from .alike import SHARED

_NEGATED = re.compile(r"\b(?:no longer|not|never|none|cannot|without|no|any ?more|\w+n['’]t)\b", re.IGNORECASE)
_DAY = (
    r"mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?|january|february|march|april|june|july|"
    r"august|september|october|november|december|q[1-4]|daily|weekly|monthly|nightly|hourly"
)
_VALUE = re.compile(rf"\b(?:v?\d+(?:[.,:/-]\d+)*|{_DAY})\b", re.IGNORECASE)
_DATED = re.compile(rf"\b(?:\d{{4}}-\d\d(?:-\d\d)?|{_DAY})\b", re.IGNORECASE)
# Where a sentence is cut into what it is about and what it says of it; one thing can stand behind such a word.
_JOINT = re.compile(
    r"(?:^|\s+)(?:is|are|was|were)(?:\s+(?:now|set|currently))?\s+(?P<is>owned by|maintained by|written in|"
    r"called|named|at|in|on|to)\s+|"
    r"(?:^|\s+)(?P<does>uses?|using|runs? on|runs? in|lives? in|listens? on|deploys? (?:to|on)|stored? in|"
    r"prefers?|go(?:es)? (?:into|to|out on)|"
    r"switched to|moved to|migrated to|went with|decided on|is|are)\s+",
    re.IGNORECASE,
)
_OWNER = re.compile(
    r"^(?P<who>[\w ]{2,40}?)\s+(?:owns|maintains|leads|is on call for|is responsible for)\s+(?P<what>.+)$", re.I
)
_CHANGE = re.compile(
    r"\b(?:(?:switch\w*|mov\w+|migrat\w+|chang\w+|went|renamed) (?:\w+ ){0,3}from|instead of|replaced|dropped)\s+"
    r"(?P<old>[\w.@/-]*\w)", re.IGNORECASE
)  # fmt: skip
# With «is» alone only these can have one value at a time.
_ONE = re.compile(
    r"\b(?:port|branch|name|version|owner|database|language|url|host|address|deadline|default|timeout|limit|region|"
    r"password|lead|maintainer|contact|manager|freeze|retention|framework|linter|formatter)\b", re.IGNORECASE
)  # fmt: skip
_CHANGES = re.compile(
    r"\b(?:no longer|any ?more|instead of|switch(?:ed|ing)|migrat(?:ed|ing)|moved?|replaced?|dropped|from now on|as of|"
    r"changed?|not \S+[.!]?$|now uses?|renamed?)\b", re.IGNORECASE
)  # fmt: skip
_LIST = re.compile(r"\b(?:also|too|as well|both|another|additionally)\b", re.IGNORECASE)


def conflict(old: str, new: str) -> str:
    """How the new statement cannot hold beside the old one: negated, number, date or value; or nothing.

    >>> conflict("Deploys go out on Thursdays.", "Deploys go out on Mondays.")
    'date'
    >>> conflict("The gateway listens on port 8080.", "The gateway listens on port 8443.")
    'number'
    >>> conflict("We use yarn for packages.", "We use pnpm for packages.")
    'value'
    >>> conflict("There is a staging server.", "There is no staging server.")
    'negated'
    >>> conflict("The API is slow.", "The API is written in Go.")
    ''
    """
    if _LIST.search(new):
        return ""
    return _denied(old, new) or _counted(old, new) or _placed(old, new)


def changes(sentence: str) -> bool:
    """Whether a sentence says that something is otherwise from now on.

    >>> changes("We moved to pnpm."), changes("We use pnpm.")
    (True, False)
    """
    return _CHANGES.search(sentence) is not None


def _words(statement: str) -> frozenset[str]:
    return frozenset(term for term in terms(statement) if term not in STOP_WORDS)


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one | other else 1.0


def _denied(old: str, new: str) -> str:
    """One says it and the other denies it, in much the same words."""
    signs = [bool(_NEGATED.search(statement)) for statement in (old, new)]
    if signs[0] == signs[1]:
        return ""
    bare = [_words(_NEGATED.sub(" ", statement)) - {"longer", "anymor"} for statement in (old, new)]
    denied = bare[signs[1]]  # the words of the one that denies
    if not denied or not bare[0] & bare[1]:
        return ""
    # «There is no staging server» denies whatever is said of the staging server.
    whole = re.match(r"(?:there (?:is|are)|we have|we do) no ", (new if signs[1] else old), re.IGNORECASE)
    if whole and denied <= bare[not signs[1]]:
        return "negated"
    return "negated" if _share(*bare) >= 0.6 else ""


def _counted(old: str, new: str) -> str:
    """The same sentence with another number or day in it."""
    first, second = (frozenset(v.lower().rstrip("s") for v in _VALUE.findall(statement)) for statement in (old, new))
    if not first or not second or first == second or first < second or second < first:
        return ""
    rest = [_words(_VALUE.sub(" ", statement)) for statement in (old, new)]
    if min(map(len, rest)) == 0 or _share(*rest) < max(SHARED, 0.6):
        return ""
    return "date" if all(_DATED.search(statement) for statement in (old, new)) else "number"


def _placed(old: str, new: str) -> str:
    """Something else in a place that only one thing can have."""
    owners = [_OWNER.match(statement.strip(" .!")) for statement in (old, new)]
    if owners[0] and owners[1]:
        same = _share(_words(owners[0]["what"]), _words(owners[1]["what"])) >= 0.8
        return "value" if same and _words(owners[0]["who"]).isdisjoint(_words(owners[1]["who"])) else ""
    cut = [_cut(statement) for statement in (old, new)]
    if cut[0] is not None and (changed := _CHANGE.search(new)):
        before = _words(changed["old"])
        return "value" if before and before <= cut[0][2] and not _NEGATED.search(old) else ""
    if cut[0] is None or cut[1] is None:
        return ""
    (about, how, said), (about_new, how_new, said_new) = cut[0], cut[1]
    if how != how_new or not (about == about_new or _share(about, about_new) >= 0.75):
        return ""
    if not said or not said_new or said <= said_new or said_new <= said:
        return ""
    if how == "use":  # «for what» must be the same, and what is used another
        return "value" if said & said_new and _share(said, said_new) < 1 else ""
    if how == "be" and not _ONE.search(old):
        return ""
    return "value"


def _cut(statement: str) -> tuple[frozenset[str], str, frozenset[str]] | None:
    """What a statement is about, how it says so, and what it says."""
    found = _JOINT.search(statement)
    if found is None:
        return None
    word = (found["is"] or found["does"]).lower()
    how = "use" if word.startswith("us") else "be" if word in ("is", "are") else word.removesuffix("s")
    return _words(statement[: found.start()]), how, _words(statement[found.end() :])
