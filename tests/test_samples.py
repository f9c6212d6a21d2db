"""A sample of the relevance, injection and capture sets, held to a baseline: whoever causes a loss notices it.

Only authors are asked on whom things were chosen; those who judge are left alone. `recollect eval relevance`,
`recollect eval injection` and `recollect eval capture` ask everything. After a change that is meant,
`python tests/test_samples.py` makes the baselines anew; the commit says why.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from recollect.capture import extract
from recollect_eval import capture, capture_checks, injection, relevance
from recollect_eval import run as running
from recollect_eval.corpus import Benchmark
from recollect_eval.report import Report, gate, render
from recollect_eval.run import Options, run

BASELINES = Path(__file__).parents[1] / "bench" / "baselines"
AUTHORS, MAX_NOTES, EVERY = ("d3-", "d4-", "d5-"), 40, 6
MESSAGES = 8  # each so manieth of an author
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


@pytest.mark.fitted
@pytest.mark.parametrize("name", ["capture-part", "capture-part-perfect"])
def test_capture_keeps_as_much_of_a_strangers_messages_as_before(name: str) -> None:
    found = capture.run(None, "dev", perfect=name.endswith("perfect"), every=MESSAGES)
    assert capture.gate(found, json.loads((BASELINES / f"{name}.json").read_text("utf-8"))) == [], capture.render(found)


@pytest.mark.parametrize(
    ("content", "quote", "same"),
    [
        ("Deploy on Fridays.", "Never deploy on Fridays.", False),
        ("Deploy on Fridays.", "Deploy on Fridays unless Ana is away.", False),
        ("The port is 8081.", "No, the port is 8081.", True),
        ("Nous utilisons Kafka.", "Nous n'utilisons pas Kafka.", False),
        ("Deploy on Fridays.", "Don't forget that we deploy on Fridays.", True),
    ],
)
def test_a_wording_that_says_the_contrary_is_noticed(
    monkeypatch: pytest.MonkeyPatch, content: str, quote: str, same: bool
) -> None:
    monkeypatch.setattr(extract, "faithful", lambda shorter, _: shorter)  # which would mend it
    made = extract.Candidate(content, "fact", "model", quote, "user", "s")
    assert capture_checks.says_the_same(made) == same


def test_worse_capture_is_noticed() -> None:
    good = {"figures": {"all": {"useful": 0.8, "found": 0.5}}, "languages": {}, "meaning": {}}
    bad = {**good, "figures": {"all": {"useful": 0.7, "found": 0.5}}, "meaning": {"which": ["no -> yes"]}}
    assert capture.gate(good, good) == []
    assert capture.gate(bad, good) == ["useful was 0.8 and is 0.7", "no -> yes"]


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
    for name in ("capture-part", "capture-part-perfect"):
        found = capture.run(None, "dev", perfect=name.endswith("perfect"), every=MESSAGES)
        short = {
            key: found[key] for key in ("part", "extractor", "figures", "languages", "date", "commit") if key in found
        }
        (BASELINES / f"{name}.json").write_text(json.dumps(short, indent=1) + "\n", "utf-8")
    (BASELINES / "injection-part.json").write_text(json.dumps(injection_now(), indent=1) + "\n", "utf-8")
