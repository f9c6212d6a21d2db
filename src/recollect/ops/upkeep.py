"""The operations that keep a store in good health, each with its verb and its words."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ..agents.access import Caller
from ..engine import Engine
from ..types import Job
from ..upkeep.health import Health
from ..upkeep.janitor.janitor import NAMES, Report
from .operation import Operation, P


def janitor(engine: Engine, caller: Caller, *, dry_run: bool = False, steps: list[str] | None = None) -> Any:
    """What a run would do, or the job that does one: a run may take longer than a request."""
    caller.unwalled("The janitor")
    if dry_run:
        return {"report": engine.janitor.run(dry_run=True, steps=steps or ()), "job": None}
    return {"report": None, "job": engine.janitor.later(steps=steps or ())}


def janitor_report(engine: Engine, caller: Caller) -> Any:
    caller.unwalled("The janitor")
    last = engine.janitor.last()
    return {"report": Report.of(last) if last else None, "job": last}


def health(engine: Engine, caller: Caller, *, rebuild: bool = True) -> Health:
    caller.unwalled("The health of recall")
    return engine.health.run(rebuild=rebuild)


# -- words ------------------------------------------------------------------------------------------------------------


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
    if found.milestone:
        lines.append(f"past {found.milestone:,} memories: {found.advice}")
    return "\n".join(lines)


UPKEEP: tuple[Operation, ...] = (
    Operation(
        "janitor", "Clean up", "Merge duplicates, settle contradictions, archive what is over; in the background.",
        "Asks for a run now; the daemon makes one every janitor_hours by itself. With dry_run nothing happens and the "
        "answer tells what would. What a person pinned or edited is never touched.",
        (
            P("dry_run", "flag", "Only tell what would be done.", False),
            P("steps", "texts", "Only these steps.", None, choices=NAMES, aliases=("step",)),
        ),
        janitor, told, "POST", "/v1/janitor", dict,
        right="admin", no_mcp="upkeep, not work on knowledge", cli="janitor run",
    ),
    Operation(
        "janitor_report", "What the janitor did", "The report of the last run, or how far the present one is.",
        "Counts by step, some of the changes with their reasons, and the checkpoint to go back to.",
        (),
        janitor_report, told, "GET", "/v1/janitor", dict,
        right="admin", read_only=True, idempotent=True, no_mcp="upkeep, not work on knowledge", cli="janitor report",
    ),
    Operation(
        "health", "Health of recall", "Whether the vector index finds what an exact search finds.",
        "Fifty questions made from the store are asked both ways; where too little is found the index is built again.",
        (P("rebuild", "flag", "Build the index again where it finds too little.", True),),
        health, measured, "POST", "/v1/health", Health,
        right="admin", idempotent=True, no_mcp="upkeep, not work on knowledge", cli="health",
    ),
)  # fmt: skip
