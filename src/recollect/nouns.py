"""Nouns made again from their wire form, with the nouns inside them: what comes back from another process."""

from __future__ import annotations

import types as python_types
from dataclasses import fields
from datetime import datetime
from functools import cache
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from . import times
from .types import Noun

N = TypeVar("N", bound=Noun)


def remade(kind: type[N], data: Any) -> N:
    """The noun of a kind that `data`, its `as_dict`, stands for."""
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
