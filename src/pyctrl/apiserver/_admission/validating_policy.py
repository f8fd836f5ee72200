"""ValidatingAdmissionPolicies: CEL validations that the server evaluates, with the actions of their bindings."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from pyctrl.apiserver._admission.attributes import Attributes
from pyctrl.apiserver._admission.policy_source import (
    NotConfigured,
    PolicyBinding,
    PolicyHook,
    PolicyInvocation,
    PolicySource,
    PolicySourceContext,
)
from pyctrl.apiserver._errors import StatusError

if TYPE_CHECKING:
    from pyctrl.apiserver._admission.validating_policy_evaluator import PolicyDecision, ValidateResult
    from pyctrl.apiserver._admission.versioned_attributes import VersionConverter
    from pyctrl.apiserver._authz import Authorizer

__all__ = ["ValidatingAdmissionPolicies"]


_CODES = {"Unauthorized": 401, "Forbidden": 403, "Invalid": 422, "RequestEntityTooLarge": 413}
_FAILURES = "validation.policy.admission.k8s.io/validation_failure"


class ValidatingAdmissionPolicies:
    """Admission plugin that evaluates bound policies. It waits only for conversions of the object."""

    def __init__(self, context: PolicySourceContext, versions: VersionConverter, authorizer: Authorizer) -> None:
        self._source = PolicySource("validating", context)
        self._versions, self._authorizer = versions, authorizer

    @property
    def is_idle(self) -> bool:
        """Whether there are no policies or no bindings."""
        return self._source.is_idle

    async def mutate(self, attributes: Attributes) -> None:
        """Do nothing."""

    async def validate(self, attributes: Attributes) -> None:
        """Evaluate every bound policy that matches; raise the first denial."""
        denials: list[StatusError] = []
        annotations: dict[str, list[str]] = {}
        for each in self._source.invocations(attributes):
            if isinstance(each, NotConfigured):
                denials += [_denied(each.hook, each.binding, attributes, each.message)] if each.hook.fails else []
                continue
            result = await self._evaluate(each, attributes)
            denials += _enforce(each.hook, each.binding, attributes, result)
            for key, value in result.annotations:
                annotations.setdefault(f"{each.hook.name}/{key}", []).append(value)
        for name, values in annotations.items():
            attributes.annotate(name, ", ".join(dict.fromkeys(values)))
        if denials:
            raise denials[0]

    async def _evaluate(self, invocation: PolicyInvocation, attributes: Attributes) -> ValidateResult:
        # lazy: the import of CEL is slow and most servers have no policies
        from pyctrl.apiserver._admission.condition_evaluator import evaluated
        from pyctrl.apiserver._admission.policy_compiler import policy_activation
        from pyctrl.apiserver._admission.validating_policy_evaluator import PolicyEvaluator

        hook, wanted = invocation.hook, invocation.wanted
        hook.evaluator = hook.evaluator or PolicyEvaluator(hook.spec)
        shown = await self._versions.convert_to(attributes, wanted)
        namespace = self._source.namespace(attributes)
        activation = policy_activation(attributes, wanted, shown, self._authorizer, invocation.params, namespace)
        evaluator: PolicyEvaluator = hook.evaluator
        return await evaluated(partial(evaluator.validate, activation), attributes, hook.spec)


def _enforce(
    hook: PolicyHook, binding: PolicyBinding, attributes: Attributes, result: ValidateResult
) -> Iterator[StatusError]:
    """Apply the validationActions of a binding to the failures; yield the denials."""
    actions = binding.spec.get("validationActions") or ()
    for failure in result.failures:
        if "Warn" in actions:
            source = f"ValidatingAdmissionPolicy '{hook.name}' with binding '{binding.name}'"
            attributes.warn(f"Validation failed for {source}: {failure.message}")
        if "Audit" in actions:
            _annotate(hook, binding, attributes, failure)
        if "Deny" in actions:
            yield _denied(hook, binding, attributes, failure.message, failure.reason)
    for failure in result.annotation_errors:
        yield _denied(hook, binding, attributes, failure.message)


def _annotate(hook: PolicyHook, binding: PolicyBinding, attributes: Attributes, failure: PolicyDecision) -> None:
    audit_value = {
        "message": failure.message,
        "policy": hook.name,
        "binding": binding.name,
        "expressionIndex": failure.expression_index,
        "validationActions": list(binding.spec.get("validationActions") or ()),
    }
    attributes.annotate(_FAILURES, json.dumps([audit_value], separators=(",", ":")))


def _denied(
    hook: PolicyHook, binding: PolicyBinding | None, attributes: Attributes, message: str, reason: str = ""
) -> StatusError:
    bound = f" with binding '{binding.name}'" if binding is not None else ""
    shown = f"ValidatingAdmissionPolicy '{hook.name}'{bound} denied request: {message}"
    error, reason = attributes.forbidden(shown), reason or "Invalid"
    code = _CODES.get(reason, 422)
    details = {**error.status["details"], "causes": [{"message": shown}]}
    return StatusError(code, {**error.status, "reason": reason, "details": details, "code": code})
