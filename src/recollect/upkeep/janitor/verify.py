"""Verify: whether two texts that lie close together claim the same, or claim what cannot both hold. Pure.

Vectors and shared words only propose. Two texts claim the same when nothing that carries meaning is left over on either
side: numbers and denials agree (`remember/alike`), and every other word has its partner, which is the same word, a
synonym that developers use for it, or a slip of the pen that occurs nowhere else. What is added or replaced is another
claim: «retries of billing» and «retries of search» share all but one word. Who does what to whom is in the order of the
words, which may change only where the sentence is turned around («owned by») or begins with when or where.

Two texts are opposed when `remember/conflict` says so and nothing differs but what the conflict is about. A janitor
looks at every pair that was ever written, so what would be a rare mistake at the door is a common one here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import takewhile

from ...language import terms
from ...language.tables import DAY, NEGATION
from ...recall.lexicon import BUILT_IN
from ...remember import alike
from ...remember.conflict import changes, conflict
from .opposition import beyond, known
from .wording import SYNONYMS, figures, plain

Rare = Callable[[str, str], bool]
FILLERS = frozenset(
    "current present pleas basic realli actual simpli inde note rememb alway alreadi still everyon everi togeth own "
    "never cannot none".split()  # that something is denied is looked at by itself
)
# Stop words, also as a stemmer leaves them; and those among them that turn a sentence into another one.
_EMPTY = FILLERS | terms.STOP_WORDS | frozenset(terms.terms(" ".join(sorted(terms.STOP_WORDS))))
_MEANT = frozenset(
    "before after off down under until out only all any each both more most few same other against".split()
)
_BECAUSE = re.compile(r"[,;]?\s+(?:because|since|so that|in order to|as otherwise)\s+.*$", re.IGNORECASE | re.DOTALL)
_TOWARDS = re.compile(
    r"\b(from|to|into|onto|before|after|than|over|under|until|via|instead of)\s+(?:the\s+)?([\w./@-]+)"
)
_TIED = re.compile(
    r"\b(of|for|in|on|at|with|by|as|to|from|within|after|before|through|about|is|are)\s+"
    r"(?=(?:the |an? |our |its |their |my |every |each |all )?((?:[\w./:&-]*\w\b ?){1,4}))",
    re.IGNORECASE,
)
_FRONTED = re.compile(r"\s*(?:on|in|at|for|from|with|after|before|during|when|if|every|by)\s", re.IGNORECASE)
_PASSIVE = re.compile(r"\b(?:is|are|was|were|been|be)\s+\w+\s+(?:\S+\s+){0,4}?by\b", re.IGNORECASE)
_DONE = re.compile(r"\b(?:is|are|was|were)\s+(\w+)", re.IGNORECASE)
# Verbs that a stemmer does not know again.
_VERBS = dict(
    pair.split("=")
    for pair in "kept=keep sent=send built=build wrote=write written=write ran=run went=go chose=choos chosen=choos "
    "held=hold led=lead made=make took=take taken=take broke=break broken=break drove=drive driven=drive".split()
)
_VALUES = re.compile(rf"(?<![\w-])(?:v?\d+(?:[.,:/-]\d+)*|{DAY})(?![\w-])", re.IGNORECASE)
_NUMBERED = re.compile(
    r"\b(number|no\.?|nr\.?|issue|ticket|step|phase|item|part|adr|pr|rfc|task|case|day|week|sprint|chapter|section|line|"
    r"row|test|bug|milestone|shard|node|host|replica|figure|table|question|fault|error|room|level)s? #?(\d+)", re.I
)  # fmt: skip
# What says that something changed, and not what it is about.
_TURNS = frozenset(
    "switch move migrat chang went renam replac drop instead longer anymor now from onward mov start as".split()
)
_OF = re.compile(
    r"(?:\b(?:the|an?) )?([\w-]+) of (?:(?:the|an?) )?((?:[\w-]+ ){0,2}[\w-]+)"
    r"(?= (?:is|are|was|were|has|have|lives?|goes)\b)",
    re.IGNORECASE,
)
# What something can be beside something else.
_QUALITIES = frozenset(
    terms.terms(
        "slow small big large fast quick new old broken fine down ready done green red flaky stable empty full busy "
        "important critical deprecated legacy safe simple complex cheap expensive good bad great huge tiny noisy quiet"
    )
)
_LIGHT = frozenset(("use", "make", "run"))  # verbs that add nothing where every other word is the same
MAX_REPLACED = 4  # words that may stand in another's place


def claims_the_same(one: str, other: str, rare: Rare) -> bool:
    """Whether two texts claim the same; `rare` tells whether a word is seldom beside another, as misspelt ones are.

    >>> seldom = lambda word, other: word.startswith("thrus")
    >>> claims_the_same("Deploys go out on Thursday.", "Deploys always go out on thrusday", seldom)
    True
    >>> claims_the_same("The billing service retries 3 times.", "The search service retries 3 times.", seldom)
    False
    >>> claims_the_same("Ana mentors Bo.", "Bo mentors Ana.", seldom)
    False
    >>> claims_the_same("Ana owns billing.", "Billing is owned by Ana.", seldom)
    True
    """
    if bool(_BECAUSE.search(one)) != bool(_BECAUSE.search(other)):  # one of them also tells why
        one, other = _BECAUSE.sub("", one), _BECAUSE.sub("", other)
    asked = "?" in one and "?" in other
    one, other = plain(one), plain(other)
    if not alike.agree(one, other) or _meant(one) != _meant(other) or (asked and _asking(one) != _asking(other)):
        return False
    return _paired_alike(one, other, rare)


def _paired_alike(one: str, other: str, rare: Rare) -> bool:
    """Whether every word has its partner, in an order that makes the same sentence."""
    first, second = (words(_OF.sub(r"\2 \1", said)) for said in (one, other))  # «the port of X» is «the X port»
    pairs = _paired(first, second, rare)
    if not pairs:
        return False
    partners = [pairs[word] for word in first if word in pairs]
    there = [word for word in second if word in partners]
    if partners == there:
        return True
    if bool(_PASSIVE.search(one)) != bool(_PASSIVE.search(other)):
        return True
    verbs = {verb for said in (one, other) for done in _DONE.findall(said) for verb in words(done)}
    verbs |= {pairs[verb] for verb in verbs if verb in pairs}
    if [word for word in partners if word not in verbs] == [word for word in there if word not in verbs]:
        return True  # «logs are kept» and «keeps logs»
    if _directions(one) != _directions(other):
        return False
    if _FRONTED.match(one) or _FRONTED.match(other):
        return True
    return _tied_alike(one, other, [word for word in partners if word not in verbs], there, pairs)


def _tied_alike(one: str, other: str, partners: Sequence[str], there: Sequence[str], pairs: Mapping[str, str]) -> bool:
    """Whether only words were moved that a little word ties to the rest, and the same words still tie the same."""
    ties = [_ties(said) for said in (one, other)]
    if any({pairs.get(word, word) for word in ties[0][how]} != ties[1][how] for how in ties[0].keys() & ties[1].keys()):
        return False
    moved = {pairs.get(word, word) for words_ in ties[0].values() for word in words_}
    moved |= {word for words_ in ties[1].values() for word in words_}
    return bool(moved) and [w for w in partners if w not in moved] == [
        w for w in there if w in partners and w not in moved
    ]


def _ties(text: str) -> dict[str, set[str]]:
    """What each little word stands before: the words of the thing that follows it.

    >>> _ties("The canteen of Redwood Foods opens at noon.") == {"of": {"redwood", "food"}, "at": {"noon"}}
    True
    """
    found: dict[str, set[str]] = {}
    for how, what in _TIED.findall(text):
        run = re.split(r"[,;:]|\s(?:is|are|was|were|has|have|and|or|that|which)\s", what)[0].split()
        taken = list(takewhile(lambda word: word[:1].isupper() or "-" in word or word[:1].isdigit(), run)) or run[:1]
        found.setdefault(how.lower(), set()).update(word for one in taken for word in words(one))
    return found


def _asking(text: str) -> frozenset[str]:
    return frozenset(("who", "what", "when", "where", "why", "how", "which", "can", "should")) & set(
        text.lower().split()
    )


def opposed(old: str, new: str) -> str:
    """How two texts cannot both hold, where they differ in nothing else: negated, number, date, value; or nothing.

    >>> opposed("The gateway listens on port 8080.", "The gateway listens on port 8443.")
    'number'
    >>> opposed("Billing retries a failed payment 3 times.", "Search retries a failed payment 5 times.")
    ''
    >>> opposed("We use yarn for packages.", "We switched from yarn to pnpm for packages.")
    'value'
    """
    return _opposed(figures(old), figures(new)) or beyond(old, new)


def _opposed(old: str, new: str) -> str:
    """The same, by the words as they are written."""
    how = conflict(old, new) or _counted(old, new)
    if not how:
        return ""
    if how == "negated":
        bare = [words(NEGATION.sub(" ", text)) for text in (old, new)]
        return how if set(bare[0]) ^ set(bare[1]) <= _TURNS else ""
    if how in ("number", "date"):  # a number behind such a word is the name of something: step 3 is not step 4
        bare = [words(_VALUES.sub(" ", _NUMBERED.sub(r"\1x\2", text))) for text in (old, new)]
        return how if set(bare[0]) ^ set(bare[1]) <= _TURNS else ""
    if changes(new):  # the rest of the old statement must be spoken of, or nothing but what it is used for
        return how if set(words(old)) - set(words(new)) <= _TURNS | {"use"} else ""
    said = frozenset(words(old)) ^ frozenset(words(new))
    if said & _QUALITIES or known(old, words(new)) != known(new, words(old)):
        return ""
    return how if _one_replaced(words(old), words(new)) else ""


def _counted(old: str, new: str) -> str:
    """Another number or day in the same words; a number in a name («search-2») is part of the name."""
    first, second = (frozenset(value.lower().rstrip("s") for value in _VALUES.findall(text)) for text in (old, new))
    if len(first) != 1 or len(second) != 1 or first == second:
        return ""
    return "date" if all(value.isalpha() for value in first | second) else "number"


@lru_cache(maxsize=32768)
def words(text: str) -> tuple[str, ...]:
    """The words of a text that carry meaning, each once, in their order.

    >>> words("Please note: the deploys go out on Thursdays.")
    ('deploy', 'go', 'thursday')
    """
    found = (_VERBS.get(term, term) for term in terms.terms(text) if term not in _EMPTY)
    return tuple(dict.fromkeys(found))


def _paired(first: Sequence[str], second: Sequence[str], rare: Rare) -> dict[str, str] | None:
    """Each word of the one with its partner in the other; None when one on either side has none."""
    pairs = {word: word for word in first if word in second}
    left = [word for word in first if word not in pairs and not _means_nothing(word, rare)]
    right = [word for word in second if word not in pairs and not _means_nothing(word, rare)]
    if len(left) != len(right):
        return None
    for word in left:
        partner = next((one for one in right if _synonyms(word, one) or _misspelt(word, one, rare)), None)
        if partner is None:
            return None
        right.remove(partner)
        pairs[word] = partner
    return pairs


def _meant(text: str) -> frozenset[str]:
    return _MEANT.intersection(text.lower().split())


def _means_nothing(word: str, rare: Rare) -> bool:
    """Whether a word is a misspelt stop word, or says no more than that something serves for something."""
    slip = len(word) >= 5 and any(_swapped(word, stop) and rare(word, stop) for stop in terms.STOP_WORDS)
    return slip or word in _LIGHT


def _synonyms(one: str, other: str) -> bool:
    return (one, other) in _close() or SYNONYMS.get(one, one) == SYNONYMS.get(other, other)


def _misspelt(one: str, other: str, rare: Rare) -> bool:
    """Whether one is the other with two letters swapped, one too many, too few or wrong, and hardly occurs itself.

    >>> [_misspelt(*pair, lambda word, other: True) for pair in (("thursday", "thrusday"), ("import", "export"))]
    [True, False]
    """
    if min(len(one), len(other)) < 5 or abs(len(one) - len(other)) > 1 or not (one + other).isalpha():
        return False
    if one[0] != other[0] or not (_swapped(one, other) or _one_letter(one, other)):
        return False
    return rare(one, other) or rare(other, one)


def _swapped(one: str, other: str) -> bool:
    differs = [at for at in range(min(len(one), len(other))) if one[at] != other[at]]
    return (
        len(one) == len(other) and len(differs) == 2 and differs[1] == differs[0] + 1
        and one[differs[0]] == other[differs[1]] and one[differs[1]] == other[differs[0]]
    )  # fmt: skip


def _one_letter(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    if len(short) == len(long):
        return sum(a != b for a, b in zip(short, long, strict=True)) == 1
    return any(long[:at] + long[at + 1 :] == short for at in range(len(long)))


def _directions(text: str) -> set[tuple[str, str]]:
    """What something goes from, to, before or after: the words whose order no sentence may change."""
    found = _TOWARDS.findall(text.lower())
    return {(how, " ".join(words(what))) for how, what in found if words(what) and not _VALUES.fullmatch(what)}


def _one_replaced(old: Sequence[str], new: Sequence[str]) -> bool:
    """Whether one run of words stands in the place of another, and nothing else differs."""
    edits = [edit for edit in SequenceMatcher(None, old, new, autojunk=False).get_opcodes() if edit[0] != "equal"]
    if len(edits) != 1 or edits[0][0] != "replace":
        return False
    _, start, end, start_new, end_new = edits[0]
    return end - start <= MAX_REPLACED and end_new - start_new <= MAX_REPLACED


def _stems(term: str) -> str:
    found = terms.terms(term)
    return found[0] if len(found) == 1 else ""


@lru_cache(maxsize=1)
def _close() -> frozenset[tuple[str, str]]:
    """Pairs of single words that developers use for one another: the closest of each group."""
    pairs = {
        (_stems(term), _stems(other))
        for term, others in BUILT_IN.items() for other in others[:2]
        if _stems(term) and _stems(other)
    }  # fmt: skip
    return frozenset(pairs | {(other, term) for term, other in pairs})
