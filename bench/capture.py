"""Capture: how soon what was said is stored and found, and how many turns a CPU second takes in, by rules alone.

    python bench/capture.py [--turns 10000] [--events 100] [--quick]

*Lag*: a real daemon with the default model. Each event goes the way an assistant's goes: once over its socket as the
hook sends it, and for some of them through `recollect hook`, a process of its own. A turn is durable when the hook is
answered: at a stop that is all there is to do, at a prompt what bears on it is recalled first. It is readable when a
recall by words that occur nowhere else finds it, and learnt when what it says is a memory of its own. `recall` is how
long these questions took meanwhile.

*Throughput*: a transcript of so many turns, half of them from the dialogues of the golden set, which are full of things
to remember, and half from real transcripts, which are not, each with a number of its own, is taken in as `recollect
capture` does it: in one process without a model, and a tenth of it with one. Resident memory is read ten times.

Writes `bench/results/capture.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import recollect
from recollect.capture.transcripts import Talk
from recollect.entrypoints import link
from recollect.tap import files
from recollect.tap.backfill import Backfill, Wanted
from serve import memory_of, milliseconds, started
from speed import machine, say

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "capture.json"
DIALOGUES = HERE.parent / "tests" / "capture" / "dialogues.jsonl"
DATA = Path(os.environ.get("RECOLLECT_DATA") or HERE.parents[1] / "shared" / "data") / "transcripts"
DURABLE_BAR, READABLE_BAR, RATE_BAR, GROWTH_BAR = 50.0, 1000.0, 200.0, 0.10
SERVICES = ("billing", "search", "ledger", "catalogue", "gateway", "mailer", "indexer", "scheduler")


def talk(count: int, real: bool) -> list[tuple[str, str]]:
    """Turns by role: made-up and real ones over and over, each time about another service with another number."""
    told = [json.loads(line)["turns"] for line in DIALOGUES.read_text("utf-8").splitlines()]
    turns = [(turn["role"], turn["content"]) for one in told for turn in one]
    if real:
        turns += [(one.speaker, one.text) for path in files.find_files([DATA]) for _, one in files.said(path, Talk())]
    return [
        (role, f"{text} ({SERVICES[n // len(turns) % len(SERVICES)]} {n})")
        for n in range(count)
        for role, text in [turns[n % len(turns)]]
    ]


def transcript(path: Path, count: int, real: bool) -> None:
    with path.open("w", encoding="utf-8") as file:
        for n, (role, text) in enumerate(talk(count, real)):
            at = f"2026-03-{1 + n // 2000:02}T{n // 100 % 20:02}:{n % 60:02}:00Z"
            record = {"type": role, "uuid": f"u{n}", "sessionId": f"s{n // 50}", "cwd": "/nowhere/shop",
                      "timestamp": at, "message": {"role": role, "content": text}}  # fmt: skip
            file.write(json.dumps(record) + "\n")


def taken(path: Path, store: str, embedder: str) -> dict[str, Any]:
    """Take a transcript in, in this process: CPU seconds of all threads, and resident memory as it goes."""
    samples: list[float] = []
    with recollect.open(store, embedder=embedder) as engine:
        tap = Backfill(engine, Wanted())
        lines = path.read_text("utf-8").splitlines(keepends=True)
        part = path.with_name("part.jsonl")
        part.write_text("")
        wall, cpu = time.perf_counter(), time.process_time()
        for tenth in range(10):
            with part.open("a", encoding="utf-8") as file:
                file.writelines(lines[tenth * len(lines) // 10 : (tenth + 1) * len(lines) // 10])
            tap.run([part])
            samples.append(memory_of(os.getpid())["VmRSS"])
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        report = tap.report
    return {
        "turns": report.turns, "found": report.found, "cpu_s": round(cpu, 2), "wall_s": round(wall, 2),
        "turns_per_cpu_s": round(report.turns / cpu, 1), "rss_mb": samples,
        "growth": round(samples[-1] / samples[len(samples) // 3] - 1, 3),
    }  # fmt: skip


def throughput(whole: int, real: bool) -> dict[str, Any]:
    """Each in a process of its own, so that one does not inherit the other's memory."""
    found = {}
    for embedder, count in (("off", whole), ("default", whole // 10)):  # the model costs ten times as much
        say(f"taking in {count:,} turns, embedder {embedder}")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "talk.jsonl")
            transcript(path, count, real)
            code = f"import capture, json, pathlib; print(json.dumps(capture.taken(pathlib.Path({str(path)!r}), " \
                f"{folder + '/store.db'!r}, {embedder!r})))"  # fmt: skip
            environment = {**os.environ, "RECOLLECT_HOME": f"{folder}/home", "PYTHONPATH": str(HERE)}
            done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
            if done.returncode:
                raise SystemExit(done.stderr)
            found[embedder] = json.loads(done.stdout)
    return found


def lag(events: int) -> dict[str, Any]:
    """From the call of the hook to durable, readable and learnt, in milliseconds."""
    took: dict[str, list[float]] = {name: [] for name in ("stop", "prompt", "process", "readable", "learnt", "recall")}
    with tempfile.TemporaryDirectory() as home:
        daemon, _ = started(home, Path(home, "store.db"))
        say(f"{events} events through the hook")
        found = link.daemon(home)
        assert found is not None

        def hooked(told: dict[str, str], event: str, kind: str) -> None:
            began = time.perf_counter()
            if kind == "process":
                command = [sys.executable, "-m", "recollect", "hook", event, "--host", "claude", "--home", home]
                subprocess.run(command, input=json.dumps(told).encode(), check=True, stdout=subprocess.DEVNULL)
            else:
                envelope = {"id": os.urandom(8).hex(), "at": time.time(), "host": "claude", "event": event,
                            "input": told}  # fmt: skip
                found.request("POST", "/hook", json.dumps(envelope).encode(), timeout=60)
            took[kind].append((time.perf_counter() - began) * 1000)

        def asked(query: str, *kinds: str) -> bool:
            began = time.perf_counter()
            body = json.dumps({"query": query, "limit": 5, **({"kinds": list(kinds)} if kinds else {})}).encode()
            hits = found.request("POST", "/v1/recall", body, timeout=60).json()["hits"]
            took["recall"].append((time.perf_counter() - began) * 1000)
            return any(query in hit["memory"]["content"] for hit in hits)

        def until(query: str, began: float, *kinds: str) -> float:
            while not asked(query, *kinds):
                if time.perf_counter() - began > 60:
                    raise SystemExit(f"{query} was not found within a minute {kinds}")
                time.sleep(0.01)
            return (time.perf_counter() - began) * 1000

        try:
            for n in range(events):
                mark = f"zq{n}x{n * 7919 % 100_003}"
                told = {"session_id": f"s{n}", "cwd": f"/nowhere/shop{n}"}  # in one project they contradict
                prompt = f"We decided to use the queue {mark} for invoices, because the old one loses messages."
                own = n % 10 == 0  # through a process of its own
                began = time.perf_counter()
                hooked({**told, "prompt": prompt}, "UserPromptSubmit", "process" if own else "prompt")
                took["readable"].append(until(mark, began))
                took["learnt"].append(until(mark, began, "decision", "fact"))
                hooked({**told, "last_assistant_message": f"Queue {n} is there."}, "Stop", "stop")
            rss = memory_of(daemon.pid)
        finally:
            daemon.terminate()
            daemon.wait(60)
    return {name: milliseconds(values) for name, values in took.items()} | {"daemon_mb": rss}


def bars(found: dict[str, Any]) -> list[dict[str, Any]]:
    rules = found["throughput"]["off"]
    told = (
        ("durable after the hook's call, p95 ms", found["lag"]["stop"]["p95_ms"], DURABLE_BAR, "most"),
        ("readable, p95 ms", found["lag"]["readable"]["p95_ms"], READABLE_BAR, "most"),
        ("turns a CPU second, rules alone", rules["turns_per_cpu_s"], RATE_BAR, "least"),
        ("growth of resident memory over the last two thirds", rules["growth"], GROWTH_BAR, "most"),
    )
    return [
        {"what": what, "value": value, "bar": bar, "ok": value <= bar if side == "most" else value >= bar}
        for what, value, bar, side in told
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description="How soon and how fast what was said is taken in.")
    parser.add_argument("--turns", type=int, default=10_000)
    parser.add_argument("--events", type=int, default=100)
    parser.add_argument("--quick", action="store_true", help="60 turns, 3 events, no data, and nothing is written")
    given = parser.parse_args()
    if given.quick:
        given.turns, given.events = 60, 3
    found: dict[str, Any] = {"machine": machine(), "throughput": throughput(given.turns, not given.quick)}
    found["lag"] = lag(given.events)
    found["bars"] = bars(found)
    print(json.dumps({name: found[name] for name in ("lag", "throughput")}, indent=1))
    for one in found["bars"]:
        print(f"{'✓' if one['ok'] else '✗'} {one['what']}: {one['value']} (bar {one['bar']})")
    if not given.quick:
        RESULTS.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
