"""Seeding: the questions that an empty cache can begin with. Pure.

They come from the headings of documents ("what is X?"), from what was asked repeatedly in captured talk, and from a
file with a question a line, which may have its answer behind a tab or be a JSON object.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable

from .. import text
from ..errors import BadInput
from ..types import Memory, Scope
from .questions import key

LONGEST = 8  # words of a heading that is the name of something
TWICE = 2  # how often something is asked in talk to be worth preparing
_FIRST = re.compile(
    r"(?:what|who|whom|whose|where|when|why|which|how|can|could|do|does|did|is|are|was|were|should|will|would)\b", re.I
)
_NUMBER = re.compile(r"^(?:\d+(?:\.\d+)*[.)]?\s+|[#*\-]+\s+)")
_PARTS = re.compile(r"\s+(?:>|/|»)\s+")
EMPTY = {"overview", "introduction", "contents", "notes", "summary", "changelog", "license", "see also", "references"}


def of_headings(documents: Iterable[Memory]) -> list[str]:
    """
    >>> titles = "Guide > 2. Blue-green deploys", "How to roll back", "Overview"
    >>> of_headings(Memory(title, "…", title=title) for title in titles)
    ['What is Blue-green deploys?', 'How to roll back?']
    """
    found: dict[str, str] = {}
    for memory in documents:
        heading = _NUMBER.sub("", _PARTS.split(memory.title)[-1]).strip(" .:?!")
        if not heading or heading.casefold() in EMPTY or len(heading.split()) > LONGEST:
            continue
        question = f"{heading}?" if _FIRST.match(heading) else f"What is {heading}?"
        found.setdefault(key(question), question)
    return list(found.values())


def of_talk(turns: Iterable[Memory]) -> list[str]:
    """What people asked more than once, most often first.

    >>> said = ["How do I run the tests?", "ok", "hi, how do I run the tests", "Why is it slow?"]
    >>> of_talk(Memory(str(n), one, kind="turn", speaker="user") for n, one in enumerate(said))
    ['How do I run the tests?']
    """
    counts: Counter[str] = Counter()
    first: dict[str, str] = {}
    for turn in turns:
        if turn.speaker not in ("", "user"):
            continue
        for sentence in {key(one): one for one in text.sentences(turn.content)}.values():
            said = sentence.strip()
            if 3 <= len(said.split()) <= 40 and (said.endswith("?") or _FIRST.match(said) or _follows_greeting(said)):
                counts[key(said)] += 1
                first.setdefault(key(said), said)
    return [first[one] for one, count in counts.most_common() if count >= TWICE]


def by_place(
    memories: Iterable[Memory], place: Scope, questions: Callable[[Iterable[Memory]], list[str]]
) -> list[tuple[str, str, Scope]]:
    """The questions that memories raise, without an answer yet, each with the user and project it will be asked in."""
    groups: dict[Scope, list[Memory]] = {}
    for memory in memories:
        where = Scope(memory.scope.user or place.user, memory.scope.project or place.project)
        groups.setdefault(where, []).append(memory)
    return [(one, "", where) for where, some in groups.items() for one in questions(some)]


def _follows_greeting(said: str) -> bool:
    """Whether a question stands behind a greeting."""
    return bool(_FIRST.match(said.rpartition(", ")[2])) and "," in said[:20]


def of_lines(lines: Iterable[str], name: str) -> list[tuple[str, str]]:
    """Questions with their answers, which may be empty.

    >>> of_lines(["# ours", "What is CI?", "Who is Ana?\\tShe leads.", '{"question": "Why?", "answer": "So."}'], "f")
    [('What is CI?', ''), ('Who is Ana?', 'She leads.'), ('Why?', 'So.')]
    """
    found = []
    for number, line in enumerate(lines, 1):
        said = line.strip()
        if not said or said.startswith("#"):
            continue
        if said.startswith("{"):
            try:
                told = json.loads(said)
                found.append((str(told["question"]), str(told.get("answer") or "")))
            except (ValueError, KeyError) as error:
                raise BadInput(f"{name}, line {number}: no question is in it.", fix='{"question": …}') from error
        else:
            question, _, answer = said.partition("\t")
            found.append((question.strip(), answer.strip()))
    return found
