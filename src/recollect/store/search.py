"""Looking for texts in the bytes of a database's files, in a process of its own.

SQLite locks its file by a lock that belongs to the process, and a process loses all its locks on a file when it closes
any handle of it. A handle that only reads, opened and closed here, would let others take an open database for one that
nobody uses, and its log away. So the files are read by a process that has no database open.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

PIECE = 8 * 1024 * 1024  # bytes of a file that are looked at together


def found_in(paths: Sequence[str], texts: Sequence[bytes]) -> list[str]:
    """Those of the files in which one of the texts stands."""
    if not texts or not paths:
        return []
    wanted = "\n".join(text.hex() for text in texts)
    command = [sys.executable, "-I", "-S", __file__, *paths]
    done = subprocess.run(command, input=wanted, capture_output=True, text=True, check=True)
    return [paths[int(line)] for line in done.stdout.split()]


def holds(path: str, texts: Sequence[bytes]) -> bool:
    longest, rest = max(map(len, texts)), b""
    try:
        with open(path, "rb") as file:
            while piece := file.read(PIECE):
                whole = rest + piece
                if any(text in whole for text in texts):
                    return True
                rest = whole[-longest:]
    except FileNotFoundError:  # a log that has just been taken away
        return False
    return False


def main() -> None:
    texts = [bytes.fromhex(line) for line in sys.stdin.read().split()]
    for number, path in enumerate(sys.argv[1:]):
        if holds(path, texts):
            print(number)


if __name__ == "__main__":
    main()
