"""Extraction without a language model: the statements of a window that are worth keeping, as candidates for memories.

    statements of the turn → vetoes (words.json: they only forbid) → asked for, or probable enough (durable.py)
    → made to stand alone → candidate with its quote

Of a user's turn every statement is judged. Of the assistant's words only those count that the user confirms in the next
turn. A candidate says where it comes from word for word (`quote`), so that it can be held against its source, and
carries the version of what found it, so that turns can be looked at again when it is better.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from ..grounding import citations, hedged
from ..language.keywords import keywords
from ..language.meaning import faithful, marks
from ..language.statements import is_question
from ..language.terms import STOP_WORDS, terms
from ..remember.change import says_change
from ..remember.disguises import REJECTED
from ..remember.retraction import forgets, retraction
from ..text import strip_quotes
from . import words
from .segment import LONGEST, Statement, statements
from .windows import Turn, Window

if TYPE_CHECKING:
    from .durable import Durability, Judged

VERSION = "durable 1"
MAX_NAMES = 8
MAX_REFS, LONGEST_REF = 16, 400
SHORT = 32  # characters of a statement that may be no more than thanks
FEW_WORDS = 2  # content words; a reply of fewer says nothing without what was asked
IMPORTANCE = {"rule": 8, "preference": 7, "decision": 7, "correction": 7, "lesson": 6, "procedure": 6, "fact": 5}
TURNED_DOWN = "rejected"  # the tag of an option that somebody decided against
ASKED = 8  # the importance of what somebody asks to remember
REPEATED_FROM = 0.1  # of the probability; what is less probable is no wish, however often it is said
_NAME = re.compile(r"`([^`\n]{2,60})`|(?<=[a-z,;:] )([A-Z][\w-]+(?: [A-Z][\w-]+){0,2})")
_AHEAD = re.compile(rf"^[ \t]*{re.escape(REJECTED)}[.!?…。]*[ \t]*", re.MULTILINE)
_OPTION = re.compile(r"^\W*(?:option\s+)?(?P<label>[a-h]|\d{1,2})[.):\s]*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A statement that may become a memory.

    `corrects` says that it sets something right; `forgets` is what it takes back without saying anything instead.
    `veto` is why it may not become one, whatever else speaks for it.
    """

    content: str
    kind: str
    rule: str
    quote: str
    role: str
    source: str
    at: datetime | None = None
    importance: int = 5
    tags: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    reasoning: str = ""
    refs: tuple[str, ...] = ()
    corrects: bool = False
    forgets: str = ""
    lead: str = ""  # the sentence before, where the quote alone does not say what it is about
    asked: str = ""  # what the assistant asked, where the quote answers it
    claim: str = ""  # the quote without the words that ask to remember or set something right
    entities: tuple[str, ...] = ()  # what it names, as it is written
    version: str = VERSION
    probability: float = 1.0
    why: str = ""
    veto: str = ""
    is_wish: bool = False  # a model read it as a wish, so that "could we" and "maybe" are only polite

    def __post_init__(self) -> None:
        """However it was found, it says what its quote says."""
        said = " ".join(filter(None, (self.asked, self.lead, self.claim or self.quote)))
        object.__setattr__(self, "content", strip_quotes(faithful(self.content, said)))
        object.__setattr__(self, "reasoning", strip_quotes(self.reasoning))


Repeated = Callable[[str, Turn], bool]


@dataclass(frozen=True, slots=True)
class Extractor:
    """Finds candidates. Without a `model`, only what somebody asks to remember or takes back is found.

    `repeated` tells whether a person has said a statement in two other sessions before.
    """

    model: Durability | None = None
    repeated: Repeated = lambda _, __: False
    explain: bool = False  # also give what is not kept, with the reason

    def extract(self, window: Window) -> list[Candidate]:
        """The candidates of the turns that were not in the window before."""
        found: list[Candidate] = []
        for turn in window.fresh:
            if turn.role == "user":
                found += self._of_user(turn)
                if turn.before is not None and words.opens("confirmations", turn.content):
                    found += self._confirmed(turn.before)
        return found

    def _of_user(self, turn: Turn) -> Iterator[Candidate]:
        before = turn.before.content if turn.before else ""
        content = _AHEAD.sub("", turn.content)  # blanks ahead of a line would make it look pasted
        content = content.replace(REJECTED, " " * len(REJECTED))  # it looks like the mark of a log
        said = [one for one in statements(content, typed=True) if len(one.text) <= LONGEST]
        made = [candidate(turn, one, said[place - 1] if place else None, before) for place, one in enumerate(said)]
        open_ = [place for place, one in enumerate(made) if one and one.rule == "statement" and not self._forbids(one)]
        judged = dict(zip(open_, self._judge(said, content, before, open_), strict=True))
        for place, one in enumerate(made):
            if one is not None and one.rule == "statement":
                one = self._decide(one, judged.get(place), turn)
            if one is not None:
                yield one

    def _forbids(self, made: Candidate) -> bool:
        """Whether nothing that the model says of a candidate could matter."""
        return bool(made.veto) and not self.explain

    def _judge(
        self, said: Sequence[Statement], content: str, before: str, some: Sequence[int]
    ) -> Sequence[Judged | None]:
        """What the model says of some of the statements of a turn, by their places."""
        if self.model is None:
            return [None] * len(some)
        from .durable import in_context  # which needs numpy

        rows = in_context(said, content, before)
        return self.model.judge([rows[place] for place in some])

    def _decide(self, made: Candidate, judged: Judged | None, turn: Turn) -> Candidate | None:
        """Whether what nobody asked to keep is kept: it is probable enough, or has been said again and again."""
        if judged is None or self.model is None:
            return replace(made, rule="correction") if made.corrects and not made.veto else None
        kind, tags = judged.kind, made.tags
        if made.corrects or kind == "correction":
            kind, tags = "fact" if kind == "correction" else kind, (*tags, "correction")
        if marks(made.quote).denies and (made.asked or kind in ("procedure", "decision")):
            kind, tags = "decision", (*tags, TURNED_DOWN)  # what was turned down is no way to do it
        why = f"probability {judged.probability:.2f}; for it: {', '.join(judged.words) or 'its shape'}"
        made = replace(
            made, kind=kind, tags=tags, importance=IMPORTANCE[judged.kind], probability=judged.probability, why=why
        )
        if judged.probability >= self.model.threshold:
            return made if not made.veto or self.explain else None
        if made.corrects and not made.veto:  # it is kept if it sets something right that is known
            return replace(made, rule="correction")
        if not made.veto and judged.probability >= REPEATED_FROM and self.repeated(made.quote, turn):
            return replace(made, rule="repeated", kind="preference", why=f"said in three sessions; {why}")
        return replace(made, veto=made.veto or "not probable enough to be worth keeping") if self.explain else None

    def _confirmed(self, turn: Turn) -> Iterator[Candidate]:
        """The one statement of the assistant that the user's next turn confirms, if it is worth keeping."""
        said = [one for one in statements(turn.content) if len(one.text) <= LONGEST and not forbidden(one.text)]
        judged = [one for one in self._judge(said, turn.content, "", range(len(said))) if one is not None]
        best = max(zip(judged, said, strict=False), key=lambda pair: pair[0].probability, default=None)
        if best and self.model and best[0].probability >= self.model.threshold:
            made = candidate(turn, best[1], None, "")
            if made is not None and not made.veto:
                kind = "lesson" if best[0].kind == "correction" else best[0].kind
                yield replace(made, kind=kind, rule="confirmed", probability=best[0].probability)


def candidate(turn: Turn, one: Statement, previous: Statement | None, before: str) -> Candidate | None:
    """A statement as a candidate, with the veto that it stands under; None where nothing is said at all."""
    quote = " ".join(one.text.split())
    request = words.asked_to_remember(quote)
    taken_back = forgets(quote)
    content, lead, asked, veto = words.without_opening(request or quote), "", "", forbidden(request or quote)
    if not taken_back and request is None and not veto:
        content, lead, asked, veto = _alone(content, one, previous, before)
    if not content:
        return None
    sure = retraction(content)
    corrects = bool(words.corrects(quote) or says_change(quote) or taken_back or sure)
    rule = "asked" if request is not None else "retraction" if taken_back else "statement"
    return Candidate(
        content, "fact", rule, one.text, turn.role, turn.source, turn.at, ASKED if request is not None else 6,
        ("captured", "asked-for") if request is not None else ("captured",), keywords(content),
        _reason(quote), refs(turn, quote), corrects and (sure is None or sure.is_sure), taken_back, lead, asked,
        "" if asked else words.without_correction(request or quote), names(content), veto=veto,
    )  # fmt: skip


def forbidden(said: str, *, is_wish: bool = False) -> str:
    """Why a statement may not be kept, whatever speaks for it; a wish may be asked for, hedged, and for now."""
    plain = words.without_politeness(said)
    if not is_wish and is_question(said):
        return "it asks, and states nothing"
    if not is_wish and (found := hedged(plain) or words.find("hedges", plain)):
        return f'it takes itself back: "{found}"'
    for name, told in (("temporary", "it holds only for now"), ("hypothetical", "it only supposes something"),
                       ("role_play", "it describes a role")):  # fmt: skip
        if not (is_wish and name == "temporary") and (found := words.find(name, said)):
            return f'{told}: "{found}"'
    if len(said) <= SHORT and words.opens("thanks", said):
        return "it only thanks"
    return "a secret was redacted in it" if "[redacted" in said.lower() else ""


def _alone(content: str, one: Statement, previous: Statement | None, before: str) -> tuple[str, str, str, str]:
    """A statement so that it stands alone: the content, the sentence before it, what was asked, and a veto.

    Only what is certain is put in: the question that a numbered or lone short reply answers, the option that was
    chosen, the sentence before a pronoun.
    """
    answer = " ".join(one.text.split()) if words.corrects(one.text) else content  # a "no" is what was answered
    answer = answer[:1].upper() + answer[1:]
    short = len(_content_words(content)) < FEW_WORDS and not retraction(content)
    asked = statements(before) if short or one.number else []
    if same := [said.text for said in asked if one.number and said.number == one.number and is_question(said.text)]:
        return f"{same[0]} {answer}", "", same[0], ""
    if (chosen := _OPTION.match(content)) and (option := _option(chosen["label"], before)):
        return f"{option} ({content})", "", option, ""
    if asked and previous is None and is_question(asked[-1].text):
        return f"{asked[-1].text} {answer}", "", asked[-1].text, ""
    if short and previous is not None and is_question(previous.text):
        return f"{previous.text} {content}", previous.text, "", ""
    if short:
        return content, "", "", "it says too little without what was said before"
    if words.opens("pronouns", content):
        if previous is None or forbidden(previous.text) or len(_content_words(previous.text)) < FEW_WORDS:
            return content, "", "", "it does not say what it is about"
        return f"{words.without_opening(previous.text)} {content}", previous.text, "", ""
    return content, "", "", ""


def _option(label: str, before: str) -> str:
    """The option of a list that the assistant offered under a label."""
    found = re.findall(rf"^\W*(?:option\s+)?{re.escape(label)}[.):]+\W*(\w.+)$", before, re.IGNORECASE | re.MULTILINE)
    return " ".join(found[0].split()).strip("* ") if len(found) == 1 else ""


def _content_words(said: str) -> set[str]:
    return {term for term in terms(said) if term not in STOP_WORDS}


def _reason(quote: str) -> str:
    """The reason that is given, up to the end of the quote where less of it would say something else."""
    why = words.reason(quote)
    return faithful(why, quote[quote.find(why) :].rstrip(" .!")) if why else ""


def refs(turn: Turn, said: str) -> tuple[str, ...]:
    """What a statement cites, and what its turn refers to; an address that goes on for lines helps nobody."""
    found = dict.fromkeys((*turn.refs, *citations(said)))
    return tuple(one for one in found if len(one) <= LONGEST_REF)[:MAX_REFS]


def names(content: str) -> tuple[str, ...]:
    """What a statement calls by its name: words in backticks, and capitals inside of a sentence.

    >>> names("Since March, `billing-api` is owned by Ana Ruiz.")
    ('March', 'billing-api', 'Ana Ruiz', 'Ana', 'Ruiz')
    """
    found = [code or word for code, word in _NAME.findall(content)]
    parts = [part for name in found if " " in name for part in name.split()]
    return tuple(dict.fromkeys((*found, *parts)))[:MAX_NAMES]
