"""Summaries of sessions: what was asked, changed, broken and mended, decided, given up and left open. Pure.

    steps of a session (turns and uses of tools, in order) → lines, each with the words of the steps that prove it

No language model takes part. A line holds its proofs word for word, so that it goes when what it rests on is erased.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from ..language.statements import is_question
from . import words
from .data import read
from .events import WRITES
from .segment import LONGEST, statements

MOST_FILES, MOST_COMMANDS, MOST_KEPT, MOST_SAID = 8, 3, 5, 2
SAID, COMMAND = 200, 90  # characters of a quote that are shown
FEW_WORDS, LONG = 3, 15  # words of a request, or characters in a script without spaces; fewer say too little
_TABLE = read("summary")
_FAILED, _EXIT, _COMMITTED, _PATCHED, _UNDONE = (
    re.compile(_TABLE[name], re.MULTILINE) for name in ("failed", "exit", "committed", "patched", "undone")
)
_LOOKS = frozenset(_TABLE["looks"].split())
_AHEAD = re.compile(_TABLE["ahead"])


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that was said or done in a session. `source` is empty where it is not stored."""

    role: str
    content: str
    source: str = ""
    at: datetime | None = None
    id: str = ""  # how the host calls it


@dataclass(frozen=True, slots=True)
class Proof:
    """The words of a step, letter for letter, that a line rests on."""

    step: Step
    quote: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a summary with its proofs, each of which stands in it."""

    text: str
    proofs: tuple[Proof, ...]


@dataclass(frozen=True, slots=True)
class Run:
    """A command that ran: its first words, which tell it from others, and what it said when it failed."""

    step: Step
    place: int
    command: str
    key: str
    failure: str = ""


def summed_up(steps: Sequence[Step], kept: Sequence[Proof] = ()) -> list[Line]:
    """The lines of a summary; `kept` are the statements of the session that became memories. Nothing done, no lines."""
    runs = list(_runs(steps))
    done = [
        *_changed(steps), *_committed(steps), *_mended(steps, runs), *_given_up(steps),
        *(_quoted("Kept", proof) for proof in kept[:MOST_KEPT]),
    ]  # fmt: skip
    return [*_asked(steps), *done, *_open(steps)] if done else []


def _asked(steps: Sequence[Step]) -> Iterator[Line]:
    """What the session was about: the first request and the last."""
    requests = [proof for step in steps if step.role == "user" for proof in _requests(step)[:1]]
    later = [proof for proof in requests[1:] if not is_question(proof.quote)]
    for proof in (*requests[:1], *later[-1:]):
        yield _quoted("Asked", proof)


def _requests(step: Step) -> list[Proof]:
    said = [one.text for one in statements(step.content, typed=True)]
    return [Proof(step, _head(one, SAID)) for one in said if len(one.split()) >= FEW_WORDS or len(one) > LONG]


def _changed(steps: Sequence[Step]) -> Iterator[Line]:
    """The files that were written, those that were written most first."""
    found: Counter[str] = Counter()
    where: dict[str, Step] = {}
    for step in steps:
        for path in _files(step):
            found[path] += 1
            where.setdefault(path, step)
    if found:
        root = os.path.commonpath([os.path.dirname(path) for path in found]) + "/" if len(found) > 1 else ""
        named = {path: path.removeprefix(root) for path in found}
        shown = [path for path, _ in found.most_common(MOST_FILES)]
        more = f" and {len(found) - len(shown)} more" if len(found) > len(shown) else ""
        yield Line(
            f"Changed: {', '.join(named[path] for path in shown)}{more}",
            tuple(Proof(where[path], named[path]) for path in shown),
        )


def _files(step: Step) -> list[str]:
    """The files that the use of a tool has written."""
    name, _, rest = step.content.partition(": ") if step.role == "tool" else ("", "", "")
    if patched := _PATCHED.findall(rest):
        return list(patched)
    first = rest.partition("\n")[0].strip()
    return [first] if WRITES.search(name) and " " not in first and "\n→" not in rest and first else []


def _committed(steps: Sequence[Step]) -> Iterator[Line]:
    found = [
        Proof(step, _head(subject.strip(), SAID))
        for step in steps if step.role == "tool" for subject in _COMMITTED.findall(step.content)
    ]  # fmt: skip
    for proof in found[-MOST_COMMANDS:]:
        yield Line(f"Committed: {proof.quote}", (proof,))


def _runs(steps: Sequence[Step]) -> Iterator[Run]:
    """The commands that checked or built something; what only looks around says nothing when it fails."""
    for place, step in enumerate(steps):
        name, _, rest = step.content.partition(": ") if step.role == "tool" else ("", "", "")
        asked, arrow, outcome = rest.partition("\n→ ")
        if not name or WRITES.search(name) or not (command := _AHEAD.sub("", asked).strip()):
            continue
        command = command.partition("\n")[0]
        plain = re.split(r"\s*(?:\||&&|;|>|2>)", command)[0].split()
        key = " ".join([word for word in plain if not re.search(r"^-(?!m$)|[/=.]", word)][:3])
        if plain and plain[0] not in _LOOKS and key:
            failure = _FAILED.search(outcome) or _EXIT.search(outcome) if arrow else None
            yield Run(step, place, command, key, failure[0].strip() if failure else "")


def _mended(steps: Sequence[Step], runs: Sequence[Run]) -> Iterator[Line]:
    """What failed, and what was changed before it went well again; what still fails comes last."""
    last = {run.key: run for run in runs}
    failed = {run.key: run for run in runs if run.failure}
    mended = [run for run in failed.values() if not last[run.key].failure]
    for run in mended[-MOST_COMMANDS:]:
        well = last[run.key]
        files = {os.path.basename(path): step for step in steps[run.place : well.place] for path in _files(step)}
        fixed = dict(list(files.items())[-3:])
        how = f", after a change of {', '.join(fixed)}" if fixed else ""
        proofs = (*_proofs(run), *(Proof(step, name) for name, step in fixed.items()))
        yield Line(f"Failed, then passed{how}: {_shown(run)}", proofs)
    for run in [one for one in failed.values() if last[one.key].failure][-MOST_COMMANDS:]:
        yield Line(f"Still failing: {_shown(run)}", _proofs(run))


def _shown(run: Run) -> str:
    return f"`{_head(run.command, COMMAND)}` ({_head(run.failure, COMMAND)})"


def _proofs(run: Run) -> tuple[Proof, ...]:
    return Proof(run.step, _head(run.command, COMMAND)), Proof(run.step, _head(run.failure, COMMAND))


def _given_up(steps: Sequence[Step]) -> Iterator[Line]:
    """What was undone, and what the user turned down."""
    undone = [
        Proof(step, _head(found[0], COMMAND))
        for step in steps if step.role == "tool" and (found := _UNDONE.search(step.content.partition("\n→")[0]))
    ]  # fmt: skip
    for proof in undone[-MOST_SAID:]:
        yield Line(f"Undone: `{proof.quote}`", (proof,))
    refused = [
        Proof(step, _head(one.text, SAID))
        for step in steps if step.role == "user"
        for one in statements(step.content, typed=True)[:1]
        if words.corrects(one.text) and len(one.text.split()) > FEW_WORDS and not is_question(one.text)
    ]  # fmt: skip
    for proof in refused[-MOST_SAID:]:
        yield _quoted("Turned down", proof)


def _open(steps: Sequence[Step]) -> Iterator[Line]:
    """What was left: a request without an answer, or a question of the assistant without one."""
    talk = [step for step in steps if step.role in ("user", "assistant")]
    if not talk:
        return
    said = [one for one in statements(talk[-1].content) if len(one.text) <= LONGEST]
    if steps[-1].role == "user" and (left := _requests(talk[-1])):
        yield _quoted("Left open", left[-1])
    elif talk[-1].role == "assistant" and said and is_question(said[-1].text):
        yield _quoted("Left open", Proof(talk[-1], _head(said[-1].text, SAID)))


def _head(said: str, most: int) -> str:
    """The beginning of a text, letter for letter, up to the end of a word."""
    return said if len(said) <= most else said[:most].rpartition(" ")[0] or said[:most]


def _quoted(label: str, proof: Proof) -> Line:
    return Line(f'{label}: "{proof.quote}"', (proof,))
