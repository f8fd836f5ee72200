"""Compilation and evaluation of the expressions of a ValidatingAdmissionPolicy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from pyctrl.apiserver._admission.attributes import Attributes
from pyctrl.apiserver._admission.condition_evaluator import (
    MatchConditionsFailed,
    Objects,
    match_conditions_hold,
    variables_of,
)
from pyctrl.cel import Environment, EvaluationFailed, Program, Type, policy_variables

if TYPE_CHECKING:
    from pyctrl.apiserver._authz import Authorizer
    from pyctrl.apiserver._resources.resource_type import ResourceType

__all__ = ["PolicyDecision", "PolicyEvaluator", "policy_activation"]


class PolicyDecision(NamedTuple):
    """A validation that is false or whose evaluation failed."""

    message: str
    reason: str
    expression_index: int  # of the validation in the policy


def policy_activation(
    attributes: Attributes,
    wanted: ResourceType,
    objects: Objects,
    authorizer: Authorizer,
    params: dict[str, Any] | None,
    namespace: dict[str, Any] | None,
) -> dict[str, Any]:
    """Return the CEL variables of a policy's expressions, without those that the policy defines."""
    found = variables_of(attributes, wanted, objects, authorizer)
    return {**found, "params": params, "namespaceObject": namespace}


class _Variables(dict[str, Any]):
    """The variables that a policy defines, each evaluated at first use."""

    def __init__(self, programs: Mapping[str, Program], context: Mapping[str, Any]) -> None:
        super().__init__()
        self._programs = programs
        self._context = {**context, "variables": self}

    def __contains__(self, name: object) -> bool:
        return name in self._programs

    def __missing__(self, name: str) -> Any:
        value = self[name] = self._programs[name].evaluate(self._context)
        return value


class PolicyEvaluator:
    """Compiled expressions of one policy.

    Raises:
        CompileFailed: An expression does not compile. The validation of the policy rejects these.
    """

    def __init__(self, spec: Mapping[str, Any]) -> None:
        self._conditions = spec.get("matchConditions") or ()
        self._validations = spec.get("validations") or ()
        self._annotations = spec.get("auditAnnotations") or ()
        has_params = bool(spec.get("paramKind"))
        types: dict[str, Type] = {}
        self._variables: dict[str, Program] = {}
        for variable in spec.get("variables") or ():
            environment = Environment(policy_variables(types, has_params=has_params))
            program = self._variables[variable["name"]] = environment.compile(variable["expression"])
            types[variable["name"]] = program.type
        self._environment = Environment(policy_variables(types, has_params=has_params))
        self._compiled: dict[str, Program] = {}

    def _program(self, text: str) -> Program:
        if text not in self._compiled:
            self._compiled[text] = self._environment.compile(text)
        return self._compiled[text]

    def failures(self, context: dict[str, Any], *, fails: bool) -> list[PolicyDecision]:
        """Return the failed validations and, with `fails` (failurePolicy Fail), the errors of evaluations."""
        context["variables"] = _Variables(self._variables, context)
        try:
            if not match_conditions_hold(self._conditions, context, self._program):
                return []
        except MatchConditionsFailed as failed:
            return [PolicyDecision(str(failed), "", 0)] if fails else []
        found: list[PolicyDecision] = []
        for index, validation in enumerate(self._validations):
            text = validation["expression"]
            try:
                if self._program(text).evaluate(context) is not True:
                    found.append(
                        PolicyDecision(self._message(validation, context), validation.get("reason", ""), index)
                    )
            except EvaluationFailed as failed:
                if fails:
                    found.append(PolicyDecision(f"expression '{text}' resulted in error: {failed}", "", index))
        return found

    def _message(self, validation: Mapping[str, Any], context: Mapping[str, Any]) -> str:
        """Return the message of a failed validation: its messageExpression's, its message, or its expression."""
        plain = validation.get("message") or f"failed expression: {validation['expression'].strip()}"
        text = validation.get("messageExpression")
        if not text:
            return str(plain)
        try:
            message = self._program(text).evaluate(context)
        except EvaluationFailed:
            return str(plain)
        is_usable = isinstance(message, str) and message.strip() and "\n" not in message
        return str(message).strip() if is_usable else str(plain)

    def annotations(self, context: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield the audit annotations of the policy."""
        for annotation in self._annotations:
            try:
                value = self._program(annotation["valueExpression"]).evaluate(context)
            except EvaluationFailed:
                continue
            if isinstance(value, str) and value:
                yield annotation["key"], value
