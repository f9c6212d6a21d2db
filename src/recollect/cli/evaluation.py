"""The command `recollect eval`, which the distribution recollect-eval brings (`evaluation/` in the repository)."""

from __future__ import annotations

from importlib.metadata import entry_points

import click

from ..errors import BadInput
from .program import App

GROUP = "recollect.commands"  # the entry points of further commands


def evaluate(app: App, arguments: tuple[str, ...]) -> None:
    found = list(entry_points(group=GROUP, name="eval"))
    if not found:
        raise BadInput(
            "The evaluation is not installed.",
            fix="In a checkout, run: pip install -e ./evaluation",
        )
    command: click.Command = found[0].load()
    command.main(list(arguments), "eval", standalone_mode=False, parent=click.get_current_context().parent)
