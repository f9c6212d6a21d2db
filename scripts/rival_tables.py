"""The tables of docs/rivals.md and of the README, from bench/results/rivals.json."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from generate import results

SETS = {"locomo": "LoCoMo", "longmemeval": "LongMemEval", "together": "several notes", "cosqa": "CoSQA"}
FIGURES = ("recall@5", "recall@10", "nDCG@10", "evidence@256", "evidence@512", "evidence@1024")
NOT_FITTED = " None of our models was fitted on it, but choices were made while looking at this half."
MARKS = {True: "✓", False: "✗", None: "–"}


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _percent(row: Mapping[str, Any], name: str) -> str:
    return f"{100 * row[name]['mean']:.1f}" if name in row else "–"


def provenance() -> str:
    found = results("rivals")
    told = found["measured"]
    machine = told["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    return (
        f"Measured on {told['date'][:10]} at commit `{told['commit'][:10]}`, on {machine['cpu']}, {machine['cores']} "
        f"cores, Python {told['python']}. Versions: {versions}."
    )


def _by_quality(row: tuple[str, Any], name: str = "locomo") -> float:
    """The best first."""
    return -float(row[1].get(name, {}).get("recall@10", {"mean": 0.0})["mean"])


def overview() -> str:
    """One line for each row that all parts measured: what the README shows."""
    found = results("rivals")
    rows = []
    for name, sets in sorted(found["retrieval"].items(), key=_by_quality):
        cost, faults = found["cost"].get(name, {}), found["safety"].get(name)
        if not cost and not faults:
            continue
        most = max((size for size, one in cost.get("sizes", {}).items() if "search_cpu_ms" in one), key=int, default="")
        search = f"{cost['sizes'][most]['search_cpu_ms']:g} at {int(most):,}" if most else "–"
        told = [one for one in (faults or {}).values() if one["good"] is not None]
        survived = f"{sum(one['good'] for one in told)} of {len(told)}" if told else "–"
        figures = [_percent(sets.get(key, {}), "recall@10") for key in SETS]
        rows.append([name, *figures, _percent(sets.get("locomo", {}), "evidence@512"), search, survived])
    heads = ["", *(f"{name} recall@10" for name in SETS.values()), "LoCoMo in 512 tokens", "search, CPU ms", "faults"]
    return _table(heads, rows)


def retrieval(name: str) -> str:
    found = results("rivals")
    rows = [
        [row, *(_percent(sets[name], figure) for figure in FIGURES)]
        if "failed" not in sets[name]
        else [row, f"failed: {sets[name]['failed'][:120]}", *[""] * (len(FIGURES) - 1)]
        for row, sets in sorted(found["retrieval"].items(), key=lambda row: _by_quality(row, name))
        if name in sets
    ]
    if name not in found["samples"]:
        return "Not measured."
    told = found["samples"][name]
    seen = f" Of our models: {told['ours']}." if told["ours"] else NOT_FITTED
    return "\n\n".join([f"{told['sample']}.{seen}", _table(["", *FIGURES], rows)])


def better() -> str:
    """Where another program is better than ours, in figures of the results."""
    found = results("rivals")
    stored: dict[bool, list[tuple[float, str]]] = {True: [], False: []}
    for name, sets in found["retrieval"].items():
        stored[name.startswith("Recollect")] += [
            (one["add_cpu_ms"], name) for one in sets.values() if "failed" not in one
        ]
    ours, others = sorted(stored[True]), sorted(stored[False])
    searched = {
        name: one["sizes"]["1000"]["search_cpu_ms"]
        for name, one in found["cost"].items()
        if "search_cpu_ms" in one.get("sizes", {}).get("1000", {})
    }
    own = searched["Recollect, fast"]
    faster = ", ".join(f"{name} {took:g} ms" for name, took in searched.items() if took < own)
    mcp = {name: one["tool_tokens"] for name, one in found["mcp"].items() if "tool_tokens" in one}
    fewer = ", ".join(f"{name} {tokens:,}" for name, tokens in mcp.items() if tokens < mcp["Recollect"])
    return "\n".join([
        f"- **Storing.** A text takes Recollect {ours[0][0]:.0f} to {ours[-1][0]:.0f} ms of processor time, in which "
        "it also reads the text beside similar ones for contradictions and repetitions; the others take "
        f"{others[0][0]:.1f} to {others[-1][0]:.1f} ms.",
        f"- **Searching.** Among 1,000 memories our `fast` takes {own:g} ms; {faster}.",
        f"- **Tokens.** The descriptions of our tools take {mcp['Recollect']:,} tokens; {fewer}.",
        f"- **Size of a text.** 1 MB is kept and its end found by {_takes_large(found)}; Recollect refuses it.",
    ])  # fmt: skip


def _takes_large(found: dict[str, Any]) -> str:
    names = [
        name
        for name, told in found["safety"].items()
        if "end is found" in told.get("1 MB of text", {"said": ""})["said"]
    ]
    return ", ".join(names) or "None of the others"


def costs() -> str:
    rows = []
    for name, one in results("rivals")["cost"].items():
        if "failed" in one:
            rows.append([name, f"failed: {one['failed'][:120]}", *[""] * 5])
            continue
        for size, told in one["sizes"].items():
            if "left_out" in told:
                rows.append([name, f"{int(size):,}", told["left_out"], *[""] * 4])
                continue
            first = one.get("first_answer", {})
            is_last = first.get("memories") == int(size)
            rows.append([
                name, f"{int(size):,}", f"{told['add_cpu_ms']:.2f}", f"{told['search_cpu_ms']:.2f}",
                f"{told['rss_mb']:.0f}", f"{told['disk_bytes_each']:,}", f"{first['cpu_s']:.2f}" if is_last else "–",
            ])  # fmt: skip
    heads = "add, CPU ms|search, CPU ms|memory, MB|bytes a memory|start to first answer, CPU s"
    return _table(["", "memories", *heads.split("|")], rows)


def installs() -> str:
    """What is installed, and what an assistant waits for and reads."""
    found = results("rivals")
    shaken = found.get("mcp", {})
    rows = []
    for name in dict.fromkeys((*found.get("install", {}), *shaken)):
        size, one = found.get("install", {}).get(name, {}), shaken.get(name, {})
        row = [name, f"{size['mb']:,.0f}" if size else "–", str(size.get("packages", "–"))]
        if "failed" in one:
            row += [f"failed: {one['failed'][:100]}", "", "", ""]
        elif one:
            row += [f"{one['handshake_cpu_s']:.2f}", f"{one['handshake_wall_s']:.1f}", str(one["tools"]),
                    f"{one['tool_tokens']:,}"]  # fmt: skip
        else:
            row += ["no MCP server driven", "", "", ""]
        rows.append(row)
    heads = ["installed, MB", "packages", "handshake, CPU s", "wall s", "tools", "tokens of their descriptions"]
    return _table(["", *heads], rows)


def safety() -> str:
    found = results("rivals")["safety"]
    faults = list(found["Recollect, balanced"])
    none = {"good": None, "said": "not measured"}
    rows = []
    for name, told in found.items():
        verdicts = [told.get(fault, none) for fault in faults]
        rows.append([name, *(f"{MARKS[one['good']]} {_short(one['said'])}" for one in verdicts)])
    return _table(["", *faults], rows)


def _short(said: str, most: int = 110) -> str:
    said = " ".join(said.replace("|", "/").split())
    return said if len(said) <= most else f"{said[:most]}…"


def absent() -> str:
    found = results("rivals").get("unavailable", {})
    return "\n".join(f"- {name}: {' '.join(why.split())}" for name, why in found.items()) or "All of them ran."
