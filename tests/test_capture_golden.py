"""The golden set: how well capture tells what is worth remembering. `tests/capture/README.md` says what is in it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from recollect import Engine
from recollect.capture.durable import Durability
from recollect.capture.echo import own_words
from recollect.capture.extract import Candidate, Extractor
from recollect.capture.windows import Turn, Window
from recollect.errors import RecollectError
from recollect.grounding import hedged
from recollect.types import Message, Scope
from recollect_eval import corpus

HERE = Path(__file__).parent / "capture"


@dataclass(frozen=True)
class Labelled:
    """A window as a person read it: who said what, which words are worth keeping, and whether nobody said it."""

    set: str
    part: str
    turns: tuple[tuple[str, str], ...]
    claims: tuple[str, ...]
    echo: bool = False

    def window(self) -> Window:
        turns: list[Turn] = []
        for role, text in self.turns:
            before = turns[-1] if turns and role == "user" and turns[-1].role == "assistant" else None
            turns.append(Turn(role, own_words(text), before=before))
        return Window(tuple(turns))


def lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


@cache
def transcript(name: str) -> list[Any]:
    try:
        return list(lines(corpus.place(None, "transcripts") / name))
    except RecollectError as error:
        pytest.skip(f"THE GOLDEN SET WAS NOT TESTED: {error}")


def said(record: dict[str, Any]) -> str:
    """The text of a record, as it was labelled: its own words, or else what a tool gave back."""
    content = record["message"]["content"]
    if isinstance(content, str):
        return content
    texts = [part if isinstance(part, str) else part.get("text", "") for part in content if _is_text(part)]
    if "".join(texts).strip():
        return "\n\n".join(texts)
    result = next(part for part in content if part.get("type") == "tool_result")["content"]
    return result if isinstance(result, str) else "\n\n".join(part.get("text", "") for part in result or [])


def _is_text(part: Any) -> bool:
    return isinstance(part, str) or part.get("type") == "text"


def dialogues() -> list[Labelled]:
    return [
        Labelled("dialogues", one["part"], tuple((t["role"], t["content"]) for t in one["turns"]), tuple(one["claims"]))
        for one in lines(HERE / "dialogues.jsonl")
    ]


def transcripts() -> list[Labelled]:
    found = []
    for one in lines(HERE / "transcripts.jsonl"):
        text = said(transcript(one["file"])[one["line"]])
        claims = tuple(text[start:end] for start, end in one["claims"])
        found.append(Labelled("transcripts", one["part"], ((one["role"], text),), claims, one["echo"]))
    return found


def good(one: Candidate, labelled: Labelled) -> bool:
    return any(claim in one.quote or one.quote in claim for claim in labelled.claims)


def test_the_set_is_large_enough_and_mixed() -> None:
    every = [*dialogues(), *transcripts()]
    assert len(transcripts()) >= 150
    assert sum(one.part == "held" for one in every) >= 100
    assert sum(bool(one.claims) for one in every) >= 50


@pytest.mark.fitted
def test_what_the_fitted_decision_keeps_of_written_talk_is_mostly_right() -> None:
    """It was not fitted on these. Written talk is easier than real talk: `recollect eval capture` has the figures."""
    extractor = Extractor(Durability())
    every = dialogues()
    kept = [(found, one) for one in every for found in extractor.extract(one.window())]
    believed = [(found, one) for found, one in kept if found.rule not in ("correction", "retraction")]
    fitting = [good(*pair) for pair in believed]
    found = [
        any(claim in one.quote or one.quote in claim for one, window in believed if window is labelled)
        for labelled in every
        for claim in labelled.claims
    ]
    print(f"precision {sum(fitting)}/{len(fitting)}, recall {sum(found)}/{len(found)}")
    assert sum(fitting) / len(fitting) >= 0.8
    assert sum(found) / len(found) >= 0.3


def test_nothing_that_nobody_said_and_nothing_hedged_becomes_belief(memory: Engine) -> None:
    """The whole path: every labelled window captured as a session of its own."""
    every = [*dialogues(), *transcripts()]
    for number, one in enumerate(every):
        messages = [Message(role, text) for role, text in one.turns]
        done = memory.capture(messages, session=str(number), scope=Scope(project=str(number)))
        if one.echo:
            assert [found for found in done.findings if found.action != "blocked"] == []
    for page in memory.list(limit=1000).memories, memory.list(limit=1000, states=("pending",)).memories:
        for learnt in page:
            if learnt.kind == "turn":
                continue
            source, quotes = memory.evidence(learnt.id)
            assert source
            assert quotes
            assert all(quote.quote in source.content for quote in quotes)
            assert not any(hedged(quote.quote) for quote in quotes)
            assert learnt.state == "pending" or learnt.trust in ("stated", "cited")
