"""Compression without a model: the sentences of a text that matter for a question; the end of a conversation. Pure.

A text is cut into units: sentences of prose, and single lines where lines mean something (headings, list items, code).
A unit is worth

- the rarity, within this text, of each word of the question that it holds: a word of every sentence tells none apart,
  and names and numbers that were asked for weigh half as much again;
- a little for standing beside such a unit, since «It was moved to Friday» answers only beside its neighbour;
- a little for being the first, a heading, or early. Where nothing was asked, or nothing of it is there, the beginning
  is kept as far as it fits.

The best are taken while they fit, put back into their order, and `…` stands where something was left out. Nothing is
rewritten: what comes out is what went in, with holes. Only where not even one unit fits is a sentence itself cut, near
the first word that was asked for. The same input gives the same output, byte for byte.

`count` is what counts tokens. The result is counted as it is returned, and never exceeds the budget.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from .. import text as plain
from ..language import terms

Count = Callable[[str], int]
GAP = "…"
SHORT = 40  # tokens of the first sentence of an older turn, at most
WHOLE = 0.6  # the share of a history that its newest turns may take whole
REFILLS = 12  # units tried again, one by one, when the first choice left some room

_SENTENCE = re.compile(r"(?<=[.!?…])[^\S\n]+|(?<=[\u3002\uff01\uff1f])[^\S\n]*")
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s")
_HEADING = re.compile(r"\s*#{1,6}\s")
_TICKS = re.compile(r"\s*(?:```|~~~)")
_WORD = re.compile(r"\s*\S+")


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence or line: what is kept or left out as a whole."""

    text: str
    line: int
    kind: str  # prose, heading, item or code


def units(text: str) -> list[Unit]:
    """
    >>> [(unit.text, unit.kind) for unit in units("# Deploy\\nOn Thursday. Tag it.\\n- first\\n```\\nmake up\\n```")]
    [('# Deploy', 'heading'), ('On Thursday.', 'prose'), ('Tag it.', 'prose'), ('- first', 'item'), ('make up', 'code')]
    """
    found: list[Unit] = []
    in_code = False
    for number, line in enumerate(text.split("\n")):
        if _TICKS.match(line):
            in_code = not in_code
        elif in_code or line.startswith(("    ", "\t")):
            found += [Unit(line.rstrip(), number, "code")] if line.strip() else []
        elif _HEADING.match(line):
            found.append(Unit(line.strip(), number, "heading"))
        elif _ITEM.match(line):
            found.append(Unit(line.rstrip(), number, "item"))
        else:
            found += [Unit(part.strip(), number, "prose") for part in _SENTENCE.split(line) if part.strip()]
    return found


def compress(text: str, query_terms: Collection[str], budget: int, count: Count) -> str:
    """The parts of the text that matter for the question, in their order, in at most `budget` tokens.

    >>> said = "We met on Monday. The deploy is on Thursday at 14:00. Lunch was good. Ana wrote it down."
    >>> compress(said, terms.of_query("when do we deploy?"), 14, plain.tokens)
    '… The deploy is on Thursday at 14:00. …'
    """
    text = text.strip()
    if not text or budget <= 0:
        return ""
    if len(text) <= 64 * budget and count(text) <= budget:
        return text
    parts = units(text) or [Unit(text, 0, "prose")]
    worth = _worth(parts, frozenset(query_terms))
    order = sorted(range(len(parts)), key=lambda at: (-worth[at], at))
    chosen = _chosen(parts, order, budget, count) if any(worth) else _beginning(parts, budget, count)
    if not chosen:
        return _cut(parts[order[0]].text, query_terms, budget, count)
    return _joined(parts, chosen)


def _worth(parts: list[Unit], asked: frozenset[str]) -> list[float]:
    """What each unit is worth, in words that it alone holds; all zero where no word that was asked for is here."""
    held = [asked.intersection(terms.terms(part.text)) for part in parts]
    seen = Counter(term for some in held for term in some)
    total = len(parts)
    rarity = {term: math.log(1 + total / n, 1 + total) * (1.5 if _named(term) else 1.0) for term, n in seen.items()}
    said = [math.fsum(sorted(rarity[term] for term in some)) for some in held]
    if not any(said):
        return said
    worth = []
    for at, part in enumerate(parts):
        beside = max((said[near] for near in (at - 1, at + 1) if 0 <= near < total), default=0.0)
        bonus = 0.1 * (1 - at / total) + 0.3 * (at == 0) + 0.1 * (part.kind == "heading")
        worth.append(max(said[at], 0.25 * min(beside, 1.0)) + bonus)
    return worth


def _beginning(parts: list[Unit], budget: int, count: Count) -> list[int]:
    kept: list[int] = []
    while len(kept) < len(parts) and count(_joined(parts, [*kept, len(kept)])) <= budget:
        kept.append(len(kept))
    return kept


def _named(term: str) -> bool:
    """Whether a term looks like a number, or the name of something: asked for by name, it is what is wanted."""
    return any(letter.isdigit() for letter in term) or len(term) > 12


def _chosen(parts: list[Unit], order: list[int], budget: int, count: Count) -> list[int]:
    """Which units to keep, in the order of the text."""
    gap = count(f"\n{GAP}\n")
    room = budget
    taken: list[int] = []
    for at in order:
        # Letters first: counting every sentence of a long text would cost more than choosing among them.
        if room > 2 and len(parts[at].text) <= 24 * room and (cost := count(parts[at].text) + gap) <= room:
            taken.append(at)
            room -= cost
    while taken and count(_joined(parts, sorted(taken))) > budget:
        taken.pop()
    kept = set(taken)
    for at in [at for at in order if at not in kept][:REFILLS]:
        if count(_joined(parts, sorted({*kept, at}))) <= budget:
            kept.add(at)
    return sorted(kept)


def _joined(parts: list[Unit], kept: Sequence[int]) -> str:
    """The units put back together as they stood, with a mark at every hole."""
    made, before = "", -1
    for at in kept:
        same_line = before >= 0 and parts[before].line == parts[at].line
        glue = "" if not made and at == 0 else " " if same_line else "\n"
        if at != before + 1:
            mark = GAP if before < 0 else f"{glue}{GAP}"
            glue = " " if before < 0 or same_line else "\n"
            made += mark
        made += glue + parts[at].text
        before = at
    return made if before == len(parts) - 1 else f"{made} {GAP}"


def _cut(sentence: str, query_terms: Collection[str], budget: int, count: Count) -> str:
    """Of one sentence that is too long by itself, the words that fit, from a little before the first one asked for."""
    words = _WORD.findall(sentence[: 400 * budget])
    asked = frozenset(query_terms)
    hit = next((at for at, word in enumerate(words) if asked.intersection(terms.terms(word))), 0)
    first = max(0, hit - min(3, budget // 8))
    lead = f"{GAP} " if first else ""
    rest = "".join(words[first:]).strip()
    low, high = 0, len(rest)
    while low < high:
        middle = (low + high + 1) // 2
        if count(f"{lead}{rest[:middle].rstrip()}{GAP}") <= budget:
            low = middle
        else:
            high = middle - 1
    kept = rest[:low]
    if low < len(rest) and not rest[low].isspace() and (space := kept.rfind(" ")) > low // 2:
        kept = kept[:space]
    kept = kept.rstrip()
    made = f"{lead}{kept}{GAP}" if kept else ""
    return made if count(made) <= budget else ""


# -- conversations ----------------------------------------------------------------------------------------------------


def kept_history(turns: Sequence[str], budget: int, count: Count) -> tuple[str, int]:
    """A conversation line by line, and how many turns were left out of it altogether.

    Its newest turns are whole, older ones have their first sentence, the oldest are only counted.

    >>> said = ["user: Good morning, anybody there at all?", "assistant: Hello. How can I help?", "user: Why SQLite?"]
    >>> print(kept_history(said, 20, plain.tokens)[0])
    (1 earlier turn left out)
    assistant: Hello. …
    user: Why SQLite?
    """
    turns = [turn.strip() for turn in turns if turn.strip()]
    if not turns or budget <= 0:
        return "", len(turns)
    lines = _newest_first(turns, budget, count)
    while lines:
        text = _told(turns, lines)
        if count(text) <= budget:
            return text, len(turns) - len(lines)
        lines.pop()
    # Not even the newest turn fits beside the note that counts the others: it goes without.
    last = compress(turns[-1], (), budget, count)
    return last, len(turns) - bool(last)


def _newest_first(turns: Sequence[str], budget: int, count: Count) -> list[str]:
    """The turns from the newest back, as far as they can fit: whole for a while, from then on shortened."""
    costs = 0
    for turn in reversed(turns):
        if (costs := costs + count(f"{turn}\n")) > budget:
            break
    else:
        return list(reversed(turns))
    note = count(_note(len(turns) - 1))
    lines = [compress(turns[-1], (), budget - (note if len(turns) > 1 else 0), count)]
    room = budget - count(f"{lines[0]}\n")
    whole = True
    for turn in reversed(turns[:-1]):
        whole = whole and room - count(f"{turn}\n") >= (1 - WHOLE) * budget
        line = turn if whole else _shortened(turn, room, count)
        if not line or (room := room - count(f"{line}\n")) < 0:
            break
        lines.append(line)
    return [line for line in lines if line]


def _shortened(turn: str, room: int, count: Count) -> str:
    first = next(iter(plain.sentences(turn)), turn)
    short = compress(first, (), min(SHORT, room), count)
    return f"{short} {GAP}" if short == first != turn else short


def _told(turns: Sequence[str], newest: Sequence[str]) -> str:
    out = len(turns) - len(newest)
    return "\n".join([*([_note(out)] if out else []), *reversed(newest)])


def _note(out: int) -> str:
    return f"({out} earlier turn{'' if out == 1 else 's'} left out)"
