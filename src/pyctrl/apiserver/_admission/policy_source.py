"""The configured policies of one kind with their bindings, matched with writes, and the objects of parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from pyctrl.api import LabelSelector
from pyctrl.apiserver._admission.attributes import Attributes, Kind
from pyctrl.apiserver._admission.matching import MatchContext, MatchCriteria
from pyctrl.apiserver._errors import StatusError
from pyctrl.apiserver._storage.storage import Collection, StoredObject, WatchCacheEvent

if TYPE_CHECKING:
    from pyctrl.apiserver._resources.resource_type import ResourceType
    from pyctrl.apiserver._resources.served_resources import ServedResources
    from pyctrl.apiserver._schema.components import OpenAPIComponents
    from pyctrl.apiserver._storage.storage import Storage

__all__ = [
    "NotConfigured",
    "PolicyBinding",
    "PolicyHook",
    "PolicyInvocation",
    "PolicySource",
    "PolicySourceContext",
]


_GROUP = "admissionregistration.k8s.io"
#: Reviews are not stored, and a cluster whose policies deny them breaks.
_EXCLUDED = frozenset(
    [
        *(("authentication.k8s.io", each) for each in ("selfsubjectreviews", "tokenreviews")),
        *(
            ("authorization.k8s.io", f"{each}reviews")
            for each in ("localsubjectaccess", "selfsubjectaccess", "selfsubjectrules", "subjectaccess")
        ),
        *(
            (_GROUP, f"{kind}admission{each}")
            for kind in ("mutating", "validating")
            for each in ("policies", "policybindings")
        ),
    ]
)


class _ConfigurationFailed(Exception):
    """Raised if a policy or a binding is configured so that it cannot be evaluated; the text is kube-apiserver's."""


@dataclass(frozen=True, slots=True)
class PolicyBinding:
    """One binding of a policy with its match criteria; None matches every write."""

    name: str
    spec: Mapping[str, Any]
    criteria: MatchCriteria | None


@dataclass(slots=True, eq=False)
class PolicyHook:
    """One policy with its match criteria and its bindings."""

    name: str
    spec: Mapping[str, Any]
    criteria: MatchCriteria
    bindings: list[PolicyBinding]
    evaluator: Any = None  # compiled by the plugin at first use

    @property
    def fails(self) -> bool:
        """Whether errors deny the write (failurePolicy Fail)."""
        return self.spec.get("failurePolicy") != "Ignore"


class PolicyInvocation(NamedTuple):
    """One evaluation of a policy for a write: under one binding, with one object of parameters."""

    hook: PolicyHook
    binding: PolicyBinding
    wanted: ResourceType  # the matched resource, in the version of the rule
    param_type: ResourceType | None
    params: dict[str, Any] | None


class NotConfigured(NamedTuple):
    """A policy or a binding that matches a write and cannot be evaluated."""

    hook: PolicyHook
    binding: PolicyBinding | None
    message: str


@dataclass(frozen=True, slots=True)
class PolicySourceContext:
    """What all policies of a server need."""

    storage: Storage
    registry: ServedResources
    match_context: MatchContext


class PolicySource:
    """The policies of one kind, `validating` or `mutating`, ordered by name."""

    def __init__(self, kind: str, context: PolicySourceContext) -> None:
        self._context = context
        self._policies = context.storage.collection(_GROUP, f"{kind}admissionpolicies")
        self._bindings = context.storage.collection(_GROUP, f"{kind}admissionpolicybindings")
        self._known: list[PolicyHook] | None = None
        #: Whether there are no policies or no bindings; read twice in every write.
        self.is_idle: bool = self._has_none()
        for collection in (self._policies, self._bindings):
            collection.listen(self._changed)

    def _changed(self, _event: WatchCacheEvent) -> None:
        self._known, self.is_idle = None, self._has_none()

    def _has_none(self) -> bool:
        return not (len(self._policies) and len(self._bindings))

    @property
    def components(self) -> OpenAPIComponents:
        """The schemas of built-in kinds."""
        return self._context.registry.components

    def invocations(self, attributes: Attributes) -> Iterator[PolicyInvocation | NotConfigured]:
        """Yield the evaluations of the policies that match a write, in the order of their names."""
        target = attributes.request.target
        if (target.group, target.resource) in _EXCLUDED:
            return
        for hook in self._hooks():
            if hook.bindings:
                yield from self._invocations(hook, attributes)

    def _invocations(self, hook: PolicyHook, attributes: Attributes) -> Iterator[PolicyInvocation | NotConfigured]:
        try:
            wanted = hook.criteria.match(attributes, self._context.match_context)
            if wanted is None:
                return
            param_type = self._param_type(hook)
        except (StatusError, _ConfigurationFailed) as failed:
            yield NotConfigured(hook, None, f"failed to configure policy: {failed}")
            return
        for binding in hook.bindings:
            try:
                params = self._params(param_type, binding, attributes) if self._is_bound(binding, attributes) else []
            except (StatusError, _ConfigurationFailed) as failed:
                yield NotConfigured(hook, binding, f"failed to configure binding: {failed}")
                continue
            for each in params:
                yield PolicyInvocation(hook, binding, wanted, param_type, each)

    def _is_bound(self, binding: PolicyBinding, attributes: Attributes) -> bool:
        """Return whether a binding applies to a write that its policy matches."""
        criteria = binding.criteria
        return criteria is None or criteria.match(attributes, self._context.match_context) is not None

    def namespace(self, attributes: Attributes) -> dict[str, Any] | None:
        """Return the namespace of a write; None in cluster scope, and for a write of a Namespace."""
        if attributes.kind == Kind("", "v1", "Namespace"):
            return None
        return self._context.match_context.namespace(attributes.namespace)

    def _hooks(self) -> list[PolicyHook]:
        if self._known is None:
            bindings = [_binding(stored.decode()) for stored in self._bindings.current("")]
            self._known = [_hook(stored.decode(), bindings) for stored in self._policies.current("")]
        return self._known

    def _param_type(self, hook: PolicyHook) -> ResourceType | None:
        """Return the type of a policy's parameters; None for a policy without parameters.

        Raises:
            _ConfigurationFailed: The server has no such kind.
        """
        kind = hook.spec.get("paramKind")
        if kind is None:
            return None
        group, _, version = kind["apiVersion"].rpartition("/")
        found = self._context.registry.by_kind(group, version, kind["kind"])
        if found is None:
            name = f"{group}/{version}, Kind={kind['kind']}"
            raise _ConfigurationFailed(f"failed to find resource referenced by paramKind: '{name}'")
        return found

    def _params(
        self, kind: ResourceType | None, binding: PolicyBinding, attributes: Attributes
    ) -> list[dict[str, Any] | None]:
        """Return the parameters that a binding refers to, one evaluation for each; None is an evaluation without.

        Raises:
            _ConfigurationFailed: They do not exist and parameterNotFoundAction is Deny, or the reference is invalid.
        """
        reference = binding.spec.get("paramRef")
        if kind is None or reference is None:
            return [None]
        namespace = _param_namespace(kind, reference, attributes)
        collection = self._context.storage.collection(kind.storage_group, kind.plural)
        found: list[dict[str, Any] | None] = [each.read(kind) for each in _selected(collection, namespace, reference)]
        if not found and reference.get("parameterNotFoundAction") == "Deny":
            raise _ConfigurationFailed("no params found for policy binding with `Deny` parameterNotFoundAction")
        return found


def _param_namespace(kind: ResourceType, reference: Mapping[str, Any], attributes: Attributes) -> str:
    named = str(reference.get("namespace") or "")
    if not kind.namespaced:
        if named:
            raise _ConfigurationFailed("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
        return ""
    if not named and not attributes.namespace:
        why = "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"
        raise _ConfigurationFailed(why)
    return named or attributes.namespace


def _selected(collection: Collection, namespace: str, reference: Mapping[str, Any]) -> Iterator[StoredObject]:
    if name := reference.get("name"):
        found = collection.find(namespace, name)
        if found is not None:
            yield found
        return
    selector = LabelSelector.from_wire(reference.get("selector") or {})
    yield from (stored for stored in collection.current(namespace) if selector.matches(stored.labels))


def _hook(policy: Mapping[str, Any], bindings: list[PolicyBinding]) -> PolicyHook:
    name, spec = policy["metadata"]["name"], policy["spec"]
    constraints = spec.get("matchConstraints") or {}
    criteria = MatchCriteria(constraints, constraints.get("resourceRules") or ())
    return PolicyHook(name, spec, criteria, [each for each in bindings if each.spec.get("policyName") == name])


def _binding(binding: Mapping[str, Any]) -> PolicyBinding:
    resources = binding["spec"].get("matchResources")
    every = {"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"], "operations": ["*"]}
    criteria = MatchCriteria(resources, resources.get("resourceRules") or [every]) if resources else None
    return PolicyBinding(binding["metadata"]["name"], binding["spec"], criteria)
