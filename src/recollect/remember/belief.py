"""Which of the four networks a memory belongs to, and how evidence moves an opinion. Pure.

`world` holds what is so: structure, contracts, facts. `bank` holds what assistants and the team did. `opinion` holds
judgements; each has a confidence, which evidence moves. `observation` holds neutral summaries that are made of
memories. The source decides first, then the kind, then the words.
"""

from __future__ import annotations

import re

from ..language import tables
from ..types import Memory

BY_KIND = {
    "preference": "opinion", "heuristic": "opinion", "decision": "bank", "lesson": "bank", "incident": "bank",
    "turn": "bank", "task": "bank", "commit": "bank", "insight": "observation", "pattern": "observation",
    "anti-pattern": "observation", "summary": "observation", "doc": "world", "code": "world", "rule": "world",
    "procedure": "world",
}  # fmt: skip
ENTITY = "entity"  # the tag of a summary of what memories say of an entity
STEP = 0.5  # which part of the way to certainty, or to nothing, one piece of evidence moves an opinion
DIRECTIONS = {"supports": 1.0, "contradicts": 0.0}  # the confidence that a link of this sort pulls an opinion to
MAX_NAME = 60  # characters of what names a piece of evidence
_JUDGES = re.compile(rf"\b(?:{tables.joined('beliefs', 'judgements')})\b", re.IGNORECASE)
_DID = re.compile(rf"^(?:[\w -]{{2,20}}, )?(?:{tables.joined('beliefs', 'deeds')})\b", re.IGNORECASE)
_STATES = frozenset(tables.words("beliefs", "states"))


def network_of(kind: str, content: str, source: str = "") -> str:
    """The network of a memory, from its kind, its words and the kind of its source.

    >>> network_of("fact", "The gateway listens on 8443."), network_of("fact", "We merged the retry branch.")
    ('world', 'bank')
    >>> network_of("fact", "The retry code is too clever."), network_of("fact", "Fix the retries", "commit")
    ('opinion', 'bank')
    """
    if source == "commit":
        return "bank"
    if found := BY_KIND.get(kind):
        return found
    if _JUDGES.search(content):
        return "opinion"
    did = _DID.search(content)
    return "bank" if did and did[0].split()[-1].lower() not in _STATES else "world"


def sums_up(memory: Memory) -> bool:
    """Whether a memory is a summary that was made of what others say of an entity."""
    return memory.kind == "summary" and memory.network == "observation" and ENTITY in memory.tags


def moved(opinion: Memory, relation: str, evidence: Memory) -> float:
    """The confidence of an opinion after one more piece of evidence.

    >>> fact = Memory("a", "It crashed again.", network="bank")
    >>> moved(Memory("b", "The cache is fragile.", network="opinion", confidence=0.6), "supports", fact)
    0.8
    """
    to = DIRECTIONS.get(relation)
    if to is None or opinion.network != "opinion" or evidence.network == "opinion" or evidence.state != "active":
        return opinion.confidence
    return round(opinion.confidence + STEP * evidence.confidence * (to - opinion.confidence), 3)


def name_evidence(memory: Memory) -> str:
    """What a piece of evidence is called: its ticket or file, its title, or its first words."""
    return memory.refs[0] if memory.refs else (memory.title or memory.content)[:MAX_NAME]
