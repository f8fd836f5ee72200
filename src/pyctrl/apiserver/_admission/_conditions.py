"""Evaluates match conditions: what expressions get to see of a write."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from pyctrl.apiserver._cel import Access, Authorizer, Decision, EvaluationFailed, Program, ResourceCheck
from pyctrl.apiserver._match_conditions import compiled_condition

from ._attributes import Attributes
from ._review import request_of

if TYPE_CHECKING:
    from pyctrl.apiserver._resources import ResourceType

#: Decides what the user of a write may do, which the variable `authorizer` asks; without, they may do everything.
Decides: TypeAlias = Callable[[Attributes, Access], Decision]
Objects: TypeAlias = tuple[dict[str, Any] | None, dict[str, Any] | None]  # the new one and the old one


def variables_of(
    attributes: Attributes, wanted: ResourceType, objects: Objects, decides: Decides | None
) -> dict[str, Any]:
    """Give the variables of an expression about a write that is shown as `wanted`."""

    def decide(access: Access, /) -> Decision:
        return decides(attributes, access) if decides is not None else Decision(allowed=True)

    target = attributes.request.target
    own = Access(
        group=target.group,
        resource=target.resource,
        subresource=target.subresource,
        namespace=target.namespace,
        name=attributes.name,
    )
    return {
        "object": objects[0],
        "oldObject": objects[1],
        "request": request_of(attributes, wanted),
        "authorizer": Authorizer(decide),
        "authorizer.requestResource": ResourceCheck(decide, own),
    }


class ConditionsFailed(Exception):
    """Conditions none of which is false and some of which came to no value."""


def conditions_hold(
    conditions: Sequence[Mapping[str, str]],
    variables: Mapping[str, Any],
    compiled: Callable[[str], Program] = compiled_condition,
) -> bool:
    """Whether all conditions hold; one that is false outweighs others that fail.

    Raises:
        ConditionsFailed: some came to no value, and none is false.
    """
    failures: list[str] = []
    for condition in conditions:
        text = condition["expression"]
        try:
            if compiled(text).evaluate(variables) is not True:
                return False
        except EvaluationFailed as failed:
            failures.append(f"expression '{text}' resulted in error: {failed}")
    if failures:
        raise ConditionsFailed(aggregated(failures))
    return True


def aggregated(errors: Sequence[str]) -> str:
    """Tell several errors as one, as apimachinery does."""
    told = list(dict.fromkeys(errors))
    return told[0] if len(told) == 1 else f"[{', '.join(told)}]"
