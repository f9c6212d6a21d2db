"""Words: what a model reads of a result. Pure: a result and the time in, short text out.

Recalled text is fenced as data (`recall.fence`). Ids are whole, because a model copies them into its next call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from .. import ids, text, times
from ..agents.access import TELL
from ..exchange import Imported
from ..grounding import stale
from ..recall.context import Context
from ..recall.fence import HEADER, fenced, neutral
from ..recall.printing import label
from ..types import Captured, Entry, Evidence, Forgotten, Link, Memory, Page, Recall, Remembered, Source

Words = Callable[[Any, datetime], str]
CONTENT = 2000  # characters of one memory in a list of several
UNLIKELY = "Probably none of these answers the question; they come closest."
UNSURE = "These may not answer the question."


def memory_line(memory: Memory, most: int = CONTENT) -> str:
    """One memory as an element, its title and reason inside."""
    body = memory.content if not memory.title else f"{memory.title}: {memory.content}"
    if memory.reasoning:
        body += f" (because: {text.shorten(memory.reasoning, 400)})"
    if len(body) > most:
        body = f"{text.shorten(body, most)} [cut: {len(memory.content)} characters in all]"
    return fenced(
        body, id=memory.id, kind=label(memory), trust=memory.trust,
        date=f"{memory.valid_from or memory.created_at:%Y-%m-%d}", stale=stale(memory.refs),
    )  # fmt: skip


def title_line(memory: Memory, now: datetime) -> str:
    """One memory as an element that has its title alone, with its age and place behind it."""
    title = " ".join((memory.title or text.title_of(memory.content, 120)).split())
    places = "".join(f" {neutral(f'{name}={value}')}" for name, value in memory.scope.as_dict().items())
    return f"{fenced(title, id=memory.id, kind=label(memory))} {times.ago(memory.happened_at, now)}{places}"


COVERED = "Everything that was found on this, the oldest first, and by topic where there are several."


def recalled(result: Recall, now: datetime) -> str:
    skipped = [f"(skipped: {neutral(line)})" for line in result.skipped]
    if not result.hits:
        return "\n".join(["Nothing found in memory. Other words, or fewer filters, may find it.", *skipped])
    weak = [UNLIKELY if result.unlikely else UNSURE] if result.weak else []
    time = [f"Answered {neutral(result.time)}."] if result.time else []
    whole = [COVERED] if result.groups else []
    return "\n".join([HEADER, *time, *weak, *whole, *_by_topic(result), *skipped])


def _by_topic(result: Recall) -> Iterator[str]:
    """The hits, under their topics where there are some. A topic is a word of the memories, so it is data too."""
    for topic, hits in result.laid_out:
        if len(result.groups) > 1:
            yield f"{neutral(topic) or 'Others'}:"
        yield from (memory_line(hit.memory) for hit in hits)


def contexted(result: Context, now: datetime) -> str:
    return result.text


_WHY_NOT = {
    False: "A person rejected this on purpose; do not store it again.",
    True: "Store what is known for sure, in words that say so; leave the rest.",
}


def remembered(result: Remembered, now: datetime) -> str:
    lines = [
        {
            "created": f"Remembered as {result.id}.",
            "duplicate": f"Known already as {result.id}; counted again.",
            "merged": f"Merged into {result.id}, which says nearly the same.",
            "refused": f"Refused: {neutral(result.reason)}. {_WHY_NOT[result.reason.startswith('it takes')]}",
        }[result.action]
    ]
    if result.redacted:
        lines.append(f"Taken out before storing: {', '.join(result.redacted)}.")
    if result.superseded:
        lines.append(f"It stands now for {', '.join(result.superseded)}, which said otherwise.")
    if result.conflicts:
        lines.append(f"It contradicts {', '.join(result.conflicts)}. If this is what holds now, link it: supersedes.")
    elif result.action == "created":
        lines += [f"Nearly the same: {near.id} ({neutral(near.title)})" for near in result.near]
        if result.near:
            lines.append("If this replaces one of them, link it: supersedes.")
    return "\n".join([*lines, *(f"(skipped: {neutral(line)})" for line in result.skipped)])


def remembered_many(result: Sequence[Remembered], now: datetime) -> str:
    return "\n".join(f"{number}. {remembered(one, now)}" for number, one in enumerate(result, start=1)) or "Nothing."


def whole(memory: Memory, now: datetime) -> str:
    rows = {
        "scope": str(memory.scope),
        "tags": ", ".join(memory.tags),
        "refs": ", ".join(memory.refs),
        "importance": f"{memory.importance} of 10, confidence {memory.confidence:g}",
        "made": f"{times.iso(memory.created_at)} ({times.ago(memory.created_at, now)})",
        "valid to": times.iso(memory.valid_to) if memory.valid_to else "",
        "expires": times.iso(memory.expires_at) if memory.expires_at else "",
    }
    facts = [f"{name}: {neutral(value)}" for name, value in rows.items() if value]
    return "\n".join([HEADER, memory_line(memory, 100_000), *facts])


def listed(page: Page, now: datetime) -> str:
    skipped = [f"(skipped: {neutral(line)})" for line in page.skipped]
    if not page.memories:
        return "\n".join(["No memories here.", *skipped])
    more = [f"More: cursor {page.cursor}"] if page.cursor else []
    return "\n".join([HEADER, *(title_line(memory, now) for memory in page.memories), *more, *skipped])


def changed(memory: Memory, now: datetime) -> str:
    return f"Changed. {title_line(memory, now)}"


def _proposed(result: Forgotten, now: datetime) -> str:
    lines = (title_line(memory, now) for memory in result.memories)
    return "\n".join(["Nothing was done: that is for a person to decide. Proposed, waiting for review:", *lines, TELL])


def forgotten(result: Forgotten, now: datetime) -> str:
    if result.proposed:
        return _proposed(result, now)
    if not result.memories:
        return "Nothing to forget."
    what = "erased for good" if result.purged else "forgotten"
    head = f"{len(result.memories)} would be {what}:" if result.dry_run else f"{len(result.memories)} {what}:"
    derived = ["Derived from it, with no other evidence:"] if result.derived else []
    lists = [[title_line(memory, now) for memory in some[:50]] for some in (result.memories, result.derived)]
    return "\n".join([head, *lists[0], *derived, *lists[1]])


def rejected(result: Forgotten, now: datetime) -> str:
    if result.proposed:
        return _proposed(result, now)
    undone = any(memory.state == "active" for memory in result.memories)
    head = "No longer rejected:" if undone else "Rejected; this will be refused from now on:"
    return "\n".join([head, *(title_line(memory, now) for memory in result.memories)])


def captured(result: Captured, now: datetime) -> str:
    if result.job:
        return f"{result.turns} turns stored; they are looked at in the background (job {result.job})."
    lines = [f"{result.turns} turns stored, {result.known} known already; {len(result.findings)} statements found."]
    for one in result.findings:
        why = f" ({one.reason})" if one.reason else ""
        lines.append(neutral(f"{one.action} {one.memory}: {text.shorten(one.content, 200)}{why}"))
    return "\n".join(lines)


def waiting(page: Page, now: datetime) -> str:
    if not page.memories:
        return "Nothing waits for review."
    more = [f"More with cursor {page.cursor}."] if page.cursor else []
    return "\n".join([HEADER, *(memory_line(memory) for memory in page.memories), *more])


def approved(memories: Sequence[Memory], now: datetime) -> str:
    return "\n".join(f"Approved: {title_line(memory, now)}" for memory in memories)


def linked(link: Link, now: datetime) -> str:
    return f"Linked: {link.origin} {link.relation} {link.target}."


def links(found: Sequence[Link], now: datetime) -> str:
    return "\n".join(
        f"{link.origin} {link.relation} {link.target} {neutral(link.reason)}".strip() for link in found
    ) or ("No links.")


def proved(found: Mapping[str, Any], now: datetime) -> str:
    source: Source | None = found["source"]
    quotes: Sequence[Evidence] = found["evidence"]
    lines = []
    if source:
        told = " · ".join(part for part in (source.kind, source.title, source.uri, source.author) if part)
        lines.append(f"source: {neutral(told)}")
        if source.content:
            lines.append(fenced(text.shorten(source.content, CONTENT), id=source.id, kind="source"))
    return "\n".join([*lines, *(f"quote: “{neutral(quote.quote)}”" for quote in quotes)]) or "No source is known."


def history(entries: Sequence[Entry], now: datetime) -> str:
    lines = []
    for entry in entries:
        reason = f" because {entry.reason}" if entry.reason else ""
        fields = ", ".join(name for name in entry.after or {} if name not in ("content_hash", "updated_at", "observed"))
        what = "erased" if entry.purged else fields
        lines.append(
            f"{entry.seq} {times.iso(entry.at)} {entry.operation} {entry.noun} {ids.short(entry.target)}"
            f" by {neutral(entry.actor)}{neutral(reason)}{f': {what}' if what else ''}"
        )
    return "\n".join(lines) or "No changes."


def counted(counts: Mapping[str, Any], now: datetime) -> str:
    lines = []
    for name, value in counts.items():
        told = (
            ", ".join(f"{key or '(none)'} {count}" for key, count in value.items())
            if isinstance(value, Mapping)
            else value
        )
        lines.append(f"{name.replace('_', ' ')}: {neutral(str(told))}")
    return "\n".join(lines)


def imported(result: Imported, now: datetime) -> str:
    known = result.duplicate + result.known
    return f"Imported {result.created} memories; {known} known already, {result.refused} refused."


def plain(result: Any, now: datetime) -> str:
    """For results that no model is shown."""
    return str(result)
