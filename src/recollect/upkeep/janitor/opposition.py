"""Opposition: what cannot both hold although it is said in other words. Pure.

`remember/conflict` compares two statements word by word, as they come in. A janitor meets them later, noted by
different people: so they are first written in the plain way (`wording`), and then one of five things must be so.
Opposites: all else is the same, and what differs is «public» and «private». A denial: one denies what the other says of
the very same thing, or all of it («backups are not encrypted», «encrypted with GPG»). A renunciation: the one names
what the other says as what it was («raised from 13 to 16 seconds»). Another number, day or time, in statements that say
the same without it. Another value in a place that holds one at a time («lives in», «stored in», «our contact is»).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from ...language import terms
from ...language.tables import DAY
from .wording import OPPOSITES, SYNONYMS, plain

_DENIAL = re.compile(
    r"\b(?:no longer|not|never|none|cannot|without|no|stop(?:s|ped)?|quit|cease[sd]?|g[ai]ven? up|abandon(?:s|ed)?)\b",
    re.I,
)
_VALUE = re.compile(rf"(?<![\w-])(?:v?\d+(?:[.,:/-]\d+)*|{DAY})(?![\w-])", re.IGNORECASE)
# A number behind such a word is the name of something.
_NUMBERED = re.compile(
    r"\b(number|no\.?|nr\.?|issue|ticket|step|phase|item|part|adr|pr|rfc|task|case|day|week|sprint|chapter|section|line|"
    r"row|test|bug|milestone|shard|node|host|replica|figure|table|question|fault|error|room|level) #?(\d+)", re.I
)  # fmt: skip
_THING = r"(?:the |an? |our |its )?(?P<old>[\w.:/%+-]*\w(?: [\w.:/%+-]*\w){0,2})"
_WAS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\bfrom {_THING} (?:to|into|onto) (?P<new>\S+)",
        rf"\bfrom {_THING} as\b",
        rf"\b(?:instead of|rather than|in place of|replac(?:es|ed|ing)) {_THING}",
        rf"\bnot (?:(?:in|on|at|by|with|as|through|to|from) )?{_THING}(?=\s*(?:,|;|\.|$|but\b))",
    )
)
# What stands right before a value of which there is one at a time, and right behind one that begins a statement.
_BEFORE = re.compile(
    r"\b(?:(?:lives?|works?|working|born|located|situated) (?:in|at|as|for)|(?:reports?|belongs?|married|moved) to|"
    r"(?:runs?|running|listens?|listening) on|(?:opens?|closes?|starts?|ends?|begins?) at|go(?:es)? through|"
    r"costs?|seats?|weighs?|due on|scheduled for|wants? (?:its |their )?\w+ in|"
    r"(?:stored?|stores \w+|stores its \w+|kept|hosted|written|encrypted|encrypts \w+|encrypts its \w+|provisioned|"
    r"deployed|built|managed|maintained|owned|led|caused|published|configured|installed|compiled|signed|operated|billed|"
    r"drawn) "
    r"(?:in|on|at|by|with|to|through|via|from)|makes? (?:its |their )?\w+ in|"
    r"(?:contact|owner|maintainer|lead|manager|version|port|branch|database|language|region|deadline|address|head|chair|"
    r"director|editor)\b(?: (?:of|at|for|in) .{1,40})? is|[a-z]{4,}s of \S+(?: \S+)? are in|uses?|will use|use)\s+"
    r"(?:the |an? |our )?$",
    re.IGNORECASE,
)
_BEHIND = re.compile(
    r"^\s+(?:maintains|owns|leads|manages|caused|(?:is|was) (?:our|the) (?:contact|owner|maintainer|lead|"
    r"manager|head|chair|director|editor))\b",
    re.IGNORECASE,
)
_FOR_WHAT = re.compile(r"^\S*(?: \S+){0,2}? (?:for|to) ", re.IGNORECASE)
_PREFERS = re.compile(r"\bprefers? (?P<this>.+?) over (?P<that>.+?)[.!]?$", re.IGNORECASE)
_BOTH = re.compile(
    r"\b(?:also|too|as well|both|another|additionally|could|might|(?-i:may)|would|formerly|previously|before|former|"
    r"one day)\b",
    re.I,
)
_HAPPENED = re.compile(r"\b(?:failed|crashed|broke|happened|occurred|visited|met|saw|read|watched)\b", re.I)
_NEVER = re.compile(r"\b(?:always|never)\b", re.I)
_LIGHT = frozenset(
    terms.terms(
        "now again switch move change rename replace raise raised rise rose lower drop dropped upgrade upgraded "
        "downgrade take taken took over start become set new old every each together still always work use instead "
        "longer anymore formerly all deadline price terms timeout run make do have take get give"
    )
)  # fmt: skip
_WORD = re.compile(r"[^\W_]+(?:['’_\-./:@#+]+[^\W_]+)*")


def beyond(old: str, new: str) -> str:
    """How two statements in other words cannot both hold: negated, number, date or value; or nothing.

    >>> beyond("The wiki of Lumen is public.", "Lumen's wiki is private.")
    'negated'
    >>> beyond("Backups are encrypted with GPG.", "Our backups are not encrypted.")
    'negated'
    >>> beyond("A request times out after 13 seconds.", "The timeout of requests was raised from 13 to 16 seconds.")
    'value'
    >>> beyond("At 8:30 the canteen opens.", "The canteen opens at 7:30.")
    'number'
    >>> beyond("Ana lives in Porto.", "Ana's parents live in Graz.")
    ''
    """
    if old.rstrip().endswith("?") or new.rstrip().endswith("?") or _BOTH.search(old) or _BOTH.search(new):
        return ""
    first, second = plain(old), plain(new)
    return (
        _renounced(first, second) or _renounced(second, first) or _denied(first, second) or _reversed(first, second)
        or _counted(first, second) or _replaced(first, second)
    )  # fmt: skip


@lru_cache(maxsize=32768)
def row(text: str) -> tuple[str, ...]:
    """The words that carry meaning, stemmed, in their order."""
    found = []
    for word in _WORD.findall(text.lower()):
        stem = "".join(terms.terms(word)[-1:]) if word.isalpha() else word
        if stem and word not in terms.STOP_WORDS and stem not in terms.STOP_WORDS and stem not in _LIGHT:
            found.append(SYNONYMS.get(stem, stem))
    return tuple(found)


def _bag(text: str) -> frozenset[str]:
    return frozenset(row(text))


def _names(text: str) -> frozenset[str]:
    """Words that name something: capital letters inside a sentence, hyphens and dots inside a word.

    >>> sorted(_names("Backups of mossy-heron go to Ana Lind."))
    ['ana', 'lind', 'mossy-heron']
    """
    found = _WORD.findall(text)
    capital = [one[0].isupper() for one in found] + [False]
    return frozenset(
        word
        for n, one in enumerate(found)
        # The first word has a capital letter anyway; it is a name where another one follows.
        if (capital[n] and (n or capital[n + 1])) or re.search(r"\w[-./]\w", one)
        for word in row(one)
    )


def _close(one: str, other: str) -> bool:
    """Whether two stems are of one word, allergic and allergy, or one is the other with letters swapped."""
    short, long = sorted((one, other), key=len)
    kin = len(short) >= 5 and long.startswith(short[:-1]) and len(long) - len(short) <= 2
    swapped = len(short) == len(long) >= 5 and sorted(short) == sorted(long)
    return short == long or ((kin or swapped) and (short + long).isalpha())


def _within(some: frozenset[str], others: frozenset[str]) -> bool:
    return all(any(_close(word, other) for other in others) for word in some)


def _reversed(old: str, new: str) -> str:
    first, second = _bag(old), _bag(new)
    denied = bool(_DENIAL.search(old)) != bool(_DENIAL.search(new))
    if denied and not _NEVER.search(old) and not _NEVER.search(new):
        return ""
    for pair in OPPOSITES:
        one, other = (terms.terms(word)[-1] for word in pair)
        for here, there in ((one, other), (other, one)):
            if here in first and there in second and here not in second and there not in first:
                return "negated" if first - {here} == second - {there} and len(first) > 1 else ""
    return ""


def _denied(old: str, new: str) -> str:
    """One denies what the other says of the same thing, or all that it could say."""
    signs = [bool(_DENIAL.search(text)) for text in (old, new)]
    if signs[0] == signs[1]:
        return ""
    denying, saying = (new, old) if signs[1] else (old, new)
    head = re.split(r"[;,]| but ", denying, maxsplit=1)[0]
    denied = _bag(_DENIAL.sub(" ", head if _DENIAL.search(head) and len(row(head)) > 1 else denying))
    said = row(saying)
    if len(denied) < 2 or not _within(denied, frozenset(said)) or _narrow(denying) - _narrow(saying):
        return ""
    known = [any(_close(word, other) for other in denied) for word in said]
    last = max(n for n, is_known in enumerate(known) if is_known)
    # What is said beyond what is denied must narrow it down, and not be something else that it is said of.
    more = [word for word, is_known in zip(said[: last + 1], known, strict=False) if not is_known]
    return "negated" if all(_VALUE.fullmatch(word) for word in more) else ""


def _narrow(text: str) -> frozenset[str]:
    words = ("only", "all", "both", "each", "until", "before", "after", "most", "few", "alone", "except", "unless")
    return frozenset(words).intersection(text.lower().split())


def _renounced(old: str, new: str) -> str:
    """The new one names what the old one says as what it was, and speaks of the same."""
    said, told = _bag(old), _bag(new)
    if _within(told, said):
        return ""
    for pattern in _WAS:
        for found in pattern.finditer(new):
            gone = row(found["old"])
            came = frozenset(row(found.groupdict().get("new") or ""))
            if not gone or gone[0] not in said or came & said or _DENIAL.search(old):
                continue
            was = frozenset(gone) & said
            rest = said - was
            shared = frozenset(word for word in rest if any(_close(word, other) for other in told))
            names = _names(old) - was
            enough = len(shared) >= 2 and len(shared) >= 0.6 * len(rest)
            if names <= told and (enough or (names and len(rest) <= 2 and shared)):
                return "value"
    return ""


def _counted(old: str, new: str) -> str:
    """The same but for one number, day or time."""
    if _HAPPENED.search(old) or _HAPPENED.search(new) or bool(_DENIAL.search(old)) != bool(_DENIAL.search(new)):
        return ""
    bare = [_NUMBERED.sub(r"\1x\2", text) for text in (old, new)]
    values = [[value.lower().rstrip("s") for value in _VALUE.findall(text)] for text in bare]
    first, second = set(values[0]) - set(values[1]), set(values[1]) - set(values[0])
    if len(first) != 1 or len(second) != 1 or len(values[0]) != len(values[1]):
        return ""
    rest = [frozenset(row(_VALUE.sub(" ", text))) for text in bare]
    if len(rest[0]) < 2 or rest[0] != rest[1] or _narrow(old) != _narrow(new):
        return ""
    return "date" if all(value.isalpha() for value in first | second) else "number"


def _replaced(old: str, new: str) -> str:
    """Another value in a place that holds one at a time."""
    likes = _PREFERS.search(old), _PREFERS.search(new)
    if likes[0] and likes[1] and _bag(old) == _bag(new):
        return "value" if row(likes[0]["this"]) == row(likes[1]["that"]) else ""
    if any(_DENIAL.search(text) or _HAPPENED.search(text) for text in (old, new)):
        return ""
    rows = row(old), row(new)
    runs = [
        [word for word in mine if not any(_close(word, one) for one in yours)] for mine, yours in (rows, rows[::-1])
    ]
    if not all(1 <= len(run) <= 3 and _together(run, mine) for run, mine in zip(runs, rows, strict=True)):
        return ""
    if len(set(rows[0]) - set(runs[0])) < 2:
        return ""
    shapes = [_held(text, run) for text, run in zip((old, new), runs, strict=True)]
    return "value" if shapes[0] and shapes[0] == shapes[1] else ""


def _together(run: Sequence[str], words: Sequence[str]) -> bool:
    at = words.index(run[0])
    return tuple(words[at : at + len(run)]) == tuple(run)


def _held(text: str, run: Sequence[str]) -> str:
    """What ties a value to a place where only one can stand, or nothing; «in inches» and «in the cabinet» are two."""
    places = list(_WORD.finditer(text))
    first = next((one for one in places if row(one[0])[-1:] == (run[0],)), None)
    last = next((one for one in places if row(one[0])[-1:] == (run[-1],)), None)
    if first is None or last is None:
        return ""
    before, behind = text[: first.start()], text[last.end() :]
    leads = _BEHIND.match(behind) if not before.strip() else None
    framed = _BEFORE.search(before)
    if framed and framed[0].split()[0].lower() in ("use", "uses", "will") and not _FOR_WHAT.match(behind):
        framed = None  # one can use many things, and one for something
    if not (leads or framed):
        return ""
    if leads:
        return "by" if leads[0].split()[0].endswith(("s", "d")) and "is" not in leads[0].split() else "is"
    tie = [word for word in (framed[0] if framed else "").lower().split() if word not in ("the", "a", "an", "our")][-1:]
    if tie == ["is"] and not (first[0][0].isupper() or first[0][0].isdigit()):
        return ""  # a database can be slow and small
    return " ".join([*tie, "the"] if before.lower().split()[-1:] == ["the"] else tie)


def known(text: str, others: Sequence[str]) -> bool:
    """Whether an article stands before the first word that another text does not have.

    >>> known("Drawings are in the blue cabinet.", ("draw", "inch"))
    True
    >>> known("Drawings are in inches.", ("draw", "cabinet"))
    False
    """
    for found in _WORD.finditer(text):
        stems = [stem for stem in terms.terms(found[0]) if stem not in terms.STOP_WORDS]
        if stems and not any(stem in others for stem in stems):
            return text[: found.start()].lower().split()[-1:] == ["the"]
    return False
