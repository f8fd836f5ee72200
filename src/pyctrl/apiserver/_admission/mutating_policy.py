"""MutatingAdmissionPolicies: patches in CEL that the server evaluates and applies."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from pyctrl._go.text import quoted
from pyctrl.apiserver._admission.attributes import DELETE, Attributes, Reinvocations
from pyctrl.apiserver._admission.policy_source import (
    NotConfigured,
    PolicyBinding,
    PolicyHook,
    PolicyInvocation,
    PolicySource,
    PolicySourceContext,
)
from pyctrl.apiserver._admission.subresource_type import PatchedType, SubresourceType
from pyctrl.apiserver._errors import StatusError

if TYPE_CHECKING:
    from pyctrl.apiserver._admission.versioned_attributes import VersionConverter
    from pyctrl.apiserver._authz import Authorizer
    from pyctrl.apiserver._resources.resource_type import ResourceType

__all__ = ["MutatingAdmissionPolicies"]


_NAME = "MutatingAdmissionPolicy"


@dataclass(slots=True)
class _VersionedObjects:
    """The objects of a write in one version; policies that match this version patch the same object."""

    wanted: ResourceType
    new: dict[str, Any] | None
    old: dict[str, Any] | None
    is_dirty: bool = False


class _PolicyError(NamedTuple):
    """A reason to deny a write, unless the policy's failurePolicy is Ignore."""

    hook: PolicyHook
    binding: PolicyBinding | None
    message: str
    reason: str = ""

    def __str__(self) -> str:
        if self.binding is None:
            return f"policy {quoted(self.hook.name)} denied request: {self.message}"
        return f"policy '{self.hook.name}' with binding '{self.binding.name}' denied request: {self.message}"


class MutatingAdmissionPolicies:
    """Admission plugin that applies the patches of bound policies. It waits only for conversions of the object."""

    def __init__(self, context: PolicySourceContext, versions: VersionConverter, authorizer: Authorizer) -> None:
        self._source = PolicySource("mutating", context)
        self._versions, self._authorizer = versions, authorizer

    @property
    def is_idle(self) -> bool:
        """Whether there are no policies or no bindings."""
        return self._source.is_idle

    async def validate(self, attributes: Attributes) -> None:
        """Do nothing."""

    async def mutate(self, attributes: Attributes) -> None:
        """Apply the patches of every bound policy that matches, in the order of the policies' names.

        Raises:
            StatusError: A policy could not be evaluated, and its failurePolicy is Fail.
        """
        if attributes.operation == DELETE:
            return
        found = list(self._source.invocations(attributes))
        errors = [_PolicyError(*each) for each in found if isinstance(each, NotConfigured)]
        invocations = [each for each in found if isinstance(each, PolicyInvocation)]
        if invocations:
            errors += await self._dispatch(invocations, attributes)
        errors = [error for error in errors if error.hook.fails]
        if errors:
            raise _denied(errors, attributes)

    async def _dispatch(self, invocations: list[PolicyInvocation], attributes: Attributes) -> list[_PolicyError]:
        """Run the invocations in order; return their errors."""
        context = attributes.reinvocation.of(_NAME)
        if attributes.reinvocation.round and context.last_output != attributes.object:
            context.require_all()  # a later plugin has changed the policies' output
        versioned: dict[ResourceType, _VersionedObjects] = {}
        for each in invocations:
            if each.wanted not in versioned:
                new, old = await self._versions.convert_to(attributes, each.wanted)
                versioned[each.wanted] = _VersionedObjects(each.wanted, new, old)
        errors: list[_PolicyError] = []
        last: _VersionedObjects | None = None
        for invocation in invocations:
            objects = versioned[invocation.wanted]
            if await self._invoke(invocation, attributes, objects, context, errors):
                last = objects
        if last is not None and last.new is not None and last.is_dirty:
            context.require_all()
            attributes.reinvocation.is_wanted = True
            attributes.object = await self._versions.convert_back(attributes, last.wanted, last.new)
        context.last_output = copy.deepcopy(attributes.object)
        return errors

    async def _invoke(
        self,
        invocation: PolicyInvocation,
        attributes: Attributes,
        objects: _VersionedObjects,
        context: Reinvocations,
        errors: list[_PolicyError],
    ) -> bool:
        """Apply the mutations of one invocation; return whether it was to be invoked."""
        # lazy: the import of CEL is slow and most servers have no policies
        from pyctrl.apiserver._admission.condition_evaluator import MatchConditionsFailed, evaluated
        from pyctrl.apiserver._admission.mutating_policy_evaluator import PolicyMutator

        hook = invocation.hook
        mutator = hook.evaluator = hook.evaluator or PolicyMutator(hook.spec)

        def activation() -> dict[str, Any]:
            return self._activation(invocation, attributes, objects)

        try:
            if not await evaluated(partial(mutator.matches, activation()), attributes, hook.spec):
                return False
        except MatchConditionsFailed as failed:
            errors.append(_PolicyError(hook, invocation.binding, str(failed), "Invalid"))
            return False
        if attributes.reinvocation.round and _key(invocation) not in context.required:
            return False
        before = obj = objects.new
        if obj is not None:
            for patch in mutator.patches:
                try:
                    evaluate = partial(patch, activation(), obj, self._patched_type(invocation.wanted, attributes))
                    new = await evaluated(evaluate, attributes, hook.spec)
                    _check_version(invocation.wanted, attributes)
                    objects.new = obj = new
                    objects.is_dirty = True
                except mutator.failures as failed:
                    errors.append(_PolicyError(hook, invocation.binding, str(failed), "Invalid"))
        if before != objects.new:
            context.require_all()
            attributes.reinvocation.is_wanted = True
        if hook.spec.get("reinvocationPolicy") == "IfNeeded":
            context.invoked[_key(invocation)] = None
        return True

    def _activation(
        self, invocation: PolicyInvocation, attributes: Attributes, objects: _VersionedObjects
    ) -> dict[str, Any]:
        from pyctrl.apiserver._admission.policy_compiler import policy_activation

        shown, namespace = (objects.new, objects.old), self._source.namespace(attributes)
        params = _params(invocation)
        return policy_activation(attributes, invocation.wanted, shown, self._authorizer, params, namespace)

    def _patched_type(self, wanted: ResourceType, attributes: Attributes) -> PatchedType | None:
        """Return the type of the patched object, which is that of the subresource if it has its own kind."""
        if attributes.own_kind is None:
            return wanted
        return SubresourceType.of(attributes.own_kind, self._source.components)


def _key(invocation: PolicyInvocation) -> tuple[str, ...]:
    """Return the identity of an invocation in both rounds of a write."""
    metadata = (invocation.params or {}).get("metadata") or {}
    return invocation.hook.name, invocation.binding.name, metadata.get("namespace", ""), metadata.get("name", "")


def _check_version(wanted: ResourceType, attributes: Attributes) -> None:
    """Refuse a policy for another version of a built-in kind: as upstream, its objects are not converted back."""
    resource = attributes.resource
    if wanted is resource or wanted.is_custom or attributes.own_kind is not None:
        return
    from pyctrl.apiserver._admission.mutating_patch import MutationFailed  # lazy: it imports CEL

    shown = f"({wanted.version}.{wanted.kind}) to ({resource.version}.{resource.kind})"
    raise MutationFailed(f"converting {shown}: unknown conversion")


def _params(invocation: PolicyInvocation) -> dict[str, Any] | None:
    """Return the parameters without kind and apiVersion: as upstream, only custom resources have them."""
    params, kind = invocation.params, invocation.param_type
    if params is None or kind is None or kind.is_custom:
        return params
    return {key: value for key, value in params.items() if key not in ("kind", "apiVersion")}


def _denied(errors: list[_PolicyError], attributes: Attributes) -> StatusError:
    error = attributes.forbidden("admission request denied by policy")
    causes = [{"message": str(each)} for each in errors]
    details = {**error.status["details"], "causes": causes}
    reason = errors[0].reason or error.status["reason"]
    return StatusError(error.code, {**error.status, "message": str(errors[0]), "reason": reason, "details": details})
