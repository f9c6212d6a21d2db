"""GPTCache on a week of questions, in a Python of its own: vectors and events come in by a file, figures go out.

It is set up as its documentation does it: SQLite and FAISS, the distance of the vectors, and a threshold. What is not
found is put with the answer that is right at that moment.

    PYTHON bench/gptcache_week.py events.json THRESHOLD
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np


def main() -> None:
    data = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    rows = np.load(data["vectors"])
    vectors = dict(zip(data["questions"], rows, strict=True))
    os.chdir(tempfile.mkdtemp(prefix="gptcache-"))
    from gptcache import Config, cache
    from gptcache.adapter.api import get, put
    from gptcache.manager import CacheBase, VectorBase, get_data_manager
    from gptcache.processor.pre import get_prompt
    from gptcache.similarity_evaluation.distance import SearchDistanceEvaluation

    manager = get_data_manager(CacheBase("sqlite"), VectorBase("faiss", dimension=rows.shape[1]))
    cache.init(
        pre_embedding_func=get_prompt, embedding_func=lambda question, **_: vectors[question], data_manager=manager,
        similarity_evaluation=SearchDistanceEvaluation(), config=Config(similarity_threshold=float(sys.argv[2])),
    )  # fmt: skip
    counts = {"asks": 0, "hits": 0, "stale": 0, "wrong": 0}
    spent: list[float] = []
    for event in data["events"]:
        counts["asks"] += 1
        began = time.process_time()
        found: Any = get(event["question"])
        spent.append((time.process_time() - began) * 1000)
        if found is None:
            put(event["question"], event["right"])
            continue
        counts["hits"] += 1
        if found in event["was"]:
            counts["stale"] += 1
        elif found != event["right"]:
            counts["wrong"] += 1
    told = {**counts, "lookup_cpu_ms": round(float(np.median(spent)), 3), "version": version("gptcache")}
    print("RESULT " + json.dumps(told))


if __name__ == "__main__":
    main()
