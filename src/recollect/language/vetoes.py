"""Vetoes: exact differences that forbid taking two texts for the same, in any language. Pure.

Each rule looks for one difference that one character can make (5 and 6, staging and production, a "not") and names it.
What passes all of them is still judged by the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from functools import lru_cache

from . import tables
from .meaning import marks
from .terms import STOP_WORDS, terms

_CODE = re.compile(
    r"`(?P<tick>[^`]+)`|(?P<url>https?://\S+)|(?P<path>(?<!\w)(?:~|\.{0,2})/[\w.@*-]+(?:/[\w.@*-]*)*"
    r"|[\w.@-]+(?:/[\w.@*-]+){2,}|[\w@-]+/[\w-]+\.\w+)|(?P<flag>(?<![\w-])--?[A-Za-z][\w-]*)"
    r"|(?P<name>[A-Za-z]\w*(?:::\w+)+|\w+\(\)|[a-z]\w*\.[A-Za-z]\w*(?:\.\w+)*(?!\w)|\w*[A-Za-z]\w*_\w+|_\w+"
    r"|[a-z]{2,}[A-Z]\w*|[A-Z][a-z]+[A-Z]\w+|[A-Z]{2,}-\d+|\#\d+)"
    r"|(?P<sign>(?<!\S)(?:[<>]{1,3}=?|[!=]==?|&&|\|\||[*~^%@#\\+|&$]{1,3}|\.{1,2}(?=\s|\?|$))(?=\s|\?|$))"
)
_QUOTED = re.compile(r"\"([^\"]{1,80})\"|(?<!\w)'([^']{2,80})'(?!\w)|\u201c([^\u201d]{1,80})\u201d")
_NUMBER = re.compile(
    r"(?<![\w.])(?P<sign>[-\u2212](?=\d))?(?P<money>[$€£¥₹])?(?P<digits>v?\d+(?:[.,:/-]\d+)*)"
    r"\s?(?P<unit>%|[^\W\d_]{1,12})?", re.IGNORECASE
)  # fmt: skip
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
_NAME = re.compile(r"#\d+\b|\b[A-Za-z]+(?:-[A-Za-z]+)*-\d+\b|\b[a-z]+-[a-z]+\b|\b\w+_\w+\b")
_UNITS = {spelling: group[0] for group in tables.groups("words", "units") for spelling in group}
_ENVIRONMENTS = tables.pairs("words", "environments")
_WORD = re.compile(r"[^\W_]+(?:['’\-./][^\W_]+)*")
SHARED = 0.5
MAX_NAME = 200  # characters of a name in code
FEWEST = 3  # words that tell something, from which their order does
CLAUSE = 6  # words from which two sentences that differ in the first alone are about two subjects
ROTATED = 4  # words from which a sentence whose parts changed places is still the same sentence


def differences(a: str, b: str) -> tuple[str, ...]:
    """Why two texts cannot say or ask the same, in words; nothing where no rule forbids it.

    >>> differences("Retry 3 times.", "Retry 5 times.")
    ('another number: 3 ≠ 5',)
    >>> differences("It waits 5min.", "It waits 5 minutes."), differences("Use `a_b`.", "Use a_b.")
    ((), ())
    >>> differences("Deploy to prod.", "Deploy to staging."), differences("It runs.", "It does not run.")
    (('another environment: production ≠ staging',), ('one of them is negated',))
    >>> differences("Ana mentors Bo.", "Bo mentors Ana.")
    ('the same words in another order',)
    """
    return tuple(_differences(a, b))


def _differences(a: str, b: str) -> Iterator[str]:
    one, other = _numbers(a), _numbers(b)
    if one.keys() != other.keys():
        yield f"another number: {_list_words(one.keys() - other.keys())} ≠ {_list_words(other.keys() - one.keys())}"
    units = [(one[number], other[number]) for number in one.keys() & other.keys()]
    if any(first and second and first != second for first, second in units):
        yield "another unit"
    here, there = environments(a), environments(b)
    if here != there:
        yield f"another environment: {_list_words(here - there)} ≠ {_list_words(there - here)}"
    lone = _absent(a, b), _absent(b, a)
    if any(lone):
        yield f"another name in code or quotes: {_list_words(lone[0])} ≠ {_list_words(lone[1])}"
    if marks(a).negations % 2 != marks(b).negations % 2:
        yield "one of them is negated"
    if _is_reordered(a, b):
        yield "the same words in another order"


def _list_words(some: Set[str]) -> str:
    return ", ".join(sorted(some)) or "none"


def elsewhere(a: str, b: str) -> bool:
    """Whether both name a place where software runs, or something by a name as in code, and none of these is the same.

    Of two unknown names nobody can tell whether they are two subjects or two values; what stands first and differs,
    where all the rest is the same, is taken for the subject.

    >>> elsewhere("Production has port 5432.", "Staging has port 5433."), elsewhere("PR #12 broke.", "PR #15 broke.")
    (True, True)
    >>> elsewhere("Kite runs on Redis from now on.", "Moss runs on Redis from now on.")
    True
    """
    here, there = ([word.casefold() for word in _WORD.findall(text)] for text in (a, b))
    if len(here) == len(there) >= CLAUSE and here[0] != there[0] and here[1:] == there[1:]:
        return True
    for of in (environments, _names):
        one, other = of(a), of(b)
        if one and other and one.isdisjoint(other):
            return True
    return False


@lru_cache(maxsize=8192)
def environments(text: str) -> frozenset[str]:
    return frozenset(_ENVIRONMENTS[word] for word in re.findall(r"\w+", text.casefold()) if word in _ENVIRONMENTS)


def _names(text: str) -> frozenset[str]:
    return frozenset(_NAME.findall(text))


@lru_cache(maxsize=8192)
def _numbers(text: str) -> Mapping[str, str]:
    """Numbers, dates and versions, also those written as words, each with its unit where it has one."""
    found = {number: "" for number in marks(text).numbers if not re.search(rf"\d*{re.escape(number)}", text)}
    for one in _NUMBER.finditer(_THOUSANDS.sub("", text)):
        digits = one["digits"].lower().removeprefix("v")
        digits = re.sub(r"^0+(?=\d)|(?<=\d)\.0+$", "", digits) if digits.count(".") < 2 else digits
        unit = _UNITS.get(one["money"] or (one["unit"] or "").casefold(), "")
        found["-" * bool(one["sign"]) + digits] = unit
    return found


@lru_cache(maxsize=8192)
def _code(text: str) -> frozenset[str]:
    """Names as in code, paths, flags, signs and what is quoted, as they are written."""
    spaced = " ".join(word for word in text.split() if len(word) <= MAX_NAME)  # no name is longer, and time grows fast
    found = {next(filter(None, one.groups())) for one in _CODE.finditer(spaced)}
    return frozenset(found | {next(filter(None, one)) for one in _QUOTED.findall(text)})


def _absent(a: str, b: str) -> frozenset[str]:
    """What `a` writes as code or quotes and `b` does not have; a flag or name must have its very capitals."""
    flat = re.sub(r"[\W_]+", "", b.casefold())
    found = set()
    for said in _code(a):
        bare = re.sub(r"[\W_]+", "", said.casefold())
        exact = re.search(rf"(?<![\w-]){re.escape(said)}(?![\w-])", b) is not None
        cased = said.startswith("-") or re.search(rf"(?i)(?<!\w){re.escape(said)}(?!\w)", b) is not None
        if not exact and (cased or not bare or bare not in flat):
            found.add(said)
    return frozenset(found)


def _is_reordered(a: str, b: str) -> bool:
    """Whether both have the very same words in another order, and not just a part put in front."""
    one, other = ([word.casefold() for word in _WORD.findall(text)] for text in (a, b))
    return _is_turned(one, other, ROTATED)


def exchanged(a: str, b: str) -> bool:
    """Whether two questions have the same three or more words in another order, but for endings, little words and one.

    >>> exchanged("Who reviews the platform team's changes?", "Whose changes does the platform team review?")
    True
    >>> exchanged("How do I sort a list in Python?", "In Python, how can I sort lists?")
    False
    """
    one, other = (terms(" ".join(word for word in text.lower().split() if word not in STOP_WORDS)) for text in (a, b))
    if len({*one} ^ {*other}) > 1:
        return False
    one, other = [word for word in one if word in other], [word for word in other if word in one]
    return len(one) >= FEWEST and _is_turned(one, other, FEWEST)


def _is_turned(one: list[str], other: list[str], least: int) -> bool:
    if one == other or sorted(one) != sorted(other):
        return False
    in_front = any(one[at:] + one[:at] == other for at in range(1, len(one)))
    return not (in_front and len(one) >= least)


def likeness(a: str, b: str) -> dict[str, float]:
    """What can be seen of two texts without understanding them, for the calibration of the reader.

    `shared`: the share of their words that both have. `one_place`: they differ in one run of words only.
    `negation`: one of them is negated.

    >>> likeness("The port is 8080.", "The port is 8443.")
    {'shared': 0.6, 'one_place': 1.0, 'negation': 0.0}
    """
    one, other = ([word.casefold() for word in _WORD.findall(text)] for text in (a, b))
    ahead = next((n for n, (x, y) in enumerate(zip(one, other, strict=False)) if x != y), min(len(one), len(other)))
    rest = one[ahead:], other[ahead:]
    behind = next(
        (n for n, (x, y) in enumerate(zip(rest[0][::-1], rest[1][::-1], strict=False)) if x != y), min(map(len, rest))
    )
    left = [part[: len(part) - behind] for part in rest]
    return {
        "shared": round(len({*one} & {*other}) / max(1, len({*one} | {*other})), 4),
        "one_place": float(all(len(part) <= 3 for part in left) and ahead + behind > 1),
        "negation": float(marks(a).negations % 2 != marks(b).negations % 2),
    }


def share_words(a: str, b: str, share: float = SHARED) -> bool:
    """Whether two texts share at least half of their words, or another share; with 0, at least one.

    >>> share_words("Deploys go out on Friday.", "Deploys go out on Fridays!"), share_words("Use pnpm.", "Ana left.")
    (True, False)
    """
    one, other = ({term for term in terms(text) if term not in STOP_WORDS} for text in (a, b))
    return bool(one & other) and len(one & other) >= share * len(one | other)
