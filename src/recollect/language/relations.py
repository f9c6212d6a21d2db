"""Relations: what a text says of the entities it names, with direction, and which names mean the same. Pure.

A relation is read from the words between two names of one sentence: "A depends on B", "B is required by A", "A calls B
and uses C", "A, which is owned by B, calls C", "It calls D" after a sentence about A. What is denied, wished for, over
or only asked claims nothing. The verbs are in `data/graph.txt`; `tests/test_relations.py` shows what is read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from . import tables
from .entities import LIKELY, MAX_TEXT, POSSIBLE, UNKNOWN, Mention, find, key_of, short_of

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
_SENTENCE = re.compile(
    r"(?<=[.!?])(?<!\b[DM]r\.)(?<!\bMs\.)(?<!\bvs\.)(?<!e\.g\.)(?<!i\.e\.)\s+(?=[A-Z`\"'(*_#@-]|[a-z]+-[a-z])|\n+|;\s+"
)
_LISTED = re.compile(
    r"\s*(?:,|,?\s*(?:and|or|&|\+|as well as|plus)|/)\s*(?:(?:on|by|from|to|with|also on)\s+)?"
    r"(?:(?:the|our|both|also|its)\s+)?"
)
_RELATIVE = re.compile(r"^\s*(?:[,(–—-]\s*)?(?:which|that|who|whose)\b\s*")
_GOES_ON = re.compile(r"(?:.*\b(?:and|but|then|because|since|so)\b|.*,)\s*(?:(?:it|they|she|he|also)\s+)?", re.DOTALL)
_ARTICLE = re.compile(r"\b(?:the|a|an|our|its|their|this|that|both|new|old|existing|shared|own|internal|legacy|main)$")
_PRONOUN = re.compile(r"^(?:it|this service|that service|the service|she|he|they|the team|this)\b", re.IGNORECASE)
_NOUN_OF = re.compile(
    r"\b(owner|maintainer|lead|manager|head|members?|engineers?|team|people|dependency|dependencies|reliance|calls?)"
    r"\s+(?:of|for|on|behind|from)\s+(?:the\s+|our\s+)?$",
    re.IGNORECASE,
)
_IS = re.compile(r"^\s*(?:is|are|will be|:)\s*(?:now\s+)?(?:the\s+|our\s+)?$")
_ON = re.compile(r"^\s*(?:on|upon|to)\s+(?:the\s+|our\s+)?$")
_LABELS = [
    (
        relation,
        way == ">",
        re.compile(rf"{before}\s*(?:the |its |our )?(?:{noun})\s*(?:is|are|:|=)?\s*$", re.IGNORECASE),
    )
    for before in (r"(?:^|[.,;:(|–—-])",)
    for line in tables.lines("graph", "labels")
    for relation, way, noun in [line.split(" ", 2)]
]
_FILES = re.compile(r"^Files: (.+?)(?: and \d+ more)?$", re.MULTILINE)
_COMMIT = re.compile(r"^Commit ([0-9a-f]{7,40}) by .+\d{4}-\d\d-\d\d\.$", re.MULTILINE)
_REASON = re.compile(
    r"\b(?:because of|due to|per|following|as decided in|implements?|according to|see)"
    r"\s+((?:ADR|RFC)[ -]?#?\d+)\b",
    re.IGNORECASE,
)
_FAILED = re.compile(rf"\b(?:{tables.joined('graph', 'failed')})\b")
_INCIDENT = re.compile(r"(?:inc|incident|sev|p\d|pm|outage) ")
_TO = re.compile(r"^\s*(?:over )?to\s+(?:the\s+)?$")
_FROM = re.compile(r"\b(?:mov\w+|migrat\w+|switch\w*|went|chang\w+|port\w+)(?: [\w-]+){0,4} from (?:the )?$")
_AND_TO = re.compile(r"\band (?:[\w'-]+ ){0,4}?(on|to|from|in|with|by|via) (?:the |our |its )?$")
_AND = re.compile(r"^(?: [\w-]+)? and (?:the |our |its )?$")
# Verbs whose object is a pronoun: what was named before.
_PRONOUNS = [
    (relation, way == ">", re.compile(rf"^\s+(?:also |then |now |has |have |had )?(?:{verb})\b"))
    for line in tables.lines("graph", "pronouns")
    for relation, way, verb in [line.split(" ", 2)]
]
_BECAUSE = re.compile(
    r"^\s*(?:because of|due to|as decided in|as per|per|following|since|with|in|after)\s+$", re.IGNORECASE
)
_CHANGED = re.compile(rf"^\s*(?:{tables.joined('graph', 'changed')})\b")
_VERB_AFTER = re.compile(r"\s+((?:[a-z-]+ ){0,2}[a-z-]+)\s*(?:[.,;:)]|$)")
_ITS_NOUN = re.compile(r" (?:its|the|their|our|a|an) (?:[\w-]+ ){0,2}[\w-]+(?:,| (?:called|named))$")
_AGAIN = ("fixed_by", "changed_by", "decided_by")  # "fixed by A in PR 7": of one, several may be told
_MORE = re.compile(r"^\s*(?:by|in|with|via|through|as part of)\s+(?:the\s+)?$")
_OF_TEAM = re.compile(r"^\s*(?:from|of|in|on|,|\()\s*(?:the\s+)?$")
_OWN = re.compile(r"['’]s\s*(?:[.,;)]|$|baby|job|responsibility|code|work|thing|area)")
_NOUNS = {"owner": ("owned_by", True), "maintainer": ("owned_by", True), "lead": ("led_by", True),
          "manager": ("led_by", True), "head": ("led_by", True), "member": ("member_of", False),
          "members": ("member_of", False), "engineer": ("member_of", False),
          "engineers": ("member_of", False), "team": ("owned_by", True), "people": ("owned_by", True),
          "dependency": ("depends_on", True), "dependencies": ("depends_on", True), "reliance": ("depends_on", True),
          "call": ("calls", True), "calls": ("calls", True)}  # fmt: skip
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


def of_commit(text: str) -> Extraction:
    """The message of a commit, and its files: changed by it, and by the decision that its message gives as the reason.

    >>> found = of_commit("Round, because of ADR-005\\n\\nFiles: src/a.py\\n\\nCommit 77ab12c by Odile, 2026-02-01.")
    >>> [(one.head, one.tail) for one in found.relations]
    [('src/a.py', 'commit 77ab12c'), ('src/a.py', 'adr 5')]
    """
    files, made = _FILES.search(text), _COMMIT.search(text)
    said = extract(text[: min(one.start() for one in (files, made) if one)] if files or made else text)
    if not files or not made:
        return said
    told = text[: files.start()]
    reasons = {key_of(one[1]): one[1] for one in _REASON.finditer(told)}
    tails = {key_of(f"commit {made[1]}"): f"commit {made[1]}", **reasons}
    paths = {key_of(path, "file"): path for path in files[1].split(", ")}
    named = {one.key: one for one in said.entities}
    named |= {key: Named(key, name, "ticket", HOW_SURE) for key, name in tails.items()}
    named |= {key: Named(key, name, "file", HOW_SURE) for key, name in paths.items()}
    quote = text.partition("\n")[0][:300]
    ties = [Relation(path, "changed_by", tail, HOW_SURE, quote) for path in paths for tail in tails]
    return Extraction(tuple(named.values()), (*said.relations, *ties)[:MAX_RELATIONS])


class _Reader:
    """Reads sentence by sentence; what a pronoun stands for comes from the sentence before."""

    def __init__(self) -> None:
        self._named: dict[str, Mention] = {}
        self._relations: dict[tuple[str, str, str], Relation] = {}
        self._before: list[Mention] = []  # the subject of the last sentence
        self._recent: list[Mention] = []  # what was named, in order
        self._last: tuple[str, Sequence[Mention]] | None = None
        self._told: tuple[str, str] = ("", "")  # the relation told last, by which words

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
        self._recent = [one for one in mentions if one.key in self._named] or self._recent
        strong = [group for group in groups if any(one.key in self._named for one in group)]
        if strong:
            self._before = [one for one in strong[0] if one.key in self._named]

    def _clauses(self, sentence: str, groups: list[list[Mention]]) -> None:
        subject = left = groups[0] if groups else []
        outer: list[Mention] = []
        last: tuple[str, Sequence[Mention]] | None = None  # the relation told last, and of what
        again: tuple[Sequence[Mention], str, str] | None = None  # and of whom, with which words
        for number, group in enumerate(groups):
            begins = groups[number - 1][-1].end if number else 0
            earlier = [*self._recent, *(one for before in groups[:number] for one in before)]
            self._of_pronoun(earlier, group, sentence)
            if self._labelled(sentence[: group[0].start], earlier, group, sentence) or not number:
                continue
            between = sentence[begins : group[0].start]
            if len(between) > MAX_BETWEEN:
                subject = left = group
                continue
            if "(" in between:
                outer = left
            elif ")" in between and outer:
                left = outer
            self._aliases(groups[number - 1], between, group, sentence)
            if last and _MORE.match(between) and self._ties(last[1], last[0], group, sentence):
                continue
            if again and self._coordinated(again, between, group, sentence):
                continue
            if self._noun_of(sentence, left, between, group) or self._modifies(left, between, group, sentence):
                continue
            if _TO.match(between) and _FROM.search(sentence[: groups[number - 1][0].start]):
                if self._ties(group, "supersedes", groups[number - 1], sentence) and number > 1:
                    self._ties(subject, "uses", group, sentence)
                continue
            self._last, self._told = None, ("", "")
            if self._in(left, between, group, sentence) or self._clause(subject, left, between, group, sentence):
                again = (subject, self._told[0], self._told[1]) if self._told else None
                left, last = group, self._last
                continue
            if number == 1 and self._because(sentence, groups):
                continue
            if re.search(r"[:;]\s*$|\b(?:while|because|since|so|but)\b", between):
                subject = group
            left = group

    def _labelled(self, before: str, earlier: Sequence[Mention], group: Sequence[Mention], sentence: str) -> bool:
        """ "Owner: Team Kilo" says it of what was named last, and could be owned."""
        for relation, forward, label in _LABELS:
            if not label.search(before):
                continue
            for one in reversed(earlier):
                if one.key not in {other.key for other in group}:
                    pairs = (one, relation, group[0]) if forward else (group[0], relation, one)
                    if one.kind in _FITS[relation][0 if forward else 1] and self._fits(*pairs):
                        return self._ties([one], relation, group, sentence, forward)
        return False

    def _of_pronoun(self, earlier: Sequence[Mention], group: Sequence[Mention], sentence: str) -> None:
        """ "Dana fixed it", "Dana is its lead": of what was named before, and may be meant."""
        after = sentence[group[-1].end :]
        for relation, forward, verb in _PRONOUNS:
            if not verb.match(after):
                continue
            wanted = ("ticket",) if relation == "fixed_by" else _FITS[relation][1 if forward else 0]
            for one in reversed([*self._named.values(), *earlier]):
                if one.kind in wanted and one.key not in {other.key for other in group}:
                    self._ties(group if forward else [one], relation, [one] if forward else group, sentence)
                    return

    def _coordinated(
        self, again: tuple[Sequence[Mention], str, str], between: str, group: Sequence[Mention], sentence: str
    ) -> bool:  # fmt: skip
        """ "relies on A for refunds and on B": the same of a further one."""
        subject, relation, told = again
        joint = _AND_TO.search(between)
        same = joint is not None and told.endswith(f" {joint[1]}")
        return bool(relation) and bool(same or _AND.match(between)) and self._ties(subject, relation, group, sentence)

    def _fits(self, head: Mention, relation: str, tail: Mention) -> bool:
        heads, tails = _FITS[relation]
        return head.kind in (*heads, UNKNOWN) and tail.kind in (*tails, UNKNOWN)

    def _modifies(self, left: Sequence[Mention], between: str, right: Sequence[Mention], sentence: str) -> bool:
        """ "Marta from Team Kilo fixed it", "PR 88 by Marta": what follows is still said of the first."""
        one, other = left[-1], right[0]
        if one.kind == "person" and other.kind == "team" and _OF_TEAM.match(between):
            return self._tie(one, "member_of", other, sentence)
        if between.strip() == "(" and sentence[right[-1].end :].startswith(")"):
            if one.kind in (*_THINGS, UNKNOWN) and other.kind == "team":
                return self._tie(one, "owned_by", other, sentence)
            if one.kind == "team" and all(e.kind in ("person", UNKNOWN) for e in right) and (
                len(right) > 1 or other.kind == "person"
            ):  # fmt: skip
                return self._ties(right, "member_of", [one], sentence)
        return one.kind == "ticket" and between.strip() == "by" and other.kind == "person"

    def _because(self, sentence: str, groups: list[list[Mention]]) -> bool:
        """ "Because of ADR-5, A was rewritten"."""
        one, other = groups[0], groups[1]
        if one[0].kind != "ticket" or not _BECAUSE.match(sentence[: one[0].start]):
            return False
        return bool(_CHANGED.match(sentence[other[-1].end :])) and self._ties(other, "changed_by", one, sentence)

    def _ties(
        self, heads: Sequence[Mention], relation: str, tails: Sequence[Mention], sentence: str, forward: bool = True
    ) -> bool:  # fmt: skip
        pairs = [(one, other) if forward else (other, one) for one in heads for other in tails]
        done = [self._tie(head, relation, tail, sentence) for head, tail in pairs]
        return any(done)

    def _clause(
        self, subject: Sequence[Mention], left: Sequence[Mention], between: str, right: Sequence[Mention], sentence: str
    ) -> bool:
        """The verb between two names: of the first of them, or, after "and" and the like, of the sentence's subject."""
        if relative := _RELATIVE.match(between):
            rest = _clean(between[relative.end() :])
            after = _VERB_AFTER.match(sentence[right[-1].end :])
            if not rest and after:  # "the topic that A consumes"
                return self._relate(right, _clean(after[1]), left, sentence)
            return self._relate(left, rest, right, sentence)
        verb = _GOES_ON.match(between)
        if verb and self._relate(subject, _clean(between[verb.end() :]), right, sentence):
            return True
        return self._relate(left, _clean(between), right, sentence)

    def _in(self, left: Sequence[Mention], between: str, right: Sequence[Mention], sentence: str) -> bool:
        """ "the circuit breaker in A", "parse() in a.py", "INC-3: A returned errors"."""
        word, one, other = between.strip(" ,()").lower(), left[-1], right[0]
        if word in (":", "-", "–", "—") and not one.start and one.kind in ("service", "repository"):
            if other.kind == "pattern":
                return self._tie(one, "implements", other, sentence)
            known = [e for e in right if e.kind in ("framework", "datastore", "dependency") and e.confidence >= LIKELY]
            if known:  # "shipping-labels: Node, Fastify"
                return self._ties([one], "uses", known, sentence)
        if word in ("on", "of", "at") and one.kind == "api" and other.kind in ("service", "repository"):
            return self._tie(one, "part_of", other, sentence)
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
            if relation == "uses" and seconds[0].kind == UNKNOWN and told.endswith((" in", " to", " at", " on")):
                continue  # "runs in Dublin" tells a place
            if self._ties(firsts, relation, seconds, sentence, forward):
                self._told = (relation, told) if forward else ("", "")
                if relation in _AGAIN:
                    self._last = relation, firsts if forward else seconds
                return True
        if told in ("is", "are", "was") and _OWN.match(sentence[seconds[-1].end :]):  # "a.py is Dana's"
            owners = [replace(one, kind=one.kind or "person") for one in seconds]
            return self._ties(firsts, "owned_by", owners, sentence)
        if seconds[0].kind == "ticket" and _FAILED.search(told) and (
            _INCIDENT.match(seconds[0].key) or "incident" in told or "outage" in told
        ):  # fmt: skip
            return self._ties([one for one in firsts if one.kind != "ticket"], "had_incident", seconds[:1], sentence)
        return False

    def _tie(self, head: Mention, relation: str, tail: Mention, sentence: str) -> bool:
        if relation == "uses" and tail.kind == "config":
            head, relation, tail = tail, "configures", head
        if relation == "owned_by" and head.kind == "api" and tail.kind in (UNKNOWN, "service"):
            head, relation, tail = tail, "implements", head
        heads, tails = _FITS[relation]
        head, tail = (
            replace(e, kind=UNKNOWN) if e.kind == "person" and e.confidence == POSSIBLE and "person" not in k else e
            for e, k in ((head, heads), (tail, tails))
        )
        of_people = relation in ("member_of", "led_by", "owned_by")
        if UNKNOWN in (tail.kind, head.kind) and (
            relation == "had_incident" or (tail.kind == head.kind and not of_people)
        ):  # fmt: skip
            return False
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
        """ "The owner of A is B", "a dependency of A on B"."""
        before = _NOUN_OF.search(sentence[: left[0].start])
        if not before:
            return False
        relation, forward = _NOUNS[before[1].lower()]
        joined = _ON if relation in ("depends_on", "calls") else _IS
        return bool(joined.match(between)) and self._ties(left, relation, right, sentence, forward)

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
        alike = groups and (groups[-1][-1].kind == "ticket") == (one.kind == "ticket")
        if alike and _LISTED.fullmatch(sentence[groups[-1][-1].end : one.start]):
            groups[-1].append(one)
        else:
            groups.append([one])
    return groups


def _clean(told: str) -> str:
    """The verb between two names without what changes nothing."""
    told = " ".join(re.sub(r"[`*_\"()]", " ", told.lower().replace("’", "'")).split())
    told = _ITS_NOUN.sub("", told)
    told = re.sub(r" (?:two|three|four|five|six|several|the following|these)(?: \w+)?:$", "", told).replace(":", "")
    told = " ".join(told.split())
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
