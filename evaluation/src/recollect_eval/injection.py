"""Injection: what the prompt hook puts before an assistant, judged against what a colleague would have handed over.

One line a store in `training/prompts/injection-AUTHOR.jsonl`: the memories of a project, and prompts with the ids of
the memories that are needed and of those that are useful. A prompt with neither must be met with silence. `filler` says
how many memories of other work are mixed in: notes and questions of the made-up projects in training/notes, and
functions of Python's standard library. Each prompt is the first of a session
of its own and goes through the hook itself.

`needed`: the share of needed memories that are injected. `useful`: the share of injected memories that are needed or
useful. `silent`: the share of prompts met with silence among those that should be. `tokens` is the largest injection.
"""

from __future__ import annotations

import ast
import json
import random
import re
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import recollect
from recollect import ids, times
from recollect.engine import Engine
from recollect.models.embedder import load as load_model
from recollect.models.tokens import Tokens
from recollect.ops import hooks
from recollect.types import Draft, Scope

from .cache import CachedEmbedder
from .provenance import provenance
from .relevance import PROMPTS, files
from .subject import Clock

NOTES = PROMPTS.parent / "notes"
TARGETS = {"needed": 0.85, "useful": 0.80, "silent": 0.95}
_ID = re.compile(r'<memory id="([0-9a-z]+)"')
Say = Callable[[str], None]


@dataclass(slots=True)
class Counts:
    """What was needed, injected and right, over some prompts."""

    prompts: int = 0
    needed: int = 0
    found: int = 0
    injected: int = 0
    right: int = 0
    quiet: int = 0
    silent: int = 0
    tokens: list[int] = field(default_factory=list)

    def add(self, told: dict[str, Any], injected: set[str], tokens: int) -> None:
        needed, useful = set(told["needed"]), set(told["needed"]) | set(told.get("useful", ()))
        self.prompts += 1
        self.needed += len(needed)
        self.found += len(needed & injected)
        self.injected += len(injected)
        self.right += len(useful & injected)
        if not useful:
            self.quiet += 1
            self.silent += not injected
        self.tokens.append(tokens)

    def figures(self) -> dict[str, float]:
        def share(part: int, whole: int) -> float:
            return round(part / whole, 4) if whole else 1.0

        return {
            "prompts": self.prompts, "needed": share(self.found, self.needed),
            "useful": share(self.right, self.injected), "silent": share(self.silent, self.quiet),
            "tokens": max(self.tokens, default=0),
        }  # fmt: skip


def run(cache: Path | None = None, say: Say | None = None, part: str = "all", every: int = 1) -> dict[str, Any]:
    """Ask every n-th prompt; `part` takes only those of `dev` or of `held` authors, of one author or of one store."""
    model = load_model("default")
    embedder = CachedEmbedder(model, cache) if cache else model
    rows: dict[str, Counts] = {}
    began = time.process_time()
    for path in files("injection"):
        author = path.stem.partition("-")[2]
        half = "held" if author.startswith("j") else "dev"
        for line in path.read_text("utf-8").splitlines():
            told = json.loads(line)
            if part not in ("all", half, author, told["store"]):
                continue
            told["prompts"] = told["prompts"][::every]
            if say:
                say(f"injection: {author}, {told['store']}, {len(told['memories']) + told['filler']} memories")
            names = ("all", half, author, f"filler {told['filler']}")
            for prompt, injected, tokens in _asked(told, embedder):
                for name in names:
                    rows.setdefault(name, Counts()).add(prompt, injected, tokens)
    spent = {"cpu_s": round(time.process_time() - began, 1)}
    figures = {name: counts.figures() for name, counts in rows.items()}
    return {"name": "injection", "figures": figures, "targets": TARGETS, "provenance": provenance(), "spent": spent}


def gate(found: dict[str, Any], baseline: dict[str, Any], drop: float = 0.02) -> list[str]:
    """What has become worse than the baseline over all prompts: by more than `drop`, and by more than one prompt."""
    now, then = found["figures"]["all"], baseline["figures"]["all"]
    if now["prompts"] != then["prompts"]:
        return [f"the baseline is of {then['prompts']} prompts, not {now['prompts']}; make it anew"]
    most = max(drop, 2 / now["prompts"])  # half of the prompts are to be met with silence
    lost = [f"{name} was {then[name]:.3f} and is {now[name]:.3f}" for name in TARGETS if now[name] < then[name] - most]
    return lost + ([f"tokens: {now['tokens']}"] if now["tokens"] > hooks.RECALLED else [])


def render(found: dict[str, Any]) -> str:
    heads = ("prompts", "needed", "useful", "silent", "tokens")
    lines = ["".ljust(14) + "".join(head.rjust(9) for head in heads)]
    for name, row in found["figures"].items():
        shown = (str(row[head]) if head in ("prompts", "tokens") else f"{100 * row[head]:.1f}" for head in heads)
        lines.append(name.ljust(14) + "".join(one.rjust(9) for one in shown))
    bars = ", ".join(f"{name} {100 * bar:.0f}" for name, bar in found["targets"].items())
    return "\n".join([*lines, f"targets: {bars}, at most {hooks.RECALLED} tokens"])


def _asked(told: dict[str, Any], embedder: Any) -> Iterator[tuple[dict[str, Any], set[str], int]]:
    now = times.aware(f"{told['now']}T09:00:00Z")
    where = Scope(project=told["project"])
    with tempfile.TemporaryDirectory(prefix="recollect-evaluate-") as folder:
        clock = Clock(now)
        with recollect.open(Path(folder) / "store.db", embedder=embedder, now=clock) as engine:
            keys = _fill(engine, clock, told, where, now)
            count = Tokens()
            for prompt in told["prompts"]:
                clock.moment = now
                given = hooks.prompted(engine, where, prompt["prompt"])
                yield prompt, {keys.get(id, id) for id in _ID.findall(given)}, count(given) if given else 0


def _fill(engine: Engine, clock: Clock, told: dict[str, Any], where: Scope, now: datetime) -> dict[str, str]:
    """Keep everything at its own time; gives the author's ids by the short ids of the store."""
    drafts = [
        (times.aware(f"{one['at']}T09:00:00Z"), one["id"], _draft(one, where)) for one in told["memories"]
    ] + [(moment, "", draft) for moment, draft in _filler(told["filler"], where, now)]  # fmt: skip
    keys: dict[str, str] = {}
    for moment, name, draft in sorted(drafts, key=lambda one: one[0]):
        clock.moment = min(moment, now)
        kept = engine.remember_many([draft])[0]
        if name:
            keys[ids.short(kept.id)] = name
    return keys


def _draft(told: dict[str, Any], where: Scope) -> Draft:
    talk = told["kind"] == "turn"
    scope = Scope(project=where.project, session=f"earlier-{told['id']}") if talk else where
    return Draft(
        told["text"], kind=told["kind"], title=told.get("title") or "", importance=told["importance"], scope=scope,
        speaker="user" if talk else "",
    )  # fmt: skip


def _filler(count: int, where: Scope, now: datetime) -> Iterator[tuple[datetime, Draft]]:
    """Memories of other work, the same ones each time: notes, what people asked about them, and code."""
    chance = random.Random(count)
    texts = [path.read_text("utf-8") for path in sorted(NOTES.glob("*.jsonl"))]
    lines = [json.loads(line) for text in texts for line in text.splitlines()]
    notes = [Draft(one["content"], kind=one["kind"], scope=where) for one in lines if "content" in one]
    asked = [one["question"] for one in lines if "question" in one]
    turns = [
        Draft(said, kind="turn", speaker="user", scope=Scope(project=where.project, session=f"other-{number // 9}"))
        for number, said in enumerate(asked)
    ]
    code = [Draft(said, kind="code", scope=where) for said in _functions()]
    for number in range(count):
        draft = chance.choice((notes, notes, turns, code)[number % 4])
        yield now - chance.random() * (now - times.aware("2023-11-01T09:00:00Z")), draft


def _functions() -> list[str]:
    """Functions of the standard library that say what they do."""
    found = []
    for name in ("argparse", "calendar", "configparser", "csv", "heapq", "mailbox", "shutil", "statistics", "tarfile"):
        tree = ast.parse((Path(sysconfig.get_path("stdlib")) / f"{name}.py").read_text("utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and (said := ast.get_docstring(node)):
                found.append(f"{name}.{node.name}: {said[:400]}")
    return found
