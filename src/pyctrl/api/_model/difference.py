"""Difference of two states of a model, without decoding what neither state has decoded."""

from __future__ import annotations

from typing import Any, TypeVar

from pyctrl.api._model.model import Model
from pyctrl.api._model.pending import (
    PENDING,
    PendingFields,
    own_dict,
    set_extra,
    set_fields_set,
    set_own_dict,
    set_private,
)
from pyctrl.api._patches import merge_patch_diff
from pyctrl.api._secrets import may_hide_values

__all__ = ["model_diff"]

M = TypeVar("M", bound=Model)


def model_diff(before: Model, after: Model) -> dict[str, Any]:
    """Return the merge patch between two states of an object: `merge_patch_diff` of what `to_wire` returns.

    A state and its copy share the JSON that neither has decoded, which is equal and left out. So the cost is that of
    the fields that the program has read.
    """
    if type(before) is type(after) and not may_hide_values(type(after)):
        before, after = _decoded_parts(before, after)
    return merge_patch_diff(before.to_wire(), after.to_wire())


def _decoded_parts(before: M, after: M) -> tuple[M, M]:
    """Return both models with only those fields that one of them has decoded."""
    old, new = own_dict(before), own_dict(after)
    if PENDING not in old or new.get(PENDING) is not old[PENDING]:
        return before, after
    pending: PendingFields = old[PENDING]
    if pending.is_untouched:  # only fields that are known without the JSON were read
        return _part_of(before, {}, set()), _part_of(after, {}, set())
    old_values, new_values = dict[str, Any](), dict[str, Any]()
    for name in [name for name in {**old, **new} if name is not PENDING]:
        was, now = getattr(before, name), getattr(after, name)
        if isinstance(was, Model) and type(was) is type(now):
            was, now = _decoded_parts(was, now)
        old_values[name], new_values[name] = was, now
    return (
        _part_of(before, old_values, before.__pydantic_fields_set__ & old_values.keys()),
        _part_of(after, new_values, after.__pydantic_fields_set__ & new_values.keys()),
    )


def _part_of(model: M, values: dict[str, Any], fields_set: set[str]) -> M:
    part: M = object.__new__(type(model))
    set_own_dict(part, values)
    set_private(part, None)
    set_extra(part, dict(model.__pydantic_extra__ or {}) if values else {})
    set_fields_set(part, fields_set)
    return part
