"""What the generated parts of the docs are made of: tables of settings, errors, kinds, and the text of `--help`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from recollect import errors, types
from recollect.cli import cli
from recollect.recall.recipes import RECIPES
from recollect.settings import PREFIX, Settings

ROOT = Path(__file__).parents[1]


def settings() -> str:
    rows = ["| setting | default | environment | meaning |", "|---|---|---|---|"]
    for f in fields(Settings):
        default = f"`{f.default}`" if str(f.default) else "empty"
        rows.append(f"| `{f.name}` | {default} | `{PREFIX}{f.name.upper()}` | {f.metadata['sentence']} |")
    return "\n".join(rows)


def error_tree(root: type[errors.RecollectError] = errors.RecollectError) -> Iterator[type[errors.RecollectError]]:
    yield root
    for child in root.__subclasses__():
        yield from error_tree(child)


def error_table() -> str:
    rows = ["| code | class | HTTP | exit | meaning | fix |", "|---|---|---|---|---|---|"]
    for error in error_tree():
        meaning = (error.__doc__ or "").strip().splitlines()[0]
        rows.append(
            f"| `{error.code}` | `{error.__name__}` | {error.status} | {error.exit} | {meaning} | {error.fix} |"
        )
    return "\n".join(rows)


def words(name: str) -> str:
    """One of the lists of words in `types`, such as KINDS."""
    return ", ".join(f"`{word}`" for word in getattr(types, name))


def commands() -> str:
    """The help of every command, as a person sees it."""
    parts = []
    with click.Context(cli, info_name="recollect") as top:
        for name in cli.list_commands(top):
            command = cli.get_command(top, name)
            if command is None or command.hidden:
                continue
            with click.Context(
                command, info_name=name, parent=top, terminal_width=100, max_content_width=100
            ) as context:
                parts.append(f"## {name}\n\n```text\n{command.get_help(context)}\n```")
    return "\n\n".join(parts)


def results(name: str) -> dict[str, Any]:
    """The figures of a benchmark, as its last run wrote them."""
    found: dict[str, Any] = json.loads((ROOT / "bench" / "results" / f"{name}.json").read_text("utf-8"))
    return found


def speed() -> str:
    """The benchmark's figures, with the bar that each must hold."""
    found = results("speed")
    rows = ["| what | figure | bar | |", "|---|---|---|---|"]
    for row in found["bars"]:
        held = "✓" if row["holds"] else "✗ missed"
        rows.append(f"| {row['what']} | {row['value']:,} | {row['sign']} {row['bar']:,} | {held} |")
    machine = found["machine"]
    told = f"Measured in CPU time on {machine['cpu']}, {machine['cores']} cores, commit `{machine['commit'][:10]}`."
    return "\n".join([*rows, "", told])


def ranking() -> str:
    """How well evidence is found on public data, by rankers that had not seen it."""
    found = results("ranker")
    wanted = {
        "locomo": ("recall@5", "recall@10", "session recall@10"),
        "longmemeval": ("any@1", "recall@5", "nDCG@10"),
        "cosqa": ("MRR", "recall@10"),
    }
    rows = ["| data | figure | fast | balanced |", "|---|---|---|---|"]
    for name, metrics in wanted.items():
        for metric in metrics:
            fast, balanced = (found["results"][name][effort][metric] for effort in ("fast", "balanced"))
            rows.append(f"| {name} | {metric} | {fast} | {balanced} |")
    return "\n".join(rows)


def golden() -> str:
    """Our own questions: the engine and, in the same run, plain search."""
    found = results("golden")
    metrics = ("precision@5", "hit@1", "recall@10", "nDCG@10", "multi-hop@5", "abstained")
    rows = [f"| | {' | '.join(metrics)} |", f"|---|{'---|' * len(metrics)}"]
    for system, slices in found["figures"].items():
        figures = (f"{100 * slices['all'][metric]['mean']:.1f}" for metric in metrics)
        rows.append(f"| {system} | {' | '.join(figures)} |")
    return "\n".join(rows)


def recipes() -> str:
    rows = ["| recipe | for | arms | effort | cut |", "|---|---|---|---|---|"]
    for recipe in RECIPES.values():
        arms = ", ".join(f"{arm} {weight:g}" for arm, weight in recipe.arms.items())
        cuts = {"threshold": recipe.threshold, "limit": recipe.limit, "tokens": recipe.max_tokens}
        cut = ", ".join(f"{name} {value:g}" for name, value in cuts.items() if value) or "–"
        rows.append(f"| `{recipe.name}` | {recipe.purpose} | {arms} | {recipe.effort} | {cut} |")
    return "\n".join(rows)
