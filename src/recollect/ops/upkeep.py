"""Upkeep: moving a store, keeping it in good health, and what models cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, TextIO

from ..agents.access import Caller
from ..engine import Engine
from ..errors import BadInput
from ..exchange import Imported
from ..scratch import scratch
from ..types import Job
from ..upkeep.health import Health
from ..upkeep.janitor.janitor import Report
from ..upkeep.spending import format_dollars

PIECE = 65_536


def export(engine: Engine, caller: Caller, *, journal: bool = False, reference: bool = False) -> Iterator[str]:
    """The lines, in pieces: written to a file first, so that they are of one moment."""
    with scratch(engine.settings.home) as folder:
        path = folder / "export.jsonl"
        engine.export(path, journal=journal, reference=reference)
        return _pieces(path.open(encoding="utf-8"))


def _pieces(lines: TextIO) -> Iterator[str]:
    with lines:
        while piece := lines.read(PIECE):
            yield piece


def import_(
    engine: Engine, caller: Caller, *, lines: str, embed: bool = True, trust: str = "unverified"
) -> Imported:  # fmt: skip
    with scratch(engine.settings.home) as folder:
        path = folder / "import.jsonl"
        path.write_text(lines, "utf-8", errors="replace")
        try:
            return engine.import_(path, embed=embed, trust=trust)
        except BadInput as error:
            error.message = error.message.replace(f"{path}", "lines")
            raise


def embed(engine: Engine, caller: Caller) -> dict[str, Any]:
    return {"embedded": engine.embed()}


def mend(engine: Engine, caller: Caller) -> dict[str, Any]:
    engine.mend()
    return {"mended": ["full text"]}


def janitor(engine: Engine, caller: Caller, *, dry_run: bool = False, steps: list[str] | None = None) -> Any:
    """What a run would do, or the job that does one: a run may take longer than a request."""
    if dry_run:
        return {"report": engine.janitor.run(dry_run=True, steps=steps or ()), "job": None}
    return {"report": None, "job": engine.janitor.later(steps=steps or ())}


def janitor_report(engine: Engine, caller: Caller) -> Any:
    last = engine.janitor.last()
    return {"report": Report.of(last) if last else None, "job": last}


def say_usage(report: Mapping[str, Any], now: datetime | None = None) -> str:
    total, budgets = report["total"], report["budgets"]
    lines = [
        f"{report['since']} to {report['until']}: {format_dollars(total['dollars'])}, {total['calls']:,} calls, "
        f"{total['tokens_in']:,} tokens read, {total['tokens_out']:,} written"
    ]
    lines += [_row(row) for row in report["rows"]]
    day, month, tokens = budgets["day"], budgets["month"], budgets["tokens"]
    left = [
        f"{format_dollars(day['spent'])} of {format_dollars(day['limit'])} today",
        f"{format_dollars(month['spent'])} of {format_dollars(month['limit'])} this month",
    ]
    if tokens["limit"]:
        left.append(f"{tokens['spent']:,} of {tokens['limit']:,} tokens today")
    lines.append(f"budget: {', '.join(left)}")
    if report["paused"]:
        lines.append(f"paused: {report['paused']}")
    if not report["models"]["extract"]:
        lines.append("no language model is set: rules do its work, for nothing")
    return "\n".join([*lines, f"prices of {report['prices']}"])


def _row(row: Mapping[str, Any]) -> str:
    put_off = f", {row['refused']:,} put off" if row["refused"] else ""
    guessed = " (estimated)" if row["estimated"] else ""
    return (
        f"  {row['day']}  {row['project'] or '(no project)'}  {row['operation']}  {row['model']}: "
        f"{row['calls']:,} calls, {row['tokens_in']:,} + {row['tokens_out']:,} tokens{guessed}{put_off}, "
        f"{format_dollars(row['dollars'])}"
    )


def told(result: Mapping[str, Any], now: datetime | None = None) -> str:
    job: Job | None = result["job"]
    report: Report | None = result["report"]
    lines = [f"job {job.id}: {job.state}"] if job else []
    lines += cleaned(report).splitlines() if report else []
    return "\n".join(lines) or "The janitor has not run yet."


def cleaned(report: Report) -> str:
    """A report for people: a line a step, and some of what was done."""
    head = f"{report.changed} changes would be made" if report.dry_run else f"{report.changed} changes made"
    lines = [head + (f", {report.left} left because something changed meanwhile" if report.left else "")]
    if report.checkpoint:
        lines.append(f"go back with: recollect checkpoint rollback {report.checkpoint}")
    for step in report.steps:
        what = ", ".join(f"{count} {name}" for name, count in step.by.items())
        what = what or ", ".join(f"{name} {value}" for name, value in step.detail.items()) or "nothing"
        lines.append(f"  {step.step:<15} {what}  ({step.looked} looked at, {step.cpu_seconds:.1f} CPU s)")
        lines += [f"      {act['what']} {act['id'][-6:]}: {act['why']}" for act in step.acts[:3]]
    return "\n".join(lines)


def measured(found: Health, now: datetime | None = None) -> str:
    recall = ", ".join(f"{kind} {value:.2f}" for kind, value in found.recall.items()) or "nothing was measured"
    lines = [
        f"{found.status}: recall@10 {recall} ({found.questions} questions, {found.memories} memories, {found.model})"
    ]
    lines += [f"! {alert}" for alert in found.alerts]
    if found.graph:
        lines.append("graph: " + ", ".join(f"{name} {value:,g}" for name, value in found.graph.items()))
    if found.milestone:
        lines.append(f"past {found.milestone:,} memories: {found.advice}")
    return "\n".join(lines)
