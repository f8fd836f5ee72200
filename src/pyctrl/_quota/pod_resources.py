"""Requests and limits of a whole pod (upstream component-helpers/resource)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from pyctrl._quota.resources import ResourceList, add_resources, read_resources
from pyctrl.api import Quantity

__all__ = ["has_pod_level_resources", "pod_resources"]


_Object: TypeAlias = Mapping[str, Any]
_Part: TypeAlias = Literal["requests", "limits"]


def pod_resources(
    spec: _Object, part: _Part, *, status: _Object | None = None, with_overhead: bool = False
) -> ResourceList:
    """Return the requests or limits of a pod.

    Containers and sidecars add up. An init container needs its own resources and those of the sidecars before it. The
    resources of the pod itself take precedence.

    Args:
        status: The status of the pod; resources that a resize has not released yet count.
        with_overhead: Add the overhead of the pod's runtime class.
    """
    total, before = _containers(spec, part, status or {})
    most: dict[str, Quantity] = dict(total)
    for name, amount in before.items():
        if name not in most or amount > most[name]:
            most[name] = amount
    own = read_resources((spec.get("resources") or {}).get(part))
    most.update({name: amount for name, amount in own.items() if _is_pod_level(name)})
    for name, amount in read_resources(spec.get("overhead") if with_overhead else None).items():
        if part == "requests":
            most[name] = most[name] + amount if name in most else amount
        elif most.get(name):
            most[name] = most[name] + amount
    return most


def _containers(spec: _Object, part: _Part, status: _Object) -> tuple[ResourceList, ResourceList]:
    """Return the sum of the containers that run together, and the maximum that the initialization needs."""
    total: ResourceList = {}
    sidecars: ResourceList = {}
    most: dict[str, Quantity] = {}
    for container in spec.get("containers") or ():
        total = add_resources(total, _effective(container, part, status.get("containerStatuses"), status))
    for container in spec.get("initContainers") or ():
        if container.get("restartPolicy") == "Always":
            own = _effective(container, part, status.get("initContainerStatuses"), status)
            total, sidecars = add_resources(total, own), add_resources(sidecars, own)
            needed = sidecars
        else:
            needed = add_resources(read_resources((container.get("resources") or {}).get(part)), sidecars)
        for name, amount in needed.items():
            if name not in most or amount > most[name]:
                most[name] = amount
    return total, most


def _effective(container: _Object, part: _Part, statuses: Any, status: _Object) -> ResourceList:
    """Return the resources of a container: the largest of those wanted, allocated and in use."""
    wanted = read_resources((container.get("resources") or {}).get(part))
    found = next((each for each in statuses or () if each.get("name") == container.get("name")), None)
    if found is None or found.get("resources") is None:
        return wanted
    most: dict[str, Quantity] = {} if _is_infeasible(status) else dict(wanted)
    for held in (found["resources"].get(part), found.get("allocatedResources") if part == "requests" else None):
        for name, amount in read_resources(held).items():
            if name not in most or amount > most[name]:
                most[name] = amount
    return most


def _is_infeasible(status: _Object) -> bool:
    pending = (each for each in status.get("conditions") or () if each.get("type") == "PodResizePending")
    return next((each.get("reason") == "Infeasible" for each in pending), False)


def has_pod_level_resources(spec: _Object) -> bool:
    """Return whether a pod has requests or limits of its own."""
    resources = spec.get("resources") or {}
    return any(_is_pod_level(name) for part in ("requests", "limits") for name in resources.get(part) or ())


def _is_pod_level(name: str) -> bool:
    return name in ("cpu", "memory") or name.startswith("hugepages-")
