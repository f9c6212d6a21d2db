"""The files of other programs in tests/foreign/, as those programs keep them: unpacked, and databases made of SQL."""

from __future__ import annotations

import gzip
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

FOLDER = Path(__file__).parent / "foreign"


def unpack(target: Path) -> Path:
    """Copy them all below a folder."""
    for file in (path for path in FOLDER.rglob("*") if path.is_file()):
        place = target / file.relative_to(FOLDER)
        place.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix == ".gz":
            place.with_suffix("").write_bytes(gzip.decompress(file.read_bytes()))
        elif file.suffix == ".sql":
            with closing(sqlite3.connect(place.with_suffix(""))) as made:
                made.executescript(file.read_text("utf-8"))
        else:
            shutil.copyfile(file, place)
    return target
