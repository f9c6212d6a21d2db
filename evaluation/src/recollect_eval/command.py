"""The command `recollect eval`. The command line of Recollect finds it by its entry point."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import click

from recollect.cli.program import App, command

from . import injection
from . import report as reports
from .answers import measure
from .run import Options, run

APART = ("answers", "injection")  # measured by figures of their own
NAMES = ("golden", "locomo", "longmemeval", "cosqa", "project", "relevance", *APART)


@command("eval", group=click.Group())
@click.argument("name", type=click.Choice(NAMES))
@click.option("--data", type=click.Path(path_type=Path), help="The folder of the public data (or $RECOLLECT_DATA).")
@click.option("--output", type=click.Path(path_type=Path), help="A folder for the report as JSON and its curve as SVG.")
@click.option("--baseline", type=click.Path(path_type=Path), help="Fail when a figure falls below this report's.")
@click.option("--cache", type=click.Path(path_type=Path), help="A folder that keeps embeddings for the next run.")
@click.option("--store", metavar="URL", help="An empty PostgreSQL database to measure in, not a file of its own.")
@click.option("--effort", type=click.Choice(["fast", "balanced", "deep"]), help="How hard recall tries.")
@click.option("--recipe", metavar="NAME", help="The recipe that is measured.")
def evaluate(
    app: App, name: str, data: Path | None, output: Path | None, baseline: Path | None, cache: Path | None,
    store: str | None, **options: Any,
) -> None:  # fmt: skip
    """Measure how well memories are found, beside plain search.

    With `relevance`, whether recall knows when nothing answers; with `answers`, how far cached answers can be
    trusted; with `injection`, what the prompt hook puts before an assistant.
    """
    if name in APART:
        _evaluate_apart(app, name, data, output, cache)
        return
    say = None if app.json else partial(click.echo, err=True)
    asked = {name: value for name, value in options.items() if value is not None}
    report = run(name, data=data, options=Options(cache=cache, store=store, recall=asked), say=say)
    worse = reports.gate(report, json.loads(baseline.read_text("utf-8"))) if baseline else []
    if output:
        reports.save(report, output)
    app.say({**report.as_dict(), "worse": worse}, lambda _, out: "\n".join([reports.render(report, out.width), *worse]))
    if worse:
        raise click.exceptions.Exit(1)


def _evaluate_apart(app: App, name: str, data: Path | None, output: Path | None, cache: Path | None) -> None:
    say = None if app.json else partial(click.echo, err=True)
    found = measure.run(data, cache, say) if name == "answers" else injection.run(cache, say)
    if output and name == "answers":
        measure.save(found, output)
    elif output:
        output.mkdir(parents=True, exist_ok=True)
        (output / "injection.json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    app.say(found, lambda _, out: measure.render(found) if name == "answers" else injection.render(found))
