"""A second process that does to a store what it is told, a line of JSON at a time, at the time it is told.

{"place": …, "at": microseconds, "verb": "remember", "given": {…}}  →  {"at": …, "id": …}
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

import recollect
from recollect import Refused, Scope, times

Tell = Callable[[dict[str, Any]], dict[str, Any]]


class _Clock:
    def __init__(self, at: int) -> None:
        self.moment = times.moment(at)

    def __call__(self) -> datetime:
        self.moment += timedelta(microseconds=1)
        return self.moment


def main() -> None:
    for line in sys.stdin:
        told = json.loads(line)
        clock = _Clock(told["at"])
        given = told["given"]
        scope = Scope(**given.pop("scope", {}))
        with recollect.open(told["place"], embedder="hashing", actor="another process", now=clock) as memory:
            try:
                if told["verb"] == "remember":
                    id = memory.remember(scope=scope, **given).id
                else:
                    id = getattr(memory, told["verb"])(**given).id
            except (Refused, recollect.BadInput):
                id = ""
        print(json.dumps({"at": times.micros(clock.moment), "id": id}), flush=True)


@contextmanager
def another_process() -> Iterator[Tell]:
    """Start it; gives a function that tells it what to do and waits until that is done."""
    with subprocess.Popen(
        [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def tell(told: dict[str, Any]) -> dict[str, Any]:
            process.stdin.write(json.dumps(told) + "\n")  # type: ignore[union-attr]
            process.stdin.flush()  # type: ignore[union-attr]
            answer: dict[str, Any] = json.loads(process.stdout.readline())  # type: ignore[union-attr]
            return answer

        yield tell
        process.stdin.close()
        process.wait(30)


if __name__ == "__main__":
    main()
