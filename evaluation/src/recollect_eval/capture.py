"""Capture: are the memories that capture makes of real sessions worth keeping?

Sessions of developers with coding assistants (`talk/` in the public data) go through the engine as they were. Readers
who had not seen the code marked what a careful colleague would keep (`training/talk`). A memory is right when at least
half of the content words of its quote lie in a marked span; a span is found when an active memory is right by it.

`train` are the repositories that models were fitted on, `judge` others that were only ever counted. There two readers
read each turn: a memory is right where either marked it, and a span counts for recall where both did. `dev` are
messages of an author whom no model was fitted on, which are part of this repository. With `perfect`, a scripted
language model extracts what the (first) reader marked.
"""

from __future__ import annotations

import gzip
import json
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import recollect
from recollect.capture import lines
from recollect.language.terms import STOP_WORDS
from recollect.types import Memory, Message, Scope

from . import capture_checks, corpus
from .provenance import provenance

TRAINING = Path(__file__).parents[3] / "training"
DEV = "author b"  # of the written messages; told by no model, but the threshold was chosen on them
LOSS = 0.03
KINDS = {"correction": "fact"}  # of a reader, as a language model names them
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_\u3040-\u30ff\u3400-\u9fff]+")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
Say = Callable[[str], None]
Talks = dict[str, list[dict[str, Any]]]  # the records of each session
Placed = dict[tuple[str, int], list[tuple[Memory, str]]]  # memories and quotes, by session and number of the turn


@dataclass(frozen=True, slots=True)
class Span:
    """A range of characters that a reader would keep; `sure` is 2, or 1 where some would and some would not."""

    first: int
    last: int
    kind: str
    sure: int


@dataclass(frozen=True, slots=True)
class Turn:
    """A user's turn with what a reader marked; `pasted` are the numbers of the lines that the user did not type."""

    group: str
    session: str
    number: int
    text: str
    before: str = ""
    keep: tuple[Span, ...] = ()
    pasted: frozenset[int] = frozenset()
    lang: str = ""


def sessions(path: Path) -> Iterator[dict[str, Any]]:
    """The records of one repository, in their order."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def marked(talk: Path, name: str) -> list[Turn]:
    """The turns that a reader marked; `talk` is the folder of the sessions."""
    labels = list(map(json.loads, (TRAINING / "talk" / f"{name}.jsonl").read_text("utf-8").splitlines()))
    texts: dict[tuple[str, str, int], tuple[str, str]] = {}
    for repo in sorted({label["repo"] for label in labels}):
        before: dict[str, str] = {}
        for record in sessions(talk / f"{repo}.jsonl.gz"):
            session = record["session"]
            if record["role"] == "user":
                texts[repo, session, record["n"]] = record["text"], before.pop(session, "")
            elif record["role"] == "assistant" and record["text"].strip():
                before[session] = f"{before[session]}\n{record['text']}" if session in before else record["text"]
    made = []
    for label in labels:
        text, said = texts[label["repo"], label["session"], label["n"]]
        pasted = frozenset(number - 1 for first, last in label.get("other", ()) for number in range(first, last + 1))
        keep = tuple(Span(*one) for one in label["keep"])
        made.append(Turn(label["repo"], label["session"], label["n"], text, said, keep, pasted, _language(text)))
    return made


def written() -> list[Turn]:
    """The messages that authors wrote, with what is to be kept of each."""
    made = []
    for path in sorted((TRAINING / "turns").glob("*.jsonl.gz")):
        for number, told in enumerate(sessions(path)):
            places = [(told["turn"].find(one["quote"]), one) for one in told["keep"]]
            keep = tuple(Span(at, at + len(one["quote"]), one["kind"], 2) for at, one in places if at >= 0)
            author = f"author {path.name[0]}"
            made.append(
                Turn(author, told["project"], number, told["turn"], told["before"] or "", keep, lang=told["lang"])
            )
    return made


def _language(text: str) -> str:
    return "zh, ja" if len(_UNSPACED.findall(text)) > 0.1 * len(text) else "Latin script"


def share(text: str, start: int, keep: Iterable[Span]) -> tuple[float, Span | None]:
    """How much of a statement that starts at a place lies in a marked span, by its content words; and in which."""
    found = [(match[0].lower(), start + match.start(), start + match.end()) for match in _WORD.finditer(text)]
    telling = [place for place in found if place[0] not in STOP_WORDS] or found
    best: tuple[float, Span | None] = (0.0, None)
    for span in keep:
        inside = sum(span.first <= first and last <= span.last for _, first, last in telling)
        if (
            telling
            and (part := inside / len(telling)) > 0
            and (part, span.sure) > (best[0], best[1].sure if best[1] else 0)
        ):
            best = part, span
    return best


def shown(place: int, many: int) -> bool:
    """Whether a reader saw the line: of a long turn, the beginning and the end."""
    return many <= 50 or place < 36 or place >= many - 12


@dataclass(slots=True)
class Counts:
    """What was kept, and of the marked spans what was found."""

    active: int = 0
    pending: int = 0
    right: Counter[int] = field(default_factory=Counter)  # by how sure the reader was
    pasted: int = 0
    spans: Counter[int] = field(default_factory=Counter)
    found: Counter[int] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def figures(self) -> dict[str, float]:
        def part(some: int, whole: int) -> float:
            return round(some / whole, 4) if whole else 0.0

        return {
            "active": self.active, "pending": self.pending,
            "useful": part(self.right[1] + self.right[2], self.active),
            "useful, sure": part(self.right[2], self.active),
            "pasted": part(self.pasted, self.active),
            "found": part(self.found[1] + self.found[2], self.spans[1] + self.spans[2]),
            "found, sure": part(self.found[2], self.spans[2]), "spans": self.spans[1] + self.spans[2],
        }  # fmt: skip


def run(
    data: Path | None, part: str = "judge", say: Say | None = None, *, perfect: bool = False, every: int = 1
) -> dict[str, Any]:
    """Every session that readers marked, captured; the figures in all, by repository and by script.

    Of `dev` with `every` only each so manieth message.
    """
    readers, talks = _of_author(every) if part == "dev" else _of_sessions(corpus.place(data, "talk"), part)
    tables: dict[str, Counts] = {}
    spent, turns = 0.0, 0
    for repo, own in talks.items():
        if say:
            say(f"capture: {repo}")
        rows = [row for row in zip(*readers, strict=True) if row[0].group == repo]
        found, seconds, many = _captured(repo, own, [row[0] for row in rows] if perfect else None)
        spent, turns = spent + seconds, turns + many
        for row in rows:
            memories = found.get((row[0].session, row[0].number), [])
            for name in ("all", repo, row[0].lang):
                _count(tables.setdefault(name, Counts()), row, memories)
    return {
        "part": part, "extractor": capture_checks.Perfect.model if perfect else "",
        "figures": {name: counts.figures() for name, counts in tables.items()},
        "lines": line_classes(readers) if part == "judge" else {}, "agreement": agreement(readers),
        "languages": {} if perfect else capture_checks.languages(),
        "meaning": {} if perfect else capture_checks.meaning([*readers[0], *written()]),
        "ms a turn": round(1000 * spent / max(1, turns), 2), "turns": turns,
        "wrong": tables["all"].wrong if part != "judge" else [], **provenance(),
    }  # fmt: skip


def _of_sessions(talk: Path, part: str) -> tuple[list[list[Turn]], dict[str, Talks]]:
    """What readers marked, by reader, and the sessions that they read, by repository."""
    readers = [marked(talk, name) for name in (("judge-a", "judge-b") if part == "judge" else ("train",))]
    found: dict[str, Talks] = {}
    for repo in sorted({turn.group for turn in readers[0]}):
        wanted = {turn.session for turn in readers[0] if turn.group == repo}
        for record in sessions(talk / f"{repo}.jsonl.gz"):
            if record["session"] in wanted and record["role"] in ("user", "assistant"):
                found.setdefault(repo, {}).setdefault(record["session"], []).append(record)
    return readers, found


def _of_author(every: int) -> tuple[list[list[Turn]], dict[str, Talks]]:
    """Every message of the author as a session of its own, after what the assistant said."""
    told = [one for one in written() if one.group == DEV][::every]
    turns = [replace(one, session=f"{one.session} {one.number}", number=2) for one in told]
    talks = {
        one.session: [{"session": one.session, "role": role, "n": number, "text": text}
                      for number, (role, text) in enumerate((("assistant", one.before), ("user", one.text)), 1) if text]
        for one in turns
    }  # fmt: skip
    return [turns], {DEV: talks}


def _captured(repo: str, talks: Talks, extracted: Sequence[Turn] | None) -> tuple[Placed, float, int]:
    """What capture made of sessions, by turn, each with its quote; the CPU time and the number of user turns."""
    spent, many = 0.0, 0
    model = capture_checks.Perfect()
    with (
        tempfile.TemporaryDirectory(prefix="recollect-evaluate-") as folder,
        recollect.open(Path(folder) / "store.db", embedder="off") as memory,
    ):
        if extracted is not None:
            memory.__dict__["pipeline"] = replace(memory.pipeline, llm=lambda *_: model)
        for session, records in talks.items():
            model.marked = {
                turn.text[span.first : span.last]: KINDS.get(span.kind, span.kind)
                for turn in extracted or () if turn.session == session for span in turn.keep
            }  # fmt: skip
            messages = [Message(one["role"], one["text"], f"{one['role']} {one['n']}") for one in records]
            stored = memory.capture(messages, session=session, scope=Scope(project=repo), later=True)
            began = time.process_time()
            memory.extract(_sources(memory, stored.job))
            spent += time.process_time() - began
            many += sum(one["role"] == "user" for one in records)
        numbers = {(one["session"], one["text"].strip()[:200]): one["n"] for talk in talks.values() for one in talk}
        return _placed(memory, numbers), spent, many


def _placed(memory: recollect.Engine, numbers: dict[tuple[str, str], int]) -> Placed:
    """The memories of a store with their quotes, by the session and number of the turn that says them."""
    places = {
        turn.source: numbers.get((turn.scope.session, turn.content.strip()[:200]))
        for turn in _every(memory, ("turn",)) if turn.speaker == "user"
    }  # fmt: skip
    sessions_of = {turn.source: turn.scope.session for turn in _every(memory, ("turn",))}
    made: Placed = {}
    for learnt in _every(memory, ()):
        for quote in memory.evidence(learnt.id)[1] if learnt.kind != "turn" else ():
            if (number := places.get(quote.source)) is not None:
                made.setdefault((sessions_of[quote.source], number), []).append((learnt, quote.quote))
    return made


def _sources(memory: recollect.Engine, job: str) -> list[str]:
    return list(memory.jobs.get(job).payload["sources"]) if job else []


def _every(memory: recollect.Engine, kinds: tuple[str, ...]) -> Iterator[Memory]:
    cursor = None
    while True:
        page = memory.list(kinds=kinds, states=("active", "pending"), limit=1000, cursor=cursor)
        yield from page.memories
        if (cursor := page.cursor) is None:
            return


def _count(counts: Counts, row: Sequence[Turn], memories: Sequence[tuple[Memory, str]]) -> None:
    either = [span for turn in row for span in turn.keep]
    wanted = [
        span for span in row[0].keep
        if all(share(row[0].text[span.first : span.last], span.first, turn.keep)[0] >= 0.5 for turn in row[1:])
    ]  # fmt: skip
    reached: set[Span] = set()
    for learnt, quote in memories:
        counts.pending += learnt.state == "pending"
        if learnt.state != "active":
            continue
        counts.active += 1
        at = row[0].text.find(quote)
        part, span = share(quote, at, either)
        if span is not None and part >= 0.5:
            counts.right[span.sure] += 1
        else:
            counts.wrong.append(quote)
            counts.pasted += row[0].text.count("\n", 0, max(0, at)) in row[0].pasted
        reached |= {one for one in wanted if share(quote, at, [one])[0] >= 0.5}
    for span in wanted:
        counts.spans[span.sure] += 1
        counts.found[span.sure] += span in reached


def line_classes(readers: Sequence[Sequence[Turn]]) -> dict[str, float]:
    """How many lines are told right as typed or pasted, where both readers agree; and how often they do."""
    right: dict[str, list[bool]] = {"typed": [], "pasted": []}
    agreed: list[bool] = []
    for one, other in zip(*readers, strict=True):
        kept, said = lines.typed(one.text).split("\n"), one.text.split("\n")
        for place, line in enumerate(said):
            if not line.strip() or not shown(place, len(said)):
                continue
            agreed.append((place in one.pasted) == (place in other.pasted))
            if agreed[-1]:
                is_pasted = place in one.pasted
                right["pasted" if is_pasted else "typed"].append(bool(kept[place].strip()) != is_pasted)
    every = right["typed"] + right["pasted"]
    return {
        "lines": len(every), "right": _mean(every), "typed kept": _mean(right["typed"]),
        "pasted found": _mean(right["pasted"]), "readers agree": _mean(agreed),
    }  # fmt: skip


def agreement(readers: Sequence[Sequence[Turn]]) -> dict[str, float]:
    """How often two readers agree that a turn holds something worth keeping, and by chance corrected (kappa)."""
    if len(readers) < 2:
        return {}
    said = [(bool(one.keep), bool(other.keep)) for one, other in zip(*readers, strict=True)]
    same = _mean([one == other for one, other in said])
    first, second = _mean([one for one, _ in said]), _mean([other for _, other in said])
    chance = first * second + (1 - first) * (1 - second)
    return {"turns": same, "kappa": round((same - chance) / (1 - chance), 4)}


def _mean(told: Sequence[bool]) -> float:
    return round(sum(told) / max(1, len(told)), 4)


def goals(found: dict[str, Any]) -> list[tuple[str, float, float, bool]]:
    """What the figures are held against: a name, the figure, the goal, and whether it may not be exceeded."""
    figures, lines, spoken = found["figures"]["all"], found["lines"], found["languages"]
    rows = [("lines told right", lines["right"], 0.97, False)] if lines else []
    if found["extractor"]:
        return [*rows, ("found with a perfect extractor", figures["found"], 0.8, False)]
    junk = max((one["junk"] for name, one in spoken.items() if name != "en"), default=0.0)
    return [
        *rows, ("active memories that are useful", figures["useful"], 0.85, False),
        ("active memories that were pasted", figures["pasted"], 0.03, True),
        ("found of what readers would keep", figures["found"], 0.6, False),
        ("waiting for each active memory", round(figures["pending"] / max(1, figures["active"]), 4), 0.2, True),
        ("junk kept in the worst other language", junk, 0.05, True),
        ("requests kept in the worst language", min(one["requests"] for one in spoken.values()), 1.0, False),
        ("meanings inverted", found["meaning"]["inverted"], 0, True), ("CPU ms a turn", found["ms a turn"], 15, True),
    ]  # fmt: skip


def gate(found: dict[str, Any], baseline: dict[str, Any]) -> list[str]:
    """What is worse than in a baseline: a figure by more than three points, a language, or a meaning."""
    now, before = found["figures"]["all"], baseline["figures"]["all"]
    worse = [
        f"{name} was {before[name]} and is {now[name]}"
        for name in ("useful", "found")
        if now[name] < before[name] - LOSS
    ]
    for name, counts in found["languages"].items():
        known = baseline["languages"][name]
        if counts["junk"] > known["junk"] or counts["requests"] < known["requests"]:
            worse.append(f"{name} was {known} and is {counts}")
    return [*worse, *found["meaning"].get("which", ())]


def render(found: dict[str, Any]) -> str:
    rows = [f"capture, {found['part']} {found['extractor']}: {found['turns']} user turns"]
    for name in ("lines", "agreement"):
        if found[name]:
            rows.append(f"{name}: " + ", ".join(f"{one} {value:g}" for one, value in found[name].items()))
    for name, figures in found["figures"].items():
        rows.append(f"{name[:36]:36} " + "  ".join(f"{one} {value:g}" for one, value in figures.items()))
    for name, counts in found["languages"].items():
        rows.append(f"{name}: " + ", ".join(f"{kind} kept {100 * value:.0f} %" for kind, value in counts.items()))
    if found["meaning"]:
        rows += [f"{found['meaning']['items']} wordings held against what was said", *found["meaning"]["which"]]
    for name, value, goal, most in goals(found):
        met = value <= goal if most else value >= goal
        rows.append(f"{name:40} {value:8g}  {'at most' if most else 'at least'} {goal:g}: {'met' if met else 'missed'}")
    return "\n".join(rows)
