"""Fit which lines of a turn were typed and which were pasted, and write src/recollect/capture/lines.json.

    python training/fit_lines.py --data DIR [--check]

DIR holds `talk/` (../shared/data beside a checkout). The first model needs no labels: short messages without code are
what people type; the output of tools and the code blocks of assistants are what people paste. The second model, which
looks at the neighbours of a line, learns from the turns that people read (training/talk/train.jsonl). `--check` prints
how well each repository is told by models that have not seen it. `recollect eval capture` measures the shipped
model on repositories that were kept back.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import json
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from recollect.capture import lines
from recollect.vectors import Floats
from recollect_eval.capture import marked, shown

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "src" / "recollect" / "capture" / "lines.json"
MAX_TYPED, MAX_PASTED = 500, 1200  # of one repository, so that none decides for all
# Repositories whose turns are read by people to judge capture: never used here.
JUDGED = (
    "daviswhitehead+chef-chopsky EntityProcess+agentv IngoS11+EmailBuddy PackmindHub+context-evaluator"
    " hpm27+agente-bsc-rag Firedogs2x+Houdoku-2 BenjaminScholtens+Afterburn Excellencedev+yin-minecraft-mod"
    " barbarachbc+esphome-workshop"
).split()
Blocks = dict[str, list[list[str]]]


def read(folder: Path) -> tuple[Blocks, Blocks]:
    """Typed messages and pasted blocks, by repository."""
    typed: Blocks = defaultdict(list)
    pasted: Blocks = defaultdict(list)
    for path in sorted(folder.glob("*.jsonl.gz")):
        repo = path.name.removesuffix(".jsonl.gz")
        if repo in JUDGED:
            continue
        for turn in turns_of(path):
            said = [one[:400] for one in turn["text"].split("\n")]
            if turn["role"] == "user":
                body = [one for one in said if one.strip()]
                if 1 <= len(body) <= 3 and len(turn["text"]) < 500 and "```" not in turn["text"]:
                    typed[repo].append(said)
            elif turn["role"] == "tool" and len(said) > 1:
                pasted[repo].append(said)
            else:
                pasted[repo] += fenced(said)
    return typed, pasted


def fenced(said: Sequence[str]) -> Iterator[list[str]]:
    held: list[str] | None = None
    for line in said:
        if line.lstrip().startswith("```"):
            if held and len(held) > 1:
                yield held
            held = [] if held is None else None
        elif held is not None:
            held.append(line)


def matrix(said: Sequence[str]) -> csr_matrix:
    rows = [lines.features(line) for line in said]
    ends = np.cumsum([0, *map(len, rows)])
    return csr_matrix((np.ones(ends[-1]), np.concatenate(rows), ends), (len(rows), lines.BUCKETS))


def fit_lines(typed: Blocks, pasted: Blocks, rng: random.Random) -> tuple[Floats, float]:
    said, labels = [], []
    for repo in typed:
        for block in rng.sample(typed[repo], min(MAX_TYPED, len(typed[repo]))):
            said += [line for line in block if line.strip()]
    labels = [1] * len(said)
    for repo in pasted:
        for block in rng.sample(pasted[repo], min(MAX_PASTED, len(pasted[repo]))):
            said += [line for line in rng.sample(block, min(4, len(block))) if line.strip()]
    labels += [0] * (len(said) - len(labels))
    model = LogisticRegression(C=0.05, max_iter=300, class_weight="balanced").fit(matrix(said), labels)
    return model.coef_[0].astype(np.float32), float(model.intercept_[0])


def turns_of(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def labelled(folder: Path, table: tuple[Floats, float]) -> Iterator[tuple[str, Floats, list[bool]]]:
    """The turns that people read: the repository, a row for each line, and whether it was typed."""
    setattr(lines, "_weights", lambda: (*table, np.zeros(20, np.float32), 0.0))  # noqa: B010 - a cached function
    for turn in marked(folder, "train"):
        said = lines.without_marked(turn.text)
        places, rows = lines.context_rows(said)
        visible = [k for k, place in enumerate(places) if shown(place, len(said))]
        if visible:
            yield turn.group, rows[visible], [places[k] not in turn.pasted for k in visible]


def fit_context(found: Sequence[tuple[str, Floats, list[bool]]]) -> tuple[Floats, float]:
    table = np.concatenate([rows for _, rows, _ in found])
    wanted = np.concatenate([typed for _, _, typed in found])
    counts = np.concatenate([np.full(len(rows), len(rows) ** -0.5) for _, rows, _ in found])  # a long log is one paste
    mean, spread = table.mean(axis=0), table.std(axis=0) + 1e-6
    model = LogisticRegression(max_iter=500).fit((table - mean) / spread, wanted, sample_weight=counts)
    weights = model.coef_[0] / spread
    return weights.astype(np.float32), float(model.intercept_[0] - (weights * mean).sum())


def fit(folder: Path, without: str = "") -> tuple[dict[str, object], list[tuple[str, Floats, list[bool]]]]:
    """What is written to the file, and the labelled turns; `without` is a repository that is left out."""
    typed, pasted = read(folder)
    for found in (typed, pasted):
        found.pop(without, None)
    table, bias = fit_lines(typed, pasted, random.Random(1))
    step = float(np.abs(table).max() / 127)
    packed = np.round(table / step).astype(np.int8)
    turns = list(labelled(folder, (packed.astype(np.float32) * np.float32(step), bias)))
    context, context_bias = fit_context([turn for turn in turns if turn[0] != without])
    told = {
        "script": "training/fit_lines.py", "fitted_on": "talk: sessions of permissively licensed repositories",
        "step": round(step, 8), "bias": round(bias, 5), "context": [round(float(one), 5) for one in context],
        "context_bias": round(context_bias, 5), "table": base64.b64encode(packed.tobytes()).decode(),
    }  # fmt: skip
    return told, turns


def check(folder: Path) -> None:
    """How well the lines of each repository are told by models that have seen nothing of it."""
    total: list[bool] = []
    for repo in sorted(path.name.removesuffix(".jsonl.gz") for path in folder.glob("*.jsonl.gz")):
        if repo in JUDGED:
            continue
        told, turns = fit(folder, repo)
        context, bias = np.array(told["context"], np.float32), float(str(told["context_bias"]))
        own = [(rows @ context + bias > 0, typed) for name, rows, typed in turns if name == repo]
        right = [bool(a == b) for z, typed in own for a, b in zip(z, typed, strict=True)]
        total += right
        if right:
            print(f"{repo:40} {len(right):5} lines, right {np.mean(right):.3f}")
    print(f"{'all':40} {len(total):5} lines, right {np.mean(total):.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    if given.check:
        check(given.data / "talk")
    else:
        TARGET.write_text(json.dumps(fit(given.data / "talk")[0]) + "\n", "utf-8")
