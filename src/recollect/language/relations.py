"""Relations: what a text says of the entities it names, with direction, and which names mean the same. Pure.

A relation is read from the words between two names of one sentence: "A depends on B", "B is required by A", "A calls B
and uses C", "A, which is owned by B, calls C", "It calls D" after a sentence about A. What is denied, wished for, over
or only asked claims nothing. The verbs are in `data/graph.txt`; `tests/test_relations.py` shows what is read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from . import tables
from .entities import MAX_TEXT, POSSIBLE, UNKNOWN, Mention, find, key_of, short_of

RELATIONS = (
    "depends_on", "uses", "implements", "calls", "configures", "had_incident", "owned_by", "part_of", "decided_by",
    "fixed_by", "changed_by", "supersedes", "member_of", "led_by",
)  # fmt: skip
SAME_AS = "same_as"  # a stated alias
MAX_RELATIONS = 60  # of one memory
MAX_BETWEEN = 90  # characters between two names that are read as one clause
HOW_SURE = 0.9

_FILLER = re.compile(rf"\b(?:{'|'.join(tables.words('graph', 'fillers'))})\b ?")
_DOUBT = re.compile(rf"\b(?:{tables.joined('graph', 'doubts')})\b|n't\b")
_VERBS = [
    (relation, way == ">", re.compile(rf"(?:{verb.replace('~', FEW)})"))
    for FEW in (r"(?:[\w'%-]+ ){0,3}[\w'%-]+",)
    for line in tables.lines("graph", "relations")
    for relation, way, verb in [line.split(" ", 2)]
]
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"'(*_#@-]|[a-z]+-[a-z])|\n+|;\s+")
_LISTED = re.compile(r"\s*(?:,|,?\s*(?:and|or|&|\+|as well as|plus)|/)\s*(?:(?:the|our|both|also|its)\s+)?")
_RELATIVE = re.compile(r"^\s*(?:[,(–—-]\s*)?(?:which|that|who|whose)\b\s*")
_GOES_ON = re.compile(r"(?:.*\b(?:and|but|then|because|since|so)\b|.*,)\s*(?:(?:it|they|she|he|also)\s+)?", re.DOTALL)
_ARTICLE = re.compile(r"\b(?:the|a|an|our|its|their|this|that|both|new|old|existing|shared|own|internal|legacy|main)$")
_PRONOUN = re.compile(r"^(?:it|this service|that service|the service|she|he|they|the team|this)\b", re.IGNORECASE)
_NOUN_OF = re.compile(
    r"\b(owner|maintainer|lead|manager|head|members?|engineers?)\s+(?:of|for|on)\s+(?:the\s+|our\s+)?$"
)
_IS = re.compile(r"^\s*(?:is|are|will be|:)\s*$")
_NOUNS = {"owner": ("owned_by", True), "maintainer": ("owned_by", True), "lead": ("led_by", True),
          "manager": ("led_by", True), "head": ("led_by", True), "member": ("member_of", False),
          "members": ("member_of", False), "engineer": ("member_of", False),
          "engineers": ("member_of", False)}  # fmt: skip
_ALIAS = re.compile(
    r"\s*(?:[,(]\s*(?:also |aka|a\.k\.a\.|formerly |previously |or |now |i\.e\. ?)?\s*"
    r"(?:known as |called |named |code-?named |short for )?(?:the )?|\s+(?:aka|a\.k\.a\.|is short for|stands for)\s+"
    r"|\s+(?:is|was) (?:the |our |a )?(?:code ?name|nickname|alias|name|new name|old name|short) (?:of|for) "
    r"(?:the |our )?|\s+(?:is|was) (?:also |now |formerly )?(?:known as|called|renamed(?: to)?|nicknamed)\s+(?:the )?)$"
)
_IS_OUR = re.compile(r"\s+is\s+(?:our|the)\s+$")
_PEOPLE, _GROUPS = ("person",), ("team",)
_DOERS = ("person", "team")
_THINGS = ("service", "dependency", "api", "framework", "repository", "file", "symbol", "datastore", "event", "config",
           "pattern", "environment")  # fmt: skip
# Which kinds may stand at the two ends; a name of unknown kind becomes the first of them.
_FITS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "depends_on": (("service", *_THINGS, "ticket"), ("service", *_THINGS, "ticket", "team")),
    "uses": (("service", *_THINGS, "team"), _THINGS),
    "implements": (("service", *_THINGS, "ticket"), ("pattern", *_THINGS, "ticket")),
    "calls": (("service", *_THINGS), ("service", *_THINGS)),
    "configures": (("config", *_THINGS), ("service", *_THINGS)),
    "had_incident": (("service", *_THINGS), ("ticket", "event")),
    "owned_by": ((*_THINGS, "ticket"), ("team", *_DOERS)),
    "part_of": (_THINGS, ("service", *_THINGS)),
    "decided_by": ((*_THINGS, "ticket"), ("person", *_DOERS, "ticket")),
    "fixed_by": (("ticket", *_THINGS), ("person", *_DOERS, "ticket", "symbol", "file", "config")),
    "changed_by": ((*_THINGS, "team"), ("person", *_DOERS, "ticket")),
    "supersedes": (("service", *_THINGS, "ticket"), ("service", *_THINGS, "ticket")),
    "member_of": (_PEOPLE, _GROUPS),
    "led_by": (("team", "service", "repository"), _PEOPLE),
}


@dataclass(frozen=True, slots=True)
class Relation:
    """`head relation tail`, by the keys of both; `quote` is the sentence that says so."""

    head: str
    relation: str
    tail: str
    confidence: float
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Named:
    """An entity of one text: its key, the name it has there, its kind."""

    key: str
    name: str
    kind: str
    confidence: float

    @property
    def short(self) -> str:
        return short_of(self.key, self.kind)


@dataclass(frozen=True, slots=True)
class Extraction:
    """What one text names and says: entities, each once, and relations between them."""

    entities: tuple[Named, ...] = ()
    relations: tuple[Relation, ...] = ()

    def at_most(self, confidence: float) -> Extraction:
        """The same, no surer than this."""
        return Extraction(
            tuple(replace(one, confidence=min(one.confidence, confidence)) for one in self.entities),
            tuple(replace(one, confidence=min(one.confidence, confidence)) for one in self.relations),
        )


def extract(text: str) -> Extraction:
    """
    >>> found = extract("checkout-web depends on AuthService. It is owned by Team Kilo.")
    >>> [(one.head, one.relation, one.tail) for one in found.relations]
    [('checkout web', 'depends_on', 'auth'), ('checkout web', 'owned_by', 'team kilo')]
    """
    reader = _Reader()
    for sentence in _SENTENCE.split(text[:MAX_TEXT]):
        if sentence.strip():
            reader.read(sentence)
    return reader.done()


class _Reader:
    """Reads sentence by sentence; what a pronoun stands for comes from the sentence before."""

    def __init__(self) -> None:
        self._named: dict[str, Mention] = {}
        self._relations: dict[tuple[str, str, str], Relation] = {}
        self._before: list[Mention] = []  # the subject of the last sentence

    def read(self, sentence: str) -> None:
        mentions = find(sentence)
        for one in mentions:
            if not one.weak:
                self._name(one)
        groups = _groups(sentence, mentions)
        if sentence.rstrip().endswith("?"):
            self._before = []
            return
        if self._before and _PRONOUN.match(sentence.lstrip()) and groups and groups[0][0].start:
            at = sentence.index(sentence.lstrip()[0]) + len(str(_PRONOUN.match(sentence.lstrip())[0]))  # type: ignore[index]
            groups = [[replace(one, start=0, end=at) for one in self._before], *groups]
        self._clauses(sentence, groups)
        strong = [group for group in groups if any(one.key in self._named for one in group)]
        if strong:
            self._before = [one for one in strong[0] if one.key in self._named]

    def _clauses(self, sentence: str, groups: list[list[Mention]]) -> None:
        subject = groups[0] if groups else []
        for left, right in pairwise(groups):
            between = sentence[left[-1].end : right[0].start]
            if len(between) > MAX_BETWEEN:
                subject = right
                continue
            self._aliases(left, between, right, sentence)
            if self._noun_of(sentence, left, between, right):
                continue
            if self._in(left, between, right, sentence) or self._clause(subject, left, between, right, sentence):
                continue
            if re.search(r"[:;]\s*$|\b(?:while|because|since|so|but)\b", between):
                subject = right

    def _clause(
        self, subject: Sequence[Mention], left: Sequence[Mention], between: str, right: Sequence[Mention], sentence: str
    ) -> bool:
        """The verb between two names: of the first of them, or, after "and" and the like, of the sentence's subject."""
        if relative := _RELATIVE.match(between):
            return self._relate(left, _clean(between[relative.end() :]), right, sentence)
        verb = _GOES_ON.match(between)
        if verb and self._relate(subject, _clean(between[verb.end() :]), right, sentence):
            return True
        return self._relate(left, _clean(between), right, sentence)

    def _in(self, left: Sequence[Mention], between: str, right: Sequence[Mention], sentence: str) -> bool:
        """ "the circuit breaker in A", "parse() in a.py", "INC-3: A returned errors"."""
        word, one, other = between.strip(" ,()").lower(), left[-1], right[0]
        if word in ("in", "in the", "in our", "inside", "of", "for"):
            if one.kind == "pattern" and other.kind in ("service", "repository", "symbol"):
                return self._tie(other, "implements", one, sentence)
            inner = one.kind in ("symbol", "config", "api") and other.kind in ("file", "service", "repository")
            return word[:2] == "in" and inner and self._tie(one, "part_of", other, sentence)
        happened = one.key.startswith(("inc ", "incident ")) or (one.kind == "event" and "." not in one.name)
        return word in (":", "-", "–", "—") and happened and self._tie(other, "had_incident", one, sentence)

    def _relate(self, firsts: Sequence[Mention], told: str, seconds: Sequence[Mention], sentence: str) -> bool:
        for relation, forward, verb in _VERBS:
            if not verb.fullmatch(told):
                continue
            if _DOUBT.search(told) and "without" not in told:
                return False
            done = False
            for one in firsts:
                for other in seconds:
                    head, tail = (one, other) if forward else (other, one)
                    done = self._tie(head, relation, tail, sentence) or done
            if done:
                return True
        return False

    def _tie(self, head: Mention, relation: str, tail: Mention, sentence: str) -> bool:
        heads, tails = _FITS[relation]
        head, tail = (replace(e, kind=k[0]) if e.kind == UNKNOWN else e for e, k in ((head, heads), (tail, tails)))
        if relation == "uses" and tail.kind == "api":
            relation = "calls"
        if head.kind not in heads or tail.kind not in tails:
            return False
        head, tail = (replace(e, key=key_of(e.name, e.kind)) for e in (head, tail))
        if head.key == tail.key or not head.key or not tail.key:
            return False
        self._name(head)
        self._name(tail)
        sure = min(head.confidence, tail.confidence, HOW_SURE)
        self._relations.setdefault(
            (head.key, relation, tail.key), Relation(head.key, relation, tail.key, sure, sentence.strip()[:300])
        )
        return True

    def _noun_of(self, sentence: str, left: Sequence[Mention], between: str, right: Sequence[Mention]) -> bool:
        """ "The owner of A is B"."""
        before = _NOUN_OF.search(sentence[: left[0].start])
        if not before or not _IS.match(between):
            return False
        relation, forward = _NOUNS[before[1].lower()]
        pairs = [(one, other) if forward else (other, one) for one in left for other in right]
        done = [self._tie(head, relation, tail, sentence) for head, tail in pairs]
        return any(done)

    def _aliases(self, left: Sequence[Mention], between: str, right: Sequence[Mention], sentence: str) -> None:
        if len(left) != 1 or len(right) != 1:
            return
        one, other = left[0], right[0]
        known_as = between.strip() not in (",", "(") or _acronym(one.name, other.name)
        stated = bool(_ALIAS.fullmatch(between)) and known_as
        if not stated and _IS_OUR.fullmatch(between) and one.kind == UNKNOWN and other.kind in ("service", "datastore"):
            stated = bool(re.match(r"\s*(?:[.,;]|$)", sentence[other.end :]))
        if (stated and UNKNOWN in (one.kind, other.kind)) or (stated and one.kind == other.kind):
            kind = one.kind or other.kind
            if not kind:
                return
            one, other = (replace(e, kind=kind, key=key_of(e.name, kind)) for e in (one, other))
            if one.key != other.key:
                self._name(one)
                self._name(other)
                tie = Relation(one.key, SAME_AS, other.key, POSSIBLE, sentence.strip()[:300])
                self._relations.setdefault((one.key, SAME_AS, other.key), tie)

    def _name(self, one: Mention) -> None:
        known = self._named.get(one.key)
        if known is None or one.confidence > known.confidence:
            self._named[one.key] = one

    def done(self) -> Extraction:
        entities = tuple(Named(one.key, one.name, one.kind, one.confidence) for one in self._named.values())
        return Extraction(entities, tuple(self._relations.values())[:MAX_RELATIONS])


def _groups(sentence: str, mentions: Sequence[Mention]) -> list[list[Mention]]:
    """Names that are listed together ("A, B and C") in one group."""
    groups: list[list[Mention]] = []
    for one in mentions:
        if groups and _LISTED.fullmatch(sentence[groups[-1][-1].end : one.start]):
            groups[-1].append(one)
        else:
            groups.append([one])
    return groups


def _clean(told: str) -> str:
    """The verb between two names without what changes nothing."""
    told = " ".join(re.sub(r"[`*_\"()]", " ", told.lower().replace("’", "'")).split())
    told = re.sub(r"^(?:,? ?(?:and|but|then|which|that|who)\b ?|[,–—-] ?)+", "", told)
    told = " ".join(_FILLER.sub("", told).split()).strip(" ,")
    while (bare := _ARTICLE.sub("", told).strip()) != told:
        told = bare
    return told


def _acronym(one: str, other: str) -> bool:
    """
    >>> _acronym("Payment Orchestration Platform", "POP"), _acronym("Redis", "Kafka")
    (True, False)
    """
    long, short = sorted((one, other), key=len, reverse=True)
    words = [word for word in re.split(r"[\s-]+", long) if word and word.lower() not in ("of", "and", "the", "for")]
    return len(words) > 1 and short.isupper() and "".join(word[0] for word in words).upper() == short
