"""Status conditions: find, set and remove the entry of a type.

The rules are those of apimachinery's ``meta.SetStatusCondition``: the transition time changes only with the status,
while reason, message and observed generation are updated on every call.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar

from pyctrl import _clock
from pyctrl.api._meta import Condition

__all__ = ["find_condition", "is_condition_false", "is_condition_true", "remove_condition", "set_condition"]


class AnyCondition(Protocol):
    """A condition of any kind, such as `Condition` or the DeploymentCondition of apps/v1."""

    @property
    def type(self) -> str: ...
    @property
    def status(self) -> str: ...


C = TypeVar("C", bound=AnyCondition)


def find_condition(conditions: Iterable[C], type: str) -> C | None:
    """Return the condition of a type, or None. The conditions may also be those of a built-in kind."""
    return next((condition for condition in conditions if condition.type == type), None)


def is_condition_true(conditions: Iterable[AnyCondition], type: str) -> bool:
    """Return whether the condition exists and its status is ``"True"``."""
    found = find_condition(conditions, type)
    return found is not None and found.status == "True"


def is_condition_false(conditions: Iterable[AnyCondition], type: str) -> bool:
    """Return whether the condition exists and its status is ``"False"``; an absent condition is not false."""
    found = find_condition(conditions, type)
    return found is not None and found.status == "False"


def set_condition(conditions: list[Condition], condition: Condition) -> bool:
    """Add or update a condition in place. Return whether anything changed.

    When the status changes, ``last_transition_time`` is taken from ``condition`` or, if it has none, set to now. It is
    unchanged while the status is unchanged.
    """
    present = find_condition(conditions, condition.type)
    if present is None:
        added = condition.model_copy()
        added.last_transition_time = condition.last_transition_time or _clock.now()
        conditions.append(added)
        return True
    moved = present.status != condition.status
    if moved:
        present.status = condition.status
        present.last_transition_time = condition.last_transition_time or _clock.now()
    changed = moved
    for field in ("reason", "message", "observed_generation"):
        if getattr(present, field) != getattr(condition, field):
            setattr(present, field, getattr(condition, field))
            changed = True
    return changed


def remove_condition(conditions: list[Condition], type: str) -> bool:
    """Remove the condition of a type in place. Return whether there was one."""
    kept = [condition for condition in conditions if condition.type != type]
    removed = len(kept) != len(conditions)
    conditions[:] = kept
    return removed
