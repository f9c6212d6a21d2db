"""Looking at windows with language models: a small one gates, a better one extracts.

A model sees more than rules do, and makes things up. So nothing of its answer is taken on its word: each memory must
quote what was said, the quote is looked up, and the whole sentence it stands in becomes the evidence, so that a «maybe»
cannot be cut off. Who said that sentence decides about trust, and only as far as the memory says no more than it: what
a model adds of its own is a model's conclusion.

An answer that cannot be used is asked for once more; then the fitted decision does the work, and it is said. A spent
budget is not caught here: the job waits for the next one. What a person asks to remember or takes back is always found.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, Literal

from .. import text
from ..errors import BadAnswer, BudgetSpent, ModelUnavailable
from ..grounding import hedged
from ..language.keywords import MAX_KEYWORDS, keywords
from ..language.meaning import RELATES, faithful
from ..language.statements import is_question
from ..language.terms import STOP_WORDS, terms
from ..language.vetoes import differences
from ..remember.change import says_change
from ..types import Scope
from . import data, words
from .extract import Candidate, Extractor, forbidden, names, refs
from .segment import statements
from .windows import Turn, Window

if TYPE_CHECKING:
    from ..models.llm import LLM

PROMPT = 1  # its version, stamped on what was found by it
GATE_TOKENS, EXTRACT_TOKENS = 200, 1500  # at most, in an answer
MOST = 8  # memories of one window
MOST_STATEMENTS = 4  # that one quote reaches over
SPEAKER = frozenset(("user", "team"))  # words that stand for who speaks
MIN_MISTYPED, MISTYPED = 5, 0.85  # letters of a word that may be mistyped, and how alike it must stay
WISHES = ("preference", "rule", "decision", "procedure")  # what is wished, and not told as true
ORDERED = ("asked", "retraction")  # what a person asks for in so many words
Tier = Literal["gate", "extract"]
log = logging.getLogger("recollect")


@dataclass(frozen=True, slots=True)
class Look:
    """What a window gave. `unproved` are statements of a model that quote nothing that was said."""

    worth: bool
    found: tuple[Candidate, ...] = ()
    unproved: tuple[str, ...] = ()


@dataclass(slots=True)
class Looking:
    """One run over windows. `llm` gives the model of a tier, or None; `known` what is remembered near a text.

    A model that could not be reached is not asked again in this run.
    """

    llm: Callable[[Tier, str, str], LLM | None]
    known: Callable[[str, Scope], Sequence[str]]
    extractor: Extractor = field(default_factory=Extractor)
    skipped: dict[str, None] = field(default_factory=dict)
    away: set[Tier] = field(default_factory=set)

    def look(self, window: Window, scope: Scope) -> Look:
        without = self.extractor.extract(window)
        ordered = tuple(one for one in without if one.rule in ORDERED)
        said = _shown(window)
        answer = self._ask("gate", scope, said, GATE_TOKENS)
        good = any(not one.veto for one in without) if answer is None else bool(answer["worth"])
        if not good:
            return Look(bool(ordered), ordered or tuple(one for one in without if one.veto))
        near = self.known(said, scope) if "extract" not in self.away else ()
        known = "\n".join(f"- {text.shorten(one, 300)}" for one in near) or "(nothing)"
        prompt = f"Known already:\n{known}\n\nThe conversation:\n{said}"
        answer = self._ask("extract", scope, prompt, EXTRACT_TOKENS)
        if answer is None:
            return Look(True, tuple(without))
        model = self.llm("extract", "extract", scope.project)
        version = f"{model.model if model else ''} prompt {PROMPT}"
        found, unproved = list(ordered), []
        for told in answer["memories"][:MOST]:
            if (made := _candidate(told, window, version)) is None:
                unproved.append(text.shorten(str(told["content"]), 200))
            elif all(made.quote != one.quote for one in ordered):
                found.append(made)
        return Look(True, tuple(found), tuple(unproved))

    def _ask(self, tier: Tier, scope: Scope, prompt: str, most: int) -> dict[str, Any] | None:
        """The answer of a tier's model, or None: there is none, or it could not be used twice."""
        model = self.llm(tier, tier, scope.project) if tier not in self.away else None
        if model is None:
            return None
        told = data.read("prompts")[tier]
        for attempt in (1, 2):
            try:
                return model.complete(told["system"], [("user", prompt)], told["schema"], most * attempt).data
            except BudgetSpent:
                raise
            except BadAnswer as error:
                if attempt == 2:
                    self._without(tier, error)
            except ModelUnavailable as error:
                self.away.add(tier)
                self._without(tier, error)
                break
        return None

    def _without(self, tier: Tier, error: ModelUnavailable | BadAnswer) -> None:
        log.warning("capture goes on without a language model: %s", error)
        self.skipped[f"{tier}: {error} The fitted decision did it."] = None


def _shown(window: Window) -> str:
    """A window as a model reads it: what was said in own words, without code and quotes."""
    return "\n\n".join(f"{turn.role}: {said}" for turn in window.turns if (said := _own_words(turn)))


def _own_words(turn: Turn) -> str:
    return "\n".join(one.text for one in statements(turn.content))


def _candidate(told: dict[str, Any], window: Window, version: str) -> Candidate | None:
    """What a model found, held against what was said; None where nobody said it."""
    content = " ".join(str(told["content"]).split())
    found = _place(str(told["quote"]), window.fresh)
    if found is None or not content:
        return None
    turn, quote = found
    wanted = tuple(dict.fromkeys(clean for one in told.get("keywords", ()) if (clean := _word(one))))
    why = _part(" ".join(str(told.get("reasoning", "")).split()), quote)
    importance = told.get("importance", 5)
    made = Candidate(
        content, str(told["kind"]), "model", quote, turn.role, turn.source,
        turn.at, min(10, max(1, importance)), ("captured",), (wanted or keywords(content))[:MAX_KEYWORDS],
        why, refs(turn, quote), says_change(quote),
        entities=tuple(dict.fromkeys((*(str(one) for one in told.get("entities", ())), *names(content))))[:MOST],
        version=version,
    )  # fmt: skip
    if turn.role == "user" and made.kind in WISHES and (hedged(quote) or is_question(quote)):
        is_wish = not is_question(quote) or bool(words.find("polite_requests", quote))
        made = replace(made, content=" ".join(quote.split()), is_wish=is_wish)
    made = replace(made, veto=forbidden(quote, is_wish=made.is_wish))
    return made if _says(made.content, quote) else replace(made, role="assistant")


def _part(words: str, quote: str) -> str:
    """The words of a quote that are given as a reason, up to its end where less would say something else."""
    plain = " ".join(quote.split())
    start = plain.lower().find(words.lower().rstrip(".")) if words else -1
    return faithful(words, plain[start:]) if start >= 0 else ""


def _word(given: Any) -> str:
    return text.shorten(" ".join(str(given).lower().split()), 60)


def _place(quote: str, turns: Sequence[Turn]) -> tuple[Turn, str] | None:
    """The turn that says what is quoted, and the whole statements it stands in."""
    wanted = " ".join(_BULLET.sub("", quote).split()).strip("\"'“”. …").lower()
    if len(wanted) < 3:
        return None
    for turn in sorted(turns, key=lambda turn: turn.role != "user"):  # an assistant often says it before or after
        said = statements(turn.content)
        plain = [" ".join(one.text.split()).lower() for one in said]
        for most in range(1, MOST_STATEMENTS + 1):
            for first in range(len(said) - most + 1):
                if wanted in " ".join(plain[first : first + most]):
                    return turn, turn.content[said[first].start : said[first + most - 1].end]
    return None


def _says(claim: str, quote: str) -> bool:
    """Whether a claim says no more than a quote: its words in their order, no other number or denial, and each "if".

    Spelling may differ, and "the user" may stand for who speaks. The same words in another order can say the contrary:
    who reports to whom, from what to what something moved.

    >>> quote = "We moved teh invoices from Kafka to SQS."
    >>> _says("Invoices moved to SQS", quote), _says("The user moved the invoices to SQS.", quote)
    (False, True)
    >>> _says("We moved the invoices to Kafka.", quote), _says("We deploy on Fridays", "We deploy on Fridays if asked.")
    (False, False)
    """
    told = iter(_telling(quote))
    return (
        all(any(_same_word(word, one) for one in told) for word in _telling(claim) if word not in SPEAKER)
        and set(map(str.lower, _ONLY_IF.findall(quote))) <= set(map(str.lower, _ONLY_IF.findall(claim)))
        and not differences(claim, quote)
    )


def _same_word(word: str, other: str) -> bool:
    """Whether two words are one, up to a typing mistake."""
    if word == other or min(len(word), len(other)) < MIN_MISTYPED or not (word + other).isalpha():
        return word == other
    return SequenceMatcher(None, word, other).ratio() >= MISTYPED


def _telling(said: str) -> list[str]:
    return [term for term in terms(said) if term in RELATES or term not in STOP_WORDS]


_BULLET = re.compile(r"^[ \t]*(?:[-*•+]|\d{1,2}[.)])\s+", re.MULTILINE)
_ONLY_IF = re.compile(r"\b(?:if|unless|only|except|until|used to|would|should)\b", re.IGNORECASE)


@dataclass(slots=True)
class Load:
    """What windows would have models read and write: at most, since nobody knows yet which are worth it."""

    windows: int = 0
    tokens: int = 0

    def add(self, windows: Sequence[Window]) -> None:
        self.windows += len(windows)
        self.tokens += sum(text.tokens(_shown(window)) for window in windows)

    def of(self, tier: Tier) -> tuple[int, int, int]:
        """Calls, tokens read and tokens written."""
        told, most = data.read("prompts")[tier], 20 if tier == "gate" else EXTRACT_TOKENS // 3
        each = (
            text.tokens(told["system"]) + text.tokens(str(told["schema"])) + (0 if tier == "gate" else 400)
        )  # what is known already
        return self.windows, self.tokens + self.windows * each, self.windows * most
