"""Evaluation of one ValidatingAdmissionPolicy: its decisions and audit annotations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pyctrl.apiserver._admission.condition_evaluator import MatchConditionsFailed
from pyctrl.apiserver._admission.policy_compiler import CompositedCompiler, ExpressionFailed
from pyctrl.cel import RUNTIME_BUDGET, CostBudget, OutOfBudget, Patience

__all__ = ["PolicyDecision", "PolicyEvaluator", "ValidateResult"]


_MAX_MESSAGE_BYTES = 5 * 1024  # of a messageExpression's value, as upstream
_MAX_ANNOTATION_BYTES = 10 * 1024


class PolicyDecision(NamedTuple):
    """A validation that is false or whose evaluation failed."""

    message: str
    reason: str = ""
    expression_index: int = 0  # of the validation in the policy


@dataclass(slots=True)
class ValidateResult:
    """The result of one evaluation: failures, audit annotations, and errors of annotations, which always deny."""

    failures: list[PolicyDecision] = field(default_factory=list)
    annotations: list[tuple[str, str]] = field(default_factory=list)
    annotation_errors: list[PolicyDecision] = field(default_factory=list)


class PolicyEvaluator:
    """Compiled expressions of one policy.

    Raises:
        CompileFailed: A variable does not compile. The validation of the policy rejects these.
    """

    def __init__(self, spec: Mapping[str, Any]) -> None:
        self._fails = spec.get("failurePolicy") != "Ignore"
        self._validations = spec.get("validations") or ()
        self._annotations = spec.get("auditAnnotations") or ()
        self._compiler = CompositedCompiler(spec)

    def validate(self, context: Mapping[str, Any], patience: Patience | None = None) -> ValidateResult:
        """Evaluate the policy. With failurePolicy Ignore, failed evaluations are left out.

        Raises:
            LongEvaluation: It costs more than the patience.
        """
        try:
            if not self._compiler.matches(context, patience):
                return ValidateResult()
        except MatchConditionsFailed as failed:
            return self._failed(str(failed))
        try:
            return self._evaluate(context, patience)
        except OutOfBudget as exceeded:
            return self._failed(str(exceeded))

    def _evaluate(self, context: Mapping[str, Any], patience: Patience | None) -> ValidateResult:
        result, budget = ValidateResult(), CostBudget(RUNTIME_BUDGET)
        activation = self._compiler.activation(context, patience)
        messages = self._compiler.activation(_without_authorizer(context), patience)
        for index, validation in enumerate(self._validations):
            try:
                holds = self._compiler.evaluate(validation["expression"], activation, budget) is True
            except ExpressionFailed as failed:
                if self._fails:
                    result.failures.append(PolicyDecision(str(failed), expression_index=index))
                continue
            if not holds:
                message, reason = self._message(validation, messages, budget), validation.get("reason", "")
                result.failures.append(PolicyDecision(message, reason, index))
        self._annotate(result, self._compiler.activation(_without_authorizer(context), patience))
        return result

    def _failed(self, message: str) -> ValidateResult:
        return ValidateResult([PolicyDecision(message)] if self._fails else [])

    def _message(self, validation: Mapping[str, Any], activation: Mapping[str, Any], budget: CostBudget) -> str:
        """Return the message of a failed validation: its messageExpression's, its message, or its expression."""
        plain = str(validation.get("message") or f"failed expression: {validation['expression'].strip()}").strip()
        text = validation.get("messageExpression")
        if not text:
            return plain
        try:
            message = self._compiler.evaluate(text, activation, budget)
        except ExpressionFailed:
            return plain
        except OutOfBudget as exceeded:
            return f"failed messageExpression: {exceeded}"
        found = message.strip() if isinstance(message, str) else ""
        return plain if not found or len(found.encode()) > _MAX_MESSAGE_BYTES or "\n" in found else found

    def _annotate(self, result: ValidateResult, activation: Mapping[str, Any]) -> None:
        budget = CostBudget(RUNTIME_BUDGET)
        for annotation in self._annotations:
            try:
                value = self._compiler.evaluate(annotation["valueExpression"].strip(), activation, budget)
            except ExpressionFailed as failed:
                if self._fails:
                    result.annotation_errors.append(PolicyDecision(str(failed)))
                continue
            if isinstance(value, str) and (found := value.strip()):
                shown = found.encode()[:_MAX_ANNOTATION_BYTES].decode("utf-8", "ignore")
                result.annotations.append((annotation["key"], shown))


def _without_authorizer(context: Mapping[str, Any]) -> dict[str, Any]:
    return {name: each for name, each in context.items() if not name.startswith("authorizer")}
