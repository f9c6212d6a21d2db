"""The commands of a project: `ingest` takes in what its files tell."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .present import Look, plural
from .program import App
from .terminal import progress

if TYPE_CHECKING:
    from ..project.ingest import Report


def ingest(app: App, path: str, dry_run: bool, project: str | None = None, kind: Any = None) -> None:
    from ..project.ingest import ingest as run
    from ..project.ingest import note_place

    with app.open() as engine:
        with progress("reading") as step:
            report = run(engine, Path(path), project=project, kind=kind, dry_run=dry_run, progress=step)
        if not dry_run:
            note_place(engine, Path(path), report.project)
        app.say(report, _ingested)
        if report.created or report.commits:  # it may be interrupted: the daemon goes on with it, or recollect embed
            with progress("giving vectors") as step:
                engine.embed(progress=step, change="never")
    if report.failed:
        raise click.exceptions.Exit(1)


def _ingested(report: Report, out: Look) -> str:
    """What a run did, in a few lines."""
    would = "would be " if report.dry_run else ""
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(report.kinds.items()))
    mark = " " if report.dry_run else "✓"
    where = f"project {report.project}" if report.project else "no project"
    where += f", branch {report.branch}" if report.branch else ""
    lines = [f"{mark} {plural(report.files, 'file')} read{f' ({kinds})' if kinds else ''}, {where}"]
    lines += [f"  {plural(report.commits, 'commit')} remembered"] if report.commits else []
    done = [
        f"{count} {would}{what}"
        for count, what in (
            (report.created, "remembered"), (report.kept, "kept"), (report.edited, "brought up to date"),
            (report.superseded, "superseded"), (report.retired, "retired"), (report.refused, "refused"),
        )
        if count
    ]  # fmt: skip
    lines += [f"  {', '.join(done)}"] if done else []
    if report.unchanged:
        lines.append(out.dim(f"  {plural(report.unchanged, 'file')} unchanged"))
    if report.deleted:
        lines.append(out.dim(f"  {plural(report.deleted, 'file')} gone"))
    if report.skipped:
        lines.append(out.dim(f"  passed over: {_counts(report.skipped)}"))
    lines += [f"! {plural(count, 'file')} of code read as text: {why}" for why, count in report.as_text.items()]
    if report.secrets:
        lines.append(f"  secrets taken out: {_counts(report.secrets)}")
    lines += [f"! {name}: {why}" for name, why in report.failed.items()]
    return "\n".join(lines)


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{why} {number}" for why, number in sorted(counts.items(), key=lambda one: (-one[1], one[0])))
