"""A sample of the relevance and injection sets, held to a baseline, so that a loss is noticed by whoever causes it.

Only authors are asked on whom things were chosen; those who judge are left alone. `recollect eval relevance` and
`recollect eval injection` ask everything. After a change that is meant, `python tests/test_samples.py` makes the
baselines anew; the commit says why.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from recollect_eval import injection, relevance
from recollect_eval import run as running
from recollect_eval.corpus import Benchmark
from recollect_eval.report import Report, gate, render
from recollect_eval.run import Options, run

BASELINES = Path(__file__).parents[1] / "bench" / "baselines"
AUTHORS, MAX_NOTES, EVERY = ("d3-", "d4-", "d5-"), 40, 6
STORES = ("sepsis-ward-model", "tideflow-solver")


def sample(_: Path | None = None) -> Benchmark:
    whole = relevance.load()
    kept = (one for one in whole.corpora if one.name.startswith(AUTHORS) and len(one.items) <= MAX_NOTES)
    return replace(whole, corpora=tuple(kept))


def relevance_now() -> Report:
    return run("relevance", options=Options(controls=False, curve=False, part="dev", every=EVERY))


def injection_now() -> dict[str, Any]:
    """The stores as one: their figures weighed by their prompts."""
    found = [injection.run(part=store, every=3) for store in STORES]
    rows = [one["figures"]["all"] for one in found]
    asked = sum(row["prompts"] for row in rows)
    whole = {name: round(sum(row[name] * row["prompts"] for row in rows) / asked, 4) for name in injection.TARGETS}
    return {"figures": {"all": {**whole, "prompts": asked, "tokens": max(row["tokens"] for row in rows)}}}


def test_recall_knows_as_well_as_before_when_nothing_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(running.LOADERS, "relevance", sample)
    report = relevance_now()
    assert gate(report, json.loads((BASELINES / "relevance-part.json").read_text("utf-8"))) == [], render(report, 110)


def test_the_prompt_hook_hands_over_as_much_as_before() -> None:
    found = injection_now()
    baseline = json.loads((BASELINES / "injection-part.json").read_text("utf-8"))
    assert injection.gate(found, baseline) == [], found


def test_a_worse_hook_is_noticed() -> None:
    good = {"figures": {"all": {"prompts": 50, "needed": 0.9, "useful": 0.8, "silent": 0.95, "tokens": 300}}}
    bad = {"figures": {"all": {**good["figures"]["all"], "needed": 0.8, "tokens": 900}}}
    assert injection.gate(good, good) == []
    assert injection.gate(bad, good) == ["needed was 0.900 and is 0.800", "tokens: 900"]


if __name__ == "__main__":
    running.LOADERS["relevance"] = sample
    told = relevance_now().as_dict()
    told["figures"] = {name: {"all": rows["all"]} for name, rows in told["figures"].items()}
    short = {key: told[key] for key in ("name", "headline", "settings", "provenance", "spent", "figures")}
    (BASELINES / "relevance-part.json").write_text(json.dumps(short, indent=1) + "\n", "utf-8")
    (BASELINES / "injection-part.json").write_text(json.dumps(injection_now(), indent=1) + "\n", "utf-8")
