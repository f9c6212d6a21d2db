"""LLM: instructions and a schema in, a JSON object that fits the schema out, with what it cost.

Each adapter uses its provider's way to hold a model to a schema, and the answer is checked here all the same.
Temperature is 0 where a model takes one. For every LLM (tests/test_llm.py): an answer that is cut off, empty, no JSON,
refused or does not fit is a `BadAnswer`, which carries the tokens that were paid for; tokens are the provider's, or
`estimated`; an LLM is safe to share between threads. Prompts are redacted and costs are booked in `upkeep/spending.py`.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from .. import text as plain
from ..errors import BadAnswer, BadInput, ProviderRefused
from .address import Address, parse
from .http import Patience, post

Prompt = Sequence[tuple[Literal["user", "assistant"], str]]
Schema = Mapping[str, Any]
SPEAKERS = ("ollama", "openai", "anthropic", "gemini")
MAX_OUTPUT = 65_536  # tokens
_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(.*)\n\s*```\s*\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that a model read and wrote."""

    tokens_in: int
    tokens_out: int = 0
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class Completion:
    data: dict[str, Any]
    usage: Usage


class LLM(Protocol):
    """Completes prompts with JSON."""

    @property
    def model(self) -> str:
        """Provider and model, such as `anthropic:claude-haiku-4-5`."""

    @property
    def free(self) -> bool:
        """Whether nobody sends a bill for it."""

    def complete(self, system: str, messages: Prompt, schema: Schema, max_tokens: int) -> Completion:
        """The object that the model answers with."""


def load(url: str, patience: Patience | None = None) -> LLM:
    """The language model of a URL, as the settings `llm` and `llm_gate` have it.

    >>> load("ollama://localhost/llama3.2:3b").model
    'ollama:llama3.2:3b'
    """
    address = parse(url, SPEAKERS)
    own = patience or Patience()
    if address.timeout is not None:
        own = replace(own, timeout=address.timeout)
    kinds: dict[str, type[_Served]] = {
        "ollama": Ollama, "openai": OpenAI, "anthropic": Anthropic, "gemini": Gemini
    }  # fmt: skip
    return kinds[address.provider](address, own)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a provider's answer comes down to: the text, what it cost, and why there is no more of it."""

    text: str
    tokens_in: int | None
    tokens_out: int | None
    cut: bool = False
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request; `cold` is the temperature, or nothing."""

    system: str
    messages: Prompt
    schema: dict[str, Any]
    max_tokens: int
    cold: dict[str, int]


class _Served(ABC):
    """What the adapters share: asking, and believing nothing."""

    PATH = ""

    def __init__(self, address: Address, patience: Patience) -> None:
        self.model = f"{address.provider}:{address.model}"
        self.free = address.free
        self._address = address
        self._patience = patience
        self._tempered = True  # until the model says that it takes no temperature

    def _path(self) -> str:
        return self.PATH

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._address.key}"} if self._address.key else {}

    @abstractmethod
    def _body(self, asked: Asked) -> dict[str, Any]: ...

    @abstractmethod
    def _answer(self, body: dict[str, Any]) -> Answer:
        """Raises KeyError, IndexError or TypeError where the body is not of the provider's form."""

    def complete(self, system: str, messages: Prompt, schema: Schema, max_tokens: int) -> Completion:
        _check(messages, schema, max_tokens)
        body = self._ask(system, messages, portable(schema), max_tokens)
        try:
            answer = self._answer(body)
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            raise BadAnswer(f"{self.model} answered in a form that is not its provider's.") from error
        usage = _usage(answer, system, messages)
        told = (usage.tokens_in, usage.tokens_out)
        if answer.refused:
            raise BadAnswer(f"{self.model} would not answer: {plain.shorten(answer.refused, 200)}.", tokens=told)
        if answer.cut:
            raise BadAnswer(f"The answer of {self.model} was cut off at {max_tokens} tokens.", tokens=told)
        try:
            data = json.loads(match[1] if (match := _FENCE.match(answer.text)) else answer.text)
        except (ValueError, RecursionError) as error:
            what = "no JSON" if answer.text.strip() else "nothing"
            raise BadAnswer(f"{self.model} answered with {what}.", tokens=told) from error
        if problem := misfit(data, schema):
            raise BadAnswer(f"The answer of {self.model} does not fit: {problem}.", tokens=told)
        return Completion(data, usage)

    def _ask(self, system: str, messages: Prompt, schema: dict[str, Any], max_tokens: int) -> dict[str, Any]:
        url = f"{self._address.base}{self._path()}"
        while True:
            cold = {"temperature": 0} if self._tempered else {}
            body = self._body(Asked(system, messages, schema, max_tokens, cold))
            try:
                return post(url, body, self._headers(), self._patience)
            except ProviderRefused as error:
                if not self._simpler(error.message):
                    raise

    def _simpler(self, refusal: str) -> bool:
        """Whether a refusal is of something that can be left out; it is left out from then on."""
        # Models that think choose their own temperature and refuse to be told one.
        if self._tempered and "temperature" in refusal:
            self._tempered = False
            return True
        return False


class Ollama(_Served):
    """`/api/chat` with the schema as `format`. The context is asked for, as the default cuts prompts silently."""

    PATH = "/api/chat"

    def _body(self, asked: Asked) -> dict[str, Any]:
        # In powers of two, because another size has the server load the model again.
        need = asked.max_tokens + 2 * (
            plain.tokens(asked.system) + sum(plain.tokens(said) for _, said in asked.messages)
        )
        context = max(4096, 1 << (need - 1).bit_length())
        return {
            "model": self._address.model, "messages": _chat(asked.system, asked.messages), "stream": False,
            "think": False, "format": asked.schema,
            "options": {**asked.cold, "num_predict": asked.max_tokens, "num_ctx": context},
        }  # fmt: skip

    def _answer(self, body: dict[str, Any]) -> Answer:
        cut = body.get("done_reason") == "length"
        return Answer(body["message"]["content"], body.get("prompt_eval_count"), body.get("eval_count"), cut)


class OpenAI(_Served):
    """`/chat/completions` with a strict JSON schema; OpenAI's own and whatever speaks like it.

    Some that speak like it know no `json_schema`. They are asked for a JSON object, with the schema in the form that
    llama-cpp-python takes it and in words.
    """

    _strict = True

    PATH = "/chat/completions"

    def _body(self, asked: Asked) -> dict[str, Any]:
        limit = "max_completion_tokens" if self._address.official else "max_tokens"
        system, schema = asked.system, asked.schema
        form: dict[str, Any]
        form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": True}}
        if not self._strict:
            form = {"type": "json_object", "schema": schema}
            system = f"{system}\nAnswer with a JSON object of this schema: {json.dumps(schema)}".strip()
        return {
            "model": self._address.model, "messages": _chat(system, asked.messages), "response_format": form,
            limit: asked.max_tokens, **asked.cold,
        }  # fmt: skip

    def _simpler(self, refusal: str) -> bool:
        if self._strict and ("response_format" in refusal or "json_schema" in refusal):
            self._strict = False
            return True
        return super()._simpler(refusal)

    def _answer(self, body: dict[str, Any]) -> Answer:
        choice = body["choices"][0]
        usage = body.get("usage") or {}
        reason = choice.get("finish_reason")
        refused = choice["message"].get("refusal") or ("its content filter" if reason == "content_filter" else "")
        told = choice["message"].get("content") or ""
        return Answer(told, usage.get("prompt_tokens"), usage.get("completion_tokens"), reason == "length", refused)


class Anthropic(_Served):
    """`/messages` with the schema as `output_config.format`."""

    PATH = "/messages"

    def _headers(self) -> dict[str, str]:
        return {"x-api-key": self._address.key, "anthropic-version": "2023-06-01"}

    def _body(self, asked: Asked) -> dict[str, Any]:
        return {
            "model": self._address.model, "system": asked.system, "messages": _chat("", asked.messages),
            "max_tokens": asked.max_tokens,
            "output_config": {"format": {"type": "json_schema", "schema": asked.schema}}, **asked.cold,
        }  # fmt: skip

    def _answer(self, body: dict[str, Any]) -> Answer:
        told = "".join(block["text"] for block in body["content"] if block["type"] == "text")
        usage = body.get("usage") or {}
        reads = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        read = sum(usage.get(name) or 0 for name in reads) if usage else None
        reason = body.get("stop_reason")
        refused = "it declines" if reason == "refusal" else ""
        return Answer(told, read, usage.get("output_tokens"), reason == "max_tokens", refused)


class Gemini(_Served):
    """`:generateContent` with `responseJsonSchema`. Thoughts are paid for like words."""

    def _path(self) -> str:
        return f"/models/{self._address.model}:generateContent"

    def _headers(self) -> dict[str, str]:
        return {"x-goog-api-key": self._address.key}

    def _body(self, asked: Asked) -> dict[str, Any]:
        names = {"user": "user", "assistant": "model"}
        form: dict[str, Any] = {"responseMimeType": "application/json", "responseJsonSchema": asked.schema}
        return {
            "systemInstruction": {"parts": [{"text": asked.system}]},
            "contents": [{"role": names[role], "parts": [{"text": said}]} for role, said in asked.messages],
            "generationConfig": {**form, "maxOutputTokens": asked.max_tokens, **asked.cold},
        }

    def _answer(self, body: dict[str, Any]) -> Answer:
        usage = body.get("usageMetadata") or {}
        wrote = (usage.get("candidatesTokenCount") or 0) + (usage.get("thoughtsTokenCount") or 0) if usage else None
        if blocked := (body.get("promptFeedback") or {}).get("blockReason"):
            return Answer("", usage.get("promptTokenCount"), wrote, refused=str(blocked))
        candidate = body["candidates"][0]
        reason = candidate.get("finishReason", "STOP")
        parts = (candidate.get("content") or {}).get("parts") or []
        told = "".join(part["text"] for part in parts if not part.get("thought"))
        refused = "" if reason in ("STOP", "MAX_TOKENS") else str(reason)
        return Answer(told, usage.get("promptTokenCount"), wrote, reason == "MAX_TOKENS", refused)


def _check(messages: Prompt, schema: Schema, max_tokens: int) -> None:
    if not messages or any(role not in ("user", "assistant") for role, _ in messages):
        raise BadInput("A prompt is made of what user and assistant said.")
    if schema.get("type") != "object":
        raise BadInput("The schema of an answer must be of an object.")
    if not 1 <= max_tokens <= MAX_OUTPUT:
        raise BadInput(f"max_tokens must be from 1 to {MAX_OUTPUT}, not {max_tokens}.")


def _chat(system: str, messages: Prompt) -> list[dict[str, str]]:
    first = [{"role": "system", "content": system}] if system else []
    return [*first, *({"role": role, "content": said} for role, said in messages)]


def _usage(answer: Answer, system: str, messages: Prompt) -> Usage:
    if isinstance(answer.tokens_in, int) and isinstance(answer.tokens_out, int):
        return Usage(answer.tokens_in, answer.tokens_out)
    return Usage(prompt_tokens(system, messages), plain.tokens(answer.text), estimated=True)


def prompt_tokens(system: str, messages: Prompt) -> int:
    """How many tokens a prompt takes, estimated."""
    return plain.tokens(system) + sum(plain.tokens(said) + 4 for _, said in messages)


_KEPT = ("type", "description", "enum", "const")


def portable(schema: Schema) -> dict[str, Any]:
    """The part of a schema that every provider takes: closed objects, every property required, no bounds.

    >>> portable({"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}})["required"]
    ['n']
    """
    kept: dict[str, Any] = {name: schema[name] for name in _KEPT if name in schema}
    if "properties" in schema:
        kept["properties"] = {name: portable(part) for name, part in schema["properties"].items()}
        kept["required"] = list(schema["properties"])
        kept["additionalProperties"] = False
    if "items" in schema:
        kept["items"] = portable(schema["items"])
    if "anyOf" in schema:
        kept["anyOf"] = [portable(part) for part in schema["anyOf"]]
    return kept


_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,), "array": (list,), "string": (str,), "integer": (int,), "number": (int, float),
    "boolean": (bool,), "null": (type(None),),
}  # fmt: skip


def misfit(value: Any, schema: Schema, at: str = "the answer") -> str:
    """How a value fails a schema, or nothing. Types, enumerations, required properties, items and bounds are held.

    >>> wanted = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 5}}, "required": ["n"]}
    >>> misfit({"n": 3}, wanted), misfit({"n": 9}, wanted), misfit({}, wanted), misfit([], wanted)
    ('', 'n is above 5', 'n is missing', 'the answer is no object')
    """
    if "anyOf" in schema:
        return "" if any(not misfit(value, part, at) for part in schema["anyOf"]) else f"{at} is none of its kinds"
    kinds = schema.get("type", list(_TYPES))
    names = [kinds] if isinstance(kinds, str) else kinds
    allowed = tuple(kind for name in names for kind in _TYPES[name])
    if not isinstance(value, allowed) or (isinstance(value, bool) and bool not in allowed):
        return f"{at} is no {' or '.join(names)}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{at} is not one of its values"
    if isinstance(value, dict):
        for name in schema.get("required", ()):
            if name not in value:
                return f"{name} is missing"
        parts = schema.get("properties", {}).items()
        return next((why for name, part in parts if name in value and (why := misfit(value[name], part, name))), "")
    if isinstance(value, list):
        if len(value) > schema.get("maxItems", len(value)):
            return f"{at} has more than {schema['maxItems']} items"
        rule = schema.get("items", {})
        return next((why for one in value if (why := misfit(one, rule, f"{at}[]"))), "")
    return _out_of_bounds(value, schema, at)


def _out_of_bounds(value: Any, schema: Schema, at: str) -> str:
    if isinstance(value, str):
        return f"{at} is too long" if len(value) > schema.get("maxLength", len(value)) else ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        if value < schema.get("minimum", value):
            return f"{at} is below {schema['minimum']}"
        if value > schema.get("maximum", value):
            return f"{at} is above {schema['maximum']}"
    return ""
