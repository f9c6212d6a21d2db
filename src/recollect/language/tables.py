"""The word lists under `data/`, and regular expressions that several modules share. Pure.

A file has sections (`[name]`) of lines; `#` begins a comment. Within a section, a semicolon or the end of a line ends a
group: words that belong together, a word with its number, or `left = right`.
"""

from __future__ import annotations

from functools import cache
from importlib import resources


@cache
def _load(file: str) -> dict[str, tuple[str, ...]]:
    sections: dict[str, list[str]] = {}
    name = ""
    for line in resources.files(__package__).joinpath("data", f"{file}.txt").read_text("utf-8").splitlines():
        if line.startswith("[") and line.endswith("]"):
            name = line[1:-1]
        elif line and not line.startswith("#"):
            sections.setdefault(name, []).append(line)
    return {name: tuple(lines) for name, lines in sections.items()}


def lines(file: str, section: str) -> tuple[str, ...]:
    return _load(file)[section]


def joined(file: str, section: str) -> str:
    """The lines of a section as alternatives of one regular expression."""
    return "|".join(lines(file, section))


def words(file: str, section: str) -> tuple[str, ...]:
    """
    >>> words("time", "joins")
    ('and', 'but')
    """
    return tuple(word for line in lines(file, section) for word in line.split())


def groups(file: str, section: str) -> tuple[tuple[str, ...], ...]:
    """
    >>> groups("time", "months")[:2]
    (('jan', 'january'), ('feb', 'february'))
    """
    return tuple(
        tuple(group.split()) for line in lines(file, section) for group in line.split(";") if group.strip()
    )  # fmt: skip


def numbered(file: str, section: str, start: int = 1) -> dict[str, int]:
    """Each word with the number of its group.

    >>> numbered("time", "weekdays")["tue"]
    2
    """
    return {word: n for n, group in enumerate(groups(file, section), start) for word in group}


def pairs(file: str, section: str) -> dict[str, str]:
    """What stands left and right of each `=`.

    >>> pairs("time", "units")["hr"]
    'hour'
    """
    found = (group.partition("=") for line in lines(file, section) for group in line.split(";") if "=" in group)
    return {left.strip(): right.strip() for left, _, right in found}


def named(file: str, section: str) -> dict[str, tuple[str, ...]]:
    """What stands left of `=`, with the list on its right; a long list goes on in a line that begins in the same way.

    >>> named("records", "severities")["4"]
    ('minor', 'low')
    """
    found: dict[str, tuple[str, ...]] = {}
    for line in lines(file, section):
        left, _, right = line.partition(" = ")
        found[left] = (*found.get(left, ()), *right.split(", "))
    return found


WEEKDAYS = tuple(group[-1] for group in groups("time", "weekdays"))
MONTHS = tuple(group[-1] for group in groups("time", "months"))
# For regular expressions: Monday or Mondays; the months whose name is no other word than a name or an order to walk.
WEEKDAY = f"(?:{'|'.join(WEEKDAYS)})s?"
MONTH = "|".join(month for month in MONTHS if month != "may")
NEGATIONS = frozenset(words("words", "negations"))
STOP_WORDS = frozenset(words("words", "stop"))
