"""Guards: what forbids serving the answer of one question for another, each in words. Pure.

Likeness of vectors sees none of this: «enable» and «disable», 5 and 6, «from A to B» and «from B to A» lie almost on
the same spot. A guard looks for one such difference and says which. A guard only ever forbids: what passes all of
them is still judged. They err on the side of refusing, since a refusal costs one computed answer, and a wrong one
costs trust.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from .asking import APART, after_object, kind, modals, ongoing, tense
from .reading import FUNCTION, Reading, Word, first_words, opposites, stem, table


@dataclass(frozen=True, slots=True)
class Objection:
    """What a guard has found. `firm`: it forbids in any talk; else only in technical talk (see `strict`)."""

    text: str
    firm: bool = False


WHOLE = frozenset(("all", "every", "each"))
PART = frozenset(("some", "most", "few", "none", "half", "certain"))
NEGATIONS = frozenset("not no never none nobody nothing neither nor non without cannot hardly".split())
_PREFIXES = ("un", "dis", "de", "non", "in", "im", "ir", "re", "pre", "post", "over", "under", "mis", "anti", "auto",
             "multi", "sub", "inter", "semi")  # fmt: skip


@dataclass(frozen=True)
class Two:
    """Two readings side by side: which words answer each other, and what is left over on either side."""

    asked: Reading
    known: Reading

    @property
    def sides(self) -> tuple[Reading, Reading]:
        return self.asked, self.known

    @cached_property
    def left(self) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
        """The words of content that have no partner: of the asked question, of the known one."""
        return unmatched(self.asked, self.known), unmatched(self.known, self.asked)

    @cached_property
    def stems(self) -> tuple[frozenset[str], frozenset[str]]:
        return (frozenset(word.stem for word in self.asked.words), frozenset(word.stem for word in self.known.words))

    @cached_property
    def lone(self) -> tuple[frozenset[str], frozenset[str]]:
        """Every stem, function words too, that only one of them has."""
        one, other = self.stems
        return one - other, other - one


def unmatched(one: Reading, other: Reading) -> tuple[Word, ...]:
    """The words of content in `one` that nothing in `other` stands for."""
    stems = {word.stem for word in other.words}
    joined = "".join(other.texts)
    return tuple(
        word
        for word in one.content
        if word.stem not in stems
        and not (len(word.text) > 4 and word.text in joined and word.kind != "number")
        and not any(_joined(word, one, text) for text in other.texts)
        and not any(same(word, partner) for partner in other.words)
    )


def _joined(word: Word, reading: Reading, whole: str) -> bool:
    """Whether a word and its neighbour make up one word of the other question: «data base», «database»."""
    if len(whole) < 6 or (not whole.startswith(word.text) and not whole.endswith(word.text)):
        return False
    texts = reading.texts
    return any(a + b == whole for a, b in itertools.pairwise(texts) if word.text in (a, b))


def same(one: Word, other: Word) -> bool:
    """Whether two words may stand for each other: by the lexicon, or as two spellings of one.

    >>> delete, remove, create = (Word(word, stem(word), "word") for word in ("delete", "remove", "create"))
    >>> same(delete, remove), same(delete, create)
    (True, False)
    """
    if one.kind in ("number", "date") or other.kind in ("number", "date"):
        return False
    if (one.stem, other.stem) in opposites():
        return False
    for name in ("ACTIONS", "THINGS", "SYNONYMS", "ENVIRONMENTS"):
        groups = table(name)
        if groups.get(one.stem, frozenset()) & groups.get(other.stem, frozenset()):
            return True
    return one.kind == other.kind == "word" and _skeleton(one.stem) == _skeleton(other.stem) != ""


def _skeleton(word: str) -> str:
    """A long word without what is misspelt most: doubled letters and inner vowels; nothing for a short one.

    >>> _skeleton("recommend") == _skeleton("reccomend"), _skeleton("file")
    (True, '')
    """
    if len(word) < 7:
        return ""
    return word[0] + re.sub(r"(.)\1", r"\1", re.sub(r"[aeiou]", "", word[1:].replace("z", "s"))) + word[-1]


# -- numbers, dates, names, code --------------------------------------------------------------------------------------


def _differ(what: str, one: frozenset[str], other: frozenset[str]) -> Iterator[Objection]:
    if one != other:
        a, b = (", ".join(sorted(lone)) or "none" for lone in (one - other, other - one))
        yield Objection(f"another {what}: {a} ≠ {b}", firm=bool(one - other and other - one))


def numbers(two: Two) -> Iterator[Objection]:
    yield from _differ("number", two.asked.of("number"), two.known.of("number"))


def dates(two: Two) -> Iterator[Objection]:
    one, other = (reading.of("date") | _spans(reading) for reading in (two.asked, two.known))
    yield from _differ("time", one, other)


_SPANNED = re.compile(
    r"\b(?:(?:last|this|next|past|previous|coming|current) (?:night|day|week|weekend|month|quarter|year|sprint|"
    r"release|version|monday|tuesday|wednesday|thursday|friday|saturday|sunday)"
    r"|today|(?:in the )?(?:morning|afternoon|evening)|in (?:may|march)|(?:may|march) \d)\b"
)


def _spans(reading: Reading) -> frozenset[str]:
    return frozenset(found[0] for found in _SPANNED.finditer(reading.plain.casefold()))


def code(two: Two) -> Iterator[Objection]:
    one, other = (_code(reading, beside) for reading, beside in ((two.asked, two.known), (two.known, two.asked)))
    if one or other:
        a, b = (", ".join(sorted(lone)) or "none" for lone in (one, other))
        yield Objection(f"another name in code or quotes: {a} ≠ {b}", firm=True)
    capitals = [{word.stem: word.spelt for word in side.words if _CASED.search(word.spelt)} for side in two.sides]
    for name in capitals[0].keys() & capitals[1].keys():
        if capitals[0][name] != capitals[1][name]:
            yield Objection(f"another spelling in code: {capitals[0][name]} ≠ {capitals[1][name]}", firm=True)


_CASED = re.compile(r"_|[a-z][A-Z]|\w\.\w|::")  # written like an identifier, so its capitals were chosen


def _code(one: Reading, other: Reading) -> set[str]:
    """What is quoted or written as code in `one` and is not found in `other`, quoted or not."""
    flat = re.sub(r"[\W_]+", "", other.plain.casefold())
    wanted = {word.stem for word in one.words if word.kind == "code"} | one.quoted
    texts = set(other.texts)
    found = set()
    for said in wanted:
        bare = re.sub(r"[\W_]+", "", said)
        if (said not in texts and (not bare or bare not in flat or (bare.isdigit() and bare not in texts))) or (
            said.startswith("-") and said not in texts
        ):
            found.add(said)
    return found


def named(two: Two) -> Iterator[Objection]:
    """Products, languages, people and places: each must be in both."""
    one, other = two.left
    a = [word.text for word in one if word.kind == "name" or word.raised]
    b = [word.text for word in other if word.kind == "name" or word.raised]
    if a or b:
        yield Objection(f"another named thing: {', '.join(a) or 'none'} ≠ {', '.join(b) or 'none'}", firm=bool(a and b))


def environments(two: Two) -> Iterator[Objection]:
    groups = table("ENVIRONMENTS")
    one, other = (
        {min(groups[word.stem]) for word in reading.words if word.stem in groups and word.text not in ("stage", "live")}
        for reading in (two.asked, two.known)
    )
    if one != other:
        yield Objection("another environment", firm=bool(one and other))


# -- polarity and actions ---------------------------------------------------------------------------------------------


def _negations(reading: Reading) -> int:
    return sum(word.text in NEGATIONS for word in reading.words)


def polarity(two: Two) -> Iterator[Objection]:
    """Negation and opposites. An opposite together with a negation cancels out: «not work» is «fail»."""
    lone, other = two.lone
    # «Always» and «never» are opposites by the negation itself, which is counted below and cancels nothing.
    plainly = [words - NEGATIONS for words in (lone, other)]
    against = [(a, b) for a in plainly[0] for b in plainly[1] if (a, b) in opposites() or _prefixed(a, b)]
    # Stems of a word and of its negation may part ways («visibl», «invis»), so the words themselves are looked at too.
    texts = [{w.text for w in side.words if w.stem in lone | other} for side in (two.asked, two.known)]
    against += [(a, b) for a in texts[0] for b in texts[1] if _prefixed(a, b)]
    denied = _negations(two.asked) % 2 != _negations(two.known) % 2
    if denied and not against:
        yield Objection("one is negated", firm=True)
    elif against and not denied:
        a, b = min(against)
        yield Objection(f"the opposite: {a} ≠ {b}", firm=True)


def _prefixed(one: str, other: str) -> bool:
    """
    >>> _prefixed("lock", "unlock"), _prefixed("start", "restart"), _prefixed("form", "inform")
    (True, True, False)
    """
    short, long = sorted((one, other), key=len)
    return len(short) > 3 and any(
        long == prefix + short and not (prefix in ("in", "im", "ir", "pre", "sub", "inter") and len(short) < 5)
        for prefix in _PREFIXES
    )


def actions(two: Two) -> Iterator[Objection]:
    """Another action, or another thing: two words of the lexicon that do not stand for each other."""
    one, other = two.left
    for name, what in (("ACTIONS", "action"), ("THINGS", "thing")):
        groups = table(name)
        a = [word for word in one if word.stem in groups]
        b = [word for word in other if word.stem in groups]
        if a and b:
            yield Objection(f"another {what}: {a[0].text} ≠ {b[0].text}")


# -- direction --------------------------------------------------------------------------------------------------------

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
    if contrast := _contrast(one, other, shared):
        yield Objection(f"the other way: {contrast}", firm=not any(two.left))
    elif {after_object(side.plain) for side in two.sides} == {True, False} and _same_words(two):
        yield Objection("one asks who did it, the other to whom", firm=True)
    elif (found := _around(two, shared)) is not None and not turned:
        yield Objection(f"the other way round: {found}", firm=True)
    elif _same_words(two) and (found := _reordered(two, one, other)):
        yield Objection(f"the same words in another order: {found}", firm=True)


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


def _contrast(one: Mapping[str, tuple[int, str]], other: Mapping[str, tuple[int, str]], shared: Collection[str]) -> str:
    """The same thing after a word of the contrary direction: «to the bucket», «from the bucket»."""
    for word in shared:
        a, b = one[word][1], other[word][1]
        bearings = {_BEARINGS.get(a, ""), _BEARINGS.get(b, "")}
        contrary = "" not in bearings and len(bearings) == 2 and bearings != {"to", "for"}
        if contrary or (a in _APART and b in _NEUTRAL) or (b in _APART and a in _NEUTRAL):
            return f"{a} ≠ {b} {word}"
    return ""


def _same_words(two: Two) -> bool:
    """Whether they differ in nothing but small words that give no direction."""
    apart = two.lone[0] | two.lone[1]
    words = [word for reading in (two.asked, two.known) for word in reading.words if word.stem in apart]
    return all(word.kind == "word" and word.text in FUNCTION - _DIRECTED for word in words)


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


# -- what is asked ----------------------------------------------------------------------------------------------------


def asks(two: Two) -> Iterator[Objection]:
    one, other = kind(two.asked.plain), kind(two.known.plain)
    if one != other and {one, other} not in ({"", "what"}, {"", "how"}):
        yield Objection(f"another kind of question: {one or 'none'} ≠ {other or 'none'}", firm={one, other} <= APART)
    elif one == "whether":
        a, b = (modals(reading.texts) for reading in (two.asked, two.known))
        if a != b:
            yield Objection("another modality", firm=_free(a, b))
    elif one != "how":  # «how can I», «how should I» and «how do I» ask the same
        a, b = (modals(reading.texts) for reading in (two.asked, two.known))
        if a and b and not a & b:
            yield Objection("another modality", firm=_free(a, b))


def _free(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether one asks what may be, the other what ought to be: «should» and «must» are not so far apart."""
    return bool(one and other) and ("can" in one) != ("can" in other)


def tenses(two: Two) -> Iterator[Objection]:
    one, other = tense(two.asked.plain), tense(two.known.plain)
    if "perfect" in (one, other) and (ongoing(two.asked.plain) != ongoing(two.known.plain)):
        yield Objection("one is done, the other goes on", firm=not any(two.left))
    elif one != other and ("perfect" not in (one, other) or "future" in (one, other)):
        yield Objection(f"another tense: {one} ≠ {other}", firm=not any(two.left))


def scope(two: Two) -> Iterator[Objection]:
    """Words that say which, how much of it, or in what standing."""
    one, other = (_scopes(reading) for reading in (two.asked, two.known))
    whole, part = ([bool(group & set(side.texts)) for side in two.sides] for group in (WHOLE, PART))
    each = [_measures(side) for side in two.sides]
    if whole[0] != whole[1] and part[0] != part[1] and whole[0] == part[1]:
        yield Objection("another scope: of all or of a part", firm=True)
    if each[0] and each[1] and each[0] != each[1]:
        yield Objection(f"another scope: per {min(each[0])} ≠ per {min(each[1])}", firm=True)
    if lone := (one ^ other) - {"all"}:
        firm = bool(one - other and other - one)
        yield Objection(f"another scope: {', '.join(sorted(lone))}", firm)
    elif one != other and not _plural(two):
        yield Objection("another scope: all")


def _scopes(reading: Reading) -> frozenset[str]:
    """The words of scope, each by the first word of its group."""
    groups = first_words("SCOPE")
    found = {groups[form] for word in reading.words for form in (word.text, word.stem) if form in groups}
    return frozenset(found | {"all" for text in reading.texts if text in WHOLE})


def _measures(reading: Reading) -> frozenset[str]:
    """What something is counted by: the word behind «per»."""
    return frozenset(word.stem for before, word in itertools.pairwise(reading.words) if before.text == "per")


def _plural(two: Two) -> bool:
    """Whether what «all» stands before is a plural in the other question too."""
    for reading, other in ((two.asked, two.known), (two.known, two.asked)):
        texts = reading.texts
        for place, text in enumerate(texts):
            if text in WHOLE:
                nouns = [word for word in texts[place + 1 : place + 4] if word.endswith("s")]
                if text == "all" and any(noun in other.texts for noun in nouns):
                    return True
    return False


# -- what is left over ------------------------------------------------------------------------------------------------


def leftover(two: Two, common: Collection[str]) -> Iterator[Objection]:
    """A word that carries meaning and that only one of them has: a rare one, or one that names a technical thing."""
    technical = [table(name) for name in ("ACTIONS", "THINGS", "ENVIRONMENTS")]
    one, other = two.left
    if len(one) == len(other) == 1 and _same_place(two, one[0], other[0]):
        yield Objection(f"another word in the same place: {one[0].text} ≠ {other[0].text}", firm=True)
    rare = [[word for word in words if word.kind == "word" and word.stem not in common] for words in two.left]
    if rare[0] and rare[1]:
        yield Objection(f"another word: {rare[0][0].text} ≠ {rare[1][0].text}", firm=True)
    for word in (*one, *other):
        if word.kind == "word" and (word.stem not in common or any(word.stem in groups for groups in technical)):
            yield Objection(f"only one of them says: {word.text}")


def _same_place(two: Two, one: Word, other: Word) -> bool:
    """Whether two words stand between the same neighbours."""
    around = [_neighbours(two.asked, one), _neighbours(two.known, other)]
    return around[0][0] == around[1][0] and around[0][1] == around[1][1]


def _neighbours(reading: Reading, word: Word) -> tuple[str, str]:
    stems = [one.stem for one in reading.words if one.text not in ("a", "an", "the")]
    place = stems.index(word.stem)
    return (stems[place - 1] if place else ""), (stems[place + 1] if place + 1 < len(stems) else "")


Guard = Callable[[Two], Iterator[Objection]]
GUARDS: dict[str, Guard] = {
    "numbers": numbers, "dates": dates, "code": code, "named": named, "environments": environments,
    "polarity": polarity, "actions": actions, "direction": direction, "asks": asks, "tenses": tenses, "scope": scope,
}  # fmt: skip
SELDOM = 6.5  # the rarity from which a word of the lexicon is not everyday talk


def objections(two: Two, rarity: Mapping[str, float]) -> dict[str, Objection]:
    """Guard → what it objects to, the firmest of it, for those that do. `rarity` knows the stems of everyday words.

    >>> from recollect.answers.reading import read
    >>> objections(Two(read("How do I enable SSO?"), read("How do I disable SSO?")), {})["polarity"].text
    'the opposite: enabl ≠ disabl'
    """
    found = {name: list(guard(two)) for name, guard in GUARDS.items()} | {"leftover": list(leftover(two, rarity))}
    return {name: max(told, key=lambda one: one.firm) for name, told in found.items() if told}


def strict(two: Two, rarity: Mapping[str, float]) -> bool:
    """Whether this is technical talk, where each word counts: it names code, a product, or a thing of the trade.

    Of everyday talk the judge was fitted on tens of thousands of pairs, and weighs what the guards say itself.
    """
    return any(_technical(word, rarity) for reading in (two.asked, two.known) for word in reading.words)


def _technical(word: Word, rarity: Mapping[str, float]) -> bool:
    if word.kind in ("code", "name"):
        return True
    known = any(word.stem in table(name) for name in ("THINGS", "ENVIRONMENTS", "ACTIONS"))
    return known and rarity.get(word.stem, SELDOM) >= SELDOM
