"""Write the manual page from the declarations of commands, settings and errors.

python scripts/man.py           writes deploy/recollect.1
python scripts/man.py --check   fails when it is not up to date
"""

from __future__ import annotations

import sys
from dataclasses import fields
from pathlib import Path

import click

from recollect import __version__, errors
from recollect.cli.program import cli
from recollect.settings import Settings

PAGE = Path(__file__).parents[1] / "deploy" / "recollect.1"
INTRODUCTION = (
    "Recollect stores what was said, decided and learnt while working with AI assistants that write code, and finds it "
    "again by meaning, keyword, link and time. All data is in one file on this machine."
)


def plain(text: str) -> str:
    r"""A text as roff takes it: backslashes doubled, and no line that begins with a command.

    >>> plain("a\\b\n.c - d")
    'a\\\\b\n\\&.c \\- d'
    """
    lines = text.replace("\\", "\\\\").replace("-", "\\-").splitlines()
    return "\n".join(f"\\&{line}" if line.startswith((".", "'")) else line for line in lines)


def entry(head: str, text: str) -> str:
    return f".TP\n.B {plain(head)}\n{plain(text)}"


def commands() -> list[str]:
    context = click.Context(cli)
    found = {name: cli.get_command(context, name) for name in cli.list_commands(context)}
    return [entry(name, one.get_short_help_str(100)) for name, one in sorted(found.items()) if one and not one.hidden]


def exits() -> list[str]:
    codes: dict[int, list[str]] = {}
    for one in vars(errors).values():
        if isinstance(one, type) and issubclass(one, errors.RecollectError):
            codes.setdefault(one.exit, []).append(one.code)
    return [entry(str(code), ", ".join(sorted(set(names)))) for code, names in sorted(codes.items())]


def page() -> str:
    settings = [entry(f"RECOLLECT_{one.name.upper()}", str(one.metadata["sentence"])) for one in fields(Settings)]
    sections = {
        "NAME": ["recollect \\- memory for AI assistants that write code"],
        "SYNOPSIS": [".B recollect\n.RI [ options ]\n.I command\n.RI [ arguments ]"],
        "DESCRIPTION": [plain(INTRODUCTION), ".PP", "Each command has a help text:", ".B recollect COMMAND \\-\\-help"],
        "COMMANDS": commands(),
        "ENVIRONMENT": settings,
        "FILES": [entry("~/.recollect", "All data; RECOLLECT_HOME names another folder."),
                  entry("~/.recollect/config.toml", "The settings above, without their prefix and in lower case.")],
        "EXIT STATUS": exits(),
    }  # fmt: skip
    body = [f".SH {name}\n" + "\n".join(lines) for name, lines in sections.items()]
    return "\n".join([f'.TH RECOLLECT 1 "" "recollect {__version__}"', *body, ""])


def main() -> None:
    if "--check" not in sys.argv:
        PAGE.write_text(page(), "utf-8")
    elif not PAGE.exists() or PAGE.read_text("utf-8") != page():
        sys.exit(f"{PAGE.name} is not up to date; run: make docs")


if __name__ == "__main__":
    main()
