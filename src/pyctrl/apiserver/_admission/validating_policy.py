"""ValidatingAdmissionPolicies: CEL validations that the server evaluates, with the actions of their bindings."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyctrl.apiserver._admission.attributes import Attributes
from pyctrl.apiserver._admission.matching import MatchContext, MatchCriteria, is_exempt
from pyctrl.apiserver._errors import StatusError, not_found
from pyctrl.apiserver._storage.storage import Collection, WatchCacheEvent

if TYPE_CHECKING:
    from pyctrl.apiserver._admission.policy_compiler import PolicyDecision, PolicyEvaluator
    from pyctrl.apiserver._admission.versioned_attributes import VersionConverter
    from pyctrl.apiserver._authz import Authorizer
    from pyctrl.apiserver._resources.resource_type import ResourceType
    from pyctrl.apiserver._resources.served_resources import ServedResources
    from pyctrl.apiserver._storage.storage import Storage

__all__ = ["ValidatingAdmissionPolicies"]


_CODES = {"Unauthorized": 401, "Forbidden": 403, "Invalid": 422, "RequestEntityTooLarge": 413}
_FAILURES = "validation.policy.admission.k8s.io/validation_failure"


@dataclass(slots=True, eq=False)
class AdmissionPolicy:
    """One policy with its match criteria."""

    name: str
    spec: Mapping[str, Any]
    criteria: MatchCriteria
    programs: PolicyEvaluator | None = None  # compiled at first use


@dataclass(frozen=True, slots=True)
class PolicyBinding:
    """One binding of a policy with its match criteria."""

    name: str
    spec: Mapping[str, Any]
    criteria: MatchCriteria | None


class ValidatingAdmissionPolicies:
    """Admission plugin that evaluates bound policies. It waits only for conversions of the object."""

    def __init__(
        self,
        storage: Storage,
        registry: ServedResources,
        match_context: MatchContext,
        versions: VersionConverter,
        authorizer: Authorizer,
    ) -> None:
        group = "admissionregistration.k8s.io"
        self._policies = storage.collection(group, "validatingadmissionpolicies")
        self._bindings = storage.collection(group, "validatingadmissionpolicybindings")
        self._storage, self._registry = storage, registry
        self._match_context, self._versions, self._authorizer = match_context, versions, authorizer
        self._known: list[tuple[AdmissionPolicy, list[PolicyBinding]]] | None = None
        for collection in (self._policies, self._bindings):
            collection.listen(self._changed)

    def _changed(self, _event: WatchCacheEvent) -> None:
        self._known = None

    @property
    def is_idle(self) -> bool:
        """Whether there are no policies or no bindings."""
        return not (len(self._policies) and len(self._bindings))

    async def mutate(self, attributes: Attributes) -> None:
        """Do nothing."""

    async def validate(self, attributes: Attributes) -> None:
        """Evaluate every bound policy that matches; raise the first denial."""
        if is_exempt(attributes):
            return
        denials: list[StatusError] = []
        for policy, bindings in self._bound():
            wanted = policy.criteria.match(attributes, self._match_context)
            for binding in bindings if wanted is not None else ():
                if binding.criteria is None or binding.criteria.match(attributes, self._match_context) is not None:
                    assert wanted is not None
                    denials += [denial async for denial in self._denials(policy, binding, attributes, wanted)]
        if denials:
            raise denials[0]

    def _bound(self) -> list[tuple[AdmissionPolicy, list[PolicyBinding]]]:
        """Return every policy with its bindings, ordered by name."""
        if self._known is None:
            bindings = [_binding(stored.decode()) for stored in self._bindings.current("")]
            policies = [_policy(stored.decode()) for stored in self._policies.current("")]
            self._known = [
                (policy, [each for each in bindings if each.spec.get("policyName") == policy.name])
                for policy in policies
            ]
        return self._known

    async def _denials(
        self, policy: AdmissionPolicy, binding: PolicyBinding, attributes: Attributes, wanted: ResourceType
    ) -> Any:
        # lazy: the import of CEL is slow and most servers have no policies
        from pyctrl.apiserver._admission.policy_compiler import PolicyDecision, PolicyEvaluator, policy_activation

        programs = policy.programs = policy.programs or PolicyEvaluator(policy.spec)
        shown = await self._versions.convert_to(attributes, wanted)
        fails = policy.spec.get("failurePolicy") != "Ignore"
        try:
            params = list(self._params(policy, binding, attributes))
        except StatusError as error:
            if fails:
                yield self._denied(policy, binding, attributes, PolicyDecision(str(error), "", 0))
            return
        for each in params:
            namespace = self._match_context.namespace(attributes.namespace)
            context = policy_activation(attributes, wanted, shown, self._authorizer, each, namespace)
            failures = programs.failures(context, fails=fails)
            self._annotate(policy, attributes, programs, context)
            for failure in failures:
                if denial := self._enforce(policy, binding, attributes, failure):
                    yield denial

    def _enforce(
        self, policy: AdmissionPolicy, binding: PolicyBinding, attributes: Attributes, failure: PolicyDecision
    ) -> StatusError | None:
        """Apply the validationActions of a binding to a failure; return the denial if there is one."""
        actions = binding.spec.get("validationActions") or ()
        if "Warn" in actions:
            source = f"ValidatingAdmissionPolicy '{policy.name}' with binding '{binding.name}'"
            attributes.warn(f"Validation failed for {source}: {failure.message}")
        if "Audit" in actions:
            audit_value = {
                "message": failure.message,
                "policy": policy.name,
                "binding": binding.name,
                "expressionIndex": failure.expression_index,
                "validationActions": list(actions),
            }
            attributes.annotate(_FAILURES, json.dumps([audit_value], separators=(",", ":")))
        return self._denied(policy, binding, attributes, failure) if "Deny" in actions else None

    @staticmethod
    def _denied(
        policy: AdmissionPolicy, binding: PolicyBinding, attributes: Attributes, failure: PolicyDecision
    ) -> StatusError:
        message = f"ValidatingAdmissionPolicy '{policy.name}' with binding '{binding.name}' denied request: "
        error = attributes.forbidden(message + failure.message)
        reason = failure.reason or "Invalid"
        code = _CODES.get(reason, 422)
        details = {**error.status["details"], "causes": [{"message": message + failure.message}]}
        return StatusError(code, {**error.status, "reason": reason, "details": details, "code": code})

    @staticmethod
    def _annotate(
        policy: AdmissionPolicy, attributes: Attributes, programs: PolicyEvaluator, context: Mapping[str, Any]
    ) -> None:
        for key, value in programs.annotations(context):
            attributes.annotate(f"{policy.name}/{key}", value)

    def _params(
        self, policy: AdmissionPolicy, binding: PolicyBinding, attributes: Attributes
    ) -> Iterator[dict[str, Any] | None]:
        """Yield the parameters that a binding refers to; None for a policy without parameters.

        Raises:
            StatusError: They do not exist, and parameterNotFoundAction is Deny.
        """
        kind, reference = policy.spec.get("paramKind"), binding.spec.get("paramRef")
        if not kind or not reference:
            yield None
            return
        group, _, version = kind["apiVersion"].rpartition("/")
        resource = self._registry.by_kind(group, version, kind["kind"])
        found: list[dict[str, Any]] = []
        if resource is not None:
            collection = self._storage.collection(resource.storage_group, resource.plural)
            namespace = (reference.get("namespace") or attributes.namespace) if resource.namespaced else ""
            found = [stored.read(resource) for stored in _selected(collection, namespace, reference)]
        if not found and reference.get("parameterNotFoundAction") != "Allow":
            raise not_found_params()
        yield from found


def _selected(collection: Collection, namespace: str, reference: Mapping[str, Any]) -> Iterator[Any]:
    from pyctrl.api import LabelSelector

    if name := reference.get("name"):
        found = collection.find(namespace, name)
        if found is not None:
            yield found
        return
    selector = LabelSelector.from_wire(reference.get("selector") or {})
    yield from (stored for stored in collection.current(namespace) if selector.matches(stored.labels))


def not_found_params() -> StatusError:
    """Return the error of missing parameters."""
    error = not_found("params", "")
    text = "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"
    return StatusError(error.code, {**error.status, "message": text})


def _policy(policy: Mapping[str, Any]) -> AdmissionPolicy:
    spec = policy["spec"]
    constraints = spec.get("matchConstraints") or {}
    return AdmissionPolicy(
        policy["metadata"]["name"], spec, MatchCriteria(constraints, constraints.get("resourceRules") or ())
    )


def _binding(binding: Mapping[str, Any]) -> PolicyBinding:
    resources = binding["spec"].get("matchResources")
    every = {"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"], "operations": ["*"]}
    criteria = MatchCriteria(resources, resources.get("resourceRules") or [every]) if resources else None
    return PolicyBinding(binding["metadata"]["name"], binding["spec"], criteria)
