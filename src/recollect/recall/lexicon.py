"""What developers call the same thing: acronyms and synonyms, from `language/data/synonyms.txt`.

A caller adds groups of their own; theirs come first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..language import tables

MAX_WORDS = 4  # of one term
MAX_OTHERS = 6  # alternatives of one term


def lookup(extra: Mapping[str, Sequence[str]] | None = None) -> Mapping[str, tuple[str, ...]]:
    """Each term with its alternatives, closest first; the caller's groups before the built-in ones.

    >>> BUILT_IN["k8s"], BUILT_IN["tmp"], "temporary" in BUILT_IN, lookup({"PT": ["Platform Team"]})["platform team"]
    (('kubernetes', 'kube'), ('temporary',), False, ('pt',))
    """
    if not extra:
        return BUILT_IN
    merged = dict(BUILT_IN)
    for term, others in extra.items():
        _add(merged, (term, *others))
    return merged


def _add(table: dict[str, tuple[str, ...]], group: Sequence[str], keys: int | None = None) -> None:
    """Put a group before what is known of its terms; with `keys`, only its first terms are looked up."""
    terms = list(dict.fromkeys(folded for term in group if (folded := " ".join(term.casefold().split()))))
    for term in terms[:keys]:
        if len(term.split()) <= MAX_WORDS:
            others = (other for other in terms if other != term)
            table[term] = tuple(dict.fromkeys((*others, *table.get(term, ()))))[:MAX_OTHERS]


def _read(groups: Sequence[str]) -> dict[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {}
    for line in reversed(groups):
        keys, _, others = line.partition(" > ")
        names = keys.split(" | ")
        _add(table, (*names, *others.split(" | ")), keys=len(names) if others else None)
    return table


BUILT_IN = _read(tables.lines("synonyms", "developers"))
