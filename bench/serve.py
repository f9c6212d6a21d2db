"""The daemon under load: memory at rest with the model and 100,000 memories, and many clients writing and asking.

    python bench/serve.py [--store FILE] [--data DIR] [--clients 32] [--seconds 60] [--quick]

A real daemon is started on a copy of the benchmark's store (or of the store that is named), in a home of its own.
Clients speak HTTP over its Unix socket, each in a thread of its own, spread over a few processes so that they do not
wait for each other's interpreter; one request in four is a write of something new, the others are questions. Afterwards
the daemon is stopped, and every write that was acknowledged is looked for in the store. Wall times are of this machine
with clients and daemon on the same cores. Prints a table and writes `bench/results/serve.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import corpus as data
import recollect
import stores
from recollect.entrypoints import link
from recollect.models.embedder import load
from speed import machine, say
from timing import quantile

RESULTS = data.HERE / "results" / "serve.json"
IDLE_BAR = 450.0  # megabytes
GROWTH_BAR = 0.10  # of the memory after warming up, over the rest of the run
PROCESSES = 4
WRITE_EVERY = 4
QUICK = 100
REST = 15.0  # seconds; threads that served are let go after ten


@dataclass(slots=True)
class Tally:
    """What one client did: milliseconds of each kind of request, what was acknowledged, what went wrong."""

    recall: list[float] = field(default_factory=list)
    remember: list[float] = field(default_factory=list)
    kept: list[tuple[str, str]] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


def client(home: str, number: int, questions: list[str], texts: list[str], deadline: float) -> Tally:
    """Ask and write until the time is up, as fast as answers come."""
    found, tally, turn = link.daemon(home), Tally(), 0
    if found is None:
        tally.wrong.append("no daemon")
        return tally
    while time.time() < deadline:
        turn += 1
        writes = (turn + number) % WRITE_EVERY == 0
        if writes:
            content = f"Client {number}, note {turn}: {texts[(number * 7919 + turn) % len(texts)]}"
            path, body = "/v1/memories", {"content": content}
        else:
            path, body = "/v1/recall", {"query": questions[(number * 31 + turn) % len(questions)]}
        began = time.perf_counter()
        try:
            answer = found.request("POST", path, json.dumps(body).encode(), timeout=60)
        except OSError as error:
            tally.wrong.append(f"{path}: {error!r}")
            continue
        (tally.remember if writes else tally.recall).append((time.perf_counter() - began) * 1000)
        if answer.status not in (200, 201):
            tally.wrong.append(f"{path}: {answer.status} {answer.body[:200]!r}")
        elif writes:
            told = answer.json()
            tally.kept.append((told["memory"]["id"], content))
    return tally


def clients(home: str, numbers: list[int], questions: list[str], texts: list[str], deadline: float) -> list[Tally]:
    with ThreadPoolExecutor(len(numbers)) as pool:
        return list(pool.map(lambda number: client(home, number, questions, texts, deadline), numbers))


def memory_of(pid: int) -> dict[str, float]:
    """Megabytes: everything resident, its own, and its fair share of what is mapped more than once."""
    lines = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":" in line)
    found = {name: int(lines[name].split()[0]) * 1024 / 1e6 for name in ("VmRSS", "RssAnon", "VmHWM")}
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    found["Pss"] = next(int(line.split()[1]) * 1024 / 1e6 for line in rollup if line.startswith("Pss:"))
    return {name: round(value, 1) for name, value in found.items()}


def processor(pid: int) -> float:
    """CPU seconds of a process so far."""
    parts = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")


def priority() -> int:
    """How far the scheduler prefers this session to others (0 is not at all): wall times mean nothing without it."""
    group = Path("/proc/self/autogroup")
    return min(os.nice(0), int(group.read_text().split()[-1]) if group.exists() else 0)


def milliseconds(values: list[float]) -> dict[str, float]:
    shares = {"p50_ms": 0.5, "p95_ms": 0.95, "p99_ms": 0.99}
    return {"count": len(values)} | {name: round(quantile(values, share), 1) for name, share in shares.items()}


def until(true: Callable[[], Any], seconds: float = 120.0) -> Any:
    deadline = time.monotonic() + seconds
    while not (found := true()):
        if time.monotonic() > deadline:
            raise SystemExit("The daemon did not come so far in time; see its log.")
        time.sleep(0.005)
    return found


def status(home: str) -> dict[str, Any]:
    found = link.daemon(home)
    told: dict[str, Any] = found.request("GET", "/daemon/status", timeout=30).json() if found else {}
    return told


def started(home: str, store: Path) -> tuple[subprocess.Popen[bytes], dict[str, Any]]:
    """The daemon, and how long until it answers, finds by words, and finds by meaning."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "recollect", "--store", str(store), "serve", "--port", "0"],
        stdout=subprocess.DEVNULL, env={**os.environ, "RECOLLECT_HOME": home},
    )  # fmt: skip
    found = until(lambda: link.daemon(home))
    marks = {"answers_s": time.perf_counter() - began}
    first = found.request("POST", "/v1/recall", b'{"query": "how is the build cache set up?"}', timeout=60).json()
    marks["first_recall_s"] = time.perf_counter() - began
    until(lambda: status(home).get("model"))
    marks["model_s"] = time.perf_counter() - began
    told = {name: round(value, 2) for name, value in marks.items()}
    return process, {**told, "first_hits": len(first["hits"]), "first_skipped": first["skipped"]}


def loaded(home: str, pid: int, corpus: data.Corpus, count: int, seconds: float) -> dict[str, Any]:
    """Many clients at once, and the daemon's memory while they are at it."""
    deadline, spent = time.time() + seconds, processor(pid)
    shares = [list(range(count))[n::PROCESSES] for n in range(PROCESSES)]
    samples: list[float] = []
    with ProcessPoolExecutor(PROCESSES) as pool:
        began = time.perf_counter()
        jobs = [pool.submit(clients, home, share, corpus.queries, corpus.texts, deadline) for share in shares if share]
        while time.time() < deadline:
            time.sleep(1)
            samples.append(memory_of(pid)["VmRSS"])
        tallies = [tally for job in jobs for tally in job.result()]
        took, spent = time.perf_counter() - began, processor(pid) - spent
    asked = [value for tally in tallies for value in tally.recall]
    written = [value for tally in tallies for value in tally.remember]
    settled = samples[len(samples) // 3 :]
    return {
        "clients": count,
        "seconds": round(took, 1),
        "per_s": round((len(asked) + len(written)) / took, 1),
        "cpu_s": round(spent, 1),
        "cpu_ms_each": round(spent * 1000 / max(1, len(asked) + len(written)), 1),
        "recall": milliseconds(asked),
        "remember": milliseconds(written),
        "errors": [words for tally in tallies for words in tally.wrong][:20],
        "error_count": sum(len(tally.wrong) for tally in tallies),
        "rss_mb": {"after_a_third": settled[0], "end": settled[-1], "most": max(samples)},
        "growth": round(settled[-1] / settled[0] - 1, 3),
        "kept": [pair for tally in tallies for pair in tally.kept],
    }


def lost(store: Path, kept: list[tuple[str, str]], before: int) -> dict[str, int]:
    """Acknowledged writes that are not in the store as they were sent, and what is there that nobody sent."""
    with recollect.open(store, embedder="off") as memory:
        found = [memory.get(id, peek=True).content == content for id, content in kept]
        after = memory.stats()["memories"]
    return {
        "acknowledged": len(kept),
        "lost": found.count(False),
        "unasked": after - before - len({id for id, _ in kept}),
    }


def measure(corpus: data.Corpus, store: Path, count: int, seconds: float, rest: float) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="recollect-serve-") as folder:
        copy = stores.copy(store, Path(folder, "bench.db"))
        home = str(Path(folder, "home"))
        say("starting the daemon")
        process, found = started(home, copy)
        try:
            before = status(home)["memories"]
            say(f"{before:,} memories, twenty questions, then rest")
            asked = link.daemon(home)
            for question in corpus.queries[:20]:
                if asked:
                    asked.request("POST", "/v1/recall", json.dumps({"query": question}).encode(), timeout=60)
            time.sleep(rest)
            result: dict[str, Any] = {"memories": before, "start": found, "idle_mb": memory_of(process.pid)}
            say(f"{count} clients for {seconds:.0f} seconds")
            result["load"] = loaded(home, process.pid, corpus, count, seconds)
            time.sleep(rest)
            result["rest_mb"] = memory_of(process.pid)
            began = time.perf_counter()
            process.terminate()
            result["stop"] = {"code": process.wait(60), "seconds": round(time.perf_counter() - began, 2)}
            result["left_behind"] = sorted(path.name for path in Path(home).iterdir())
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        say("looking for what was written")
        result["kept"] = lost(copy, result["load"].pop("kept"), before)
    return result


def bars(found: dict[str, Any]) -> list[dict[str, Any]]:
    load = found["load"]
    rows = [
        (f"resident at rest, model loaded, {found['memories']:,} memories, MB", found["idle_mb"]["VmRSS"], IDLE_BAR),
        (f"errors of {load['clients']} clients in {load['seconds']:.0f} s", load["error_count"], 0),
        ("acknowledged writes that are lost", found["kept"]["lost"], 0),
        ("memories that nobody wrote", found["kept"]["unasked"], 0),
        ("growth of resident memory over the last two thirds", load["growth"], GROWTH_BAR),
    ]
    return [{"what": what, "value": value, "sign": "≤", "bar": bar, "holds": value <= bar} for what, value, bar in rows]


def table(found: dict[str, Any], out: Callable[[str], None]) -> None:
    start, load = found["start"], found["load"]
    out(f"start: answers {start['answers_s']} s, first recall {start['first_recall_s']} s, model {start['model_s']} s")
    for name in ("idle_mb", "rest_mb"):
        out(f"{name}: " + ", ".join(f"{key} {value:,.0f}" for key, value in found[name].items()))
    out(f"load: {load['per_s']} requests a second, {load['cpu_ms_each']} CPU ms each, RSS {load['rss_mb']}")
    for name in ("recall", "remember"):
        out(f"  {name:<10}" + ", ".join(f"{key} {value:,}" for key, value in load[name].items()))
    for words in load["errors"]:
        out(f"  ! {words}")
    out(f"stop: code {found['stop']['code']} in {found['stop']['seconds']} s, left behind {found['left_behind']}")
    for row in found["bars"]:
        out(f"  {'✓' if row['holds'] else '✗'} {row['what']:<64}{row['value']:>10,} {row['sign']} {row['bar']:g}")


def main() -> None:
    parser = argparse.ArgumentParser(description="The daemon at rest and under load.")
    parser.add_argument("--store", type=Path, help="a store to copy (default: the benchmark's, of 100,000 memories)")
    parser.add_argument("--data", help="folder of the data (default: $RECOLLECT_DATA or ../shared/data)")
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} notes, two seconds, and no result is written")
    chosen = parser.parse_args()
    os.environ["RECOLLECT_HOME"] = str(data.CACHE / "home")  # no setting of this machine's user counts
    corpus = data.chosen(chosen.quick, chosen.data, QUICK, 20)
    size = QUICK if chosen.quick else data.SIZE
    store = chosen.store
    if store is None:
        own = load("default")
        store, _ = stores.built(corpus, size, data.Lookup(own, corpus.texts[:size], data.vectors(corpus, own, size)))
    if chosen.quick:
        chosen.clients, chosen.seconds = 4, 2.0
    found = measure(corpus, store, chosen.clients, chosen.seconds, 0.5 if chosen.quick else REST)
    found["bars"] = bars(found)
    table(found, print)
    if not chosen.quick:
        report = {
            "machine": machine() | {"priority": priority()},
            "dataset": corpus.hash,
            "model": load("default").model,
            **found,
        }
        RESULTS.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        print(f"\nwritten to {RESULTS}")


if __name__ == "__main__":
    main()
