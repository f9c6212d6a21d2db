"""Results on the wire: nouns as plain data, and made again from it in another process."""

from __future__ import annotations

import types as python_types
from dataclasses import fields
from datetime import datetime
from functools import cache
from importlib import import_module
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from . import times
from .types import Noun

N = TypeVar("N", bound=Noun)


def wire(value: Any) -> Any:
    """The plain form of a result: nouns, and what holds nouns."""
    if isinstance(value, Noun):
        return value.as_dict()
    if isinstance(value, dict):
        return {name: wire(part) for name, part in value.items()}
    return [wire(part) for part in value] if isinstance(value, list | tuple) else value


def from_wire(returned: Any, data: Any) -> Any:
    """The result that plain data stands for, by what an operation declares that it returns.

    `returned` names a noun as `module:Name`, in a list, or by names; anything else is plain data already.
    """
    if isinstance(returned, list):
        return tuple(from_wire(returned[0], one) for one in data)
    if isinstance(returned, dict):
        return {name: from_wire(returned.get(name, ""), part) for name, part in data.items()}
    module, _, name = returned.rstrip("?").partition(":")
    return remake(getattr(import_module(f"{__package__}.{module}"), name), data) if name else data


def remake(kind: type[N], data: Any) -> N:
    """The noun of a kind whose `as_dict` is `data`."""
    return cast(N, _value(kind, data))


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return {f.name: hint for f in fields(kind) if (hint := get_type_hints(kind)[f.name])}


def _value(kind: Any, data: Any) -> Any:
    if data is None:
        return None
    if isinstance(kind, type) and issubclass(kind, Noun):
        return kind(
            **{name: _value(hint, data[name]) for name, hint in _hints(cast(Any, kind)).items() if name in data}
        )
    if kind is datetime:
        return times.aware(data)
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, python_types.UnionType):
        return _value(next(one for one in inner if one is not type(None)), data)
    if origin is tuple:
        kinds = [inner[0]] * len(data) if inner[-1] is Ellipsis else inner
        return tuple(_value(one, part) for one, part in zip(kinds, data, strict=False))
    if origin is dict:
        return {name: _value(inner[1], part) for name, part in data.items()}
    return data
