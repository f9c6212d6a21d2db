"""Reading: what a question says, taken apart once, so that two of them can be held side by side. Pure.

A question becomes words in their order. Each word has a stem and, where it has one, a place in the lexicon; numbers,
dates, names and code are told apart from words, because in them a single letter decides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache

from ..language import stemmer, tables
from . import lexicon
from .normal import bare, plain

FUNCTION = frozenset(
    """a an the is are was were be been being am do does did doing have has had having i me my mine we us our ours
    you your yours he him his she her hers it its they them their theirs this that these those there here to of in on at
    by for with from as into onto about and or but if so than then can could will would shall should may might must what
    why how when who whom whose where which not no nor any some all every each via per upon within get gets got let lets
    vs versus while during since until before after under over between against without through
    up down out off too very""".split()
)
# Words that fill a sentence: with or without them the same is asked.
LIGHT = frozenset(
    """please actually really exactly basically simply just generally currently usually properly correctly ever
    kindly tell know explain want wish like need would help wonder wondering curious try trying possible able way ways
    manner thing things stuff one ones someone anyone somebody people person everyone you'd go going come make sure ok
    okay hi hello hey thanks right now today nowadays also even still well much lot quite use used using steps step
    process procedure approach method recommended proper correct best good easiest simplest better idea
    question answer mean meaning say said call called named name given certain particular specific kind sort type done
    our team here work works working""".split()
)
# Names that are plain words too; they count as names where they are written like names.
EVERYDAY = frozenset(
    """go c make teams black fish spring edge express chef puppet rest swift rust linear notion safari oracle
    windows slack zoom lambda spark envoy dart ruby node celery gemini bun deno rails travis helm istio argo
    alpine fedora consul vault lua packer vagrant apache caddy flask bash live test""".split()
)
_CALENDAR = {
    **{name: name for name in (*tables.MONTHS, *tables.WEEKDAYS) if name != "may" and name != "march"},
    **{f"{name}s": name for name in tables.WEEKDAYS},
    **{
        name[:3]: name
        for name in (*tables.MONTHS, *tables.WEEKDAYS)
        if name[:3] not in ("mar", "may", "sun", "sat", "mon", "wed", "jan")
    },
    **{word: word for word in "yesterday tomorrow tonight weekend midnight noon q1 q2 q3 q4 christmas".split()},
}
_COUNTED = {
    word: str(number)
    for number, word in enumerate(
        """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
        seventeen eighteen nineteen""".split()
    )
    if word not in ("one",)
} | {
    word: str(number)
    for number, word in enumerate("third fourth fifth sixth seventh eighth ninth tenth".split(), start=3)
} | {
    word: str(number)
    for number, word in zip(
        range(20, 100, 10), "twenty thirty forty fifty sixty seventy eighty ninety".split(), strict=True
    )
} | {"hundred": "100", "thousand": "1000", "million": "1000000", "billion": "1000000000", "dozen": "12",
     "twice": "2", "double": "2", "triple": "3"}  # fmt: skip
_SPAN = re.compile(
    r"(?P<tick>`[^`]+`)|(?P<url>https?://\S+)|(?P<iso>\d{4}-\d\d(?:-\d\d)?)|(?P<clock>"
    r"(?<![\d.:])(?:1[0-2]|0?[1-9])(?::\d\d)? ?(?i:[ap]\.?m)\b\.?(?! [Ii]\b)|\d{1,2}:\d\d)"
    r"|(?P<path>(?<!\w)(?:~|\.{0,2})/[\w.@*-]+(?:/[\w.@*-]*)*|[\w.@-]+(?:/[\w.@*-]+){2,}|[\w@-]+/[\w-]+\.\w+)"
    r"|(?P<flag>(?<![\w-])--?[A-Za-z][\w-]*)"
    r"|(?P<version>\bv?\d+(?:\.\d+)+(?:[-+][\w.]+)?|\bv\d+\b)"
    r"|(?P<sign>[$€£¥₹](?=\d)|[<>]{1,3}=?|[!=]==?|&&|\|\||(?<=\w)--(?!\w)|(?<!\S)!(?=[A-Za-z])|(?<!\S)(?:[*~^%$@#\\+]|\.{1,2}(?=\s|$)|[?!:=](?=\s+[a-z])"
    r"|(?!--|\.\.|\?\?|!!|\?!)[.*+?^$@#%~|&\\=!/:-]{2,3})(?!\S))"
    r"|(?P<number>(?:(?<![\w.)-])-)?\d[\d,]*(?:\.\d+)?(?:%|(?i:st|nd|rd|th|k|m|g|gb|mb|kb|tb|ms|s|h|x|px|am|pm)\b)?(?![\w]))"
    r"|(?P<code>[A-Za-z]\w*(?:::\w+)+|\w+\(\)|[A-Za-z]\w*\.[A-Za-z]\w*(?:\.\w+)*(?!\w)|\w*[A-Za-z]\w*_\w+|_\w+"
    r"|[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|[A-Za-z]+\d\w*|\d+[A-Za-z]\w*|[A-Z]+-\d+)"
    r"|(?P<word>\.?[^\W\d_]+(?:['&][^\W\d_]+)*(?:\+\+|\#)?)"
)
# A sign of money says the same as its word; other signs are read as code, where each is another.
_MONEY = {"$": "dollar", "€": "euro", "£": "pound", "¥": "yen", "₹": "rupee"}
_ABBREVIATED = {"US": "usa", "IT": "computing"}  # small, they are other words
_QUOTED = re.compile(r"\"([^\"]{1,80})\"|(?<!\w)'([^']{2,80})'(?!\w)|`([^`]+)`")
_BRITISH = re.compile(r"(?<=[a-z]{3})is(?=(?:e|ed|es|ing|ation|ations|er|ers)$)")
_POSSESSIVE = re.compile(r"'s\b|(?<=s)'(?!\w)")


@dataclass(frozen=True, slots=True)
class Word:
    """One word where it stands: `stem` is what is compared, `kind` one of word, number, date, name, code."""

    text: str
    stem: str
    kind: str
    raised: bool = False  # written with a capital where a plain word has none
    spelt: str = ""  # for code: as it was written, since in code a capital makes another name

    @property
    def content(self) -> bool:
        return self.kind != "word" or self.raised or (self.text not in FUNCTION and self.text not in LIGHT)


@dataclass(frozen=True, slots=True)
class Reading:
    words: tuple[Word, ...]
    plain: str
    quoted: frozenset[str]

    @property
    def content(self) -> tuple[Word, ...]:
        return tuple(word for word in self.words if word.content)

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(word.text for word in self.words)

    def of(self, kind: str) -> frozenset[str]:
        return frozenset(word.stem for word in self.words if word.kind == kind)


@cache
def phrases() -> tuple[re.Pattern[str], dict[str, str]]:
    told = {
        pair.split("=")[0].strip(): pair.split("=")[1].strip()
        for line in lexicon.PHRASES.strip().splitlines()
        for pair in line.split(";")
        if "=" in pair
    }
    longest = sorted(told, key=len, reverse=True)
    joined = "|".join(re.escape(phrase).replace(r"\ ", "[ -]") for phrase in longest)
    return re.compile(rf"(?<![\w/.-])(?:{joined})(?![\w/-]|\.\w)", re.IGNORECASE), told


@cache
def irregular() -> dict[str, str]:
    pairs = [pair.split() for line in lexicon.IRREGULAR.strip().splitlines() for pair in line.split(";")]
    return {pair[0]: pair[1] for pair in pairs}


@lru_cache(maxsize=32768)
def stem(word: str) -> str:
    """The stem, in one spelling: «organise» and «organize» are one word.

    >>> stem("deploying") == stem("deployed"), stem("normalise") == stem("normalize")
    (True, True)
    """
    word = irregular().get(word, word)
    return stemmer.stem(_BRITISH.sub("iz", word))


@lru_cache(maxsize=8192)
def read(question: str) -> Reading:
    """
    >>> [(w.text, w.kind) for w in read("Does v1.2 of getUser take 5 on Friday in Redis?").content]
    [('1.2', 'number'), ('getuser', 'code'), ('take', 'word'), ('5', 'number'), ('friday', 'date'), ('redis', 'name')]
    """
    text = bare(plain(question))
    quoted = frozenset(" ".join(next(filter(None, found)).casefold().split()) for found in _QUOTED.findall(text))
    pattern, told = phrases()
    joined = pattern.sub(lambda found: told[found[0].casefold().replace("-", " ")], _POSSESSIVE.sub("", text))
    spans = list(_SPAN.finditer(joined))
    capitals = [m for m in spans if m["word"] and m[0][0].isupper()]
    shouting = len(spans) > 3 and len(capitals) > 0.6 * len(spans)  # A Title, Where Capitals Say Nothing
    words = []
    for number, found in enumerate(spans):
        starts = number == 0 or joined[: found.start()].rstrip(" \"'(`")[-1:] in ".?!:"
        words.append(_word(found, plainly=starts or shouting))
    return Reading(tuple(words), text, quoted)


def _word(found: re.Match[str], *, plainly: bool) -> Word:
    kind, said = str(found.lastgroup), found[0]
    small = said.casefold().strip("`")
    if kind == "word":
        if small in _CALENDAR:
            return Word(small, _CALENDAR[small], "date")
        if small in _COUNTED:
            return Word(small, _COUNTED[small], "number")
        named = small in names() and (small not in EVERYDAY or (said[0].isupper() and not plainly))
        upper = len(said) > 1 and said.isupper()
        raised = said[0].isupper() and said != "I" and (upper or not plainly) and small not in FUNCTION
        if said in _ABBREVIATED and not plainly:
            return Word(small, _ABBREVIATED[said], "word", raised=True)
        several = small.endswith("s") and not named  # «teams» that are no product are each a team
        root = stem(small) if several else names().get(small, stem(small))
        return Word(small, root, "name" if named else "word", raised)
    if kind in ("number", "version"):
        return Word(small.lstrip("v"), _amount(small), "number")
    if kind in ("iso", "clock"):
        return Word(small, re.sub(r"[ .]|^0|:00(?=[ap ])", "", small), "date")
    if said in _MONEY:
        return Word(said, _MONEY[said], "word")
    if kind == "flag":
        return Word(said, said, "code", spelt=said)
    bare = small.removesuffix("()")
    if bare in names():
        return Word(bare, names()[bare], "name")
    return Word(bare, _CALENDAR.get(bare, bare), "date" if bare in _CALENDAR else "code", spelt=said.strip("`"))


def _amount(said: str) -> str:
    """
    >>> _amount("1,000"), _amount("5k"), _amount("v2"), _amount("3rd"), _amount("007")
    ('1000', '5000', '2', '3', '7')
    """
    bare = said.lstrip("v").replace(",", "")
    if found := re.fullmatch(r"(\d+)(k)", bare):
        return str(int(found[1]) * 1000)
    bare = re.sub(r"(?<=\d)(?:st|nd|rd|th)$", "", bare)
    return bare.lstrip("0") or "0" if bare.isdigit() else bare


def _table(text: str) -> dict[str, frozenset[int]]:
    """Word → the numbers of the groups it stands in."""
    groups: dict[str, frozenset[int]] = {}
    lines = [group for line in text.strip().splitlines() for group in line.split(";")]
    for number, line in enumerate(lines):
        for word in line.split():
            for form in {word, stem(word)}:
                groups[form] = groups.get(form, frozenset()) | {number}
    return groups


@cache
def names() -> dict[str, str]:
    """Word → the first name of the thing."""
    groups = [group.split() for line in lexicon.NAMES.strip().splitlines() for group in line.split(";")]
    return {word: group[0] for group in groups for word in group if len(word) > 1}


@cache
def table(name: str) -> dict[str, frozenset[int]]:
    return _table(str(getattr(lexicon, name)))


@cache
def first_words(name: str) -> dict[str, str]:
    """Word → the first word of its group, in a table whose words stand in one group each."""
    groups = [group.split() for line in str(getattr(lexicon, name)).strip().splitlines() for group in line.split(";")]
    return {form: group[0] for group in groups if group for word in group for form in (word, stem(word))}


def _degrees(word: str) -> tuple[str, ...]:
    """
    >>> _degrees("big"), _degrees("easy"), _degrees("late")
    (('big', 'bigger', 'biggest'), ('easy', 'easier', 'easiest'), ('late', 'later', 'latest'))
    """
    root = word[:-1] + "i" if word.endswith("y") else word.removesuffix("e")
    if re.fullmatch(r"[^aeiou]*[aeiou][bdgmnpt]", word):
        root += root[-1]
    return word, f"{root}er", f"{root}est"


@cache
def opposites() -> frozenset[tuple[str, str]]:
    pairs = [pair.split() for line in lexicon.OPPOSITES.strip().splitlines() for pair in line.split(";")]
    graded = [pair.split() for line in lexicon.GRADED.strip().splitlines() for pair in line.split(";")]
    pairs += [[a, b] for one, other in graded for a in _degrees(one) for b in _degrees(other)]
    both = [(stem(one), stem(other)) for one, other in pairs]
    return frozenset(both + [(other, one) for one, other in both])
