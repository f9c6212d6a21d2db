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

from ..language.tables import WEEKDAYS, words
from .asking import APART, kind, modals, ongoing, tense
from .direction import direction
from .reading import Reading, Word, first_words, opposites, read, table
from .two import Objection, Two

WHOLE = frozenset(("all", "every", "each"))
PART = frozenset(("some", "most", "few", "none", "half", "certain"))
NEGATIONS = frozenset(words("words", "negations in questions"))
_PREFIXES = ("un", "dis", "de", "non", "in", "im", "ir", "re", "pre", "post", "over", "under", "mis", "anti", "auto",
             "multi", "sub", "inter", "semi")  # fmt: skip


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
    rf"release|version|{'|'.join(WEEKDAYS)})"
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


# Words that name a place and nothing else: «test», «local» and «live» also say what somebody does.
_PLACES = {
    "prod": "production", "production": "production", "staging": "staging", "preproduction": "staging", "qa": "qa",
    "uat": "uat", "canary": "canary", "sandbox": "sandbox",
}  # fmt: skip


def elsewhere(asked: str, said: str) -> bool:
    """Whether a question is about one place where software runs, and what was said is about others only.

    >>> elsewhere("Which port has the production database?", "The staging database has port 5433.")
    True
    >>> elsewhere("Which port has the production database?", "Staging has 5433, production 5432.")
    False
    """
    one, other = ({_PLACES[word] for word in read(text).texts if word in _PLACES} for text in (asked, said))
    return bool(one and other) and one.isdisjoint(other)


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
    wanted = [kind(side.plain) for side in two.sides]
    if "who" not in wanted:  # «who owns it» does ask for the owner
        for stem_ in two.stems[0] & two.stems[1]:
            forms = [{_form(word.text) for word in side.words if word.stem == stem_} for side in two.sides]
            if not forms[0] & forms[1] and forms[0] | forms[1] != {"", "deed"}:
                yield Objection(f"another word of the same root: {stem_}")
    acts = any(_does(one) and _only_is(other) for one, other in (two.sides, two.sides[::-1]))
    if acts and "how" not in wanted:  # «what can I do to» asks for the way, as does «what is the way to»
        yield Objection("another action: do ≠ be", firm=not any(two.left))


_DO = frozenset("do does did done doing".split())
_BE = frozenset("is are was were be been being am".split())
_HELPS = frozenset("do does did can could should will would must may might shall to".split())


def _does(reading: Reading) -> bool:
    """Whether it asks what is done, with «do» for its verb, behind another that helps: «does it do the job»."""
    texts = reading.texts
    helped = any(text == "do" and _HELPS & set(texts[:place]) for place, text in enumerate(texts))
    return helped and not _BE & set(texts)


def _only_is(reading: Reading) -> bool:
    """Whether it asks what is, and nothing in it is done."""
    return bool(_BE & set(reading.texts)) and not _DO & set(reading.texts)


_FORMS = (
    ("one who does", re.compile(r".{3,}(?:er|or)s?")),
    ("deed", re.compile(r".{3,}(?:ion|ment|ance|ence)s?")),
    ("state", re.compile(r".{3,}it(?:y|ies)")),
    ("like", re.compile(r".{2,}(?:ive|al|ic|ous|ant|able|ible|ary)(?:ly)?s?")),
)


def _form(text: str) -> str:
    """What a word makes of its root: «scheduler» and «schedule» have one stem, and are two things.

    >>> _form("scheduler"), _form("rotation"), _form("rotates"), _form("integrity")
    ('one who does', 'deed', '', 'state')
    """
    return next((name for name, pattern in _FORMS if pattern.fullmatch(text)), "")


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
    if kind(two.asked.plain) == kind(two.known.plain) and (found := _one_of_many(two)):
        yield Objection(f"another scope: any or the {found}", firm=not any(two.left))


def _scopes(reading: Reading) -> frozenset[str]:
    """The words of scope, each by the first word of its group."""
    groups = first_words("SCOPE")
    found = {groups[form] for word in reading.words for form in (word.text, word.stem) if form in groups}
    return frozenset(found | {"all" for text in reading.texts if text in WHOLE})


_KNOWN = frozenset("the this that these those my our your its".split())


def _one_of_many(two: Two) -> str:
    """What one asks of any of its kind, the other of a known one: «is any endpoint», «is the endpoint»."""
    for reading, other in (two.sides, two.sides[::-1]):
        loose = {word.stem for before, word in itertools.pairwise(reading.words) if before.text in ("any", "either")}
        known = {word.stem for before, word in itertools.pairwise(other.words) if before.text in _KNOWN}
        if loose & known and not {"any", "either"} & set(other.texts):
            return min(loose & known)
    return ""


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
