"""Which writes a webhook or a policy wants to see: rules, selectors, and versions that stand for each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from pyctrl.api import LabelSelector
from pyctrl.apiserver._admission.attributes import CREATE, UPDATE, Attributes
from pyctrl.apiserver._errors import not_found

if TYPE_CHECKING:
    from pyctrl.apiserver._resources.resource_type import ResourceType
    from pyctrl.apiserver._resources.served_resources import ServedResources
    from pyctrl.apiserver._storage.storage import Collection

CONFIGURATIONS = frozenset(
    f"{kind}{what}"
    for kind in ("mutating", "validating")
    for what in ("webhookconfigurations", "admissionpolicies", "admissionpolicybindings")
)
_GROUP = "admissionregistration.k8s.io"


def is_exempt(attributes: Attributes) -> bool:
    """Whether a write is to admission's own configuration: nobody outside may lock the door that it came through."""
    target = attributes.request.target
    return target.group == _GROUP and target.resource in CONFIGURATIONS


class RuleMatcher(NamedTuple):
    """One rule of a webhook, or one resource rule of a policy."""

    operations: frozenset[str]
    groups: frozenset[str]
    versions: frozenset[str]
    resources: tuple[tuple[str, str], ...]  # resource and sub-resource
    names: frozenset[str]
    scope: str

    @classmethod
    def of(cls, rule: Mapping[str, Any]) -> RuleMatcher:
        """Read a `RuleWithOperations`."""
        return cls(
            frozenset(rule.get("operations") or ()),
            frozenset(rule.get("apiGroups") or ()),
            frozenset(rule.get("apiVersions") or ()),
            tuple(each.partition("/")[::2] for each in rule.get("resources") or ()),
            frozenset(rule.get("resourceNames") or ()),
            rule.get("scope") or "*",
        )

    def matches(self, attributes: Attributes, resource: ResourceType) -> bool:
        """Whether the rule is about a write, were it one of `resource`."""
        return (
            self._in_scope(attributes)
            and _among(self.operations, attributes.operation)
            and _among(self.groups, resource.group)
            and _among(self.versions, resource.version)
            and any(_is(name, resource.plural) and _is(sub, attributes.subresource) for name, sub in self.resources)
            and (not self.names or attributes.name in self.names)
        )

    def _in_scope(self, attributes: Attributes) -> bool:
        if self.scope == "*":
            return True
        return (self.scope == "Namespaced") is bool(attributes.request.target.namespace)


def _among(wanted: frozenset[str], value: str) -> bool:
    return "*" in wanted or value in wanted


def _is(wanted: str, value: str) -> bool:
    return wanted in ("*", value)


class MatchCriteria:
    """What one webhook or policy says about the writes that it wants to see."""

    def __init__(self, spec: Mapping[str, Any], rules: Sequence[Mapping[str, Any]]) -> None:
        self._rules = [RuleMatcher.of(rule) for rule in rules]
        self._excluded = [RuleMatcher.of(rule) for rule in spec.get("excludeResourceRules") or ()]
        self._takes_equivalents = spec.get("matchPolicy") != "Exact"
        self._namespaces = LabelSelector.from_wire(spec.get("namespaceSelector") or {})
        self._objects = LabelSelector.from_wire(spec.get("objectSelector") or {})

    def match(self, attributes: Attributes, surroundings: MatchContext) -> ResourceType | None:
        """Give the resource, in the version that is wanted, as which a write is to be shown; None: it is not.

        Raises:
            Refused: 404, the namespace whose labels count is not there.
        """
        if not _selects(self._objects, attributes):
            return None
        wanted = self._wanted(attributes, surroundings)
        if wanted is None or not self._selects_namespace(attributes, surroundings):
            return None
        return wanted

    def _wanted(self, attributes: Attributes, surroundings: MatchContext) -> ResourceType | None:
        resource = attributes.resource
        if any(rule.matches(attributes, resource) for rule in self._excluded):
            return None
        if any(rule.matches(attributes, resource) for rule in self._rules):
            return resource
        if not self._takes_equivalents:
            return None
        equivalents = list(surroundings.equivalents(resource))
        if any(rule.matches(attributes, each) for rule in self._excluded for each in equivalents):
            return None
        return next((each for rule in self._rules for each in equivalents if rule.matches(attributes, each)), None)

    def _selects_namespace(self, attributes: Attributes, surroundings: MatchContext) -> bool:
        if self._namespaces.is_everything or not attributes.namespace:
            return True
        return self._namespaces.matches(surroundings.namespace_labels(attributes))


def _selects(selector: LabelSelector, attributes: Attributes) -> bool:
    """Whether the object, or what it was, is selected."""
    if selector.is_everything:
        return True
    return any(
        selector.matches(obj["metadata"].get("labels") or {})
        for obj in (attributes.object, attributes.old)
        if obj is not None
    )


class MatchContext:
    """What besides the write itself counts: namespaces, and the versions that a resource has."""

    def __init__(self, registry: ServedResources, namespaces: Collection) -> None:
        self._registry = registry
        self._namespaces = namespaces

    def namespace_labels(self, attributes: Attributes) -> Mapping[str, str]:
        """Give the labels of the namespace of a write; of a Namespace that is written, those it will have."""
        target = attributes.request.target
        if not target.namespace and not target.subresource and attributes.operation in (CREATE, UPDATE):
            labels: Mapping[str, str] = ((attributes.object or {}).get("metadata") or {}).get("labels") or {}
            return labels
        found = self._namespaces.find("", attributes.namespace)
        if found is None:
            raise not_found("namespaces", attributes.namespace)
        return found.labels

    def namespace(self, name: str) -> dict[str, Any] | None:
        """Give a Namespace, if it is there."""
        found = self._namespaces.find("", name) if name else None
        return found.decode() if found is not None else None

    def equivalents(self, resource: ResourceType) -> Iterator[ResourceType]:
        """Give the resource in its other versions (and, for events, its other group)."""
        for each in self._registry.of_storage(resource.storage_group, resource.plural):
            if each is not resource:
                yield each
