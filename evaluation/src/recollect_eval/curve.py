"""The curve as a picture: how much of the evidence fits into how many tokens. SVG by hand, with nothing to load."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import log2
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 720, 420
LEFT, RIGHT, TOP, BOTTOM = 64, 130, 56, 56
# Told apart by people who see colours differently too (Okabe and Ito); the subject is first, and thicker.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#000000")
STYLE = "font-family:system-ui,sans-serif;font-size:13px;fill:#333"
GAP = 16  # between two names at the right edge


def draw(title: str, curve: Mapping[str, Mapping[int, float]]) -> str:
    """System → budget → share, as a picture; the budgets are on a scale that doubles."""
    budgets = sorted({budget for row in curve.values() for budget in row})
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" style="{STYLE}">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="28" font-size="16" font-weight="600">{escape(title)}</text>',
        *_axes(budgets),
        *_lines(curve, budgets),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _x(budget: int, budgets: list[int]) -> float:
    span = log2(budgets[-1] / budgets[0]) or 1.0
    return LEFT + (WIDTH - LEFT - RIGHT) * log2(budget / budgets[0]) / span


def _y(share: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share


def _axes(budgets: list[int]) -> Iterator[str]:
    for percent in range(0, 101, 20):
        y = _y(percent / 100)
        yield f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#e3e3e3"/>'
        yield f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{percent} %</text>'
    for budget in budgets:
        x = _x(budget, budgets)
        yield f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{budget:,}</text>'
    middle = (LEFT + WIDTH - RIGHT) / 2
    yield f'<text x="{middle:.1f}" y="{HEIGHT - 12}" text-anchor="middle">tokens handed over</text>'


def _lines(curve: Mapping[str, Mapping[int, float]], budgets: list[int]) -> Iterator[str]:
    ends = _spread({system: _y(row[max(row)]) for system, row in curve.items()})
    for number, (system, row) in enumerate(curve.items()):
        colour, thick = COLOURS[number % len(COLOURS)], 3.0 if number == 0 else 1.6
        points = " ".join(f"{_x(budget, budgets):.1f},{_y(share):.1f}" for budget, share in sorted(row.items()))
        yield f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="{thick}"/>'
        for budget, share in row.items():
            yield f'<circle cx="{_x(budget, budgets):.1f}" cy="{_y(share):.1f}" r="{thick:.1f}" fill="{colour}"/>'
        weight = "600" if number == 0 else "400"
        label = f"{escape(system)} {100 * row[max(row)]:.0f}"
        yield (
            f'<text x="{WIDTH - RIGHT + 10}" y="{ends[system] + 4:.1f}" style="fill:{colour}" '
            f'font-weight="{weight}">{label}</text>'
        )


def _spread(ends: Mapping[str, float]) -> dict[str, float]:
    """Where the names stand: at the ends of their lines, pushed apart until none covers another.

    >>> _spread({"a": 100.0, "b": 98.0})
    {'b': 98.0, 'a': 114.0}
    """
    placed: dict[str, float] = {}
    last = float("-inf")
    for system, y in sorted(ends.items(), key=lambda item: item[1]):
        last = placed[system] = max(y, last + GAP)
    over = max(0.0, last - (HEIGHT - BOTTOM))
    return {system: y - over for system, y in placed.items()}
