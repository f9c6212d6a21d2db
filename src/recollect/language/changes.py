"""State changes: which attribute of something a text says has which value now. Pure.

The patterns are data (`data/changes.txt`). They are read for one name, so that a sentence counts only where it
speaks of that thing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from . import tables

MAX_TEXT = 2000  # characters of a text that are looked at
_VALUE = r"[^\s.,;:!?()](?:[^,;:!?()\n]{0,60}?[^\s.,;:!?()])??"
_WORDS = {
    "{O}": rf"(?P<old>{_VALUE})",
    "{N}": rf"(?P<new>{_VALUE})(?=[,;:!?()\n]|\.(?:\s|$)|\s+(?:{tables.joined('changes', 'causes')}"
    r"|and|so|but|since|for|in|with|until"
    r"|as of|effective|now|again|today|from)\b|\s*$)",
    "{F}": r"(?P<old>\S{1,40}?)",
    "{P}": r"(?P<new>[\w-]+(?: [\w-]+){0,2})",
    "{S}": r"(?P<new>[a-z][\w-]{2,30})(?=[,;:.!?)\s]|$)",
    "{A}": r"(?P<attribute>(?!(?:from|to|is|was)\b)[a-z][\w-]*(?: [a-z][\w-]*){0,2}?)",
}
_CAUSE = re.compile(rf"\b(?:{tables.joined('changes', 'causes')})\s*([^.;\n]{{3,120}})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Change:
    """An attribute with its new value; the old one and the cause are empty where the text does not tell."""

    attribute: str
    new: str
    old: str = ""
    cause: str = ""

    def __str__(self) -> str:
        moved = f"{self.old} -> {self.new}" if self.old else self.new
        return f"{self.attribute}: {moved}{f' ({self.cause})' if self.cause else ''}"


@lru_cache(maxsize=256)
def _patterns(name: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    entity = r"(?:the )?" + r"[\s_-]?".join(re.escape(part) for part in re.split(r"[\s_-]+", name) if part)
    made = []
    for line in tables.lines("changes", "patterns"):
        attribute, _, pattern = line.partition(" = ")
        for mark, words in _WORDS.items():
            pattern = pattern.replace(mark, words)
        made.append((attribute, re.compile(rf"(?<![\w-])(?:{pattern.replace('{E}', entity)})", re.IGNORECASE)))
    return tuple(made)


def mentions(text: str, name: str) -> bool:
    """Whether a text names something, whatever stands between the parts of its name.

    >>> mentions("The AuthService is up.", "auth-service"), mentions("The author is in.", "auth")
    (True, False)
    """
    parts = r"[\s_-]?".join(re.escape(part) for part in re.split(r"[\s_-]+", name) if part)
    return bool(parts) and re.search(rf"(?<!\w){parts}(?!\w)", text, re.IGNORECASE) is not None


def _without(attribute: str, name: str) -> str:
    """An attribute without the name of what it is of: "gateway timeout" of the gateway is its timeout."""
    return re.sub(rf"^(?:the )?{re.escape(name)}\s+", "", attribute, flags=re.IGNORECASE).strip()


def read(text: str, name: str) -> list[Change]:
    """What a text says of the attributes of something, in its order; one change of each attribute.

    >>> said = "We raised the timeout of the gateway from 5 s to 60 s because of INC-12."
    >>> [str(one) for one in read(said, "gateway")]
    ['timeout: 5 s -> 60 s (INC-12)']
    >>> [str(one) for one in read("billing is owned by team Fjord.", "billing")]
    ['owner: team Fjord']
    """
    found: dict[str, tuple[int, Change]] = {}
    for clause in re.finditer(r"[^\n;]+?(?:[.;!?](?=\s|$)|\n|$)", text[:MAX_TEXT]):
        said = clause[0]
        if not mentions(said, name):
            continue
        for attribute, pattern in _patterns(name):
            match = pattern.search(said)
            told = match.groupdict() if match else {}
            named = _without(told.get("attribute") or "", name) if attribute == "*" else attribute
            if match is None or not named or named in found:
                continue
            cause = _CAUSE.search(said, match.end())
            old, new = (told.get("old") or "").strip(), (told.get("new") or "").strip()
            found[named.lower()] = clause.start(), Change(named.lower(), new, old, cause[1].strip() if cause else "")
            break
    return [change for _, change in sorted(found.values(), key=lambda one: one[0])]
