"""Matching of writes with webhooks and policies: rules, selectors, and equivalent versions."""

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

__all__ = ["MatchContext", "MatchCriteria", "is_exempt"]


CONFIGURATIONS = frozenset(
    f"{prefix}{suffix}"
    for prefix in ("mutating", "validating")
    for suffix in ("webhookconfigurations", "admissionpolicies", "admissionpolicybindings")
)
_GROUP = "admissionregistration.k8s.io"


def is_exempt(attributes: Attributes) -> bool:
    """Return whether a write is exempt: admission configuration, so that a broken webhook can always be repaired."""
    target = attributes.request.target
    return target.group == _GROUP and target.resource in CONFIGURATIONS


class RuleMatcher(NamedTuple):
    """One rule of a webhook, or one resource rule of a policy."""

    operations: frozenset[str]
    groups: frozenset[str]
    versions: frozenset[str]
    resources: tuple[tuple[str, str], ...]  # resource and subresource
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
        """Return whether the rule matches a write, if it were a write of `resource`."""
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
    """The match criteria of one webhook or policy."""

    def __init__(self, spec: Mapping[str, Any], rules: Sequence[Mapping[str, Any]]) -> None:
        self._rules = [RuleMatcher.of(rule) for rule in rules]
        self._excluded = [RuleMatcher.of(rule) for rule in spec.get("excludeResourceRules") or ()]
        self._takes_equivalents = spec.get("matchPolicy") != "Exact"
        self._namespaces = LabelSelector.from_wire(spec.get("namespaceSelector") or {})
        self._objects = LabelSelector.from_wire(spec.get("objectSelector") or {})

    def match(self, attributes: Attributes, match_context: MatchContext) -> ResourceType | None:
        """Return the matched resource, in the version of the rule; None if the write does not match.

        Raises:
            StatusError: 404, the namespace that the namespaceSelector applies to does not exist.
        """
        if not _selects(self._objects, attributes):
            return None
        wanted = self._wanted(attributes, match_context)
        if wanted is None or not self._selects_namespace(attributes, match_context):
            return None
        return wanted

    def _wanted(self, attributes: Attributes, match_context: MatchContext) -> ResourceType | None:
        resource = attributes.resource
        if any(rule.matches(attributes, resource) for rule in self._excluded):
            return None
        if any(rule.matches(attributes, resource) for rule in self._rules):
            return resource
        if not self._takes_equivalents:
            return None
        equivalents = list(match_context.equivalents(resource))
        if any(rule.matches(attributes, each) for rule in self._excluded for each in equivalents):
            return None
        return next((each for rule in self._rules for each in equivalents if rule.matches(attributes, each)), None)

    def _selects_namespace(self, attributes: Attributes, match_context: MatchContext) -> bool:
        if self._namespaces.is_everything or not attributes.namespace:
            return True
        return self._namespaces.matches(match_context.namespace_labels(attributes))


def _selects(selector: LabelSelector, attributes: Attributes) -> bool:
    """Return whether the new or the old object is selected; options of a connection have no metadata, so never."""
    if selector.is_everything:
        return True
    return any(
        selector.matches(obj["metadata"].get("labels") or {})
        for obj in (attributes.object, attributes.old)
        if obj is not None and "metadata" in obj
    )


class MatchContext:
    """The data that matching needs in addition to the write: namespaces, and the versions of resources."""

    def __init__(self, registry: ServedResources, namespaces: Collection) -> None:
        self._registry = registry
        self._namespaces = namespaces

    def namespace_labels(self, attributes: Attributes) -> Mapping[str, str]:
        """Return the labels of the namespace of a write; of a written Namespace, its new labels."""
        target = attributes.request.target
        if not target.namespace and not target.subresource and attributes.operation in (CREATE, UPDATE):
            labels: Mapping[str, str] = ((attributes.object or {}).get("metadata") or {}).get("labels") or {}
            return labels
        found = self._namespaces.find("", attributes.namespace)
        if found is None:
            raise not_found("namespaces", attributes.namespace)
        return found.labels

    def namespace(self, name: str) -> dict[str, Any] | None:
        """Return a Namespace; None if it does not exist."""
        found = self._namespaces.find("", name) if name else None
        return found.decode() if found is not None else None

    def equivalents(self, resource: ResourceType) -> Iterator[ResourceType]:
        """Yield the resource in its other versions (and, for events, its other group)."""
        for each in self._registry.of_storage(resource.storage_group, resource.plural):
            if each is not resource:
                yield each
