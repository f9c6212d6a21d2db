"""Recall in steps: think, look up, think again. Each step gives only what is new, and tells what is still open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..language import terms
from ..types import Hit, Memory, Noun, Recall
from .chains import names_in


@dataclass(frozen=True, slots=True)
class NextRecall(Noun):
    """One step: what is new for the latest thought, the words that nothing speaks of yet, and whether to go on."""

    question: str
    hits: tuple[Hit, ...]
    open: tuple[str, ...] = ()
    helps: bool = False
    skipped: tuple[str, ...] = ()


def next_step(question: str, thoughts: Sequence[str], shown: Sequence[Memory], found: Recall) -> NextRecall:
    """Another step helps while something new was found that names what was not named before, or the answer is weak."""
    before = " ".join((question, *thoughts, *(memory.content for memory in shown)))
    new = tuple(hit for hit in found.hits if not found.unlikely)
    said = {term for memory in (*shown, *(hit.memory for hit in new)) for term in terms.of_memory(memory)}
    words = {term: word for word in question.split() for term in terms.of_query(word)}
    open = tuple(word.strip(".,;:!?()\"'") for term, word in words.items() if term not in said)
    known = set(terms.terms(before))
    fresh = {name for hit in new for name in names_in(hit.memory.content) if name not in known}
    return NextRecall(question, new, open, bool(new) and bool(fresh), found.skipped)
