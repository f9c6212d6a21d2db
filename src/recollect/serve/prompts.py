"""Prompts: what a person may ask of an assistant by name, with what memory holds put in already (`mcp.toml`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..agents.access import Caller
from ..engine import Engine
from ..errors import BadInput
from ..ops.catalogue import BY_NAME
from ..ops.parameters import read_file
from ..types import KINDS


@dataclass(frozen=True, slots=True)
class Prompt:
    """`arguments` are names with what they mean; those whose meaning ends in "optional" may be left out."""

    name: str
    title: str
    description: str
    arguments: Mapping[str, str]
    text: str

    def optional(self, argument: str) -> bool:
        return self.arguments[argument].endswith("optional")


def _fill_in(engine: Engine, caller: Caller, text: str, given: Mapping[str, str]) -> str:
    """The text of a prompt with its arguments, and with what memory holds on them."""
    kind, learning = given.get("kind", ""), given.get("learning")
    if kind and kind not in KINDS:
        raise BadInput(f"kind {kind!r:.60} is not known.", fix=f"It is one of: {', '.join(KINDS)}.")
    place: dict[str, Any] = {"project": given["project"]} if "project" in given else {}
    if task := given.get("task"):
        block = BY_NAME["context"].call(engine, caller, {"query": task, "task": task, "budget": 2000, **place}).text
        return text.format(task=task, block=block)
    if "{listed}" in text:
        asked = {"limit": 50, **place, **({"kinds": [kind]} if kind else {})}
        return text.format(listed=BY_NAME["list"].text(BY_NAME["list"].call(engine, caller, asked)))
    return text.format(
        what=f"Save this: {learning}" if learning else "Look back at this conversation for what is worth keeping.",
        sort=f" as {kind}" if kind else " with the kind that fits (decision, lesson, preference, rule, incident, …)",
    )


PROMPTS = {name: Prompt(name, **told) for name, told in read_file("serve", "mcp.toml")["prompts"].items()}


def get(engine: Engine, caller: Caller, name: str, given: Mapping[str, str]) -> tuple[Prompt, str]:
    """A prompt and its words."""
    prompt = PROMPTS.get(name)
    if prompt is None:
        raise BadInput(f"There is no prompt {name!r:.60}.", fix=f"There are: {', '.join(PROMPTS)}.")
    if unknown := given.keys() - prompt.arguments.keys():
        raise BadInput(f"{name} has no argument {min(unknown)!r:.60}.", fix=f"It has: {', '.join(prompt.arguments)}.")
    told = {argument: value for argument, value in given.items() if value.strip()}
    if missing := [one for one in prompt.arguments if not prompt.optional(one) and one not in told]:
        raise BadInput(f"{missing[0]} is missing.")
    return prompt, _fill_in(engine, caller, prompt.text, told)
