"""Write the generated parts of README and docs, or check that they are up to date.

A generated part stands between `<!-- [[[cog` and `<!-- [[[end]]] -->`; the code in it prints it. `make docs` rewrites
them, `make lint` checks them, so that what the docs say of commands, settings and errors is what the program does.
"""

from __future__ import annotations

import sys
from pathlib import Path

from cogapp import Cog

ROOT = Path(__file__).parents[1]


def main() -> int:
    files = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    flags = ["--check"] if "--check" in sys.argv[1:] else ["-r"]
    sys.path.insert(0, str(ROOT / "scripts"))
    status = Cog().main(["cog", *flags, "-U", "-I", str(ROOT / "scripts"), *map(str, files)])
    if status and "--check" in flags:
        print("docs are stale; run: make docs", file=sys.stderr)
    return int(status or 0)


if __name__ == "__main__":
    sys.exit(main())
