"""Learnings: the entries of a knowledge bank in markdown, read, ranked and written. Pure.

    ### Pattern: Read a real sample first
    Parsers that were written from the description alone broke on the first real file.
    - Confidence: high
    - Observation count: 3

The id is a hash of the description. List items with other names are reasoning.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from .. import text as plain
from ..recall.fence import CLOSE, HEADER, OPEN, fenced
from ..types import Memory, Noun

# In the order in which places are given away where nothing is known of the session.
KIND_OF = {"anti-patterns": "anti-pattern", "patterns": "pattern", "heuristics": "heuristic"}
CATEGORY_OF = {kind: category for category, kind in KIND_OF.items()}
KINDS = tuple(CATEGORY_OF)
HEADS = {"anti-patterns": "Anti-patterns to avoid", "patterns": "Patterns to follow", "heuristics": "Heuristics"}
TRUST_IN = {"high": 1.0, "medium": 2 / 3, "low": 1 / 3}
SHARE = 3  # places that each category has at least, when there are nine or more

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*\s*\Z")
_PREFIX = re.compile(r"(?:anti[- ]?pattern|pattern|heuristic)\s*:\s+", re.IGNORECASE)
_BULLET = re.compile(r"[-*]\s+(.*)")
_NAMED = re.compile(r"\**([A-Za-z][A-Za-z ]{0,40}?)\**\s*:\**\s+(.*)", re.DOTALL)
_FENCE = re.compile(r"\s{0,3}(```+|~~~+)")
_ESCAPED = re.compile(r"(?m)^(\s*)\\(?=[-*#`~\\])")
_TO_ESCAPE = re.compile(r"(?m)^(\s*)(?=[-*#`~\\])")
_QUOTED = re.compile(r"`([^`]+)`")
_CITED = re.compile(r"Features? #\d+|(?<![\w/.])(?:[\w.-]+/)+[\w-]+\.\w{1,8}\b|\bADR[- ]?\d{1,4}\b")
_COUNT = re.compile(r"\d{1,6}")


@dataclass(frozen=True, slots=True)
class Learning(Noun):
    """One entry of a knowledge bank."""

    name: str
    description: str
    category: str
    reasoning: str = ""
    references: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    observed: int = 1
    confidence: str = "medium"
    last_observed: str = ""
    project: str = ""
    memory: str = ""  # the id of the memory it was written from
    state: str = "active"  # or why it holds no longer

    @property
    def id(self) -> str:
        return content_id(self.description)


def heading(name: str) -> str:
    """A name as it reads back from a heading."""
    return plain.shorten(_PREFIX.sub("", " ".join(name.replace("<!--", "").split()), count=1), 300)


def content_id(description: str) -> str:
    """What makes two descriptions the same learning.

    >>> content_id("Read a  real sample first.") == content_id("read a real\\nsample first. ")
    True
    """
    return hashlib.sha256(" ".join(description.lower().split()).encode("utf-8", "replace")).hexdigest()[:16]


def read(text: str, category: str) -> list[Learning]:
    """The learnings of one file, in their order; one that stands there several times counts once, as it says last."""
    found: dict[str, Learning] = {}
    for heading, lines in _entries(_COMMENT.sub("", plain.clean(text)).split("\n")):
        learning = _learning(heading, lines, category)
        if learning:
            known = found.get(learning.id)
            found[learning.id] = merge(known, learning) if known else learning
    return list(found.values())


def _entries(lines: Sequence[str]) -> Iterable[tuple[str, list[str]]]:
    """The headings of the third level with what stands below them; what is in a fence is never a heading."""
    current: tuple[str, list[str]] | None = None
    fence = ""
    for line in lines:
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        heading = None if fence or mark else _HEADING.match(line)
        if heading and len(heading[1]) <= 3:
            if current:
                yield current
            current = (heading[2], []) if len(heading[1]) == 3 else None
        elif current:
            current[1].append(line)
    if current:
        yield current


def _learning(headed: str, lines: Sequence[str], category: str) -> Learning | None:
    name = plain.shorten(_PREFIX.sub("", headed, count=1), 300)
    said, listed = _parts(lines)
    known: dict[str, str] = {}
    reasons: list[str] = []
    told: list[str] = []
    for item in listed:
        match = _NAMED.match(item)
        field = _FIELDS.get(match[1].lower().strip()) if match else None
        if match and field:
            known.setdefault(field, match[2].strip())
        elif match:
            reasons.append(item)
        else:
            told.append(item)
    if not said:  # a learning that is told as a list
        said, told = "\n".join(told), []
    reasons = [*([known["reasoning"]] if known.get("reasoning") else []), *told, *reasons]
    if not (description := said.strip() or name):
        return None
    count = _COUNT.search(known.get("observed", ""))
    level = known.get("confidence", "").strip("* ").lower()
    return Learning(
        name=name or plain.title_of(description),
        description=description,
        category=category,
        reasoning="\n".join(reasons),
        references=_references(known.get("references", ""), reasons),
        keywords=tuple(word.strip(" `") for word in known.get("keywords", "").split(",") if word.strip(" `"))[:10],
        observed=max(1, int(count[0])) if count else 1,
        confidence=level if level in TRUST_IN else "medium",
        last_observed=known.get("last_observed", ""),
        project=known.get("project", ""),
        memory=known.get("memory", ""),
        state=known.get("state", "active").lower(),
    )


_FIELDS = {
    "observation count": "observed", "observations": "observed", "confidence": "confidence",
    "last observed": "last_observed", "reasoning": "reasoning", "references": "references", "keywords": "keywords",
    "project": "project", "memory": "memory", "state": "state",
}  # fmt: skip


def _parts(lines: Sequence[str]) -> tuple[str, list[str]]:
    """What is said before the list, and the items of the list, each with the lines that go on with it.

    A paragraph after the list is one more item of it.
    """
    first = next((n for n, line in enumerate(lines) if _BULLET.match(line)), len(lines))
    items: list[str] = []
    apart = True
    for line in lines[first:]:
        bullet, said = _BULLET.match(line), line.strip()
        if bullet:
            items.append(bullet[1].strip())
        elif said.strip("-*_ "):
            items[len(items) - (not apart) :] = [said if apart else f"{items[-1]} {said}"]
        apart = not said.strip("-*_ ")
    return _ESCAPED.sub(r"\1", "\n".join(lines[:first])).replace("<\\!--", "<!--").strip(), items


def _references(named: str, reasons: Sequence[str]) -> tuple[str, ...]:
    """The references it names, and the features, files and decisions that its reasons cite."""
    quoted = _QUOTED.findall(named) or [part.strip() for part in named.split(",")]
    cited = [found for words in reasons for found in _CITED.findall(words)]
    return tuple(dict.fromkeys(one for one in (*quoted, *cited) if one))[:64]


def merge(one: Learning, other: Learning) -> Learning:
    """A learning that was written down twice: what the later says, with the higher count and all it refers to."""
    return replace(
        other,
        reasoning=other.reasoning or one.reasoning,
        references=tuple(dict.fromkeys((*one.references, *other.references)))[:64],
        keywords=other.keywords or one.keywords,
        observed=max(one.observed, other.observed),
        last_observed=other.last_observed or one.last_observed,
        project=other.project or one.project,
        memory=other.memory or one.memory,
    )


def write(learning: Learning) -> str:
    """A learning as it stands in a file, read back as what it was."""
    safe = _TO_ESCAPE.sub(r"\1\\", learning.description.replace("<!--", "<\\!--"))
    facts = {
        "Reasoning": " ".join(learning.reasoning.split()),
        "References": ", ".join(f"`{one.replace('`', '')}`" for one in learning.references),
        "Keywords": ", ".join(learning.keywords),
        "Project": learning.project,
        "Memory": learning.memory,
        "State": "" if learning.state == "active" else learning.state,
        "Confidence": learning.confidence,
        "Last observed": learning.last_observed,
        "Observation count": str(learning.observed),
    }
    listed = "\n".join(f"- {name}: {value}" for name, value in facts.items() if value)
    heading = " ".join(learning.name.replace("<!--", "").split()) or plain.title_of(learning.description)
    return f"### {heading}\n{safe}\n{listed}\n"


def update_entry(text: str, learning: Learning, *, renamed: bool = False) -> str | None:
    """A file in which what is known of a learning is as it is now; None where the file does not hold it.

    The words that stand there stay, and their heading unless the learning was `renamed`: somebody may have put them so.
    """
    parts = _blocks(text)
    held = [n for n, (_, one) in enumerate(parts) if one and one.id == learning.id]
    if not held:
        return None
    last = held[-1]
    block, before = parts[last][0], write(learning)
    words = before if renamed else _with_words_of(block, before)
    kept = [part for n, (part, _) in enumerate(parts) if n not in held or n == last]
    kept[kept.index(block)] = words.rstrip("\n") + block[len(block.rstrip("\n")) :]
    return "".join(kept)


def _with_words_of(block: str, written: str) -> str:
    """A block as it was written, with the heading and description of another, which says the same."""
    lines, fresh = block.rstrip("\n").split("\n"), written.rstrip("\n").split("\n")
    said = next((n for n, line in enumerate(lines) if n and _BULLET.match(line)), len(lines))
    facts = next((n for n, line in enumerate(fresh) if n and _BULLET.match(line)), len(fresh))
    told = [line for line in lines[said:] if not ((found := _NAMED.match(line[2:])) and _known(found[1]))]
    return "\n".join([*lines[:said], *told, *fresh[facts:]])


def _known(name: str) -> bool:
    return name.lower().strip() in _FIELDS


def _blocks(text: str) -> list[tuple[str, Learning | None]]:
    """The parts of a file, heading by heading, each with the learning that it holds."""
    parts = re.split(r"(?m)^(?=#{1,3} )", text)
    return [(part, next(iter(read(part, "patterns")), None) if part.startswith("### ") else None) for part in parts]


def title(category: str) -> str:
    """How a file of the bank begins."""
    return f"# {category.capitalize()}\n\nWhat was learnt, appended as it is learnt. Recollect's store is the truth.\n"


def remove_entries(text: str, memory: str = "", id: str = "") -> str:
    """A file without what was purged: what was written from a memory, however often, or what has that id.

    Everything else stays as it is, byte for byte.
    """
    parts = _blocks(text)
    gone = {one.id for _, one in parts if one and memory and one.memory == memory} | {id}
    return "".join(part for part, one in parts if one is None or one.id not in gone)


def from_memory(memory: Memory) -> Learning:
    """A memory of one of the three kinds, as a learning."""
    return Learning(
        name=memory.title or plain.title_of(memory.content),
        description=memory.content,
        category=CATEGORY_OF[memory.kind],
        reasoning=memory.reasoning,
        references=memory.refs,
        keywords=memory.keywords,
        observed=memory.observed,
        confidence=level(memory.confidence),
        last_observed=f"{memory.updated_at:%Y-%m-%d}",
        project=memory.scope.project,
        memory=memory.id,
        state=memory.state,
    )


def level(confidence: float) -> str:
    """
    >>> level(1.0), level(2 / 3), level(0.2)
    ('high', 'medium', 'low')
    """
    return "high" if confidence > 0.8 else "medium" if confidence > 0.5 else "low"


def rank(learnings: Iterable[Learning]) -> list[Learning]:
    """By how often it was observed, then how sure it is, then how lately: all that the files alone can say."""
    named = sorted(learnings, key=lambda one: (one.name, one.id))
    lately = sorted(named, key=lambda one: _day(one.last_observed), reverse=True)
    return sorted(lately, key=lambda one: (-one.observed, -TRUST_IN[one.confidence]))


def _day(said: str) -> tuple[str, int]:
    """When it was last observed: days before numbers of features, which are all that some files have."""
    try:
        return datetime.fromisoformat(said.strip()).isoformat(), 0
    except ValueError:
        number = re.search(r"\d+", said)
        return "", int(number[0]) if number else -1


def select(learnings: Iterable[Learning], limit: int) -> list[Learning]:
    """At least three of each category where there is room for nine, then by category and rank."""
    by_category: Mapping[str, list[Learning]] = {category: [] for category in KIND_OF}
    for one in rank(learnings):
        by_category[one.category].append(one)
    share = SHARE if limit >= SHARE * len(KIND_OF) else 0
    taken = [one for group in by_category.values() for one in group[:share]]
    rest = [one for group in by_category.values() for one in group[share:]]
    places = {id(one) for one in [*taken, *rest][: max(0, limit)]}
    return [one for group in by_category.values() for one in group if id(one) in places]


def render(learnings: Sequence[Learning], diagnosis: str) -> str:
    """What is put before an assistant where there is no store: learnings by category, fenced, and how they came."""
    parts = [f"{OPEN}\n{HEADER}"]
    for category, head in HEADS.items():
        lines = [_element(one) for one in learnings if one.category == category]
        if lines:
            parts.append("\n".join([f"## {head}", *lines]))
    return "\n\n".join([*parts, diagnosis]) + f"\n{CLOSE}"


def _element(learning: Learning) -> str:
    said = f"{plain.shorten(learning.name, 120)}\n{plain.shorten(learning.description, 400)}"
    seen = f"knowledge bank, observed {learning.observed} times, {learning.confidence} confidence"
    return fenced(said, id=learning.id[:8], kind=KIND_OF[learning.category], source=seen)
