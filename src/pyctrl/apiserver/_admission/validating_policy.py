"""ValidatingAdmissionPolicies: CEL validations that the server evaluates, with the actions of their bindings."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyctrl.apiserver._admission.attributes import Attributes
from pyctrl.apiserver._admission.policy_source import (
    ConfigurationFailed,
    PolicyBinding,
    PolicyHook,
    PolicySource,
    PolicySourceContext,
)
from pyctrl.apiserver._errors import StatusError

if TYPE_CHECKING:
    from pyctrl.apiserver._admission.validating_policy_evaluator import PolicyDecision, ValidateResult
    from pyctrl.apiserver._admission.versioned_attributes import VersionConverter
    from pyctrl.apiserver._authz import Authorizer
    from pyctrl.apiserver._resources.resource_type import ResourceType

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
        for hook, wanted in self._source.matching(attributes):
            denials += await self._denials(hook, attributes, wanted)
        if denials:
            raise denials[0]

    async def _denials(self, hook: PolicyHook, attributes: Attributes, wanted: ResourceType) -> list[StatusError]:
        """Return the denials of one policy under all its bindings."""
        try:
            kind = self._source.param_type(hook)
        except ConfigurationFailed as failed:
            return _not_configured(hook, None, attributes, f"failed to configure policy: {failed}")
        denials: list[StatusError] = []
        annotations: dict[str, list[str]] = {}
        for binding in hook.bindings:
            if not self._source.binding_matches(binding, attributes):
                continue
            try:
                params = self._source.params(kind, binding, attributes)
            except ConfigurationFailed as failed:
                denials += _not_configured(hook, binding, attributes, f"failed to configure binding: {failed}")
                continue
            for each in params:
                result = await self._evaluate(hook, attributes, wanted, each)
                denials += _enforce(hook, binding, attributes, result)
                for key, value in result.annotations:
                    annotations.setdefault(key, []).append(value)
        for key, values in annotations.items():
            attributes.annotate(f"{hook.name}/{key}", ", ".join(dict.fromkeys(values)))
        return denials

    async def _evaluate(
        self, hook: PolicyHook, attributes: Attributes, wanted: ResourceType, params: dict[str, Any] | None
    ) -> ValidateResult:
        # lazy: the import of CEL is slow and most servers have no policies
        from pyctrl.apiserver._admission.policy_compiler import policy_activation
        from pyctrl.apiserver._admission.validating_policy_evaluator import PolicyEvaluator

        hook.evaluator = hook.evaluator or PolicyEvaluator(hook.spec)
        shown = await self._versions.convert_to(attributes, wanted)
        namespace = self._source.namespace(attributes)
        result: ValidateResult = hook.evaluator.validate(
            policy_activation(attributes, wanted, shown, self._authorizer, params, namespace)
        )
        return result


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


def _not_configured(
    hook: PolicyHook, binding: PolicyBinding | None, attributes: Attributes, message: str
) -> list[StatusError]:
    return [_denied(hook, binding, attributes, message)] if hook.fails else []


def _denied(
    hook: PolicyHook, binding: PolicyBinding | None, attributes: Attributes, message: str, reason: str = ""
) -> StatusError:
    bound = f" with binding '{binding.name}'" if binding is not None else ""
    shown = f"ValidatingAdmissionPolicy '{hook.name}'{bound} denied request: {message}"
    error, reason = attributes.forbidden(shown), reason or "Invalid"
    code = _CODES.get(reason, 422)
    details = {**error.status["details"], "causes": [{"message": shown}]}
    return StatusError(code, {**error.status, "reason": reason, "details": details, "code": code})
