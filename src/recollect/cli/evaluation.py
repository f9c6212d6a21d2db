"""The command `recollect eval`, which the distribution recollect-eval brings (`evaluation/` in the repository)."""

from __future__ import annotations

from importlib.metadata import entry_points

import click

from ..errors import BadInput
from .program import cli

GROUP = "recollect.commands"  # the entry points of further commands


@cli.command("eval", add_help_option=False, context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def evaluate(context: click.Context, arguments: tuple[str, ...]) -> None:
    """Measure how well memories are found, beside plain search.

    Comes with the distribution recollect-eval; `recollect eval --help` shows its options.
    """
    found = list(entry_points(group=GROUP, name="eval"))
    if not found:
        raise BadInput(
            "The evaluation is not installed.",
            fix="In a checkout, run: pip install -e ./evaluation",
        )
    command: click.Command = found[0].load()
    command.main(list(arguments), "eval", standalone_mode=False, parent=context.parent)
