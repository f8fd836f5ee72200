"""Evaluation of match conditions, the CEL variables of a write, and where long evaluations run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from pyctrl._go.text import aggregate_messages
from pyctrl.api import Access as RequestAccess
from pyctrl.apiserver._admission.admission_review import admission_request_of
from pyctrl.apiserver._admission.attributes import Attributes
from pyctrl.apiserver._admission.match_conditions import compiled_condition
from pyctrl.apiserver._authn import AUTHENTICATED, User, service_account_groups
from pyctrl.apiserver._authz import Authorizer as RequestAuthorizer
from pyctrl.cel import (
    MATCH_CONDITIONS_BUDGET,
    AuthorizerAttributes,
    AuthorizerDecision,
    AuthorizerValue,
    CostBudget,
    EvaluationFailed,
    LongEvaluation,
    OutOfBudget,
    Patience,
    Program,
    ResourceCheck,
)

if TYPE_CHECKING:
    from pyctrl.apiserver._resources.resource_type import ResourceType

__all__ = ["MatchConditionsFailed", "Objects", "evaluated", "match_conditions_hold", "variables_of"]


T = TypeVar("T")
Objects: TypeAlias = tuple[dict[str, Any] | None, dict[str, Any] | None]  # the new one and the old one


def variables_of(
    attributes: Attributes, wanted: ResourceType, objects: Objects, authorizer: RequestAuthorizer
) -> dict[str, Any]:
    """Return the CEL variables of a write as `wanted`, the version of `objects`."""

    def decide(access: AuthorizerAttributes, /) -> AuthorizerDecision:
        user = _account(*access.service_account) if access.service_account else attributes.user
        found = authorizer.decide(user, _request_access(access))
        return AuthorizerDecision(allowed=found.is_allowed, reason=found.reason, error=found.error)

    target = attributes.request.target
    own = AuthorizerAttributes(
        group=target.group,
        resource=target.resource,
        subresource=target.subresource,
        namespace=target.namespace,
        name=attributes.name,
    )
    return {
        "object": objects[0],
        "oldObject": objects[1],
        "request": admission_request_of(attributes, wanted),
        "authorizer": AuthorizerValue(decide),
        "authorizer.requestResource": ResourceCheck(decide, own),
    }


async def evaluated(
    evaluate: Callable[[Patience | None], T], attributes: Attributes, *expressions: Mapping[str, Any]
) -> T:
    """Return the result of an evaluation, which continues in a thread if it takes long.

    Args:
        evaluate: Evaluates the expressions. It raises `LongEvaluation` if they cost more than its patience.
        attributes: The write.
        expressions: What has the texts of the expressions. Those with `authorizer` stay on the event loop, because
            they read the roles of the server. A check is cheap for what it costs.
    """
    if "authorizer" in str(expressions):
        return evaluate(None)
    try:
        return evaluate(Patience())
    except LongEvaluation:
        return await attributes.request.off_the_loop(partial(evaluate, None))


def _account(namespace: str, name: str) -> User:
    groups = (*service_account_groups(namespace), AUTHENTICATED)
    return User(name=f"system:serviceaccount:{namespace}:{name}", groups=groups)


def _request_access(access: AuthorizerAttributes) -> RequestAccess:
    if access.path:
        return RequestAccess(access.verb, path=access.path, is_resource=False)
    return RequestAccess(
        verb=access.verb,
        group=access.group,
        resource=access.resource,
        subresource=access.subresource,
        namespace=access.namespace,
        name=access.name,
    )


class MatchConditionsFailed(Exception):
    """Raised if the evaluation of some conditions failed and none of the others is false."""


def match_conditions_hold(
    conditions: Sequence[Mapping[str, str]],
    variables: Mapping[str, Any],
    patience: Patience | None = None,
    compiled: Callable[[str], Program] = compiled_condition,
) -> bool:
    """Return whether all conditions are true; a false condition takes precedence over errors of others.

    Raises:
        MatchConditionsFailed: The evaluation of some conditions failed, and none is false; or all of them together
            cost too much.
        LongEvaluation: They cost more than the patience.
    """
    failures: list[str] = []
    budget, values = CostBudget(MATCH_CONDITIONS_BUDGET), list[object]()
    for condition in conditions:
        text = condition["expression"]
        value, cost = compiled(text).evaluate_with_cost(variables, patience)
        values.append(value)
        try:
            budget.spend(cost)
        except OutOfBudget as exceeded:
            raise MatchConditionsFailed(str(exceeded)) from None
        if isinstance(value, EvaluationFailed):
            failures.append(f"expression '{text}' resulted in error: {value}")
    if any(value is False for value in values):
        return False
    if failures:
        raise MatchConditionsFailed(aggregate_messages(failures))
    return True
