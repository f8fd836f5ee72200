"""Evaluators: what an object of a resource uses of a quota (upstream pkg/quota/v1/evaluator)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeAlias

from pyctrl._clock import now
from pyctrl._quota.pod_resources import has_pod_level_resources, pod_resources
from pyctrl._quota.resources import ResourceList, add_resources
from pyctrl._quota.scopes import claim_matches_scope, pod_matches_scope
from pyctrl.api import Quantity

__all__ = ["EVALUATORS", "IGNORED_RESOURCES", "Evaluator", "evaluator_of"]


_Object: TypeAlias = Mapping[str, Any]
_ONE: Final = Quantity("1")
_ZERO: Final = Quantity("0")

#: Resources that quotas never count, by group and plural: those that are not stored, and events.
IGNORED_RESOURCES: Final = frozenset(
    (
        ("", "bindings"),
        ("", "componentstatuses"),
        ("authentication.k8s.io", "tokenreviews"),
        ("authentication.k8s.io", "selfsubjectreviews"),
        ("authorization.k8s.io", "subjectaccessreviews"),
        ("authorization.k8s.io", "selfsubjectaccessreviews"),
        ("authorization.k8s.io", "localsubjectaccessreviews"),
        ("authorization.k8s.io", "selfsubjectrulesreviews"),
        ("", "events"),
        ("events.k8s.io", "events"),
    )
)


def _no_scope(_requirement: _Object, _obj: _Object) -> bool:
    return False


def _no_problem(_names: Iterable[str], _obj: _Object) -> str:
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluator:
    """What quotas measure of the objects of one resource.

    Attributes:
        matches: Whether the objects use a resource of a quota, by its name.
        usage: What an object uses.
        matches_scope: Whether an object has a scope; most objects have none.
        constraints: The reason why an object is not valid under a quota of these resources, or "".
        updates: Whether updates can change the usage.
    """

    matches: Callable[[str], bool]
    usage: Callable[[_Object], ResourceList]
    matches_scope: Callable[[_Object, _Object], bool] = _no_scope
    constraints: Callable[[Iterable[str], _Object], str] = _no_problem
    updates: bool = False


def evaluator_of(group: str, resource: str) -> Evaluator:
    """Return the evaluator of a resource; most resources are only counted."""
    found = EVALUATORS.get((group, resource))
    return found or _counting(f"count/{resource}.{group}" if group else f"count/{resource}")


def _counting(*names: str) -> Evaluator:
    usage = dict.fromkeys(names, _ONE)
    return Evaluator(matches=lambda name: name in usage, usage=lambda _obj: usage)


# -- pods ------------------------------------------------------------------------------------------------------


_COMPUTE: Final = ("cpu", "memory", "ephemeral-storage")
_POD_RESOURCES: Final = frozenset(
    ("count/pods", "pods", *_COMPUTE, *(f"{part}.{name}" for part in ("requests", "limits") for name in _COMPUTE))
)
#: Resources of a quota that every container of a pod has to set.
_REQUIRED: Final = ("cpu", "limits.cpu", "limits.memory", "memory", "requests.cpu", "requests.memory")
_DEVICE_CLASS: Final = "deviceclass.resource.kubernetes.io/"


def _matches_pod(name: str) -> bool:
    if name in _POD_RESOURCES or name.startswith(("hugepages-", "requests.hugepages-")):
        return True
    is_extended = not _is_native(name) or name.startswith(f"requests.{_DEVICE_CLASS}")
    return is_extended and name.startswith("requests.")


def _is_native(name: str) -> bool:
    return "/" not in name or "kubernetes.io/" in name


def _pod_usage(pod: _Object) -> ResourceList:
    usage: ResourceList = {"count/pods": _ONE}
    if not _is_charged(pod):
        return usage
    spec, status = pod["spec"], pod.get("status") or {}
    requests = pod_resources(spec, "requests", status=status, with_overhead=True)
    limits = pod_resources(spec, "limits", status=status, with_overhead=True)
    return add_resources(usage, _compute_usage(requests, limits))


def _compute_usage(requests: ResourceList, limits: ResourceList) -> ResourceList:
    usage: dict[str, Quantity] = {"pods": _ONE}
    for name, amount in requests.items():
        if name in _COMPUTE or name.startswith("hugepages-"):
            usage[name] = usage[f"requests.{name}"] = amount
        elif (not _is_native(name) and not name.startswith("requests.")) or name.startswith(_DEVICE_CLASS):
            usage[f"requests.{name}"] = amount
    usage.update({f"limits.{name}": limits[name] for name in _COMPUTE if name in limits})
    return usage


def _is_charged(pod: _Object) -> bool:
    """Return whether a pod uses compute resources: it has not ended, and is not past its deletion."""
    if (pod.get("status") or {}).get("phase") in ("Failed", "Succeeded"):
        return False
    metadata = pod["metadata"]
    deleted, grace = metadata.get("deletionTimestamp"), metadata.get("deletionGracePeriodSeconds")
    if not deleted or grace is None:
        return True
    moment = datetime.strptime(deleted, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    return now() <= moment + timedelta(seconds=grace)


def _pod_constraints(names: Iterable[str], pod: _Object) -> str:
    spec = pod["spec"]
    if has_pod_level_resources(spec):
        return ""
    required = [name for name in _REQUIRED if name in set(names)]
    missing: dict[str, set[str]] = {}
    for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
        resources = container.get("resources") or {}
        given = _compute_usage(
            dict.fromkeys(resources.get("requests") or (), _ONE), dict.fromkeys(resources.get("limits") or (), _ONE)
        )
        for name in required:
            if name not in given:
                missing.setdefault(name, set()).add(container.get("name") or "")
    parts = [f"{name} for: {','.join(sorted(missing[name]))}" for name in sorted(missing)]
    return f"must specify {'; '.join(parts)}" if parts else ""


# -- services --------------------------------------------------------------------------------------------------


_SERVICE_RESOURCES: Final = frozenset(("count/services", "services", "services.nodeports", "services.loadbalancers"))


def _service_usage(service: _Object) -> ResourceList:
    spec = service["spec"]
    kind, ports = spec.get("type"), spec.get("ports") or ()
    node_ports = len(ports) if kind in ("NodePort", "LoadBalancer") else 0
    if kind == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts") is False:
        node_ports = sum(bool(port.get("nodePort")) for port in ports)
    return {
        "count/services": _ONE,
        "services": _ONE,
        "services.loadbalancers": _ONE if kind == "LoadBalancer" else _ZERO,
        "services.nodeports": Quantity(str(node_ports)),
    }


# -- claims ----------------------------------------------------------------------------------------------------


_CLAIM_RESOURCES: Final = ("persistentvolumeclaims", "requests.storage")
_BY_CLASS: Final = ".storageclass.storage.k8s.io/"
_BETA_CLASS: Final = "volume.beta.kubernetes.io/storage-class"


def _matches_claim(name: str) -> bool:
    if name == "count/persistentvolumeclaims" or name in _CLAIM_RESOURCES:
        return True
    return name.endswith(tuple(_BY_CLASS + each for each in _CLAIM_RESOURCES))


def _claim_usage(claim: _Object) -> ResourceList:
    spec = claim["spec"]
    usage: dict[str, Quantity] = {"persistentvolumeclaims": _ONE, "count/persistentvolumeclaims": _ONE}
    annotations = claim["metadata"].get("annotations") or {}
    named = annotations[_BETA_CLASS] if _BETA_CLASS in annotations else spec.get("storageClassName")
    if named:
        usage[f"{named}{_BY_CLASS}persistentvolumeclaims"] = _ONE
    if (storage := _claimed_storage(claim)) is not None:
        usage["requests.storage"] = storage
        if named:
            usage[f"{named}{_BY_CLASS}requests.storage"] = storage
    return usage


def _claimed_storage(claim: _Object) -> Quantity | None:
    """Return the storage of a claim in whole bytes: what it requests or, if that is more, what it has."""
    wanted = ((claim["spec"].get("resources") or {}).get("requests") or {}).get("storage")
    if wanted is None:
        return None
    allocated = ((claim.get("status") or {}).get("allocatedResources") or {}).get("storage")
    storage = Quantity(wanted)
    if allocated is not None and Quantity(allocated) > storage:
        storage = Quantity(allocated)
    if storage.value == storage.value.to_integral_value():
        return storage
    return Quantity(str(storage.as_int()), family=storage.family)


EVALUATORS: Final[Mapping[tuple[str, str], Evaluator]] = {
    ("", "pods"): Evaluator(
        matches=_matches_pod,
        usage=_pod_usage,
        matches_scope=pod_matches_scope,
        constraints=_pod_constraints,
        updates=True,
    ),
    ("", "services"): Evaluator(matches=_SERVICE_RESOURCES.__contains__, usage=_service_usage, updates=True),
    ("", "persistentvolumeclaims"): Evaluator(
        matches=_matches_claim, usage=_claim_usage, matches_scope=claim_matches_scope, updates=True
    ),
    **{
        ("", name): _counting(f"count/{name}", name)
        for name in ("configmaps", "resourcequotas", "replicationcontrollers", "secrets")
    },
}
