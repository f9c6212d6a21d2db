"""The corpora that the ranker is fitted on and judged by, one list for each domain.

    python training/domains.py PASSAGES     fetch the packages of training/passages, and write what their passages say

A domain is a sort of text with a sort of question: documentation and changelogs of packages, sessions with assistants,
chats of people, notes of made-up projects, small stores, code. What is fitted on some domains is judged by another.
LoCoMo (not for commercial use) and the golden set are only ever asked.

The passages are other people's sentences and are not kept here. They are found again by their sha256 in the newest
source distribution of each package; those that were reworded since are left out. The other paragraphs of the same
files stand beside them, so that a store looks like a project's documentation.
"""

from __future__ import annotations

import gzip
import hashlib
import html
import io
import json
import random
import re
import sys
import tarfile
import urllib.request
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import notes
from recollect.types import Draft
from recollect_eval import cosqa, golden, locomo, longmemeval, relevance
from recollect_eval.corpus import Benchmark, Corpus, Item, Question, place, read_json, turn

ROOT = Path(__file__).parents[1]
PASSAGES, CHATS = ROOT / "training" / "passages", ROOT / "training" / "chats"
INDEX = "https://pypi.org/simple/"
NOW = datetime(2026, 11, 1, 9, tzinfo=UTC)
BESIDE = 180  # other paragraphs of a package in its store
FEWEST = 4  # passages that make a package worth a store
_BULLET = re.compile(r"^(?:[-*+•]|\d+[.)]|#+)\s+")
_PARAGRAPHS = re.compile(r"\n[ \t]*\n|\n(?=[ \t]*[-*+•] )")


def load(passages: Path, data: Path | None) -> dict[str, list[Corpus]]:
    """Every domain that is learnt from."""
    return {
        "docs": list(documentation(passages)),
        "talk": list(sessions(data)),
        "chats": list(chats()),
        "notes": list(notes.corpora("fgh")),
        "together": [corpus for corpus in notes.together() if corpus.name[0] in "fgh"],
        "small": [one for path in relevance.files("relevance") if _is_dev(path) for one in relevance.corpora(path)],
        "longmemeval": unseen(longmemeval.load)(data),
        "cosqa": unseen(functions)(data),
    }


def judging(data: Path | None) -> dict[str, list[Corpus]]:
    """The domains that are only asked."""
    return {"golden": list(golden.load(None).corpora), "locomo": list(locomo.load(data).corpora)}


def _is_dev(path: Path) -> bool:
    return path.stem.partition("-")[2].startswith("d")


def functions(data: Path | None) -> Benchmark:
    """CoSQA as bare source. Taken in as code, each function has its own comment for a title, and a ranker that learns
    from that trusts the titles of notes too much."""
    told = cosqa.load(data)
    sources = read_json(place(data, "cosqa") / cosqa.CODE)
    drafts = {str(number): Draft(text, kind="code", valid_from=cosqa.MOMENT) for text, number in sources.items()}
    items = tuple(Item(number, draft, cosqa.MOMENT) for number, draft in drafts.items())
    return replace(told, corpora=(replace(told.corpora[0], items=items),))


def unseen(loader: Callable[[Path | None], Benchmark]) -> Callable[[Path | None], list[Corpus]]:
    """Every second question: the embedder was fitted on the others (`fit_embedder.py`)."""
    return lambda data: [replace(one, questions=one.questions[1::2]) for one in loader(data).corpora]


# -- passages of packages, and things said in sessions ----------------------------------------------------------------


def _asked() -> dict[str, list[dict[str, Any]]]:
    """What six authors asked about passages, by package."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for path in sorted(PASSAGES.glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for line in file:
                told = json.loads(line)
                found[told["package"]].append(told)
    return found


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def documentation(path: Path) -> Iterator[Corpus]:
    """One store for each package: the passages that were asked about, among other paragraphs of the same files."""
    texts: dict[str, dict[str, Any]] = json.loads(gzip.decompress(path.read_bytes()))
    for package, asked in sorted(_asked().items()):
        known = texts.get(package, {"passages": {}, "others": []})
        own = [told for told in asked if told["sha256"] in known["passages"]]
        if len(own) < FEWEST:
            continue
        told = [*known["passages"].items(), *((_hash(text), text) for text in known["others"][:BESIDE])]
        random.Random(package).shuffle(told)
        moments = [NOW - timedelta(days=30, minutes=number) for number in range(len(told))]
        items = tuple(
            Item(key, Draft(text, kind="doc", valid_from=moment), moment)
            for (key, text), moment in zip(told, moments, strict=True)
        )
        questions = tuple(
            Question(f"{package}-{number}-{place}", said, frozenset([one["sha256"]]))
            for number, one in enumerate(own)
            for place, said in enumerate(one["answered"])
        )
        yield Corpus(f"docs-{package}", items, questions, NOW)


def sessions(data: Path | None) -> Iterator[Corpus]:
    """One store for each repository of talk/: what was said in the sessions that were asked about."""
    for package, asked in sorted(_asked().items()):
        kind, _, repository = package.partition(":")
        if kind != "talk" or not repository:
            continue
        path = place(data, "talk") / f"{repository.replace('/', '+')}.jsonl.gz"
        with gzip.open(path, "rt", encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        wanted, named = {told["sha256"]: told for told in asked}, {told["file"] for told in asked}
        items, questions = [], []
        for number, row in enumerate(rows):
            if (
                row["role"] == "tool"
                or not row["text"].strip()
                or (row["session"] not in named and row["role"] != "user")
            ):
                continue
            key = f"{row['session']}:{row['n']}"
            moment = NOW - timedelta(days=60) + timedelta(minutes=number)
            said = row["text"][:2000].strip()
            items.append(turn("talk", key, said, row["role"], (row["session"], row["n"]), moment))
            forms = (row["text"], row["text"].strip(), " ".join(row["text"].split()))
            told = next((wanted[mark] for mark in map(_hash, forms) if mark in wanted), None)
            questions += [Question(f"{key}-{ask}", ask, frozenset([key])) for ask in (told["answered"] if told else ())]
        if questions:
            yield Corpus(f"talk-{repository.replace('/', '+')}", tuple(items), tuple(questions), NOW)


def chats() -> Iterator[Corpus]:
    """Invented chats over several sessions: of people, and of a user with an assistant."""
    for path in sorted(CHATS.glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for line in file:
                yield _chat(path.name.split(".")[0], json.loads(line))


def _chat(author: str, told: dict[str, Any]) -> Corpus:
    name = f"chats-{author}-{told['chat']}"
    items = []
    for session in told["sessions"]:
        moment = datetime.fromisoformat(session["at"]).replace(tzinfo=UTC)
        for said in session["turns"]:
            at = (f"{name}-{session['id']}", said["n"])
            key = f"{session['id']}:{said['n']}"
            items.append(turn(name, key, said["text"], said["speaker"], at, moment + timedelta(seconds=20 * said["n"])))
    known = {item.key for item in items}
    questions = tuple(
        Question(f"{name}-{number}", one["ask"], frozenset(one["evidence"]) & known, (one["type"],))
        for number, one in enumerate(told["questions"])
    )
    return Corpus(name, tuple(items), questions, max(item.moment for item in items) + timedelta(days=3))


# -- fetching ---------------------------------------------------------------------------------------------------------


def fetch(target: Path) -> None:
    """Find the passages of every package again, and write them with the paragraphs that stand beside them."""
    asked = {package: told for package, told in _asked().items() if not package.startswith("talk:")}
    with ThreadPoolExecutor(6) as pool:
        found = dict(zip(asked, pool.map(_package, asked.items()), strict=True))
    target.write_bytes(gzip.compress(json.dumps(found).encode()))
    count = sum(len(one["passages"]) for one in found.values())
    print(f"{count} of {sum(map(len, asked.values()))} passages found again in {len(found)} packages")


def _package(named: tuple[str, Sequence[dict[str, Any]]]) -> dict[str, Any]:
    package, asked = named
    wanted, files = {told["sha256"] for told in asked}, {told["file"] for told in asked}
    passages: dict[str, str] = {}
    others: dict[str, None] = {}
    with tarfile.open(fileobj=io.BytesIO(_source(package))) as archive:
        for member in archive.getmembers():
            file = archive.extractfile(member) if member.name.partition("/")[2] in files else None
            if file is None:
                continue
            text = file.read().decode("utf-8", "ignore").replace("\r\n", "\n")
            for block in _PARAGRAPHS.split(text) + re.split(r"\n[ \t]*\n", text):
                bare = _BULLET.sub("", block.strip())
                for form in (block.strip(), " ".join(block.split()), bare, " ".join(bare.split())):
                    if _hash(form) in wanted:
                        passages[_hash(form)] = form
                whole = " ".join(bare.split())
                if 40 <= len(whole) <= 900 and len(re.findall("[a-z]{3,}", whole)) > 6:
                    others[whole] = None
    known = [" ".join(text.split()) for text in passages.values()]
    rest = [text for text in others if not any(text in one or one in text for one in known)]
    random.Random(package).shuffle(rest)
    return {"passages": passages, "others": rest}


def _source(package: str) -> bytes:
    """The newest source distribution of a package."""
    page = urllib.request.urlopen(f"{INDEX}{package}/", timeout=120).read().decode()
    links = re.findall(r'<a[^>]*href="([^"]+)"[^>]*>\s*([^<]+\.tar\.gz)\s*</a>', page)
    final = [link for link in links if not re.search(r"(?:a|b|rc|dev)\d+\.tar", link[1])]
    newest = max(final, key=lambda link: [int(part) for part in re.findall(r"\d+", link[1].rpartition("-")[2])])
    address = urljoin(f"{INDEX}{package}/", html.unescape(newest[0]))
    return bytes(urllib.request.urlopen(address, timeout=300).read())


if __name__ == "__main__":
    fetch(Path(sys.argv[1]))
