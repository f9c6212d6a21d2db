"""Folders that belong to their owner alone. On the standard library, like everything here."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # what `typing` has too, and without the milliseconds
if TYPE_CHECKING:
    from pathlib import Path


def make_folder(folder: str | Path) -> None:
    """Make a folder and every missing folder above it, each open to its owner alone.

    `makedirs` gives the mode to the last one only, so the home folder would be open to others if a folder inside it
    came first.
    """
    if os.path.isdir(folder):
        return
    make_folder(os.path.dirname(os.path.abspath(folder)))
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        if not os.path.isdir(folder):  # else another process was first
            raise
