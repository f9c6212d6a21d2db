"""Composing: an answer out of what recall found: its best passages with their sources, or a model's words. Pure.

Without a model, the answer is whole passages in the order of recall, with the number of each source. Its confidence is
how probable it is that one of them answers; which words they share with the question counts only where no model can
tell. A model may use nothing but the hits, and must name its sources by number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .. import text
from ..language import terms
from ..language.vetoes import elsewhere
from ..recall.compress import compress
from ..recall.fence import HEADER, fenced
from ..recall.printing import label
from ..types import Hit, Memory

HITS = 6  # what recall finds for an answer
CITED = 3  # sources of an answer made of passages
COVERED, SHORT = 12, 90  # sources, and tokens of each, where the question wants everything on a subject
QUOTE, QUOTES = 350, 700  # tokens of one source, which is whole up to here, and of all of them
LEFT = 60  # tokens that a further source needs
LONGEST = 4000  # characters of an answer
SHOWN = 1200  # characters of a memory that a model reads
CLOSE, HALF = 0.9, 0.5  # the share of the best cosine, and of the first hit's words, from which a hit bears on it too
LEAST = 0.45  # the confidence below which there is no answer
NO_RANKER = 0.85  # what the share of words counts where no ranker looked
TOKENS = 600  # that a model may write

SYSTEM = f"""You answer a question from numbered notes, and from nothing else. {HEADER}
Answer in at most four sentences, plainly, in the language of the question. Name the numbers of the notes you used. If \
the notes do not answer the question, say so by setting known to false and leave the answer empty. `sure` is how sure \
you are that the notes prove your answer, from 0 to 1."""
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "known": {"type": "boolean"},
        "answer": {"type": "string"},
        "sources": {"type": "array", "items": {"type": "integer"}},
        "sure": {"type": "number"},
    },
    "required": ["known", "answer", "sources", "sure"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Composed:
    """An answer, the memories it cites and the words of each, the memories it was made of, and how sure it is."""

    text: str
    cited: tuple[tuple[Memory, str], ...]
    made_of: tuple[Memory, ...]
    confidence: float
    why: str


def covered(found: Sequence[Memory], rarity: Mapping[str, float]) -> float:
    """Which share of what was asked for stands in these memories, rare words counting more."""
    said = {term for memory in found for term in terms.of_memory(memory)}
    total = sum(rarity.values())
    return sum(weight for term, weight in rarity.items() if term in said) / total if total else 0.0


def extract(
    question: str, hits: Sequence[Hit], fits: float, rarity: Mapping[str, float], *, everything: bool = False
) -> Composed | None:  # fmt: skip
    """The best passages among the hits; None where they probably do not answer.

    Where `everything` is wanted, each hit that bears on the question has its passage, in the order of time.
    """
    here = [hit for hit in hits if not elsewhere(question, _said(hit.memory))]
    chosen = bearing(here, rarity) if everything else _chosen(here, rarity)
    if not chosen:
        return None
    sure = (fits if fits < 1 else NO_RANKER * covered(chosen, rarity)) * chosen[0].confidence
    if sure < LEAST:
        return None
    cited, room = [], QUOTES
    for memory in chosen:
        if room < LEFT:
            break
        cited.append((memory, _quote(memory, rarity, min(SHORT if everything else QUOTE, room))))
        room -= text.tokens(cited[-1][1])
    if everything:
        cited.sort(key=lambda one: one[0].valid_from or one[0].created_at)
    body = "\n".join(f"{quote} [{number}]" for number, (_, quote) in enumerate(cited, 1))
    why = f"the words of {len(cited)} source{'s' if len(cited) > 1 else ''}"
    if sure < 0.5:
        why += ", which may not answer it"
    made_of = tuple(memory for memory, _ in cited)
    return Composed(body[:LONGEST], tuple(cited), made_of, round(min(sure, 1.0), 4), why)


@dataclass(frozen=True, slots=True)
class Bars:
    """What a memory must pass to bear on a question: a share of its words, or a cosine; nothing passes 0."""

    words: float
    cosine: float


def bars(hits: Sequence[Hit], rarity: Mapping[str, float]) -> Bars:
    """Half the words that the first hit holds, and nearly the best cosine."""
    if not hits:
        return Bars(0.0, 0.0)
    meant = max(hit.arms.get("vector", 0.0) for hit in hits)
    return Bars(HALF * covered([hits[0].memory], rarity), CLOSE * meant)


def bears(memory: Memory, cosine: float, least: Bars, rarity: Mapping[str, float]) -> bool:
    return (least.cosine > 0 and cosine >= least.cosine) or (
        least.words > 0 and covered([memory], rarity) >= least.words
    )


def bearing(hits: Sequence[Hit], rarity: Mapping[str, float]) -> list[Memory]:
    """The hits that bear on a question: the first, and those that hold half as much of it or mean nearly as much.

    Recall fills its list up; what stands at the end of it often has nothing to do with what was asked.
    """
    least = bars(hits, rarity)
    return [
        hit.memory
        for number, hit in enumerate(hits)
        if number == 0 or bears(hit.memory, hit.arms.get("vector", 0.0), least, rarity)
    ]


def _chosen(hits: Sequence[Hit], rarity: Mapping[str, float]) -> list[Memory]:
    """The first hit, and those that bear on it too and hold as much of the question, or something that is missing.

    Two that fit alike may say different things: whoever asked sees both, with their dates.
    """
    near = sorted(bearing(hits, rarity), key=lambda memory: memory.network == "opinion")  # a fact before a judgement
    chosen = near[:1]
    held = covered(chosen, rarity)
    missing = {term for term in rarity if chosen and term not in terms.of_memory(chosen[0])}
    for memory in near[1:]:
        adds = missing.intersection(terms.of_memory(memory))
        alike = held > 0 and covered([memory], rarity) >= held
        if (adds or alike) and len(chosen) < CITED:
            chosen.append(memory)
            missing -= adds
    return chosen


def _quote(memory: Memory, rarity: Mapping[str, float], most: int) -> str:
    whole = memory.content.strip()
    if memory.kind == "doc" and memory.title not in whole:  # its heading often holds the version or the name
        whole = f"{memory.title}\n{whole}"
    words = whole if text.tokens(whole) <= most else compress(whole, list(rarity), most, text.tokens)
    if memory.reasoning and len(memory.reasoning) < 200:
        words = f"{words} (because {memory.reasoning})"
    opinion, ended = memory.network == "opinion" and memory.kind != "preference", memory.valid_to is not None
    return f"({label(memory)}) {words}" if opinion or ended else words


def prompt(question: str, hits: Sequence[Hit]) -> str:
    notes = [_note(number, hit.memory) for number, hit in enumerate(hits, 1)]
    return "\n".join([*notes, "", f"Question: {question}"])


def _said(memory: Memory) -> str:
    return f"{memory.title}: {memory.content}".removeprefix(": ")


def _note(number: int, memory: Memory) -> str:
    said = text.shorten(_said(memory), SHOWN)
    when = memory.valid_from or memory.created_at
    return fenced(said, id=str(number), kind=label(memory), trust=memory.trust, date=f"{when:%Y-%m-%d}")


def read(data: Mapping[str, Any], hits: Sequence[Hit], rarity: Mapping[str, float], model: str) -> Composed | None:
    """What a model answered, if it says that it knows and names its sources; all it was shown is what it depends on."""
    numbers = [number for number in dict.fromkeys(data["sources"]) if 1 <= number <= len(hits)]
    said = text.clean(str(data["answer"]))[:LONGEST]
    if not data["known"] or not said or not numbers or len(numbers) < len(set(data["sources"])):
        return None
    sure = min(max(float(data["sure"]), 0.0), 1.0)
    if sure < LEAST:
        return None
    cited = tuple((hits[number - 1].memory, _quote(hits[number - 1].memory, rarity, QUOTE)) for number in numbers)
    made_of = tuple(hit.memory for hit in hits)
    return Composed(said, cited, made_of, round(sure, 4), f"{model} from {len(cited)} of {len(hits)} memories")


CHECK = """You decide whether an answer may be kept and given again to whoever asks the same. It may, if it answers \
the question wholly and says nothing that its sources do not. Judge only that."""
SAME = """You decide whether two questions ask for the same: whether every good answer to one is a good answer to the \
other. Other names, numbers, versions, places, times, directions or a "not" make them different."""
YES: dict[str, Any] = {
    "type": "object",
    "properties": {"yes": {"type": "boolean"}},
    "required": ["yes"],
    "additionalProperties": False,
}


def check_text(question: str, answer: str, quotes: Sequence[str]) -> str:
    sources = "\n".join(fenced(quote, id=str(number)) for number, quote in enumerate(quotes, 1))
    return f"Question: {question}\nAnswer: {answer}\nSources:\n{sources}"
