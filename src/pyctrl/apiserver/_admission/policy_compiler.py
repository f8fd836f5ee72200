"""Compilation of a policy's expressions, with the variables that the policy defines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pyctrl.apiserver._admission.attributes import Attributes
from pyctrl.apiserver._admission.condition_evaluator import Objects, match_conditions_hold, variables_of
from pyctrl.cel import CostBudget, Environment, EvaluationFailed, Patience, Program, Type, policy_variables

if TYPE_CHECKING:
    from pyctrl.apiserver._authz import Authorizer
    from pyctrl.apiserver._resources.resource_type import ResourceType

__all__ = ["CompositedCompiler", "ExpressionFailed", "policy_activation"]


class ExpressionFailed(Exception):
    """Raised if the evaluation of a policy's expression failed; the text is kube-apiserver's."""


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
    """The variables that a policy defines, each evaluated at first use, and the patience of their evaluation."""

    def __init__(self, programs: Mapping[str, Program], context: Mapping[str, Any], patience: Patience | None) -> None:
        super().__init__()
        self.patience = patience
        self._programs = programs
        self._context = {**context, "variables": self}
        self._failed: dict[str, str] = {}
        self.cost = 0

    def __contains__(self, name: object) -> bool:
        """Return whether there is a variable. It is evaluated, and its failure is that of `has(variables.name)`."""
        return name in self._programs and (self[str(name)], True)[1]

    def __missing__(self, name: str) -> Any:
        if name not in self._failed:
            value, cost = self._programs[name].evaluate_with_cost(self._context, self.patience)
            self.cost += cost
            if not isinstance(value, EvaluationFailed):
                self[name] = value
                return value
            self._failed[name] = f'composited variable "{name}" fails to evaluate: {value}'
        raise EvaluationFailed(self._failed[name])

    def take_cost(self) -> int:
        """Return the cost of the variables that were evaluated since the last call."""
        cost, self.cost = self.cost, 0
        return cost


class CompositedCompiler:
    """Compiled expressions of one policy.

    Raises:
        CompileFailed: A variable does not compile. The validation of the policy rejects these.
    """

    def __init__(self, spec: Mapping[str, Any], *, has_patch_types: bool = False) -> None:
        self._conditions = spec.get("matchConditions") or ()
        has_params = spec.get("paramKind") is not None
        types: dict[str, Type] = {}
        self._variables: dict[str, Program] = {}
        for variable in spec.get("variables") or ():
            environment = Environment(policy_variables(types, has_params=has_params))
            program = self._variables[variable["name"]] = environment.compile(variable["expression"])
            types[variable["name"]] = program.type
        variables = policy_variables(types, has_params=has_params)
        self._environment = Environment(variables, has_patch_types=has_patch_types)
        self._compiled: dict[str, Program] = {}

    def _program(self, text: str) -> Program:
        if text not in self._compiled:
            self._compiled[text] = self._environment.compile(text)
        return self._compiled[text]

    def activation(self, context: Mapping[str, Any], patience: Patience | None = None) -> dict[str, Any]:
        """Return the variables of expressions that are evaluated together, with those that the policy defines."""
        return {**context, "variables": _Variables(self._variables, context, patience)}

    def matches(self, context: Mapping[str, Any], patience: Patience | None = None) -> bool:
        """Return whether the match conditions hold. They do not see the namespace.

        Raises:
            MatchConditionsFailed: The evaluation of some conditions failed, and none is false.
            LongEvaluation: It costs more than the patience.
        """
        if not self._conditions:
            return True
        activation = self.activation({**context, "namespaceObject": None}, patience)
        return match_conditions_hold(self._conditions, activation, patience, lambda text: self._program(text.strip()))

    def evaluate(self, text: str, activation: Mapping[str, Any], budget: CostBudget) -> Any:
        """Return the value of an expression, and take its cost and that of its variables from the budget.

        Raises:
            ExpressionFailed: The evaluation failed.
            OutOfBudget: It costs too much.
            LongEvaluation: It costs more than the patience of the activation.
        """
        variables: _Variables = activation["variables"]
        value, cost = self._program(text).evaluate_with_cost(activation, variables.patience)
        budget.spend(variables.take_cost())
        budget.spend(cost)
        if isinstance(value, EvaluationFailed):
            raise ExpressionFailed(f"expression '{text}' resulted in error: {value}") from value
        return value
