"""A change of the embedding model under load: 10,000 memories, a daemon killed twice in the middle, asked all along.

    python bench/switch.py --minilm DIR [--size 10000] [--cases sqlite postgres remote] [--data DIR]
    python bench/switch.py --quick

A store is filled with the turns of LoCoMo, whose questions have known evidence, and texts of `bench/corpus.py`, with
the packaged model. Then a real daemon is started with another one: the model in the folder, on a file and on
PostgreSQL, or one behind an OpenAI-compatible server of ours, which embeds with the model of the folder and has no time
for one request in eight (429). The daemon is killed (SIGKILL) after a third and after two thirds of the vectors, and
started again.

Meanwhile one process asks every question of a set again and again, of an engine of its own that has the new model and
of one that has none (words alone), another asks the daemon, and a third writes, by itself and through the daemon. A
pass over the set is one measurement of quality (recall@10 of the evidence) beside that of words alone over the same
memories. What fails is counted; that the daemon is away between being killed and being started is not, if whoever asks
again is answered. Writes `bench/results/switch.json`; `--quick`, with
the notes of `training/notes` on a file and no data, does not, and does not judge how good the answers are.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import cycle
from pathlib import Path
from typing import Any

import corpus as texts
import recollect
import stores
from recollect.entrypoints import link
from recollect.models.embedder import load
from recollect.store import open_store
from recollect.store.contract import Store
from recollect.store.copy import copy
from recollect.types import Draft
from recollect_eval import locomo
from recollect_eval.metrics import recall
from serve import processor, until
from speed import machine, say

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "tests"), str(HERE.parent / "training")]
import notes  # noqa: E402
import postgres  # noqa: E402
from providers import KEY, Asked, Reply, Server  # noqa: E402

RESULTS = HERE / "results" / "switch.json"
TENANT, ASKED, BUSY = "default", 120, 8
KILLED_AT = (1 / 3, 2 / 3)
spawned = multiprocessing.get_context("spawn")


@dataclass(frozen=True)
class Place:
    """What the processes of one case share: the store, the folder of their notes, the new model, what is asked."""

    store: str
    folder: Path
    embedder: str
    questions: list[tuple[str, list[str]]]  # a question and the ids of its evidence
    texts: list[str]

    def phase(self) -> str:
        return (self.folder / "phase").read_text()

    def enter(self, phase: str) -> None:
        (self.folder / "phase.new").write_text(phase)
        (self.folder / "phase.new").replace(self.folder / "phase")

    def over(self) -> bool:
        return self.phase() == "over"

    def home(self) -> str:
        return str(self.folder / "home")


class Busy(Server):
    """The double of a paid provider: real vectors of a real model, and no time for one request in eight."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._model, self._turn, self.refused = load(str(folder)), 0, 0
        self._taking = threading.Lock()

    def right(self, asked: Asked) -> Reply:
        with self._taking:
            self._turn += 1
            busy = self._turn % BUSY == 0
            self.refused += busy
        if busy:
            return Reply(429, {"error": {"message": "Rate limit reached", "type": "requests"}}, {"Retry-After": "1"})
        return super().right(asked)

    def _vectors(self, texts: list[str], size: int, model: str) -> list[list[float]]:
        return [[float(value) for value in row] for row in self._model.embed(texts, "document")]


def filled(path: Path, asked: argparse.Namespace, said: list[str]) -> list[tuple[str, list[str]]]:
    """A store with turns and texts and the vectors of the packaged model; the questions about the turns."""
    corpora = [*notes.corpora("a")][:1] if asked.quick else locomo.load(texts.place(asked.data)).corpora
    items = [item for one in corpora for item in one.items]
    drafts = [item.draft for item in items]
    known = {draft.content for draft in drafts}
    fill = [Draft(text) for text in said if text.partition(": ")[2] not in known]
    with recollect.open(path, embedder="default", actor="bench") as memory:
        kept = memory.remember_many([*drafts, *fill[: max(0, asked.size - len(drafts))]])
    ids = {item.key: one.memory.id for item, one in zip(items, kept[: len(items)], strict=True) if one.memory}
    sure = [question for one in corpora for question in one.questions if question.right]
    sure = [question for question in sure if "adversarial" not in question.slices]
    chosen = random.Random(texts.SEED).sample(sure, 10 if asked.quick else ASKED)
    return [(question.text, [ids[key] for key in sorted(question.right)]) for question in chosen]


# -- other processes ---------------------------------------------------------------------------------------------------


def asking(place: Place) -> None:
    """Ask everything again and again; each line of the notes is one pass."""
    engines = {
        name: recollect.open(place.store, embedder=embedder, actor="asker")
        for name, embedder in (("model", place.embedder), ("words", "off"))
    }
    engines["model"].warm().join()
    with (place.folder / "passes.jsonl").open("a", buffering=1) as notes:
        while not place.over():
            told: dict[str, Any] = {"phase": place.phase(), "failed": [], "asked": 0, "arms": {}}
            told["vectors"] = engines["words"].stats()["embedded"]
            scores: dict[str, list[float]] = {name: [] for name in engines}
            for question, right in place.questions:
                for name, engine in engines.items():
                    told["asked"] += 1
                    try:
                        found = engine.recall(question, limit=10)
                    except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
                        told["failed"].append(f"{name}: {error!r}"[:300])
                        scores[name].append(0.0)
                        continue
                    scores[name].append(recall([hit.memory.id for hit in found], frozenset(right), 10))
                    if name == "model":
                        arms = "+".join(sorted(found.arms))
                        told["arms"][arms] = told["arms"].get(arms, 0) + 1
            told |= {name: round(sum(each) / len(each), 4) for name, each in scores.items()}
            notes.write(json.dumps(told | {"until": place.phase()}) + "\n")
    for engine in engines.values():
        engine.close()


def asking_the_daemon(place: Place) -> None:
    """Ask the daemon, which is killed and started meanwhile; each line of the notes is one question."""
    with (place.folder / "daemon.jsonl").open("a", buffering=1) as notes:
        for question, _ in cycle(place.questions):
            if place.over():
                break
            if place.phase() != "before":
                told: dict[str, Any] = {"failed": [], "away": 0, "asked": 0}
                _through(place, told, "/v1/recall", {"query": question})
                notes.write(json.dumps(told) + "\n")
            time.sleep(0.2)


def writing(place: Place) -> None:
    """Write something new several times a second; each line of the notes is what was acknowledged, or what failed."""
    engine = recollect.open(place.store, embedder=place.embedder, actor="writer")
    with (place.folder / "writes.jsonl").open("a", buffering=1) as notes:
        for number, text in enumerate(place.texts):
            if place.over():
                break
            content = f"Note {number}: {text}"
            told: dict[str, Any] = {"failed": [], "away": 0, "asked": 0}
            if number % 2 and place.phase() != "before":
                answer = _through(place, told, "/v1/memories", {"content": content})
                told["id"] = answer and answer["memory"]["id"]
            else:
                try:
                    told["id"] = getattr(engine.remember(content).memory, "id", "")
                except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
                    told["failed"].append(f"remember: {error!r}"[:300])
            notes.write(json.dumps(told | {"content": content}) + "\n")
            time.sleep(0.2)
    engine.close()


def _through(place: Place, told: dict[str, Any], path: str, body: dict[str, Any]) -> Any:
    """Ask the daemon, again as long as it is away."""
    told["asked"] += 1
    while not place.over():
        found = link.daemon(place.home())
        try:
            if found is not None:
                answer = found.request("POST", path, json.dumps(body).encode(), timeout=60)
                if answer.status in (200, 201):
                    return answer.json()
                told["failed"].append(f"{path}: {answer.status} {answer.body[:200]!r}")
                return None
        except (OSError, ValueError) as error:  # killed while it answered
            told["away"] += 1
            told.setdefault("broken_off", []).append(repr(error)[:100])
        else:
            told["away"] += 1
        time.sleep(0.1)
    return None


# -- one case ----------------------------------------------------------------------------------------------------------


def daemon(place: Place) -> subprocess.Popen[bytes]:
    environment = {
        "RECOLLECT_HOME": place.home(), "RECOLLECT_EMBEDDER": place.embedder, "RECOLLECT_JANITOR_HOURS": "0",
    }  # fmt: skip
    return subprocess.Popen(
        [sys.executable, "-m", "recollect", "--store", place.store, "serve", "--port", "0"],
        stdout=subprocess.DEVNULL, stderr=(place.folder / "daemon.log").open("ab"), env={**os.environ, **environment},
    )  # fmt: skip


def measure(place: Place, new: str) -> dict[str, Any]:
    """The change of model from its begin to its end."""
    store = open_store(place.store, 60, datetime.now(UTC))
    before = store.stats(TENANT)["embedded"]
    place.enter("before")
    others = [spawned.Process(target=work, args=(place,)) for work in (asking, asking_the_daemon, writing)]
    for other in others:
        other.start()
    try:
        until(lambda: _notes(place, "passes"), 300)
        found = lives(place, store, new)
        for other in others:
            other.join(120)
    finally:
        store.close()
        for other in others:
            if other.is_alive():
                other.kill()
    return found | {"before": before} | _told(place) | _end(place, new)


def lives(place: Place, store: Store, new: str) -> dict[str, Any]:
    """Three daemons one after the other, of which two are killed, until everything is done and was asked once more."""
    spent, kills, began = 0.0, [], time.perf_counter()
    for life in range(len(KILLED_AT) + 1):

        def came(life: int = life) -> Any:
            counts = store.stats(TENANT)
            done, total = counts["embedded"].get(new, 0), counts["memories"]
            if life < len(KILLED_AT):
                return counts if done >= KILLED_AT[life] * total else None
            return counts if set(counts["embedded"]) == {new} and done >= total else None

        process = daemon(place)
        try:
            place.enter(f"life {life + 1}")
            counts = until(came, 1500)
            if life < len(KILLED_AT):
                kills.append(counts["embedded"])
                say(f"killed at {counts['embedded']}")
            else:
                took = time.perf_counter() - began
                place.enter("after")
                until(lambda: sum(one["phase"] == "after" for one in _notes(place, "passes")) >= 2, 600)
                place.enter("over")
            spent += processor(process.pid)
        finally:
            process.kill()
            process.wait()
    return {"seconds": round(took, 1), "daemon_cpu_s": round(spent, 1), "killed_at": kills}


def _notes(place: Place, name: str) -> list[dict[str, Any]]:
    path = place.folder / f"{name}.jsonl"
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    return [json.loads(line) for line in lines if line.endswith("\n")]


def _told(place: Place) -> dict[str, Any]:
    """What was asked and written, and how good the answers were in each phase."""
    passes, daemons, writes = (_notes(place, name) for name in ("passes", "daemon", "writes"))
    phases: dict[str, Any] = {}
    for one in passes:
        phase = one["phase"] if one["phase"] == one["until"] else f"{one['phase']} to {one['until']}"
        told = phases.setdefault(phase, {"passes": 0, "model": [], "words": [], "margin": [], "by": 0})
        told["by"] += sum(count for arms, count in one["arms"].items() if "vector" in arms)
        told["passes"] += 1
        told["model"].append(one["model"])
        told["words"].append(one["words"])
        told["margin"].append(one["model"] - one["words"])
    return {
        "recalls": sum(one["asked"] for one in passes),
        "recalls_of_the_daemon": sum(one["asked"] for one in daemons),
        "failed": [words for one in (*passes, *daemons) for words in one["failed"]],
        "asked_again": sum(one["away"] > 0 for one in (*daemons, *writes)),
        "failed_writes": [words for one in writes for words in one["failed"]],
        "phases": {
            name: {
                "passes": one["passes"],
                "recall@10": round(sum(one["model"]) / one["passes"], 4),
                "lowest": min(one["model"]),
                "words alone": round(sum(one["words"]) / one["passes"], 4),
                "lowest margin": round(min(one["margin"]), 4),
                "by vectors too": round(one["by"] / (one["passes"] * len(place.questions)), 3),
            }
            for name, one in phases.items()
        },
    }


def _end(place: Place, new: str) -> dict[str, Any]:
    """Whether everything is there, and nothing of the old model."""
    writes = [one for one in _notes(place, "writes") if one.get("id")]
    with recollect.open(place.store, embedder="off") as memory:
        lost = [one["id"] for one in writes if memory.get(one["id"], peek=True).content != one["content"]]
        counts = memory.stats()
    with closing(open_store(place.store, 30, datetime.now(UTC))) as store:
        without = len(store.unembedded(TENANT, new, 1000))
    return {
        "written": len(writes), "lost": len(lost), "memories": counts["memories"], "embedded": counts["embedded"],
        "without_vector": without,
    }  # fmt: skip


def faults(found: dict[str, Any], new: str, quick: bool) -> list[str]:
    margins = {name: one["lowest margin"] for name, one in found["phases"].items()}
    rows = [
        ("a recall failed", bool(found["failed"])),
        ("a write failed or is lost", bool(found["failed_writes"]) or found["lost"] > 0),
        ("a pass was below words alone", min(margins.values()) < 0 and not quick),
        ("a vector is missing, or an old one is left", set(found["embedded"]) != {new} or found["without_vector"] > 0),
        ("it was not killed twice in the middle", len(found["killed_at"]) != len(KILLED_AT)),
    ]
    return [what for what, is_so in rows if is_so]


@contextmanager
def copied(case: str, made: Path, folder: Path) -> Iterator[str]:
    """The filled store once more: a file, or a database of our own."""
    if case != "postgres":
        yield str(stores.copy(made, folder / "store.db"))
        return
    watch = postgres.prepare()
    try:
        url = postgres.shared().create()
        both = [open_store(where, 30, datetime.now(UTC)) for where in (made, url)]
        copy(both[0], both[1])
        for store in both:
            store.close()
        yield url
    finally:
        postgres.finish(watch)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minilm", type=Path, help="folder of the other model, see bench/README.md")
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--cases", nargs="+", default=["sqlite", "postgres", "remote"])
    parser.add_argument("--data", help="folder of the data (default: $RECOLLECT_DATA or ../shared/data)")
    parser.add_argument("--quick", action="store_true", help="notes on a file, to hashed vectors, nothing is written")
    asked = parser.parse_args()
    if asked.quick:
        asked.minilm, asked.size, asked.cases = Path("hashing"), 60, ["sqlite"]
    elif asked.minilm is None:
        parser.error("--minilm is needed, unless it is --quick")
    report: dict[str, Any] = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {"cases": {}}
    wrong: list[str] = []
    here = machine()
    with tempfile.TemporaryDirectory(prefix="recollect-switch-") as folder:
        os.environ["RECOLLECT_HOME"] = str(Path(folder, "home"))  # no setting of this machine's user counts
        made = Path(folder, "made.db")
        said = texts.chosen(asked.quick, asked.data, 600, 0).texts
        questions = filled(made, asked, said)
        for case in asked.cases:
            own = Path(folder, case)
            own.mkdir()
            with copied(case, made, own) as store, Busy(asked.minilm) as server:
                embedder = str(asked.minilm)
                if case == "remote":
                    os.environ |= {
                        "OPENAI_API_KEY": KEY,
                        "RECOLLECT_BUDGET_DAY": "100",
                        "RECOLLECT_BUDGET_MONTH": "100",
                    }
                    embedder = f"http://{server.host}/v1?model=minilm-served&key=OPENAI_API_KEY"
                new = load(embedder).model
                say(f"{case}: {asked.size:,} memories to {new}")
                found = measure(Place(store, own, embedder, questions, said[-20_000:]), new)
                found |= {"model": new, "refused": server.refused, "machine": here}
                found["faults"] = faults(found, new, asked.quick)
            wrong += [f"{case}: {what}" for what in found["faults"]]
            say(json.dumps({name: value for name, value in found.items() if name != "machine"}))
            if asked.size >= 10_000 and not asked.quick:
                report["cases"][case] = found
                RESULTS.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", "utf-8")
    if wrong:
        raise SystemExit("\n".join(wrong))


if __name__ == "__main__":
    main()
