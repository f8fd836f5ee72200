"""Taints and tolerations, node selectors and node affinity, as pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyctrl.kinds.core.v1 import Node, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, Pod, Taint, Toleration

__all__ = ["matches_node", "matches_node_selector", "preferred_affinity_score", "tolerates", "untolerated_taints"]


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Return whether a toleration matches a taint. An empty key matches every taint, an empty effect every effect."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    match toleration.operator or "Equal":
        case "Exists":
            return True
        case "Equal":
            return bool(toleration.key) and (toleration.value or "") == (taint.value or "")
        case "Lt" | "Gt" as operator:
            return _compares(operator, taint.value or "", toleration.value or "")
    return False


def _compares(operator: str, value: str, limit: str) -> bool:
    try:
        return int(value) < int(limit) if operator == "Lt" else int(value) > int(limit)
    except ValueError:
        return False


def untolerated_taints(
    taints: Sequence[Taint], tolerations: Sequence[Toleration], effects: Sequence[str]
) -> list[Taint]:
    """Return the taints of the given effects that no toleration matches."""
    counted = [taint for taint in taints if taint.effect in effects]
    return [taint for taint in counted if not any(tolerates(each, taint) for each in tolerations)]


def matches_node(pod: Pod, node: Node) -> bool:
    """Return whether the pod's nodeSelector and required node affinity match a node."""
    labels = node.metadata.labels
    if any(labels.get(key) != value for key, value in pod.spec.node_selector.items()):
        return False
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    return required is None or matches_node_selector(required, node)


def preferred_affinity_score(pod: Pod, node: Node) -> int:
    """Return the sum of the weights of the pod's preferred node affinity terms that match a node."""
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
    preferred = affinity.preferred_during_scheduling_ignored_during_execution if affinity else []
    return sum(each.weight for each in preferred if _term(each.preference, node))


def matches_node_selector(selector: NodeSelector, node: Node) -> bool:
    """Return whether any term of a node selector matches a node."""
    return any(_term(term, node) for term in selector.node_selector_terms)


def _term(term: NodeSelectorTerm, node: Node) -> bool:
    """Return whether all requirements of a term match; an empty term matches nothing."""
    fields = {"metadata.name": node.metadata.name}
    checks = [(each, node.metadata.labels) for each in term.match_expressions]
    checks += [(each, fields) for each in term.match_fields]
    return bool(checks) and all(_holds(each, values) for each, values in checks)


def _holds(requirement: NodeSelectorRequirement, labels: Mapping[str, str]) -> bool:
    value = labels.get(requirement.key)
    match requirement.operator:
        case "In":
            return value in requirement.values
        case "NotIn":
            return value not in requirement.values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt" as operator if value is not None and requirement.values:
            return _compares(operator, value, requirement.values[0])
    return False
