"""Retrieval: each rival keeps the same texts and is asked the same questions; each list it gives back is judged alike.

What fits into so many tokens is taken from the top of the list, passing over what is too large; a text costs the same
whoever returns it. A rival's own token budget is not used.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from contract import Options
from environments import Rival
from processes import Process
from recollect_eval import metrics
from recollect_eval.report import Figure
from workloads import Store, Workload, batches

LIMIT = 50
BATCH = 64
BUDGETS = (256, 512, 1024)


def measure(rival: Rival, options: Options, workload: Workload, folder: Path) -> dict[str, Any]:
    values: dict[str, list[float]] = {}
    spent = {"add": 0.0, "search": 0.0, "wall": time.monotonic()}
    count = 0
    for number, store in enumerate(workload.stores):
        with Process(rival, folder / f"{workload.name}-{number}", options) as process:
            count += len(store.items)
            _one(process, store, values, spent)
    asked = len(values["recall@10"])
    return {
        **{name: Figure.of(found).as_dict() for name, found in values.items()},
        "questions": asked, "items": count, "data": workload.hash,
        "add_cpu_ms": round(1000 * spent["add"] / count, 3), "search_cpu_ms": round(1000 * spent["search"] / asked, 3),
        "wall_s": round(time.monotonic() - spent["wall"], 1),
    }  # fmt: skip


def _one(process: Process, store: Store, values: dict[str, list[float]], spent: dict[str, float]) -> None:
    before = process.cpu()
    for some in batches(store.items, BATCH):
        process.add(some)
    spent["add"] += process.cpu() - before
    before = process.cpu()
    for question in store.questions:
        found = process.search(question.text, LIMIT)
        ranked = list(dict.fromkeys(one["key"] for one in found if one["key"] in store.costs))
        for name, value in scores(ranked, question.right, store.costs).items():
            values.setdefault(name, []).append(value)
    spent["search"] += process.cpu() - before


def scores(ranked: list[str], right: frozenset[str], costs: dict[str, int]) -> dict[str, float]:
    found = {f"recall@{k}": metrics.recall(ranked, right, k) for k in (5, 10)}
    found["nDCG@10"] = metrics.ndcg(ranked, dict.fromkeys(right, 1.0), 10)
    for budget in BUDGETS:
        taken = metrics.fitting(ranked, costs, budget)
        found[f"evidence@{budget}"] = metrics.recall(taken, right, len(taken))
    return found
