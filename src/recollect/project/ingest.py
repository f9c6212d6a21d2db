"""Ingestion: a file or a folder, taken in once and followed as it changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ..engine import Engine
from ..types import Noun

Kind = Literal["adr", "incident", "code", "docs"]
KINDS: tuple[Kind, ...] = ("adr", "incident", "code", "docs")
Progress = Callable[[int, int], None]


@dataclass(slots=True)
class Report(Noun):
    """What a run read and what became of it. `skipped` counts files by the reason; `kinds` by what they were taken for."""

    project: str = ""
    files: int = 0
    unchanged: int = 0
    deleted: int = 0
    pieces: int = 0
    created: int = 0
    kept: int = 0
    edited: int = 0
    superseded: int = 0
    retired: int = 0
    refused: int = 0
    kinds: dict[str, int] = field(default_factory=dict)
    skipped: dict[str, int] = field(default_factory=dict)
    secrets: dict[str, int] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    dry_run: bool = False


def ingest(
    engine: Engine, path: Path, *, project: str | None = None, kind: Kind | None = None, dry_run: bool = False,
    progress: Progress | None = None,
) -> Report:  # fmt: skip
    """Take in what a file or folder tells; what is known already and has not changed is left alone."""
    raise NotImplementedError
