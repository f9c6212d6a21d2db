"""Word tables that minimal pairs are made from: groups of words for one another, and of opposites."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent / "words"


def groups(file: str, section: str) -> list[list[str]]:
    """The groups of a section, parted by semicolons or the ends of lines; each is a list of words."""
    text = (FOLDER / f"{file}.txt").read_text("utf-8").partition(f"[{section}]\n")[2].partition("\n[")[0]
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return [group.split() for line in lines for group in line.split(";") if group.strip()]
