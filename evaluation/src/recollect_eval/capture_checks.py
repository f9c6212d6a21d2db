"""What else capture must hold: explicit requests and junk in seven languages, and that no wording says the contrary.

`Perfect` stands for a good language model: it extracts what readers marked, word for word. So what is lost behind it is
lost by capture itself: by vetoes, by grounding, or by what is known already.
"""

from __future__ import annotations

import json
import random
import re
import tempfile
from collections.abc import Iterable, Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import recollect
from recollect.capture.extract import Candidate, candidate
from recollect.capture.model import Looking
from recollect.capture.segment import LONGEST, statements
from recollect.capture.windows import Turn as Said
from recollect.capture.windows import Window
from recollect.models.llm import Completion, Prompt, Schema, Usage
from recollect.types import Message, Scope

if TYPE_CHECKING:
    from .capture import Turn

NOTHING = Usage(0, 0)
ITEMS = 2500  # statements whose wording is held against what was said
# Words that turn the meaning round, in the languages of the sessions; not those lists that capture itself uses.
_TURNS = re.compile(
    r"\b(?:no|not|never|none|nobody|neither|nor|without|cannot|unless|except|only|if|nicht|kein\w*|nie|ohne|nur|wenn|pas|"
    r"jamais|aucune?|sans|sauf|si|nunca|sin|salvo|não|nao|sem|exceto)\b|n['’]t\b|[不没沒別别]|ない|ません|せず",
    re.IGNORECASE,
)
# How a lead ends that only answers ("No, "), or asks to remember ("don't forget that").
_REPLY = re.compile(r"[^\w\s]\s*$|(?:forget|vergiss|oublie|olvides|esqueça)\b.*$|忘.*$", re.IGNORECASE)


class Perfect:
    """A language model that extracts the marked words of a session, each once."""

    model, free = "scripted:perfect", True

    def __init__(self) -> None:
        self.marked: dict[str, str] = {}  # what is not extracted yet, with its kind

    def complete(self, system: str, messages: Prompt, schema: Schema, max_tokens: int) -> Completion:
        said = " ".join(messages[-1][1].split("The conversation:\n")[-1].split())
        here = [words for words in self.marked if all(" ".join(part) in said for part in _parts(words))]
        if "worth" in schema["properties"]:
            return Completion({"worth": bool(here)}, NOTHING)
        told = [{"content": " ".join(words.split()), "kind": self.marked.pop(words), "quote": words} for words in here]
        return Completion({"memories": told}, NOTHING)


def _parts(words: str) -> list[list[str]]:
    """The lines of what was marked as a model is shown them: without bullets."""
    return [re.sub(r"^\s*(?:[-*•+]|\d{1,2}[.)、:])\s*", "", line).split() for line in words.split("\n") if line.strip()]


def languages() -> dict[str, dict[str, float]]:
    """Of ten requests in each language how many are kept, and of ten other messages how many."""
    told = json.loads(resources.files(__package__).joinpath("languages.json").read_text("utf-8"))
    found: dict[str, dict[str, float]] = {}
    with (
        tempfile.TemporaryDirectory(prefix="recollect-evaluate-") as folder,
        recollect.open(Path(folder) / "store.db", embedder="off") as memory,
    ):
        for language, messages in told.items():
            counts = found.setdefault(language, {})
            for kind, some in messages.items():
                for number, said in enumerate(some):
                    scope = Scope(project=f"{language} {kind} {number}")
                    memory.capture([Message("user", said)], session=scope.project, scope=scope)
                    kept = [one for one in memory.list(scope=scope).memories if one.kind != "turn"]
                    counts[kind] = counts.get(kind, 0) + bool(kept) / len(some)
    return {name: {kind: round(value, 4) for kind, value in counts.items()} for name, counts in found.items()}


def meaning(turns: Sequence[Turn], items: int = ITEMS) -> dict[str, Any]:
    """Of the statements of turns, in random order: how many would be kept in words that could say something else.

    Every third is told by a model that drops a word of it, where the wording that capture makes of that counts.
    """
    chance = random.Random(20)
    looked, wrong = 0, []
    for turn in chance.sample(list(turns), len(turns)):
        said = [one for one in statements(turn.text, typed=True) if len(one.text) <= LONGEST]
        for place, one in enumerate(said):
            if looked % 3 == 2:
                made = _told_by_a_model(one.text, chance)
            else:
                found = candidate(Said("user", turn.text), one, said[place - 1] if place else None, turn.before)
                made = [found] if found is not None else []
            for each in made:
                looked += 1
                if not says_the_same(each):
                    wrong.append(f"{each.quote} -> {each.content}")
        if looked >= items:
            break
    return {"items": looked, "inverted": len(wrong), "which": wrong[:20]}


def _told_by_a_model(said: str, chance: random.Random) -> Iterable[Candidate]:
    """A statement as a model gives it that leaves out one or two words, where capture takes it as said by the user."""
    words = said.split()
    for _ in range(min(len(words) - 2, chance.choice((1, 2)))):
        words.pop(chance.randrange(len(words)))

    class Careless(Perfect):
        def complete(self, system: str, messages: Prompt, schema: Schema, max_tokens: int) -> Completion:
            told = {"content": " ".join(words), "kind": "fact", "quote": said}
            return Completion({"worth": True} if "worth" in schema["properties"] else {"memories": [told]}, NOTHING)

    looking = Looking(lambda *_: Careless(), lambda *_: ())
    found = looking.look(Window((Said("user", said),)), Scope()).found
    return [one for one in found if one.rule == "model" and one.role == "user"]


def says_the_same(made: Candidate) -> bool:
    """Whether what stands between the words that are kept and those that were said turns nothing round."""
    said = " ".join(" ".join((made.asked, made.lead, made.quote)).split())
    kept, place, dropped = made.content.split(), 0, []
    for word in said.split():
        if place < len(kept) and _plain(word) == _plain(kept[place]):
            place += 1
        else:
            dropped.append((place, word))
    if any(_plain(word).strip("()") and _plain(word) not in _plain(said) for word in kept[place:]):
        return False
    lead = " ".join(word for at, word in dropped if at == 0)
    rest = " ".join(word for at, word in dropped if at > 0)
    return not _TURNS.search(rest) and not (_TURNS.search(lead) and not _REPLY.search(lead))


def _plain(word: str) -> str:
    return word.lower().strip(" ,.;:!?\"'“”()[]-*。，、")  # noqa: RUF001
