"""What a process costs: from its start to the first answer, its memory, and the bytes it leaves on disk.

A cold start is a fresh interpreter that imports the package, opens the store and answers one question; it ends there,
so that nothing is written. Files are in the page cache: what is measured is the program, not the disk.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import apsw

from corpus import Corpus
from timing import Times

START = """
import json, os, sys, time
marks = {"interpreter": time.process_time()}
import recollect
marks["import"] = time.process_time()
memory = recollect.open(sys.argv[1], embedder=sys.argv[2])
marks["open"] = time.process_time()
memory.warm().join()
marks["model"] = time.process_time()
found = memory.recall(sys.argv[3])
marks["recall"] = time.process_time()
print(json.dumps({"marks": marks, "hits": len(found), "arms": found.arms}), flush=True)
os._exit(0)
"""
HOLD = """
import json, os, sys
import recollect
memory = recollect.open(sys.argv[1], embedder=sys.argv[2])
for question in sys.argv[3:]:
    memory.recall(question)
with open("/proc/self/status") as file:
    lines = dict(line.split(":", 1) for line in file)
print(json.dumps({name: int(lines[name].split()[0]) * 1024 for name in ("VmRSS", "RssAnon", "VmHWM")}), flush=True)
os._exit(0)
"""
PARTS = {"memory_fts": "full text", "embedding": "vectors", "journal": "journal", "sqlite": "rows"}


def _child(code: str, *arguments: str) -> tuple[float, float, Any]:
    """CPU and wall seconds of a process, and what it printed."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"A child process failed:\n{done.stderr}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, wall, json.loads(done.stdout or "null")


def _start(path: Path, embedder: str, question: str, runs: int) -> dict[str, Any]:
    took, steps = Times(), []
    for _ in range(runs):
        cpu, wall, told = _child(START, str(path), embedder, question)
        took.cpu.append(cpu)
        took.wall.append(wall)
        marks = list(told["marks"].values())
        steps.append([after - before for before, after in zip([0.0, *marks], marks, strict=False)])
    median = [round(sorted(values)[runs // 2] * 1000, 1) for values in zip(*steps, strict=True)]
    return took.milliseconds() | {"cpu_steps_ms": dict(zip(told["marks"], median, strict=True)), "arms": told["arms"]}


def cold(path: Path, question: str, runs: int) -> dict[str, Any]:
    """The first answer by text alone, with vectors and a saved index, and with vectors and none."""
    saved = list(path.parent.glob(f"{path.name}.*.index"))
    found = {"text": _start(path, "off", question, runs)}
    how = "vectors, saved index" if saved else "vectors, too few for an index file"
    found[how] = _start(path, "default", question, runs)
    if saved:
        aside = [file.rename(file.with_suffix(".aside")) for file in saved]
        try:
            found["vectors, no saved index"] = _start(path, "default", question, runs)
        finally:
            for file in aside:
                file.rename(file.with_suffix(".index"))
    return found


def bare(runs: int) -> dict[str, float]:
    """An interpreter that does nothing: the floor of every cold start."""
    took = Times()
    for _ in range(runs):
        cpu, wall, _ = _child("pass")
        took.cpu.append(cpu)
        took.wall.append(wall)
    return took.milliseconds()


def resident(path: Path, corpus: Corpus) -> dict[str, dict[str, float]]:
    """Megabytes after twenty questions. Anonymous memory is the process's own; the rest is mapped files, shared."""
    found = {}
    for name, embedder in (("text", "off"), ("vectors", "default")):
        _, _, told = _child(HOLD, str(path), embedder, *corpus.queries[:20])
        found[name] = {key: round(value / 1e6, 1) for key, value in told.items()}
    return found


def disk(path: Path) -> dict[str, Any]:
    """Bytes a memory, by what they are for; `beyond text` is everything less the content itself."""
    con = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    count, content = next(con.execute("select count(*), sum(length(cast(content as blob))) from memory"))
    journal = con.execute("select sum(length(cast(after as blob))) from journal").get
    parts = {"rows": 0, "full text": 0, "vectors": 0, "journal": 0}
    indexes = {}
    for name, table, size in con.execute(
        "select d.name, coalesce(s.tbl_name, d.name), d.pgsize from dbstat d left join sqlite_schema s"
        " on s.name = d.name where d.aggregate = 1"
    ):
        parts[next((part for start, part in PARTS.items() if str(table).startswith(start)), "rows")] += size
        indexes[str(name)] = round(size / count, 1)
    con.close()
    parts["index file"] = sum(os.path.getsize(file) for file in path.parent.glob(f"{path.name}.*.index"))
    each = {name: round(size / count, 1) for name, size in parts.items()}
    total = sum(parts.values()) / count
    largest = dict(sorted(indexes.items(), key=lambda item: -item[1])[:12])
    return {
        "content": round(content / count, 1),
        "journal_json": round(journal / count, 1),
        **each,
        "beyond text": round(total - content / count, 1),
        "largest tables and indexes": largest,
    }
