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
    rows = ["| what | figure | bar |", "|---|---|---|"]
    rows += [f"| {row['what']} | {row['figure']} | {row['bar']} |" for row in found["summary"]]
    machine = found["machine"]
    rows.append(
        f"\nMeasured in CPU time on {machine['cpu']}, {machine['cores']} cores, commit `{found['commit'][:10]}`."
    )
    return "\n".join(rows)
