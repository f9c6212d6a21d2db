"""Conflict: whether two statements cannot both hold. Pure.

Both must be about the same thing, and then differ where only one can be right: one is denied, a number or a date is
another one, or what stands in the same place of the same sentence is something else. Likeness alone is no conflict:
«the API is slow» and «the API is written in Go» are both true. Nor are two differences: «404 for unknown users» and
«403 for forbidden users» are about two things, and so are «the limit» and «the limit for admins». When in doubt it is
none, because a conflict takes a memory out of recall or puts one before a person. Which of the two was said first
changes nothing.
"""

from __future__ import annotations

import re
from datetime import datetime
from difflib import SequenceMatcher
from functools import lru_cache

from ..language.tables import DAY, NEGATION
from ..language.terms import STOP_WORDS, terms
from .alike import SHARED
from .retraction import ends, retraction

Span = tuple[datetime, datetime | None]  # since when something holds, and until when
LONGEST = 600  # characters; what is longer is a text and no statement, and may well say both
_VALUE = re.compile(
    rf"\b(?:v?\d+(?:[.,:/-]\d+)*|one|two|three|four|five|six|seven|eight|nine|ten|twelve|{DAY})\b", re.IGNORECASE
)
_DATED = re.compile(rf"\b(?:\d{{4}}-\d\d(?:-\d\d)?|{DAY})\b", re.IGNORECASE)
# A number that is the name of something: with another one it is another thing.
_NUMBERED = re.compile(
    r"\b[A-Za-z]+-\d+\b|#\d+\b|\b(?:steps?|errors?|codes?|issues?|tickets?|pr|release|phase|chapter|section|adr|rfc|"
    r"sprint|milestone|line|case|exit code|status(?: code)?|services?|servers?|workers?|shards?|replica|cluster|"
    r"team|client|customer|account|host|instance|partition|queue|job|task)\s+v?\d[\d.]*\b", re.IGNORECASE
)  # fmt: skip
# Where a sentence is cut into what it is about and what it says of it; one thing can stand behind such a word.
_JOINT = re.compile(
    r"(?:^|\s+)(?:is|are|was|were)(?:\s+(?:now|set|currently))?\s+(?P<is>(?:owned|maintained|led|managed|handled) by|"
    r"(?:written|stored|kept|hosted|located|published|deployed|built|managed|served|sent) "
    r"(?:in|on|at|to|with|through|via|by|from)|called|named|at|in|on|to)\s+|"
    r"(?:^|\s+)(?P<does>uses?|using|runs? on|runs? in|lives? (?:in|at)|listens? on|deploys? (?:to|on)|stored? in|"
    r"prefers?|go(?:es)? (?:into|to|out on)|"
    r"switched to|moved to|migrated to|went with|decided on|is|are)\s+",
    re.IGNORECASE,
)
_REASON = re.compile(r",?\s+(?:because|since|so that|due to|as of)\b.*$", re.IGNORECASE | re.DOTALL)
_RATHER = re.compile(r",?\s+(?:instead of|rather than)\b.*$", re.IGNORECASE | re.DOTALL)
# What happened once may happen again.
_HAPPENED = re.compile(
    r"\b(?:failed|crashed|broke|happened|occurred)(?: (?:in|on|at|with|during|when|after)\b|$)", re.I
)
_NOT_THAT = re.compile(r",?\s+(?:and )?not (?:\S+\s*){1,2}[.!]?$", re.IGNORECASE)  # «8081, not 8080»
# Words that narrow down what a statement holds for.
_NARROWS = re.compile(r"\b(?:for|in|on|at|with|when|if|during|from|by|under|as|of|to|within|unless|except)\b", re.I)
_TOKEN = re.compile(r"[^\W_]+(?:['’_\-./\\:@#+]+[^\W_]+)*")
_NAME = re.compile(r"`[^`]+`|[A-Z][\w.+-]*(?: [A-Z][\w.+-]*){0,2}|\S*\w[./_]\w\S*")
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


MORE = 0.75  # of the words that must be shared where one says a word more: «deploy on Fridays», «deploy the docs on …»


def apart(one: Span, other: Span) -> bool:
    """Whether one ceased to hold before the other began: both were true in their time, whichever was noted first."""
    return any(end is not None and end <= begin for (_, end), (begin, _) in ((one, other), (other, one)))


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
    if max(len(old), len(new)) > LONGEST or _LIST.search(old) or _LIST.search(new):
        return ""
    if found := _denied(old, new):
        return found
    old, new = (_REASON.sub("", statement.strip()).strip(" .!") for statement in (old, new))
    return _counted(old, new) or _placed(old, new)


def changes(sentence: str) -> bool:
    """Whether a sentence says that something is otherwise from now on.

    >>> changes("We moved to pnpm."), changes("We use pnpm.")
    (True, False)
    """
    taken_back = retraction(sentence)
    return _CHANGES.search(sentence) is not None or (taken_back is not None and taken_back.is_sure)


def _words(statement: str) -> frozenset[str]:
    return frozenset(term for term in terms(statement) if term not in STOP_WORDS)


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one | other else 1.0


@lru_cache(maxsize=4096)
def _row(statement: str) -> tuple[str, ...]:
    """The words in their order, stemmed; articles say nothing."""
    return tuple(
        word.lower() if _VALUE.fullmatch(word) else "".join(terms(word)[-1:]) or word.lower()
        for word in _TOKEN.findall(statement)
        if word.lower() not in ("a", "an", "the", "our", "my", "now", "currently", "all")
    )


def _differences(one: str, other: str) -> list[tuple[str, str]]:
    """The places in which two statements differ, each with what stands there; little words alone make none."""
    rows = _row(one), _row(other)
    places = SequenceMatcher(None, *rows, autojunk=False).get_opcodes()
    found = [(" ".join(rows[0][i:j]), " ".join(rows[1][k:m])) for what, i, j, k, m in places if what != "equal"]
    return [place for place in found if any(map(_telling, place))]


def _telling(part: str) -> bool:
    return any(word not in STOP_WORDS for word in part.split())


def _same(places: list[tuple[str, str]]) -> bool:
    """Whether none of these differences makes it another subject: no word for another, and nothing narrowed down."""
    return not any(
        (_telling(old) and _telling(new)) or _NARROWS.search(old) or _NARROWS.search(new) for old, new in places
    )


def _values(statement: str) -> frozenset[str]:
    return frozenset(value.lower().rstrip("s") for value in _VALUE.findall(statement))


def _denied(old: str, new: str) -> str:
    """One says it and the other denies it, in much the same words, or takes the whole of it back."""
    for one, other in ((old, new), (new, old)):
        if (taken_back := retraction(one)) and ends(taken_back, other):
            return "negated"
    signs = [bool(NEGATION.search(statement)) for statement in (old, new)]
    if signs[0] == signs[1]:
        return ""
    said = [NEGATION.sub(" ", statement) for statement in (old, new)]
    bare = [_words(statement) - {"longer", "anymor"} for statement in said]
    denied = bare[signs[1]]  # the words of the one that denies
    if not denied or not bare[0] & bare[1]:
        return ""
    # «There is no staging server» denies whatever is said of the staging server.
    whole = re.match(r"(?:there(?:['’]s| is| are)|we have|we do) no ", (new if signs[1] else old), re.IGNORECASE)
    if whole and denied <= bare[not signs[1]]:
        return "negated"
    first, second = map(_values, said)
    if not (first <= second or second <= first):  # never on Sundays, and on Mondays
        return ""
    if _share(*bare) < 0.6 or any(_telling(one) and _telling(other) for one, other in _differences(*said)):
        return ""
    return "negated"


def _counted(old: str, new: str) -> str:
    """The same sentence with another number or day in it, and nothing else."""
    first, second = map(_values, (old, new))
    if not first or not second or first <= second or second <= first:
        return ""
    if any(NEGATION.search(_NOT_THAT.sub("", statement)) for statement in (old, new)):
        return ""  # «not on Fridays» says nothing about Mondays
    if all(_HAPPENED.search(statement) for statement in (old, new)):
        return ""
    if any(_NUMBERED.search(statement) for statement in (old, new)) and _numbered(old) != _numbered(new):
        return ""
    rest = [_words(_VALUE.sub(" ", statement)) for statement in (old, new)]
    if min(map(len, rest)) == 0 or _share(*rest) < max(SHARED, 0.6):
        return ""
    places = _differences(old, new)
    valued = [place for place in places if any(map(_values, place))]
    others = [place for place in places if place not in valued]
    if not _same(others) or not _one_place(valued) or (others and _share(*rest) < MORE):
        return ""
    return "date" if all(_DATED.search(statement) for statement in (old, new)) else "number"


def _numbered(statement: str) -> list[str]:
    return sorted(found.lower() for found in _NUMBERED.findall(statement))


def _one_place(valued: list[tuple[str, str]]) -> bool:
    """Whether values stand for each other, after the same little word: «at 2:00» is no other «for 3 hours»."""
    for old, new in valued:
        little = [[word for word in part.split() if _NARROWS.fullmatch(word)] for part in (old, new)]
        if little[0] != little[1] and little[0] and little[1]:
            return False
    return True


def _placed(old: str, new: str) -> str:
    """Something else in a place that only one thing can have."""
    owners = [_OWNER.match(statement) for statement in (old, new)]
    if owners[0] and owners[1]:
        same = _share(_words(owners[0]["what"]), _words(owners[1]["what"])) >= 0.8
        return "value" if same and _words(owners[0]["who"]).isdisjoint(_words(owners[1]["who"])) else ""
    cut = [_cut(statement) for statement in (old, new)]
    for one, other in ((0, 1), (1, 0)):
        changed, still = _CHANGE.search((old, new)[one]), cut[other]
        if changed and still is not None:
            before = _words(changed["old"])
            # «Seven days instead of one» says what of; a bare number stands in many sentences.
            if _VALUE.fullmatch(changed["old"]) and _words(still[0]).isdisjoint(_words((old, new)[one])):
                return ""
            return "value" if before and before <= _words(still[2]) and not NEGATION.search((old, new)[other]) else ""
    if cut[0] is None or cut[1] is None or any(NEGATION.search(_NOT_THAT.sub("", one)) for one in (old, new)):
        return ""
    (about, how, said), (about_new, how_new, said_new) = cut[0], cut[1]
    if how != how_new or _share(_words(about), _words(about_new)) < 0.75 or not _same(_differences(about, about_new)):
        return ""
    (what, narrowed), (what_new, narrowed_new) = _narrowed(said), _narrowed(said_new)
    things, things_new = _words(what), _words(what_new)
    if not things or not things_new or things <= things_new or things_new <= things:
        return ""
    if _words(narrowed) != _words(narrowed_new):
        return ""
    if how in ("use", "prefer"):  # «for what» must be the same, and what is used another
        return "value" if narrowed or (how == "prefer" and things & things_new) else ""
    if how != "be" or all(_NAME.fullmatch(one) for one in (what, what_new)):
        return "value"
    measured = [any(sign.isdigit() for sign in one) for one in (what, what_new)]
    return "value" if _ONE.search(about) and measured[0] == measured[1] else ""


def _cut(statement: str) -> tuple[str, str, str] | None:
    """What a statement is about, how it says so, and what it says."""
    statement = _RATHER.sub("", statement)
    found = _JOINT.search(statement)
    if found is None:
        return None
    word = (found["is"] or found["does"]).lower()
    how = "use" if word.startswith("us") else "be" if word in ("is", "are") else word.removesuffix("s")
    return statement[: found.start()], how, statement[found.end() :]


def _narrowed(said: str) -> tuple[str, str]:
    """What is said, and for what it holds."""
    found = _NARROWS.search(said)
    return (said[: found.start()].strip(), said[found.start() :]) if found else (said.strip(), "")
