"""Ask: are the answers that `ask` gives about a project useful, and does it say when it does not know?

The files of five packages are ingested, and 200 questions asked (`training/ask`). An answer is useful when it holds
every string that its author names. `useful` is the share of the answerable questions that get such an answer,
`sure_useless` the share of all questions that get a useless one with a confidence above SURE, and `abstained` the share
of the unanswerable ones that get none.
"""

from __future__ import annotations

import io
import json
import re
import tarfile
import tempfile
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import recollect
from recollect.models.embedder import load as load_model
from recollect.project.ingest import ingest
from recollect.types import Scope

from .cache import CachedEmbedder
from .provenance import provenance

QUESTIONS = Path(__file__).parents[3] / "training" / "ask" / "questions.jsonl"
INDEX = "https://pypi.org/simple/"
DEV = ("beets", "feedparser")
SURE = 0.8
TARGETS = {"useful": 0.7, "sure_useless": 0.05, "abstained": 0.8}
Say = Callable[[str], None]


def run(data: Path | None, cache: Path | None, part: str = "judge", say: Say | None = None) -> dict[str, Any]:
    """Ask the questions about the packages of one part; the figures in all and for each package."""
    asked = [json.loads(line) for line in QUESTIONS.read_text("utf-8").splitlines()]
    rows: dict[str, Counter[str]] = {}
    shown: list[dict[str, Any]] = []
    for repo in sorted({one["repo"] for one in asked}):
        if repo.startswith(DEV) != (part == "dev"):
            continue
        if say:
            say(f"ask: {repo}")
        for told, result in _answers(repo, [one for one in asked if one["repo"] == repo], data, cache):
            for name in ("all", repo):
                rows.setdefault(name, Counter()).update(_count(told, result))
            shown.append({**told, "answer": result.answer, "confidence": result.confidence})
    figures = {name: _figures(counts) for name, counts in rows.items()}
    return {"part": part, "figures": figures, "targets": TARGETS, "asked": shown if part == "dev" else [],
            **provenance()}  # fmt: skip


def is_useful(told: dict[str, Any], answer: str) -> bool:
    """Whether an answer holds every string that a right one holds; spaces and case do not count."""
    said = " ".join(answer.lower().split())
    return bool(answer) and all(
        any(" ".join(one.lower().split()) in said for one in wanted.split("|")) for wanted in told["must"]
    )


def _count(told: dict[str, Any], result: Any) -> Counter[str]:
    useful = bool(told["answerable"]) and is_useful(told, result.answer)
    return Counter({
        "questions": 1, "answerable": int(told["answerable"]), "useful": int(useful),
        "sure_useless": int(bool(result.answer) and not useful and result.confidence > SURE),
        "abstained": int(not told["answerable"] and not result.answer),
        "given up": int(bool(told["answerable"]) and not result.answer),
    })  # fmt: skip


def _figures(counts: Counter[str]) -> dict[str, float]:
    def share(part: str, whole: int) -> float:
        return round(counts[part] / whole, 4) if whole else 0.0

    none = counts["questions"] - counts["answerable"]
    return {
        "questions": counts["questions"], "useful": share("useful", counts["answerable"]),
        "given up": share("given up", counts["answerable"]),
        "sure_useless": share("sure_useless", counts["questions"]), "abstained": share("abstained", none),
    }  # fmt: skip


def _answers(
    repo: str, asked: list[dict[str, Any]], data: Path | None, cache: Path | None
) -> Iterator[tuple[dict[str, Any], Any]]:
    model = load_model("default")
    embedder = CachedEmbedder(model, cache) if cache else model
    with tempfile.TemporaryDirectory(prefix="recollect-evaluate-") as folder:
        files = _unpacked(repo, data, Path(folder))
        with recollect.open(Path(folder) / "store.db", embedder=embedder) as engine:
            ingest(engine, files, project=repo)
            engine.embed()
            for told in asked:
                yield told, engine.answers.ask(told["ask"], scope=Scope(project=repo), fresh=True)


def _unpacked(repo: str, data: Path | None, folder: Path) -> Path:
    """The files of a package: from the public data, or from the package index."""
    if data and (data / "repos" / repo).is_dir():
        return data / "repos" / repo
    name, _, version = repo.rpartition("-")
    page = urljoin(INDEX, f"{name.replace('_', '-')}/")
    with urllib.request.urlopen(page, timeout=60) as answer:
        links = re.findall(r'href="([^"#]+)', answer.read().decode("utf-8"))
    link = next(urljoin(page, one) for one in links if one.endswith(f"/{name}-{version}.tar.gz"))
    with urllib.request.urlopen(link, timeout=60) as answer, tarfile.open(fileobj=io.BytesIO(answer.read())) as packed:
        packed.extractall(folder, filter="data")
    return folder / repo


def render(found: dict[str, Any]) -> str:
    rows = [f"ask, {found['part']}: targets {found['targets']}"]
    for name, figures in found["figures"].items():
        rows.append(f"{name:24} " + "  ".join(f"{one} {value:g}" for one, value in figures.items()))
    return "\n".join(rows)
