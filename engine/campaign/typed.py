"""Whether an object that was made from a stored document is what its class says.

Annotations are promises that Python does not keep by itself. A document may come from a stranger,
and a number where a path should be must not get any further.
"""

from __future__ import annotations

import types
from collections.abc import Hashable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from math import isfinite
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

LARGEST = 2**63
Object = TypeVar("Object")


def checked(value: Object) -> Object:
    """The dataclass itself, if all its fields hold what they should; ValueError otherwise."""
    for name, hint in _hints(cast("Hashable", type(value))).items():
        if not _fits(getattr(value, name), hint):
            raise ValueError(f"'{name}' cannot be {getattr(value, name)!r:.60}")
    return value


@cache
def _hints(kind: Hashable) -> Mapping[str, Any]:
    assert is_dataclass(kind)
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


def _fits(value: Any, hint: Any) -> bool:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return any(_fits(value, each) for each in arguments)
    if origin is tuple:
        return isinstance(value, tuple) and all(_fits(item, arguments[0]) for item in value)
    if is_dataclass(hint):
        return isinstance(value, hint) and checked(value) is value  # type: ignore[arg-type]
    return _is_plain(value, hint)


def _is_plain(value: Any, hint: Any) -> bool:
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool) and abs(value) < LARGEST
    if hint is float:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return number and abs(value) < LARGEST and isfinite(value)
    if hint is str:
        return isinstance(value, str) and is_text(value)
    return hint is Any or isinstance(value, get_origin(hint) or hint)


def is_text(value: str) -> bool:
    """Whether it can be the name of a file and be written to one."""
    return "\0" not in value and not any("\ud800" <= letter <= "\udfff" for letter in value)
