"""Whether a quota applies to an object, and the usage of a namespace."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from pyctrl._quota.evaluators import Evaluator
from pyctrl._quota.resources import ResourceList, add_resources, mask_resources
from pyctrl._quota.scopes import scope_requirements
from pyctrl.api import Quantity

__all__ = ["calculate_usage", "matches_scopes"]


_Object: TypeAlias = Mapping[str, Any]


def matches_scopes(evaluator: Evaluator, quota: _Object, obj: _Object) -> bool:
    """Return whether an object has all scopes of a quota; a quota without scopes applies to all objects."""
    return all(evaluator.matches_scope(each, obj) for each in scope_requirements(quota))


def calculate_usage(
    quota: _Object, objects: Iterable[tuple[Evaluator, Callable[[], Iterable[_Object]]]]
) -> ResourceList:
    """Return the usage that a quota measures, for the resources of its `spec.hard`.

    Args:
        objects: Evaluators, each with a function that returns the objects of its resource in the namespace. It is
            called only if the quota has a resource of the evaluator.
    """
    hard = (quota.get("spec") or {}).get("hard") or {}
    usage: ResourceList = {}
    for evaluator, listed in objects:
        names = {name for name in hard if evaluator.matches(name)}
        if not names:
            continue
        usage = add_resources(usage, dict.fromkeys(names, Quantity("0")))
        for obj in listed():
            if matches_scopes(evaluator, quota, obj):
                usage = add_resources(usage, mask_resources(evaluator.usage(obj), names))
    return usage
