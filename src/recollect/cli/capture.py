"""The commands of the taps: `capture` takes in what was said elsewhere, `scan` finds secrets in what is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import BadInput
from ..types import Scope
from .present import Look, plural, tally
from .program import App
from .terminal import actor, interruptible, progress

if TYPE_CHECKING:
    from ..tap.backfill import Backfill, Report
    from ..upkeep.scan import Scanned


def capture(
    app: App, follow: bool, reprocess: bool, sidechains: bool, tools: bool, dry_run: bool, explain: bool,
    paths: Sequence[str] = (), since: datetime | None = None,
) -> None:  # fmt: skip
    from ..tap import backfill, files

    if (reprocess and (paths or follow or explain)) or (follow and (dry_run or explain)):
        raise BadInput("--reprocess takes no PATH, and --follow goes with neither it nor --dry-run nor --explain.")
    places = [Path(path) for path in paths] or files.usual()
    if not places and not reprocess:
        raise BadInput("There is no transcript in the usual places.", fix="Name a file or a folder.")
    with app.open() as engine:
        # Each session is of the project of its own folder, unless a place was named.
        place = replace(Scope(engine.settings.user, engine.settings.project), **app.places) if app.places else None
        wanted = backfill.Wanted(since, sidechains, tools, dry_run or explain, explain, place)
        with progress("capturing") as step:
            if reprocess:
                report = backfill.reprocess(engine, replace(wanted, scope=app.inside()), step)
            else:
                tap = backfill.Backfill(engine, wanted)
                report = tap.run(places, step)
        if follow:
            _follow(tap, places)
    app.say(report, partial(captured, again=reprocess))
    if report.failed:
        raise click.exceptions.Exit(1)


def _follow(tap: Backfill, places: list[Path]) -> None:
    """Follow the files until the first interruption; a second one ends the process."""
    heard: list[int] = []

    def react(number: int) -> None:
        if heard:
            raise KeyboardInterrupt
        heard.append(number)

    with interruptible(react):
        tap.follow(places, lambda: bool(heard))


def captured(report: Report, out: Look, *, again: bool = False) -> str:
    if again:
        head = f"✓ {plural(report.known, 'turn')} looked at again"
    elif report.dry_run:
        head = f"  {plural(report.turns, 'turn')} ({report.tokens:,} tokens) would be taken in"
    else:
        head = f"✓ {plural(report.turns, 'turn')} taken in, {report.known} known already"
    lines = [f"{head} from {plural(report.files, 'file')}" if not again else head]
    if report.found:
        lines.append(f"  found: {tally(report.found)}")
    if report.cost:
        lines.append(f"  {_priced(report.cost)}")
    for one in report.explained:
        verdict = f"kept as {one['kept_as']}" if one["kept_as"] else f"not kept: {one['veto']}"
        lines += [f"  {one['said']}", out.dim(f"    {verdict}; {one['why']}")]
    lines += [f"! {missed}" for missed in report.missed]
    if report.unchanged:
        lines.append(out.dim(f"  {plural(report.unchanged, 'file')} unchanged"))
    if report.older:
        lines.append(out.dim(f"  {plural(report.older, 'turn')} older than asked for"))
    if report.skipped:
        lines.append(out.dim(f"  passed over: {tally(report.skipped)}"))
    for count, what in ((report.echoes, "echoes"), (report.malformed, "lines that are no record")):
        if count:
            lines.append(out.dim(f"  {what}: {count}"))
    if report.unknown:
        lines.append(f"  of a kind not known here: {tally(report.unknown)}")
    lines += [f"! {path}: {why}" for path, why in report.failed.items()]
    return "\n".join(lines)


def _priced(cost: Mapping[str, Any]) -> str:
    """What models would be paid for it."""
    from ..upkeep.spending import format_dollars

    tiers = [told for told in (cost["gate"], cost["extract"]) if told["calls"]]
    if not tiers:
        return "costs nothing: no language model is set"
    tokens = sum(told["tokens_in"] + told["tokens_out"] for told in tiers)
    models = " and ".join(dict.fromkeys(told["model"] for told in tiers))
    return f"costs at most {format_dollars(cost['dollars'])} ({tokens:,} tokens) with {models}"


def scan(app: App, fix: bool) -> None:
    from .. import settings
    from ..store import open_store
    from ..upkeep import scan as scanning

    chosen = settings.load(**app.given)[0]
    now = datetime.now(UTC)
    with closing(open_store(chosen.place, chosen.busy_timeout, now)) as store, progress("scanning") as step:
        found = scanning.scan(store, chosen.tenant, actor(), now, fix=fix, progress=step)
    found.files = scanning.files(chosen.home, fix=fix)
    if fix and found.memories:
        with app.open() as engine, progress("embedding") as step:
            engine.embed(progress=step, change="never")
    app.say(found, _scanned)
    if found.places and not fix:
        raise click.exceptions.Exit(1)


def _scanned(found: Scanned, out: Look) -> str:
    if not found.places:
        return "✓ no secret found"
    counts = [
        f"{count} {name}"
        for name in ("memories", "sources", "evidence", "others", "history", "files")
        if (count := getattr(found, name))
    ]
    head = f"{'✓ redacted in' if found.fixed else '! secrets in'} {', '.join(counts)}"
    lines = [head, f"  kinds: {tally(found.kinds)}"]
    if not found.fixed:
        lines.append(out.dim("  redact them with: recollect scan --fix"))
    return "\n".join(lines)
