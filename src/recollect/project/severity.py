"""How bad an incident was, however it is written: one of `sev0` to `sev5`, or nothing. Pure."""

from __future__ import annotations

import re

_NUMBER = re.compile(
    r"\b(?:sev(?:erity)?|s|p|prio(?:rity)?|level|impact)(?:[ _-]?level)?[ _:#-]{0,3}([0-5])\b"
    r"|^\W*([0-5])(?=\W*$|[ \t]*[-–—:(,/|])",
    re.IGNORECASE,
)
_WORDS = {
    1: "critical blocker emergency catastrophic urgent highest", 2: "major high severe significant",
    3: "moderate medium normal", 4: "minor low", 5: "trivial info informational negligible cosmetic lowest",
}  # fmt: skip
_LEVEL = {word: level for level, words in _WORDS.items() for word in words.split()}
_WORD = re.compile(rf"\b(?:{'|'.join(_LEVEL)})\b", re.IGNORECASE)
_CHANGED = re.compile(r"\bto\b|→|->|=>", re.IGNORECASE)
IMPORTANCE = {"sev0": 10, "sev1": 10, "sev2": 9, "sev3": 7, "sev4": 5, "sev5": 4}


def severity(told: str) -> str:
    """The severity that a text names; nothing where it names none, or several as a form to be filled in does.

    >>> [severity(one) for one in ("SEV-2", "sev 2", "Sev2/major", "P1", "S1", "2 - High", "priority: 3", "Critical")]
    ['sev2', 'sev2', 'sev2', 'sev1', 'sev1', 'sev2', 'sev3', 'sev1']
    >>> [severity(one) for one in ("P3, raised to P1", "SEV1 / SEV2 / SEV3", "high | medium", "very odd", "")]
    ['sev1', '', '', '', '']
    """
    levels = [int(one[1] or one[2]) for one in _NUMBER.finditer(told)]
    levels = levels or [_LEVEL[word.lower()] for word in _WORD.findall(told)]
    if not levels or (len(set(levels)) > 1 and not _CHANGED.search(told)):
        return ""
    return f"sev{levels[-1]}"
