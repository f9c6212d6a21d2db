"""Printing: a memory as a reader gets it, as the relevance model reads it, and why it was found. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from .. import text, times
from ..language import terms
from ..remember.belief import network_of
from ..types import Memory
from .compress import compress

READ_OF = 600  # characters of a memory from which only the parts that bear on the question are read
READ_TOKENS = 150


def read_text(memory: Memory, question: str) -> str:
    """What is read of a memory: title, content and reason; of a long one the parts that bear on the question."""
    whole = "\n".join(part for part in (memory.title, said(memory), memory.reasoning) if part)
    return compress(whole, terms.of_query(question), READ_TOKENS, text.tokens) if len(whole) > READ_OF else whole


def why(memory: Memory, scores: Mapping[str, float], asked: set[str], now: datetime) -> str:
    """One line: how well it fits by meaning, which words it shares, and what else spoke for it."""
    parts = []
    if "vector" in scores:
        parts.append(f"meaning {scores['vector']:.2f}")
    if "text" in scores:
        words = shared_words(memory, asked)
        parts.append(f"words {', '.join(words)}" if words else "words around it")
    if scores.get("time"):
        parts.append("of the time asked for")
    if "links" in scores:
        parts.append("linked to what fits")
    if memory.importance != 5:
        parts.append(f"importance {memory.importance}")
    if memory.confidence < 1:
        parts.append(f"confidence {memory.confidence:g}")
    parts.append(times.ago(memory.valid_from or memory.created_at, now))
    return " · ".join(parts)


def label(memory: Memory) -> str:
    """What a memory is, where a reader should know: not active, ended, an opinion, of a network its kind does not tell.

    >>> from datetime import UTC
    >>> label(Memory("a", "The cache is fragile.", network="opinion", confidence=0.8))
    'opinion (0.8)'
    >>> label(Memory("a", "We merged the retries.", network="bank")), label(Memory("a", "Ana owns it."))
    ('bank: fact', 'fact')
    >>> label(Memory("a", "Ana owns it.", state="superseded", valid_to=datetime(2025, 12, 9, tzinfo=UTC)))
    'superseded fact until 9 December 2025'
    """
    kind = memory.kind
    if memory.network == "opinion":
        kind = f"opinion ({memory.confidence:g})" if kind == "fact" else f"opinion ({memory.confidence:g}): {kind}"
    elif memory.network not in ("world", network_of(kind, "")):  # where the kind does not say it already
        kind = f"{memory.network}: {kind}"
    state = "" if memory.state == "active" else f"{memory.state} "
    end = memory.valid_to
    return f"{state}{kind} until {end.day} {end:%B %Y}" if end else f"{state}{kind}"


def shared_words(memory: Memory, asked: set[str], most: int = 5) -> list[str]:
    """The words of the memory, as they are written there, that the question asked for."""
    words: dict[str, str] = {}
    for part in (memory.title, memory.content[:4000], " ".join(memory.tags), " ".join(memory.keywords)):
        for word in part.split():
            for term in terms.terms(word):
                if term in asked:
                    words.setdefault(term, word.strip(".,;:!?()[]{}\"'`*"))
    return list(dict.fromkeys(words.values()))[:most]


def said(memory: Memory) -> str:
    """A memory's content, with who said it."""
    return f"{memory.speaker}: {memory.content}" if memory.speaker else memory.content


def printed(memory: Memory) -> str:
    """A memory as it is handed to a reader: what a token budget counts."""
    return f"[{memory.id}] {memory.title}\n{said(memory)}" if memory.title else f"[{memory.id}] {said(memory)}"


def printed_tokens(memory: Memory) -> int:
    return text.tokens(printed(memory))
