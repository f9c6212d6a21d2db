"""Three pictures of the results, as SVG that follows the reader's light or dark scheme.

python bench/rivals/plots.py     from bench/results/rivals.json, into docs/rivals
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from math import log10
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

ROOT = Path(__file__).parents[2]
RESULTS, FOLDER = ROOT / "bench" / "results" / "rivals.json", ROOT / "docs" / "rivals"
WIDTH, LEFT, TOP, LINE, BAR = 760, 250, 54, 24, 14
BUDGETS = (256, 512, 1024)
SHADES = {1: ("b1",), 2: ("b0", "b2"), 3: ("b0", "b1", "b2")}
STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #24292f } .title { font-size: 16px; font-weight: 600 }
  .own { font-weight: 600 } .b0 { fill: #0b5394 } .b1 { fill: #4a90d9 } .b2 { fill: #a9cdf0 }
  .good { fill: #1a7f37 } .bad { fill: #cf222e } .none { fill: #8c959f }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .b0 { fill: #9ecbff } .b1 { fill: #4a90d9 } .b2 { fill: #1f4e86 }
    .good { fill: #3fb950 } .bad { fill: #f85149 } .none { fill: #6e7681 }
  }
"""


def main() -> int:
    FOLDER.mkdir(exist_ok=True)
    for name, told in pictures(json.loads(RESULTS.read_text("utf-8"))).items():
        (FOLDER / f"{name}.svg").write_text(told, "utf-8")
        print(FOLDER / f"{name}.svg")
    return 0


def pictures(found: Mapping[str, Any]) -> dict[str, str]:
    return {"quality": quality(found), "cost": cost(found), "safety": safety(found)}


def quality(found: Mapping[str, Any]) -> str:
    """Evidence within 256, 512 and 1,024 tokens, on LoCoMo: the longest bar is that of 1,024."""
    rows = {
        name: [100 * sets["locomo"][f"evidence@{budget}"]["mean"] for budget in BUDGETS]
        for name, sets in found["retrieval"].items()
        if "recall@10" in sets.get("locomo", {})
    }
    best = dict(sorted(rows.items(), key=lambda row: -row[1][-1]))
    title = "LoCoMo: share of the evidence within 256, 512 and 1,024 tokens, in percent"
    return _drawn(title, list(_bars(best, lambda value: value / 100, "{:.0f} / {:.0f} / {:.0f}")), len(best))


def cost(found: Mapping[str, Any]) -> str:
    """Processor milliseconds of one search by the number of memories, on a scale that multiplies."""
    sizes = sorted({size for one in found["cost"].values() for size in one.get("sizes", {})}, key=int)
    rows: dict[str, list[float]] = {}
    for name, one in found["cost"].items():
        took = [one.get("sizes", {}).get(size, {}).get("search_cpu_ms") for size in sizes]
        if any(took):
            rows[name] = [max(value, 0.1) if value is not None else 0.0 for value in took]
    cheap = dict(sorted(rows.items(), key=lambda row: max(row[1])))
    most = max(max(row) for row in rows.values())
    shown = " / ".join("{:.4g}" for _ in sizes)
    told = " and ".join(f"{int(size):,}" for size in sizes)
    title = f"Processor ms of one search, {told} memories, model left out, logarithmic"
    return _drawn(title, list(_bars(cheap, lambda value: log10(value * 10) / log10(most * 10), shown)), len(cheap))


def _bars(rows: Mapping[str, Sequence[float]], share: Any, shown: str) -> Iterator[str]:
    room = WIDTH - LEFT - 150
    for number, (name, values) in enumerate(rows.items()):
        y = TOP + LINE * number
        own = ' class="own"' if name.startswith("Recollect") else ""
        yield f'<text x="{LEFT - 10}" y="{y + 12}" text-anchor="end"{own}>{escape(name)}</text>'
        for place in sorted(range(len(values)), key=lambda n: -values[n]):  # the longest lies below the others
            if values[place]:
                length, shade = max(1.0, room * share(values[place])), SHADES[len(values)][place]
                yield f'<rect class="{shade}" x="{LEFT}" y="{y}" width="{length:.1f}" height="{BAR}"/>'
        longest = max(1.0, room * share(max(values)))
        told = shown.format(*values)
        yield f'<text x="{LEFT + longest + 8:.1f}" y="{y + 12}">{told}</text>'


def safety(found: Mapping[str, Any]) -> str:
    """Which faults each one survived."""
    faults = list(found["safety"]["Recollect, balanced"])
    step = (WIDTH - LEFT - 70) // len(faults)
    parts = []
    for place, fault in enumerate(faults):
        x = LEFT + step * place + step // 2
        parts.append(f'<text x="{x}" y="{TOP + 86}" transform="rotate(-40 {x} {TOP + 86})">{escape(fault)}</text>')
    for number, (name, verdicts) in enumerate(found["safety"].items()):
        y = TOP + 118 + LINE * number
        own = ' class="own"' if name.startswith("Recollect") else ""
        parts.append(f'<text x="{LEFT - 10}" y="{y}" text-anchor="end"{own}>{escape(name)}</text>')
        for place, fault in enumerate(faults):
            verdict = verdicts.get(fault, {"good": None, "said": "not measured"})
            kind, sign = {True: ("good", "✓"), False: ("bad", "✗"), None: ("none", "–")}[verdict["good"]]
            x = LEFT + step * place + step // 2
            said = escape(verdict["said"])
            parts.append(
                f'<text class="{kind}" x="{x}" y="{y}" text-anchor="middle"><title>{said}</title>{sign}</text>'
            )
    return _drawn("What survived: the same nine faults for each", parts, len(found["safety"]) + 6)


def _drawn(title: str, parts: Sequence[str], lines: int) -> str:
    height = TOP + LINE * lines + 10
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">'
    told = f'<title>{escape(title)}</title><text class="title" x="10" y="26">{escape(title)}</text>'
    return "\n".join([head, f"<style>{STYLE}</style>", told, *parts, "</svg>"]) + "\n"


if __name__ == "__main__":
    sys.exit(main())
