"""Direction: who does it to whom, from where to where, and whether two questions say it in the same order. Pure.

The guard that objects to another direction, and the proof that there is none: word for word the same.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

from .asking import after_object, kind
from .reading import FUNCTION, Reading, Word, stem, table
from .two import Objection, Two

_DIRECTED = frozenset(
    """from to into onto than before after by over against through via under behind until above with in on at for of
    without within as per across toward towards inside outside below beside besides except instead plus minus upon since
    during despite unlike near around like""".split()
)
_BY = re.compile(r"\b(?:is|are|was|were|be|been|being|get|gets)\b(?: \w+){0,4}? \w+(?:ed|en|lt|wn|pt|ught|de|t) by\b")
_BETWEEN = frozenset("and or vs versus between both either compared".split())
_RELATES = frozenset(
    map(
        stem,
        """call depend import use own block extend inherit include contain trigger invoke send read write publish
        subscribe consume replace override wrap reference link follow lead report approve review merge notify
        trust manage cause affect beat support know love hate need talk connect point map belong precede succeed
        depend rely produce feed serve host proxy forward implement return throw catch create delete teach pay
        owe marry kill win defeat hire employ help attack influence become""".split(),
    )
)


def _roles(reading: Reading) -> dict[str, tuple[int, str]]:
    """Stem → where it stands first, and the last word before it that gives a direction."""
    found: dict[str, tuple[int, str]] = {}
    role = ""
    for place, word in enumerate(reading.words):
        if word.text in _DIRECTED:
            role = word.text
        elif word.text in FUNCTION and word.text not in (
            "the",
            "a",
            "an",
            "our",
            "my",
            "your",
            "its",
            "their",
            *_BETWEEN,
        ):
            role = ""
        elif word.content or word.text not in FUNCTION:
            found.setdefault(word.stem, (place, role))
    return found


def _passive(reading: Reading) -> bool:
    return bool(_BY.search(reading.plain.casefold()))


def direction(two: Two) -> Iterator[Objection]:
    """Who does it to whom, and from where to where: the same words with their parts exchanged."""
    one, other = _roles(two.asked), _roles(two.known)
    shared = sorted(one.keys() & other.keys(), key=lambda word: one[word])
    turned = _passive(two.asked) != _passive(two.known)
    for number, first in enumerate(shared):
        for second in shared[number + 1 :]:
            swapped = other[first][0] > other[second][0]
            roles = (one[first][1], one[second][1], other[first][1], other[second][1])
            if swapped and not turned and _exchanged(roles) and not _side_by_side(two, first, second):
                yield Objection(f"the other way round: {first}, {second}", firm=True)
                return
            # A phrase that has only moved, as in «in Python, how …», changes nothing.
            stays = any(a and a == b for a, b in ((roles[0], roles[2]), (roles[1], roles[3])))
            relates = not stays and (first in _RELATES or second in _RELATES)
            if relates and not _active_is_passive(two, swapped) and (swapped or turned):
                yield Objection(f"who does it to whom: {first}, {second}", firm=not any(two.left))
                return
    if contrast := _contrast(two, one, other, shared):
        yield Objection(f"the other way: {contrast}", firm=not any(two.left))
    elif whose := _whose(two):
        yield Objection(f"another person: {whose}", firm=not any(two.left))
    elif {after_object(side.plain) for side in two.sides} == {True, False} and _same_words(two):
        yield Objection("one asks who did it, the other to whom", firm=True)
    elif (found := _around(two, shared)) is not None and not turned:
        yield Objection(f"the other way round: {found}", firm=True)
    elif _same_words(two) and (found := _reordered(two, one, other)):
        yield Objection(f"the same words in another order: {found}", firm=True)
    elif found := _led(two):
        yield Objection(f"another part of the deed: {found}", firm=_same_words(two, but=_DIRECTED))


_OWNERS = {
    **dict.fromkeys("my mine our ours".split(), "ours"), "your": "yours", "yours": "yours",
    **dict.fromkeys("his her hers their theirs".split(), "theirs"),
}  # fmt: skip
_DOERS = {
    **dict.fromkeys("i me we us".split(), "we"), "you": "you", "he": "he", "him": "he", "she": "she", "they": "they",
    "them": "they",
}  # fmt: skip


def _whose(two: Two) -> str:
    """Mine and yours; or we and you, but where one asks how, since «how do you» and «how do I» ask the same."""
    tables = [_OWNERS] if kind(two.asked.plain) == "how" else [_OWNERS, _DOERS]
    for persons in tables:
        one, other = ({persons[text] for text in side.texts if text in persons} for side in two.sides)
        if one and other and not one & other:
            return f"{min(one)} ≠ {min(other)}"
    return ""


_TOWARDS = frozenset("to into onto toward towards".split())
# Words of direction of which none stands for another, and those of them that no «in», «on», «of» or «with» stands for.
_BEARINGS = {
    **dict.fromkeys(_TOWARDS, "to"), "below": "under", "above": "over",
    **{
        word: word
        for word in """from by for as than against over under before after until since without outside behind except
        instead plus minus despite unlike""".split()
    },
}  # fmt: skip
_APART = frozenset("before after until since without outside above below behind except against despite unlike".split())
_NEUTRAL = frozenset("in on of with at within inside during".split())


def _contrast(
    two: Two, one: Mapping[str, tuple[int, str]], other: Mapping[str, tuple[int, str]], shared: Collection[str]
) -> str:
    """The same thing after a word of the contrary direction: «to the bucket», «from the bucket»."""
    names = two.asked.of("name")
    for word in shared:
        a, b = one[word][1], other[word][1]
        bearings = {_BEARINGS.get(a, ""), _BEARINGS.get(b, "")}
        contrary = "" not in bearings and len(bearings) == 2 and bearings != {"to", "for"}
        contrary = contrary or (word in names and {a, b} in ({"in", "for"}, {"with", "for"}))  # «for Go», «in Go»
        if contrary or (a in _APART and b in _NEUTRAL) or (b in _APART and a in _NEUTRAL):
            return f"{a} ≠ {b} {word}"
    return ""


# Behind the same word: what is paid for and what with, what it is run as and what on. Only pairs that seldom say the
# same: one works at a firm or for it, connects to a host or with it, and earns from, by, through or with a thing.
_LEADING = {
    frozenset((one, other))
    for one, others in {
        "for": "with by from through via under as", "as": "to into by with from on through", "to": "by",
        "under": "with on in to from by at of", "about": "with by from",
    }.items()
    for other in others.split()
}  # fmt: skip


def _led(two: Two) -> str:
    """The same word with another one of direction right behind it, whatever follows: «pay for», «pay with»."""
    one, other = (_behind(side) for side in two.sides)
    for word in sorted(one.keys() & other.keys()):
        for a, b in itertools.product(sorted(one[word] & two.lone[0]), sorted(other[word] & two.lone[1])):
            if {a, b} in _LEADING:
                return f"{word} {a} ≠ {b}"
    return ""


def _behind(reading: Reading) -> dict[str, set[str]]:
    """Stem → the words of direction that follow it at once."""
    found: dict[str, set[str]] = defaultdict(set)
    for word, after in itertools.pairwise(reading.words):
        if after.text in _DIRECTED and word.text not in _DIRECTED:
            found[word.stem].add(after.text)
    return found


def _same_words(two: Two, but: Collection[str] = ()) -> bool:
    """Whether they differ in nothing but small words that give no direction, or are among `but`."""
    apart = two.lone[0] | two.lone[1]
    words = [word for reading in (two.asked, two.known) for word in reading.words if word.stem in apart]
    return all(word.kind == "word" and word.text in (FUNCTION - _DIRECTED).union(but) for word in words)


def _reordered(two: Two, one: Mapping[str, tuple[int, str]], other: Mapping[str, tuple[int, str]]) -> str:
    """Two words whose order is exchanged, though neither only moved with its phrase nor became a passive's subject."""
    shared = sorted(one.keys() & other.keys(), key=lambda word: one[word])
    for number, first in enumerate(shared):
        for second in shared[number + 1 :]:
            stays = any(one[word][1] and one[word][1] == other[word][1] for word in (first, second))
            if other[first][0] > other[second][0] and not stays and not _side_by_side(two, first, second):
                return "" if _active_is_passive(two, swapped=True) else f"{first}, {second}"
    return ""


def _exchanged(roles: tuple[str, str, str, str]) -> bool:
    """Whether each of two words has in one question the part that the other has in the other one."""
    first, second, first_there, second_there = roles
    return first != second and (first, second) == (second_there, first_there)


def _side_by_side(two: Two, first: str, second: str) -> bool:
    """Joined by «and», «or», «vs»: their order says nothing."""
    for reading in (two.asked, two.known):
        places = sorted(
            next(n for n, word in enumerate(reading.words) if word.stem == name) for name in (first, second)
        )
        inside = [word.text for word in reading.words[places[0] + 1 : places[1]]]
        if not set(inside) & _BETWEEN or len(inside) > 4:
            return False
    return True


def _active_is_passive(two: Two, swapped: bool) -> bool:
    """«A calls B» and «B is called by A»: one is passive, and the order is exchanged. Or neither, and it is not."""
    forms = [re.search(r"\b(?:is|are|was|were|be|been|being)\b(?: \w+){0,4}? \w+(?:ed|en|lt|wn|pt|ught|de)\b",
                       reading.plain.casefold()) for reading in (two.asked, two.known)]  # fmt: skip
    return (bool(forms[0]) != bool(forms[1])) == swapped


def _around(two: Two, shared: list[str]) -> str | None:
    """Two words that have changed sides of a third one that stands in the middle in both."""
    one = [word.stem for word in two.asked.words if word.stem in shared]
    other = [word.stem for word in two.known.words if word.stem in shared]
    if len(one) != len(other) or one == other or set(one) != set(other):
        return None
    middle = [a for a, b in zip(one, other, strict=True) if a == b]
    moved = [a for a, b in zip(one, other, strict=True) if a != b]
    if len(moved) == 2 and middle and one.index(moved[0]) < one.index(middle[0]) < one.index(moved[1]):
        return None if _side_by_side(two, moved[0], moved[1]) else f"{moved[0]}, {moved[1]}"
    return None


# -- word for word ----------------------------------------------------------------------------------------------------

# Small words that may be in one of them only, when all others are in both; of the second kind only on one side.
_IDLE = frozenset(
    "a an the i we you one my our me us is are do does how what which there here have please way ways be being".split()
)
_MAYBE = frozenset("can could should".split())  # «how can I» asks what «how do I» asks; «what can I» does not
_LOOSE = frozenset("of for in".split())
_LEADS = frozenset("how way ways".split())  # before a «to» that gives no direction


def word_for_word(two: Two) -> bool:
    """Whether both say the same in the same order, but for endings, short forms and words that say nothing.

    >>> from recollect.answers.reading import read
    >>> [word_for_word(Two(read("How do I run the app?"), read(other))) for other in ("how to run the application?",
    ...     "How is the app run?", "How do I run to the app?", "How does the app run?")]
    [True, False, False, False]
    """
    one, other = (_told(reading) for reading in two.sides)
    lone = [_lone(*two.sides), _lone(*two.sides[::-1])]
    idle = _IDLE | _LOOSE | (_MAYBE if kind(two.asked.plain) == "how" else frozenset())
    if all(words & _LOOSE for words in lone) or not lone[0] | lone[1] <= idle:
        return False
    # «We store logs» is «logs are stored»: what comes first has changed, and nothing else.
    turned = [other[1], other[0], *other[2:]] if len(other) > 1 else other
    return one == other if _active_is_passive(two, swapped=False) else one == turned


def _lone(one: Reading, other: Reading) -> frozenset[str]:
    said = {_spelling(word) for word in other.words}
    leads = [before.text in _LEADS for before in one.words]
    return frozenset(
        word.text
        for word, led in zip(one.words, [False, *leads], strict=False)
        if _spelling(word) not in said and not (word.text == "to" and led)
    )


def _spelling(word: Word) -> str:
    groups = table("SHORT")
    return f"short {min(groups[word.stem])}" if word.stem in groups else word.stem


def _told(reading: Reading) -> list[tuple[str, str]]:
    """Each word that says something, with the direction it has; at the end a direction that is left without a word."""
    found: list[tuple[str, str]] = []
    role, before = "", ""
    for word in reading.words:
        if word.text in _DIRECTED - _LOOSE and not (word.text == "to" and before in _LEADS):
            role = word.text
        elif word.text not in _IDLE | FUNCTION or word.content:
            found.append((_spelling(word), role))
            role = ""
        before = word.text
    return [*found, ("", role)] if role else found
