"""The three ways to decide as one picture: precision against recall. SVG by hand, with nothing to load."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from xml.sax.saxutils import escape

from ..curve import BOTTOM, COLOURS, HEIGHT, LEFT, RIGHT, STYLE, TOP, WIDTH

LOW = 0.5  # where the axis of precision begins
TITLE = "Same question or not: precision and recall on labelled pairs"
Curves = Mapping[str, Sequence[Sequence[float]]]


def draw(curves: Curves, served: Mapping[str, float]) -> str:
    """Way → points of recall and precision; `served` is where the threshold of serving lies."""
    x, y = _x(served["recall"]), _y(served["precision"])
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" style="{STYLE}">',
        f"<title>{TITLE}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="28" font-size="16" font-weight="600">{TITLE}</text>',
        *_axes(),
        *_lines(curves),
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="none" stroke="{COLOURS[0]}" stroke-width="2"/>',
        f'<text x="{x + 10:.1f}" y="{y - 8:.1f}" style="fill:{COLOURS[0]}">served</text>',
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _x(recall: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * recall


def _y(precision: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * max(precision - LOW, 0) / (1 - LOW)


def _axes() -> Iterator[str]:
    for percent in range(50, 101, 10):
        y = _y(percent / 100)
        yield f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#e3e3e3"/>'
        yield f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{percent} %</text>'
    for percent in range(0, 101, 20):
        yield f'<text x="{_x(percent / 100):.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{percent} %</text>'
    yield f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.1f}" y="{HEIGHT - 12}" text-anchor="middle">duplicates served</text>'


def _lines(curves: Curves) -> Iterator[str]:
    for number, (way, points) in enumerate(curves.items()):
        colour, thick = COLOURS[number % len(COLOURS)], 3.0 if number == 0 else 1.6
        path = " ".join(f"{_x(recall):.1f},{_y(precision):.1f}" for recall, precision in points)
        yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{thick}"/>'
        yield f'<text x="{WIDTH - RIGHT + 10}" y="{TOP + 20 + 20 * number}" style="fill:{colour}">{escape(way)}</text>'
