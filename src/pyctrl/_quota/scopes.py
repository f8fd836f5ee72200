"""Scopes of quotas: the objects that a quota tracks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

__all__ = ["claim_matches_scope", "is_terminating", "pod_matches_scope", "scope_requirements"]


_Object: TypeAlias = Mapping[str, Any]


def scope_requirements(quota: _Object) -> Iterator[_Object]:
    """Yield the requirements of a quota's scopes and scope selector."""
    spec = quota.get("spec") or {}
    for scope in spec.get("scopes") or ():
        yield {"scopeName": scope, "operator": "Exists"}
    yield from (spec.get("scopeSelector") or {}).get("matchExpressions") or ()


def pod_matches_scope(requirement: _Object, pod: _Object) -> bool:
    """Return whether a pod matches a scope."""
    match requirement.get("scopeName"):
        case "Terminating":
            return is_terminating(pod)
        case "NotTerminating":
            return not is_terminating(pod)
        case "BestEffort":
            return _is_best_effort(pod["spec"])
        case "NotBestEffort":
            return not _is_best_effort(pod["spec"])
        case "PriorityClass":
            name = pod["spec"].get("priorityClassName")
            return _selects(requirement, [name] if name else [])
        case "CrossNamespacePodAffinity":
            return _crosses_namespaces(pod["spec"].get("affinity") or {})
    return False


def claim_matches_scope(requirement: _Object, claim: _Object) -> bool:
    """Return whether a claim matches a scope."""
    if requirement.get("scopeName") != "VolumeAttributesClass":
        return False
    status = claim.get("status") or {}
    names = (
        claim["spec"].get("volumeAttributesClassName"),
        status.get("currentVolumeAttributesClassName"),
        (status.get("modifyVolumeStatus") or {}).get("targetVolumeAttributesClassName"),
    )
    return _selects(requirement, [name for name in names if name])


def is_terminating(pod: _Object) -> bool:
    """Return whether a pod has a deadline."""
    deadline = pod["spec"].get("activeDeadlineSeconds")
    return deadline is not None and deadline >= 0


def _is_best_effort(spec: _Object) -> bool:
    """Return whether no container requests or limits CPU or memory."""
    containers = (spec, *(spec.get("containers") or ()), *(spec.get("initContainers") or ()))
    return not any(
        ((each.get("resources") or {}).get(part) or {}).get(name) not in (None, "0", 0)
        for each in containers
        for part in ("requests", "limits")
        for name in ("cpu", "memory")
    )


def _selects(requirement: _Object, names: Sequence[str]) -> bool:
    values = requirement.get("values") or ()
    match requirement.get("operator"):
        case "Exists":
            return bool(names)
        case "DoesNotExist":
            return not names
        case "In":
            return any(name in values for name in names)
        case "NotIn":
            return not names or any(name not in values for name in names)
    return False


def _crosses_namespaces(affinity: _Object) -> bool:
    for kind in ("podAffinity", "podAntiAffinity"):
        terms = affinity.get(kind) or {}
        hard = terms.get("requiredDuringSchedulingIgnoredDuringExecution") or ()
        soft = terms.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        for term in (*hard, *(each.get("podAffinityTerm") or {} for each in soft)):
            if term.get("namespaces") or term.get("namespaceSelector") is not None:
                return True
    return False
