"""Cost: processor time of adding and searching by size, start, memory, disk, what is installed, what MCP takes.

Vectors come from hashed words, so that no model is counted: what is measured is what each system does itself. Processor
time is that of the driver with all its children, memory theirs together. A size is left out, and the results say so,
where adding at the smaller size shows that it would take longer than `PATIENCE`.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from contract import Item, Options
from environments import Rival
from mcp_client import McpClient, ToolFailed
from processes import Failed, Process, descendants, spent
from recollect import text
from workloads import batches

BATCH = 64
SEARCHES = 40
PATIENCE = 60.0  # processor seconds


def measure(
    rival: Rival, options: Options, texts: Sequence[str], sizes: Sequence[int], folder: Path
) -> dict[str, Any]:  # fmt: skip
    items: list[Item] = [{"key": f"k{n}", "text": one} for n, one in enumerate(texts)]
    queries = [" ".join(one.split()[:8]) for one in texts[:SEARCHES]]
    found: dict[str, Any] = {"sizes": {}}
    began, process = time.monotonic(), Process(rival, folder, options)
    found["start"] = {"cpu_s": round(process.cpu(), 2), "wall_s": round(time.monotonic() - began, 2)}
    done, each = 0, 0.0
    with process:
        for size in sizes:
            if each * (size - done) / 1000 > PATIENCE:
                found["sizes"][str(size)] = {"left_out": f"adding would take {each * size / 1000:.0f} s"}
                continue
            before = process.cpu()
            for some in batches(items[done:size], BATCH):
                process.add(some)
            each = 1000 * (process.cpu() - before) / (size - done)
            done = size
            found["sizes"][str(size)] = {"add_cpu_ms": round(each, 3), **_searched(process, queries, folder, size)}
    with Process(rival, folder, options) as again:
        if again.search(queries[0], 10):  # what keeps nothing on disk has no second start
            found["first_answer"] = {"cpu_s": round(again.cpu(), 2), "memories": done}
    return found


def _searched(process: Process, queries: Sequence[str], folder: Path, size: int) -> dict[str, Any]:
    process.search(queries[0], 10)  # what is read or built once
    before = process.cpu()
    for query in queries:
        process.search(query, 10)
    each = 1000 * (process.cpu() - before) / len(queries)
    on_disk = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and path.name != "driver.log")
    return {
        "search_cpu_ms": round(each, 2), "rss_mb": round(process.resident(), 1),
        "disk_bytes_each": round(on_disk / size),
    }  # fmt: skip


def handshake(rival: Rival, folder: Path, url: str) -> dict[str, Any]:
    """What an assistant waits for, and what the descriptions of the tools take of its context."""
    command = [str(rival.folder / part) if "/" in part else part for part in rival.mcp]
    settings = {name: value.format(folder=folder) for name, value in rival.settings.items()}
    environment = {
        "PATH": os.environ["PATH"], "HOME": str(folder), "MCP_EXTERNAL_EMBEDDING_URL": f"{url}/embeddings", **settings
    }  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    try:
        client = McpClient(command, environment)
    except (OSError, ToolFailed) as error:
        raise Failed(str(error)) from error
    wall = time.monotonic() - began
    cpu = sum(spent(pid) for pid in descendants(client.pid))
    tools = client.tools()
    client.close()
    if rival.stop:  # what the server left running
        subprocess.run([str(rival.folder / rival.stop[0]), *rival.stop[1:]], env=environment, check=False)
    shown = [{name: tool.get(name) for name in ("name", "description", "inputSchema")} for tool in tools]
    return {
        "handshake_cpu_s": round(cpu, 2), "handshake_wall_s": round(wall, 2), "tools": len(tools),
        "tool_tokens": text.tokens(json.dumps(shown, ensure_ascii=False)),
    }  # fmt: skip
