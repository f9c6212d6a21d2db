"""Extraction of entities and relations from memories: in the background, a batch at a time, without an LLM or with one.

What is found is derived from the text of each memory alone, so it can be made again at any time, goes with the memory,
and is read anew when the text changes. A memory of code is not read as prose: its file and imports say more.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import datetime

from ..language.relations import Extraction, extract, of_commit
from ..remember.belief import sums_up
from ..store.contract import Store
from ..types import Memory

VERSION = "rules-2"  # of the extractor: a new one reads every memory again
BATCH = 200
NOT_PROSE = ("code",)


def read_memory(memory: Memory) -> Extraction:
    """What a memory names and says, by rules; no surer than the memory itself."""
    if memory.kind in NOT_PROSE or sums_up(memory):  # what a summary says, its parts say
        return Extraction()
    if memory.kind == "commit":
        found = of_commit(memory.content)
    else:
        found = extract(f"{memory.title}\n{memory.content}" if memory.title else memory.content)
    return found if memory.confidence >= 1 else found.at_most(memory.confidence)


def extract_missing(
    store: Store, tenant: str, actor: str, now: Callable[[], datetime],
    progress: Callable[[int, int], None] | None = None, reader: Callable[[Memory], Extraction] = read_memory,
    version: str = VERSION, most: int = sys.maxsize,
) -> int:  # fmt: skip
    """Read the memories that this version has not read, up to about `most`; gives how many there were.

    Each batch is committed by itself, so it can be interrupted anywhere. A memory that changed meanwhile is left to the
    next run.
    """
    done, last = 0, ""
    while done < most and (batch := store.unread(tenant, version, BATCH, last)):
        found = [(memory, reader(memory)) for memory in batch]
        with store.transaction(tenant, actor, now()) as changes:
            for memory, read in found:
                current = changes.get(Memory, memory.id)
                if current and (current.title, current.content) == (memory.title, memory.content):
                    changes.extracted(memory.id, version, read)
        done, last = done + len(batch), batch[-1].id
        if progress:
            progress(done, done)
    return done
