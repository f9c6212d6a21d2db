"""The command `recollect eval`. The command line of Recollect finds it by its entry point."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click

from recollect.cli.program import App, command

from . import ask, capture, graph, injection, languages, qa, temporal
from . import report as reports
from .answers import measure
from .run import Options, run

# Those with figures of their own.
APART = ("answers", "injection", "capture", "temporal", "multihop", "extraction", "ask", "qa", "languages")
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
@click.option("--llm", metavar="URL", default="", help="Of qa: the model that answers from what is found.")
@click.option("--judge", metavar="URL", default="", help="Of qa: another model that judges the answers.")
@click.option("--file", type=click.Path(exists=True, path_type=Path), help="One file (temporal, multihop, extraction).")
@click.option("--part", type=click.Choice(["judge", "train", "dev"]), default="judge", help="Which part of the data.")
@click.option("--perfect", is_flag=True, help="With capture: a scripted model extracts just what readers marked.")
def evaluate(
    app: App, name: str, data: Path | None, output: Path | None, baseline: Path | None, cache: Path | None,
    store: str | None, part: str, llm: str, judge: str, perfect: bool, file: Path | None,
    **options: Any,
) -> None:  # fmt: skip
    """Measure how well memories are found, beside plain search.

    With `relevance`, whether recall knows when nothing answers; with `answers`, how far cached answers can be
    trusted; with `injection`, what the prompt hook puts before an assistant; with `capture`, whether the memories made
    of real sessions are worth keeping; with `temporal`, whether questions about a time are answered from that time;
    with `multihop`, whether questions are answered that need several notes; with `extraction`, which entities and
    relations are read from notes; with `ask`, whether answers about unfamiliar projects are useful; with `qa`, how
    often a model answers rightly from what is found; with `languages`, notes and questions that are not in English.
    """
    if name == "qa":
        app.say(qa.run(data, cache, llm, judge, say=None if app.json else partial(click.echo, err=True)),
                lambda found, out: qa.render(found))  # fmt: skip
        return
    if name in APART:
        _evaluate_apart(app, name, data, output, cache, part, perfect, file)
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


def _evaluate_apart(
    app: App, name: str, data: Path | None, output: Path | None, cache: Path | None, part: str, perfect: bool,
    file: Path | None,
) -> None:  # fmt: skip
    say = None if app.json else partial(click.echo, err=True)
    render: Callable[[Any], str]
    if name == "answers":
        found, render = measure.run(data, cache, say), measure.render
    elif name == "injection":
        found, render = injection.run(cache, say), injection.render
    elif name == "temporal":
        found, render = temporal.run(data, part, say, file=file), temporal.render
    elif name in ("multihop", "extraction"):
        found, render = getattr(graph, name)(data, part, say, file), graph.render
    elif name == "languages":
        found, render = languages.run(say), languages.render
    elif name == "ask":
        found, render = ask.run(data, cache, part, say), ask.render
    else:
        found, render = capture.run(data, part, say, perfect=perfect), capture.render
    if output and name == "answers":
        measure.save(found, output)
    elif output:
        output.mkdir(parents=True, exist_ok=True)
        stem = "capture-quality" if name == "capture" else name  # bench/capture.py measures its speed
        stem += "-perfect" if perfect else ""
        (output / f"{stem}.json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    app.say(found, lambda _, out: render(found))
