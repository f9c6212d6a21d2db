"""Prompts: what a person may ask of an assistant by name, with what memory holds put in already."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..agents.access import Caller
from ..engine import Engine
from ..errors import BadInput
from ..ops.catalogue import BY_NAME
from ..types import KINDS


@dataclass(frozen=True, slots=True)
class Prompt:
    """`arguments` are names with what they mean; those whose meaning ends in "optional" may be left out."""

    name: str
    title: str
    description: str
    arguments: Mapping[str, str]
    make: Callable[..., str]

    def optional(self, argument: str) -> bool:
        return self.arguments[argument].endswith("optional")


def _recall_for_task(engine: Engine, caller: Caller, task: str, project: str = "") -> str:
    given = {"query": task, "task": task, "budget": 2000} | ({"project": project} if project else {})
    block = BY_NAME["context"].call(engine, caller, given).text
    return (
        f"I am about to work on this:\n\n{task}\n\nThis is what memory holds on it:\n\n{block}\n\n"
        "Take the decisions, conventions and incidents in it into account, tell me which of them matter here and where "
        "they conflict with the task, and recall more with the recall tool where something is missing. Then plan the "
        "work."
    )


def _save_learning(engine: Engine, caller: Caller, learning: str = "", kind: str = "") -> str:
    if kind and kind not in KINDS:
        raise BadInput(f"kind {kind!r:.60} is not known.", fix=f"It is one of: {', '.join(KINDS)}.")
    what = f"Save this: {learning}" if learning else "Look back at this conversation for what is worth keeping."
    sort = f" as {kind}" if kind else " with the kind that fits (decision, lesson, preference, rule, incident, …)"
    return (
        f"{what}\n\nFirst recall the topic, to see what is known. Then remember each thing worth keeping{sort}: one "
        "self-contained statement, with the reason, the files it is about and an importance from 1 to 10. When it "
        "replaces an older memory, link the new one: supersedes. Leave out secrets and what the code says anyway. Tell "
        "me in one line each what was stored."
    )


def _review(engine: Engine, caller: Caller, project: str = "", kind: str = "") -> str:
    given = {name: value for name, value in (("project", project), ("kinds", [kind] if kind else None)) if value}
    operation = BY_NAME["list"]
    listed = operation.text(operation.call(engine, caller, {"limit": 50, **given}))
    return (
        f"These are the newest memories:\n\n{listed}\n\nGo through them with me. Name those that contradict each "
        "other, say nearly the same, look out of date or are too vague to be of use; read one whole with get_memory "
        "where its title is not enough. Propose for each what to do (edit_memory, link_memories supersedes, forget, "
        "reject), and do only what I agree to."
    )


PROMPTS = (
    Prompt(
        "recall-for-task", "Recall for a task", "Start a task with what memory holds on it.",
        {"task": "What is to be done", "project": "Only this project; optional"}, _recall_for_task,
    ),
    Prompt(
        "save-learning", "Save what was learnt", "Store what this conversation taught.",
        {"learning": "What to store; optional", "kind": "What sort of knowledge it is; optional"}, _save_learning,
    ),
    Prompt(
        "review-memories", "Review memories", "Go through what is remembered, and put it in order.",
        {"project": "Only this project; optional", "kind": "Only this kind; optional"}, _review,
    ),
)  # fmt: skip
_BY_NAME = {prompt.name: prompt for prompt in PROMPTS}


def get(engine: Engine, caller: Caller, name: str, given: Mapping[str, str]) -> tuple[Prompt, str]:
    """A prompt and its words."""
    prompt = _BY_NAME.get(name)
    if prompt is None:
        raise BadInput(f"There is no prompt {name!r:.60}.", fix=f"There are: {', '.join(_BY_NAME)}.")
    if unknown := given.keys() - prompt.arguments.keys():
        raise BadInput(f"{name} has no argument {min(unknown)!r:.60}.", fix=f"It has: {', '.join(prompt.arguments)}.")
    told = {argument: value for argument, value in given.items() if value.strip()}
    if missing := [one for one in prompt.arguments if not prompt.optional(one) and one not in told]:
        raise BadInput(f"{missing[0]} is missing.")
    return prompt, prompt.make(engine, caller, **told)
