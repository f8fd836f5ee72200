"""MutatingAdmissionPolicies: patches in CEL that the server evaluates and applies."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from pyctrl._go.text import quoted
from pyctrl.apiserver._admission.attributes import DELETE, Attributes, Reinvocations
from pyctrl.apiserver._admission.policy_source import (
    ConfigurationFailed,
    PolicyBinding,
    PolicyHook,
    PolicySource,
    PolicySourceContext,
)
from pyctrl.apiserver._errors import StatusError

if TYPE_CHECKING:
    from pyctrl.apiserver._admission.versioned_attributes import VersionConverter
    from pyctrl.apiserver._authz import Authorizer
    from pyctrl.apiserver._resources.resource_type import ResourceType

__all__ = ["MutatingAdmissionPolicies"]


_NAME = "MutatingAdmissionPolicy"


class _PolicyInvocation(NamedTuple):
    """One evaluation of a policy for a write: under one binding, with one object of parameters."""

    hook: PolicyHook
    binding: PolicyBinding
    wanted: ResourceType
    params: dict[str, Any] | None

    @property
    def key(self) -> tuple[str, ...]:
        """The identity of the invocation in both rounds of a write."""
        metadata = (self.params or {}).get("metadata") or {}
        return self.hook.name, self.binding.name, metadata.get("namespace", ""), metadata.get("name", "")


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
        errors: list[_PolicyError] = []
        invocations: list[_PolicyInvocation] = []
        for hook, wanted in self._source.matching(attributes):
            self._collect(hook, wanted, attributes, invocations, errors)
        if invocations:
            errors += await self._dispatch(invocations, attributes)
        errors = [error for error in errors if error.hook.fails]
        if errors:
            raise _denied(errors, attributes)

    def _collect(
        self,
        hook: PolicyHook,
        wanted: ResourceType,
        attributes: Attributes,
        invocations: list[_PolicyInvocation],
        errors: list[_PolicyError],
    ) -> None:
        try:
            kind = self._source.param_type(hook)
        except ConfigurationFailed as failed:
            errors.append(_PolicyError(hook, None, f"failed to configure policy: {failed}"))
            return
        for binding in hook.bindings:
            if not self._source.binding_matches(binding, attributes):
                continue
            try:
                params = self._source.params(kind, binding, attributes)
            except ConfigurationFailed as failed:
                errors.append(_PolicyError(hook, binding, f"failed to configure binding: {failed}"))
                continue
            invocations += [
                _PolicyInvocation(hook, binding, wanted, each if kind is None else _without_type_meta(each, kind))
                for each in params
            ]

    async def _dispatch(self, invocations: list[_PolicyInvocation], attributes: Attributes) -> list[_PolicyError]:
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
            if self._invoke(invocation, attributes, objects, context, errors):
                last = objects
        if last is not None and last.new is not None and last.is_dirty:
            context.require_all()
            attributes.reinvocation.is_wanted = True
            attributes.object = await self._versions.convert_back(attributes, last.wanted, last.new)
        context.last_output = copy.deepcopy(attributes.object)
        return errors

    def _invoke(
        self,
        invocation: _PolicyInvocation,
        attributes: Attributes,
        objects: _VersionedObjects,
        context: Reinvocations,
        errors: list[_PolicyError],
    ) -> bool:
        """Apply the mutations of one invocation; return whether it was to be invoked."""
        # lazy: the import of CEL is slow and most servers have no policies
        from pyctrl.apiserver._admission.condition_evaluator import MatchConditionsFailed
        from pyctrl.apiserver._admission.mutating_policy_evaluator import PolicyMutator

        hook = invocation.hook
        mutator = hook.evaluator = hook.evaluator or PolicyMutator(hook.spec)

        def activation() -> dict[str, Any]:
            return self._activation(invocation, attributes, objects)

        try:
            if not mutator.matches(activation()):
                return False
        except MatchConditionsFailed as failed:
            errors.append(_PolicyError(hook, invocation.binding, str(failed), "Invalid"))
            return False
        if attributes.reinvocation.round and invocation.key not in context.required:
            return False
        before = obj = objects.new
        if obj is not None:
            for patch in mutator.patches:
                try:
                    objects.new = obj = patch(activation(), obj, _schema_of(invocation.wanted, attributes))
                    objects.is_dirty = True
                except mutator.failures as failed:
                    errors.append(_PolicyError(hook, invocation.binding, str(failed), "Invalid"))
        if before != objects.new:
            context.require_all()
            attributes.reinvocation.is_wanted = True
        if hook.spec.get("reinvocationPolicy") == "IfNeeded":
            context.invoked[invocation.key] = None
        return True

    def _activation(
        self, invocation: _PolicyInvocation, attributes: Attributes, objects: _VersionedObjects
    ) -> dict[str, Any]:
        from pyctrl.apiserver._admission.policy_compiler import policy_activation

        shown, namespace = (objects.new, objects.old), self._source.namespace(attributes)
        return policy_activation(attributes, invocation.wanted, shown, self._authorizer, invocation.params, namespace)


def _without_type_meta(params: dict[str, Any] | None, kind: ResourceType) -> dict[str, Any] | None:
    """Return parameters without kind and apiVersion: as upstream, only custom resources have them."""
    if params is None or kind.is_custom:
        return params
    return {key: value for key, value in params.items() if key not in ("kind", "apiVersion")}


def _schema_of(wanted: ResourceType, attributes: Attributes) -> ResourceType | None:
    """Return the type of the patched object; None for the own kind of a subresource."""
    return wanted if attributes.own_kind is None else None


def _denied(errors: list[_PolicyError], attributes: Attributes) -> StatusError:
    error = attributes.forbidden("admission request denied by policy")
    causes = [{"message": str(each)} for each in errors]
    details = {**error.status["details"], "causes": causes}
    reason = errors[0].reason or error.status["reason"]
    return StatusError(error.code, {**error.status, "message": str(errors[0]), "reason": reason, "details": details})
