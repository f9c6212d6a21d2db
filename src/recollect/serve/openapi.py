"""The OpenAPI 3.1 document, made from the list of operations and the nouns. Nothing in it is written by hand twice."""

from __future__ import annotations

import json
import types as python_types
from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from importlib import resources
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from .. import __version__
from ..ops.catalogue import OPERATIONS
from ..ops.operation import Operation
from ..ops.parameters import Parameter
from ..types import Noun, Scope
from .wire import PROBLEM

JSON = "application/json"
LINES = "application/x-ndjson"
PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    datetime: {"type": "string", "format": "date-time"},
    Any: {},
    dict: {"type": "object"},
    type(None): {"type": "null"},
}


def document() -> dict[str, Any]:
    """The whole document: `openapi.json` with the version, the paths and the nouns."""
    made: dict[str, Any] = json.loads(resources.files(__package__).joinpath("openapi.json").read_text("utf-8"))
    made["info"]["version"] = __version__
    paths, nouns = made["paths"], made["components"]["schemas"]
    for operation in OPERATIONS:
        for method, path in operation.addresses:
            paths.setdefault(path, {})[method.lower()] = _operation(operation, method, path, nouns)
    made["paths"], made["components"]["schemas"] = dict(sorted(paths.items())), dict(sorted(nouns.items()))
    return made


def _operation(operation: Operation, method: str, path: str, nouns: dict[str, dict[str, Any]]) -> dict[str, Any]:
    in_path = [one for one in operation.parameters if f"{{{one.name}}}" in path]
    rest = [one for one in operation.parameters if one not in in_path]
    second = "" if (method, path) == (operation.method, operation.path) else f"_{method.lower()}"
    made: dict[str, Any] = {
        "operationId": operation.name + second,
        "summary": operation.summary,
        "description": f"{operation.description} Needs the right '{operation.right}'.",
        "parameters": [_in_path(one) for one in in_path],
        "responses": _responses(operation, nouns),
    }
    if method in ("GET", "DELETE"):
        made["parameters"] += [_in_query(one) for one in rest]
    elif rest:
        schema = {
            "type": "object", "properties": {one.name: one.schema() for one in rest}, "additionalProperties": False,
        }  # fmt: skip
        if required := [one.name for one in rest if one.required]:
            schema["required"] = required
        content: dict[str, Any] = {JSON: {"schema": schema}}
        if operation.name == "import":
            content[LINES] = {"schema": {"type": "string"}}
        made["requestBody"] = {"required": bool(required), "content": content}
    if not operation.read_only:
        made["parameters"].append(
            _header("Idempotency-Key", "Sent again with the same key, it is not done again.", 200)
        )
    if path == "/v1/memories/{id}":
        name = "If-None-Match" if method == "GET" else "If-Match"
        made["parameters"].append(_header(name, "The version of the memory, as ETag told it.", 500))
    return made


def _in_path(one: Parameter) -> dict[str, Any]:
    schema = {"type": "string", "minLength": 1, "description": one.description}
    return {"name": one.name, "in": "path", "required": True, "schema": schema}


def _in_query(one: Parameter) -> dict[str, Any]:
    schema = {name: value for name, value in one.schema().items() if name != "description"}
    return {
        "name": one.name, "in": "query", "required": one.required, "description": one.description, "schema": schema,
    }  # fmt: skip


def _header(name: str, words: str, most: int) -> dict[str, Any]:
    schema = {"type": "string", "minLength": 1, "maxLength": most}
    return {"name": name, "in": "header", "required": False, "description": words, "schema": schema}


def _responses(operation: Operation, nouns: dict[str, dict[str, Any]]) -> dict[str, Any]:
    kind = LINES if operation.returns is str else JSON
    good: dict[str, Any] = {
        "description": operation.summary, "content": {kind: {"schema": returned(operation.returns, nouns)}}
    }  # fmt: skip
    if operation.path == "/v1/memories/{id}":
        good["headers"] = {"ETag": {"schema": {"type": "string"}, "description": "The version of the memory."}}
    codes = {str(operation.status), "200"} if operation.name == "remember" else {str(operation.status)}
    found: dict[str, Any] = dict.fromkeys(sorted(codes), good)
    if operation.name == "get":
        found["304"] = {"description": "It is still the version that was named."}
    problem = {PROBLEM: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {**found, "default": {"description": "What went wrong, and the fix.", "content": problem}}


def returned(kind: Any, nouns: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The schema of what an operation returns: a noun, a `[noun]` list, or a dictionary of names to either."""
    if isinstance(kind, list):
        return {"type": "array", "items": returned(kind[0], nouns)}
    if isinstance(kind, Mapping):
        parts = {name: returned(part, nouns) for name, part in kind.items()}
        if "source" in parts:  # where it is not known
            parts["source"] = {"anyOf": [parts["source"], {"type": "null"}]}
        return {"type": "object", "properties": parts, "required": list(parts)}
    return schema_of(kind, nouns)


def schema_of(kind: Any, nouns: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The JSON Schema of a type; nouns are collected by name and referred to."""
    if kind is Scope:
        return {
            "type": "object",
            "properties": {f.name: {"type": "string"} for f in fields(Scope)},
            "additionalProperties": False,
        }
    if isinstance(kind, type) and issubclass(kind, Noun):
        return _noun(kind, nouns)
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        return {"enum": list(inner)}
    if origin in (Union, python_types.UnionType):
        return {"anyOf": [schema_of(one, nouns) for one in inner]}
    if origin is list or (origin is tuple and inner[-1] is Ellipsis):
        return {"type": "array", "items": schema_of(inner[0], nouns)}
    if origin is tuple and len(set(inner)) == 1:
        return {"type": "array", "items": schema_of(inner[0], nouns), "minItems": len(inner), "maxItems": len(inner)}
    if origin is tuple:
        return {"type": "array", "prefixItems": [schema_of(one, nouns) for one in inner]}
    if origin is dict:
        return {"type": "object", "additionalProperties": schema_of(inner[1], nouns)}
    return dict(PLAIN[kind])


def _noun(kind: type[Noun], nouns: dict[str, dict[str, Any]]) -> dict[str, Any]:
    name = kind.__name__
    if name not in nouns:
        nouns[name] = {}  # its place, in case it holds one of its own kind
        hints = get_type_hints(kind)
        hidden = ("secret",) if name == "Webhook" else ()
        parts = {f.name: schema_of(hints[f.name], nouns) for f in fields(kind) if f.name not in hidden}  # type: ignore[arg-type]
        words = (kind.__doc__ or name).split("\n\n")[0].replace("\n", " ")
        nouns[name] = {"type": "object", "description": words, "properties": parts, "required": list(parts)}
    return {"$ref": f"#/components/schemas/{name}"}
