"""How results look to a person. Pure: a result and a `Look` (width, colours, time, zone) in, text out.

Lines are wrapped before they are coloured. Ids are shown by their last eight characters, which every command accepts.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any

import click

from .. import ids, text, times

if TYPE_CHECKING:
    from ..exchange import Imported
    from ..history.replay import Replayed
    from ..store.copy import Copied
    from ..types import Check, Entry, Evidence, Forgotten, Hit, Job, Link, Memory, Page, Recall, Remembered, Source
    from ..upkeep.backup import Backup

QUIET = ("content_hash", "updated_at", "observed")  # fields of a change that say nothing to a person
EXPLAINED = 6  # candidates an arm, and dropped ones a reason, that are named
CONTENT_LINES = 6  # lines of a memory that a list of hits shows
MARKS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "broken": ("✗", "red")}


@dataclass(frozen=True, slots=True)
class Look:
    width: int = 80
    colour: bool = False
    now: datetime = times.EPOCH
    zone: tzinfo | None = None  # None is the zone of this machine

    def paint(self, words: str, colour: str | None = None, *, bold: bool = False, dim: bool = False) -> str:
        return click.style(words, fg=colour, bold=bold or None, dim=dim or None) if self.colour and words else words

    def dim(self, words: str) -> str:
        return self.paint(words, dim=True)

    def id(self, id: str) -> str:
        return self.paint(ids.short(id), "cyan")

    def ago(self, moment: datetime) -> str:
        return times.ago(moment, self.now)

    def when(self, moment: datetime) -> str:
        """
        >>> from datetime import UTC, timedelta
        >>> noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
        >>> Look(now=noon + timedelta(hours=2), zone=UTC).when(noon)
        '2026-03-01 12:00 (2 hours ago)'
        """
        return f"{moment.astimezone(self.zone):%Y-%m-%d %H:%M} ({self.ago(moment)})"

    def wrap(self, words: str, indent: str = "", first: str | None = None) -> list[str]:
        """Line ends kept, long lines broken at words; a path or URL stays whole, so that it can be copied.

        >>> Look(width=24).wrap("one two three four five six", indent="  ")
        ['  one two three four', '  five six']
        """
        lines: list[str] = []
        for line in words.split("\n"):
            lead = indent if lines or first is None else first
            own = line[: len(line) - len(line.lstrip())]
            wrapped = textwrap.wrap(
                line, max(self.width, len(indent) + 20), initial_indent=lead, subsequent_indent=indent + own,
                break_long_words=False, break_on_hyphens=False, replace_whitespace=False,
            )  # fmt: skip
            lines.extend(wrapped or [""])
        return lines


def plural(count: int, one: str, many: str | None = None) -> str:
    """
    >>> plural(1, "memory", "memories"), plural(2000, "link")
    ('1 memory', '2,000 links')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def tally(counts: Mapping[str, int]) -> str:
    """The counts with their names, the highest first."""
    return ", ".join(f"{name} {number}" for name, number in sorted(counts.items(), key=lambda one: (-one[1], one[0])))


def memories(count: int) -> str:
    return plural(count, "memory", "memories")


def table(rows: Sequence[tuple[str, str]], look: Look, indent: str = "  ") -> list[str]:
    """Names and values in two columns, values wrapped."""
    wide = max((len(name) for name, _ in rows), default=0) + 2
    lines = []
    for name, value in rows:
        wrapped = look.wrap(value, " " * (len(indent) + wide), first=indent + name.ljust(wide))
        lines.append(indent + look.dim(name.ljust(wide)) + wrapped[0][len(indent) + wide :])
        lines.extend(wrapped[1:])
    return lines


def label(memory: Memory) -> str:
    """What stands for a memory in one line."""
    return memory.title or text.title_of(memory.content, 300)


def remembered(result: Remembered, look: Look) -> str:
    memory = result.memory
    times_seen = f"seen {plural(memory.observed, 'time')}" if memory else ""
    lines = {
        "created": f"{look.paint('✓', 'green')} remembered {look.id(result.id)}",
        "duplicate": f"{look.paint('=', 'yellow')} known already {look.id(result.id)} ({times_seen})",
        "merged": f"{look.paint('+', 'green')} merged into {look.id(result.id)} ({times_seen})",
        "refused": f"{look.paint('✗', 'red')} refused: {result.reason}",
    }[result.action].split("\n")
    if result.redacted:
        lines += look.wrap(f"redacted before it was stored: {', '.join(result.redacted)}", "  ")
    if result.superseded:
        lines += look.wrap(f"stands now for {' '.join(map(look.id, result.superseded))}, which said otherwise", "  ")
    if result.conflicts:
        told = ids.short(result.id), ids.short(result.conflicts[0])
        lines += look.wrap(
            f"contradicts {' '.join(map(look.id, result.conflicts))}, and both stand; if this is true now: "
            f"recollect link {told[0]} supersedes {told[1]}", "  ",
        )  # fmt: skip
    elif result.action == "created" and result.near:
        lines.append("  nearly the same is known:")
        for near in result.near:
            room = max(20, look.width - 20)
            lines.append(f"    {look.id(near.id)}  {near.similarity:.2f}  {text.shorten(near.title, room)}")
        lines += look.wrap(
            f"if one replaces the other: recollect link {ids.short(result.id)} supersedes "
            f"{ids.short(result.near[0].id)}", "  ",
        )  # fmt: skip
    if result.action == "refused" and result.reason.startswith("rejected"):
        lines += look.wrap(
            "it was rejected on purpose. If by mistake: recollect list --state rejected, then recollect reject --undo"
            " ID", "  ",
        )  # fmt: skip
    return "\n".join(lines)


def forgotten(result: Forgotten, look: Look) -> str:
    count = memories(len(result.memories))
    if not result.memories:
        return "Nothing to forget."
    if result.dry_run:
        what = "would be erased for good" if result.purged else "would be forgotten"
        return "\n".join([f"{count} {what}:", *brief(result.memories, look), *_derived(result, look)])
    done = "erased for good" if result.purged else "forgotten"
    lines = [f"{look.paint('✓', 'green')} {done}: {count}", *brief(result.memories, look), *_derived(result, look)]
    if result.receipt:
        lines += receipt(result.receipt, look)
    if not result.purged:
        example = ids.short(result.memories[0].id)
        lines += look.wrap(f"to bring one back: recollect edit {example} --state active", "  ")
    return "\n".join(lines)


def _derived(result: Forgotten, look: Look) -> list[str]:
    said = "  and what was derived from it and has no other evidence:"
    return [said, *brief(result.derived, look)] if result.derived else []


def receipt(told: Mapping[str, Any], look: Look) -> list[str]:
    """What an erasure proves: rows of the journal, what lost the same words, and where they were looked for."""
    lines = [f"  receipt {told['id']}: changes {told['first']} to {told['last']}, by {told['actor']}"]
    for name, words in (("kin", "lost the same words"), ("standing", "came from it and still stand")):
        if told[name]:
            lines.append(f"  {words}: {', '.join(ids.short(id) for id in told[name])}")
    if told["tokens"]:
        lines.append(f"  tokens ended: {len(told['tokens'])}")
    lines += [f"  {look.paint('!', 'yellow')} not searched: {place}" for place in told["unsearched"]]
    if told["left"]:
        return [*lines, *(f"  {look.paint('!', 'yellow')} still found: {place}" for place in told["left"])]
    return [*lines, f"  looked for in {plural(len(told['searched']), 'place')}: found nowhere"]


def rejected(result: Forgotten, look: Look, undo: bool = False) -> str:
    count = memories(len(result.memories))
    if undo:
        return "\n".join([f"{look.paint('✓', 'green')} no longer rejected: {count}", *brief(result.memories, look)])
    example = ids.short(result.memories[0].id)
    return "\n".join(
        [
            f"{look.paint('✓', 'green')} rejected: {count}",
            *brief(result.memories, look),
            *look.wrap(f"what it said is refused from now on. To undo: recollect reject --undo {example}", "  "),
        ]
    )


def brief(found: Iterable[Memory], look: Look) -> list[str]:
    room = max(20, look.width - 12)
    return [f"  {look.id(memory.id)}  {text.shorten(label(memory), room)}" for memory in found]


def changed(before: Memory, after: Memory, look: Look) -> str:
    lines = changes(before.record(), after.record(), look, "  ")
    if not lines:
        return f"{look.paint('=', 'yellow')} nothing changed in {look.id(after.id)}"
    return "\n".join([f"{look.paint('✓', 'green')} changed {look.id(after.id)}", *lines])


def linked(link: Link, look: Look) -> str:
    words = link.relation.replace("_", " ")
    line = f"{look.paint('✓', 'green')} {look.id(link.origin)} {words} {look.id(link.target)}"
    if link.relation == "supersedes":
        line += f"\n  {ids.short(link.target)} leaves recall; recollect history {ids.short(link.target)} keeps it"
    return line


def recalled(result: Recall, look: Look, explain: bool = False, empty: bool = False) -> str:
    if not result.hits:
        if empty:
            return 'Nothing is remembered yet. Begin with: recollect remember "…"'
        return "\n".join(
            [
                "Nothing found.",
                *look.wrap(
                    "Try other words, drop a filter, look at what was set aside (--state any), or see what there is: "
                    "recollect list", "  ",
                ),
            ]
        )  # fmt: skip
    said = "Probably nothing here answers that; this comes closest." if result.unlikely else "This may not answer it."
    weak = [look.paint(said, "yellow")] if result.weak else []
    weak += [look.dim(f"answered {result.time}")] if result.time else []
    numbers = {found.memory.id: number for number, found in enumerate(result.hits, start=1)}
    if result.groups:
        weak += [look.dim(f"everything on this: {len(result.hits)} memories, the oldest first; numbers tell the best")]
    blocks = weak
    for topic, hits in result.laid_out:
        blocks += [look.paint(topic or "others", bold=True)] if len(result.groups) > 1 else []
        blocks += ["\n".join(hit(found, numbers[found.memory.id], look, explain)) for found in hits]
    if explain:
        blocks.append("\n".join(explained(result, look)))
    return "\n\n".join(blocks)


def hit(found: Hit, number: int, look: Look, explain: bool) -> list[str]:
    memory, indent = found.memory, "    "
    lead = f"{number:>2}. "
    lines = look.wrap(memory.title or memory.content, indent, first=lead)
    if memory.title:
        lines = [look.paint(line, bold=True) for line in lines] + look.wrap(memory.content, indent)
    if len(lines) > CONTENT_LINES:
        lines = [*lines[:CONTENT_LINES], f"{indent}… the rest: recollect show {ids.short(memory.id)}"]
    if memory.reasoning:
        lines += [look.dim(line) for line in look.wrap(f"because: {text.shorten(memory.reasoning, 200)}", indent)]
    facts = [memory.kind, *([] if memory.state == "active" else [memory.state]), *places(memory)]
    if any(ref.startswith("stale:") for ref in memory.refs):
        from ..grounding import stale  # takes time to load

        lines += [look.paint(line, "yellow") for line in look.wrap(f"stale: {stale(memory.refs)}", indent)]
    lines.append(f"{indent}{look.id(memory.id)} {look.dim('· ' + ' · '.join(facts))}")
    lines += [look.dim(line) for line in look.wrap(f"why: {found.why}", indent + "     ", first=indent)]
    if explain:
        arms = " · ".join(f"{arm} {score:.4f}" for arm, score in found.arms.items())
        lines.append(look.paint(f"{indent}score {found.score:.4f} from {arms}", "magenta"))
    return lines


def places(memory: Memory) -> list[str]:
    tags = " ".join(f"#{tag}" for tag in memory.tags)
    return [*(f"{name} {value}" for name, value in memory.scope.as_dict().items()), *([tags] if tags else [])]


def explained(result: Recall, look: Look) -> list[str]:
    rows = [
        ("arms", ", ".join(result.arms) or "none"),
        ("skipped", "; ".join(result.skipped) or "nothing"),
        ("tokens", f"about {result.tokens:,}"),
        ("time", " · ".join(f"{name} {spent:.1f} ms" for name, spent in result.timings.items())),
    ]
    told = result.explained
    if told is None:
        return table(rows, look, "")
    hints = " ".join(f"{name}:{value}" for name, values in told.hints.items() for value in values)
    rows += [("when", told.when), ("hints", hints), ("variants", "; ".join(told.variants))]
    if told.words is not None:
        rows.append(("shares", f"words {told.words:.0%}, meaning {1 - told.words:.0%}"))
    for arm, found in told.candidates.items():
        best = " ".join(f"{ids.short(id)} {score:.3f}" for id, score in found[:EXPLAINED])
        rows.append((arm, f"{plural(len(found), 'candidate')}: {best}{' …' if len(found) > EXPLAINED else ''}"))
    reasons: dict[str, list[str]] = {}
    for id, reason in told.dropped:
        reasons.setdefault(reason, []).append(ids.short(id))
    for reason, dropped in reasons.items():
        some = " ".join(dropped[:EXPLAINED]) + (" …" if len(dropped) > EXPLAINED else "")
        rows.append(("dropped", f"{len(dropped)} {reason}: {some}"))
    return table([row for row in rows if row[1]], look, "")


def shown(memory: Memory, source: Source | None, quotes: Sequence[Evidence], links: Sequence[Link], look: Look) -> str:
    lines = [look.paint(line, bold=True) for line in look.wrap(memory.title)] if memory.title else []
    lines += [*look.wrap(memory.content), ""]
    rows = [
        ("id", memory.id),
        ("kind", f"{memory.kind} ({memory.network})"),
        ("state", f"{memory.state} · {memory.trust}"),
        ("scope", ", ".join(f"{name} {value}" for name, value in memory.scope.as_dict().items()) or "everywhere"),
        ("because", memory.reasoning),
        ("tags", " ".join(f"#{tag}" for tag in memory.tags)),
        ("keywords", ", ".join(memory.keywords)),
        ("refs", "\n".join(memory.refs)),
        ("importance", f"{memory.importance} of 10 · confidence {memory.confidence:g}"),
        *moments(memory, look),
        ("seen", f"{plural(memory.observed, 'time')} · recalled {memory.recalled} · shown {memory.accessed}"),
        ("source", _source(source)),
    ]
    rows += [("evidence", f"“{quote.quote}”{f' ({quote.place})' if quote.place else ''}") for quote in quotes]
    rows += [("link", _link(link, memory.id)) for link in links]
    return "\n".join([*lines, *table([(name, value) for name, value in rows if value], look, "")])


def moments(memory: Memory, look: Look) -> list[tuple[str, str]]:
    rows = [("made", memory.created_at)]
    if memory.updated_at != memory.created_at:
        rows.append(("changed", memory.updated_at))
    for name, moment in (
        ("valid from", memory.valid_from),
        ("valid to", memory.valid_to),
        ("expires", memory.expires_at),
    ):
        if moment:
            rows.append((name, moment))
    return [(name, look.when(moment)) for name, moment in rows]


def _source(source: Source | None) -> str:
    if source is None:
        return ""
    author = f"by {source.author}" if source.author and source.author not in source.uri else ""
    return " · ".join(part for part in (source.kind, source.title, source.uri, author) if part)


def _link(link: Link, own: str) -> str:
    words = link.relation.replace("_", " ")
    reason = f" ({link.reason})" if link.reason else ""
    if link.origin == own:
        return f"this {words} {ids.short(link.target)}{reason}"
    return f"{ids.short(link.origin)} {words} this{reason}"


def listed(page: Page, look: Look, more: str = "") -> str:
    if not page.memories:
        return 'No memories here. Make one with: recollect remember "…"'
    ages = [look.ago(memory.happened_at) for memory in page.memories]
    kind_wide = max(len(memory.kind) for memory in page.memories)
    age_wide = max(map(len, ages))
    room = max(20, look.width - ids.SHORT - kind_wide - age_wide - 6)
    lines = []
    for memory, age in zip(page.memories, ages, strict=True):
        mark = "" if memory.state == "active" else f"[{memory.state}] "
        title = text.shorten(f"{mark}{label(memory)}", room)
        lines.append(f"{look.id(memory.id)}  {look.dim(memory.kind.ljust(kind_wide))}  {look.dim(age.ljust(age_wide))}"
                     f"  {title}")  # fmt: skip
    if more:
        lines += ["", f"more: {more}"]
    return "\n".join(lines)


def history(entries: Sequence[Entry], look: Look) -> str:
    lines = []
    for entry in entries:
        reason = f" — {entry.reason}" if entry.reason else ""
        head = f"{entry.at.astimezone(look.zone):%Y-%m-%d %H:%M}  {look.paint(entry.operation, bold=True)}"
        lines.append(f"{head}  {look.dim(f'{entry.actor} · {look.ago(entry.at)}')}{reason}")
        if entry.purged:
            lines.append("    (what it was has been erased)")
        elif entry.noun == "memory" and entry.before is None and entry.after:
            lines += look.wrap(text.shorten(entry.after.get("content", ""), 300), "    ")
        else:
            lines += changes(entry.before or {}, entry.after or {}, look, "    ", QUIET[:2])
    return "\n".join(lines)


def changes(
    before: Mapping[str, Any], after: Mapping[str, Any], look: Look, indent: str, quiet: Sequence[str] = QUIET
) -> list[str]:
    """One line a field that differs: `field: old → new`."""
    lines: list[str] = []
    for name in {**before, **after}:
        old, new = before.get(name), after.get(name)
        if old != new and name not in quiet:
            was, now = differing(_value(old), _value(new))
            lines += look.wrap(f"{name}: {was} → {now}", indent + "  ", first=indent)
    return lines


def differing(old: str, new: str, around: int = 20, most: int = 120) -> tuple[str, str]:
    """Two texts, cut to where they differ.

    >>> differing("x" * 50 + " on Mondays", "x" * 50 + " on Thursdays", around=3)
    ('…on Mondays', '…on Thursdays')
    """
    same = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    start = max(0, same - around)
    if start == 0 or max(len(old), len(new)) <= 2 * around:
        return text.shorten(old, most), text.shorten(new, most)
    return f"…{text.shorten(old[start:], most)}", f"…{text.shorten(new[start:], most)}"


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return " ".join(f"{name}={part}" for name, part in value.items()) or "everywhere"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None or value == "" else str(value)


def stats(counts: Mapping[str, Any], look: Look) -> str:
    rows = []
    for name, value in counts.items():
        words = {"by_state": "states", "by_kind": "kinds", "by_project": "projects", "embedded": "vectors"}.get(name)
        if isinstance(value, Mapping):
            parts = (f"{key or '(no project)'} {count:,}" for key, count in value.items())
            rows.append((words or name, ", ".join(parts) or "none"))
        elif name == "bytes":
            rows.append(("size", size(value)))
        else:
            rows.append(({"journal": "changes"}.get(name, name), f"{value:,}" if isinstance(value, int) else value))
    return "\n".join(table(rows, look, ""))


def size(count: int) -> str:
    """
    >>> size(999), size(123456), size(5 * 1024**3)
    ('999 bytes', '121 kB', '5.0 GB')
    """
    amount = float(count)
    for unit in ("bytes", "kB", "MB", "GB"):
        if amount < 1024 or unit == "GB":
            break
        amount /= 1024
    return f"{amount:.1f} {unit}" if unit in ("MB", "GB") else f"{amount:.0f} {unit}"


def imported(result: Imported, look: Look) -> str:
    extra = [
        f"{count:,} {words}"
        for count, words in (
            (result.duplicate, "said again"),
            (result.known, "known already"),
            (result.refused, "refused"),
        )
        if count
    ]
    line = f"{look.paint('✓', 'green')} imported {memories(result.created)}"
    lines = [f"{line} ({', '.join(extra)})" if extra else line]
    if result.others:
        lines.append(f"  and {plural(result.others, 'source, quote or link', 'sources, quotes and links')}")
    if result.journal:
        lines.append(f"  with its history: {plural(result.journal, 'change')}")
    if result.redacted:
        lines += look.wrap(f"redacted before it was stored: {', '.join(result.redacted)}", "  ")
    if result.ignored:
        names = ", ".join(f"{name} ({count:,}×)" for name, count in result.ignored.items())
        lines += look.wrap(f"fields not known here: {names}", "  ")
    for note in result.notes:
        lines += look.wrap(note, "  ")
    return "\n".join(lines)


def jobs(found: Sequence[Job], look: Look) -> str:
    return "\n".join(job(one, look) for one in found) or "No jobs."


def job(one: Job, look: Look) -> str:
    """
    >>> from recollect.types import Job
    >>> print(job(Job("01kb3vq4zt7m8w2n5x9r0c6d1e", "embed", state="failed", attempts=5, error="no model"), Look()))
    9r0c6d1e  embed  failed  attempt 5 of 5  just now
        no model
    """
    colour = {"done": "green", "failed": "red", "running": "cyan", "cancelled": "yellow"}.get(one.state)
    tried = f"attempt {one.attempts} of {one.max_attempts}" if one.attempts else "not tried yet"
    when = f"due {look.ago(one.run_at)}" if one.state == "queued" else look.ago(one.finished_at or one.created_at)
    facts = [look.id(one.id), one.kind, look.paint(one.state, colour), tried, when]
    if one.progress:
        facts.append(f"{one.progress.get('done', 0):,} of {one.progress.get('total', 0):,}")
    lines = ["  ".join(facts)]
    if one.error and one.state != "done":
        lines += look.wrap(one.error, "    ")
    return "\n".join(lines)


def worked(counts: Mapping[str, int], look: Look) -> str:
    if not any(counts.values()):
        return "= nothing was due"
    mark = look.paint("✗", "red") if counts["failed"] else look.paint("✓", "green")
    failed = f", {plural(counts['failed'], 'attempt')} failed: recollect jobs" if counts["failed"] else ""
    return f"{mark} {plural(counts['done'], 'job')} done{failed}"


def copied(result: Copied, place: str, look: Look) -> str:
    total = sum(part.count for part in result.parts if part.noun == "memory")
    tenants = list(dict.fromkeys(part.tenant for part in result.parts))
    lines = [f"{look.paint('✓', 'green')} copied {memories(total)} of {plural(len(tenants), 'tenant')} to {place}"]
    for tenant in tenants:
        lines.append(f"  {tenant}")
        own = [part for part in result.parts if part.tenant == tenant and part.count]
        lines += table([(part.noun, f"{part.count:>9,}  {part.sha256[:16]}") for part in own], look, "    ")
    lines.append(f"  the two agree in everything: {result.sha256}")
    lines.append(f"  written this time: {plural(result.written, 'change')}")
    return "\n".join(lines)


def again(told: Replayed | Backup) -> str:
    """What became of memories that were erased here and came back in an older copy."""
    erased = f"\n  erased again: {memories(told.erased)}, which the copy still had" if told.erased else ""
    return erased + (f"\n  ! {memories(told.held)} erased before are on hold and came back" if told.held else "")


def diagnosis(checks: Sequence[Check], fixed: Sequence[str], look: Look) -> str:
    wide = max(len(check.name) for check in checks) + 2
    lines = []
    for check in checks:
        mark, colour = MARKS[check.status]
        wrapped = look.wrap(check.detail, " " * (wide + 2), first=f"{mark} {check.name.ljust(wide)}")
        lines += [look.paint(mark, colour) + wrapped[0][1:], *wrapped[1:]]
        if check.fix and check.status != "ok":
            lines += look.wrap(check.fix, " " * (wide + 7), first=f"{' ' * (wide + 2)}fix: ")
    lines.append("")
    lines += [f"{look.paint('✓', 'green')} mended: {what}" for what in fixed]
    broken = sum(check.status == "broken" for check in checks)
    warned = sum(check.status == "warning" for check in checks)
    if broken:
        lines.append(look.paint(f"{plural(broken, 'part is', 'parts are')} broken.", "red", bold=True))
    elif warned:
        lines.append(f"It works, with {plural(warned, 'warning')}.")
    else:
        lines.append(look.paint("All is well.", "green"))
    return "\n".join(lines)


def configured(rows: Sequence[Mapping[str, Any]], file: str, look: Look) -> str:
    lines = []
    for row in rows:
        value = str(row["value"]) if row["value"] not in ("", None) else "(empty)"
        origin = "" if row["source"] == "default" else look.dim(f"  from {row['source']}")
        lines.append(f"{look.paint(row['name'], bold=True)} = {look.paint(value, 'cyan')}{origin}")
        lines += [look.dim(line) for line in look.wrap(row["sentence"], "    ")]
    lines.append("")
    lines += look.wrap(f"To change one: set RECOLLECT_<NAME> in the environment, or write it into {file}", "")
    return "\n".join(lines)


def welcome(store: str, there: bool, look: Look) -> str:
    def line(command: str, words: str) -> str:
        return f"    {look.paint(command.ljust(46), 'cyan')}{look.dim(words)}"

    return "\n".join(
        [
            look.paint("Recollect remembers what you and your coding assistants learn.", bold=True),
            "",
            "  Begin",
            line('recollect remember "We deploy on Thursdays"', "keep something"),
            line('recollect recall "when do releases go out?"', "find it by meaning"),
            line("recollect tour", "everything, in two minutes"),
            line("recollect install claude", "connect an assistant"),
            line("recollect serve", "start daemon and dashboard"),
            "",
            "  Look      list · show ID · history ID · stats",
            "  Change    edit ID · link A supersedes B · forget ID · reject ID",
            "  Keep      export · import · embed · doctor · config",
            "",
            *look.wrap(f"Your memories {'lie' if there else 'will lie'} in {store}", "  "),
            look.dim("  All commands: recollect --help · about one: recollect recall --help"),
        ]
    )


def complaint(error: Mapping[str, str], look: Look) -> str:
    lines = look.wrap(error["message"], "       ", first="error: ")
    fix = look.wrap(error["fix"], "       ", first="fix:   ") if error["fix"] else []
    return "\n".join([look.paint(lines[0][:6], "red", bold=True) + lines[0][6:], *lines[1:], *fix])


def step(number: int, says: str, acts: Iterable[tuple[str, str]], look: Look) -> str:
    """One step of the tour: what it is about, what one would type, and what came of it."""
    lines = [look.paint(line, bold=True) for line in look.wrap(says, "    ", first=f"{number:>2}. ")]
    for command, output in acts:
        lines.append("")
        typed = [""]
        for part in command.split("\n"):  # broken between options, as a person would
            fits = len(typed[-1]) + len(part) + 3 <= look.width - 8
            typed = [*typed[:-1], f"{typed[-1]} {part}".strip()] if fits or not typed[-1] else [*typed, part]
        joined = " \\\n        ".join(typed)
        lines += [look.paint(line, "cyan") for line in f"    $ {joined}".split("\n")]
        lines += [f"    {line}".rstrip() for line in output.splitlines()]
    return "\n".join(lines)
