"""Evictions: a pod is deleted only if its disruption budget can spare it.

The rules are those of kube-apiserver's eviction sub-resource (pkg/registry/core/pod/storage/eviction.go). What a budget
can spare is in its status, which a cluster's disruption controller keeps; here one is taken off it for each eviction.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pyctrl.api import LabelSelector
from pyctrl.apiserver._errors import StatusError, failure_status, forbidden, unknown_error
from pyctrl.apiserver._fieldmanager.managed_fields import update_managed_fields
from pyctrl.apiserver._meta.system_fields import timestamp
from pyctrl.apiserver._request.request import ResourceRequest
from pyctrl.apiserver._storage.storage import StoredObject

if TYPE_CHECKING:
    from pyctrl.apiserver._endpoints.backend import RESTStorage

BUDGETS = "poddisruptionbudgets"
MAX_DISRUPTED_PODS = 2000  # pods at once whose end the controller has not seen yet (MaxDisruptedPodSize)
PROCESSING_SECONDS = 10  # until a client may ask again about a budget that has just changed

_REFUSAL = "Cannot evict pod as it would violate the pod's disruption budget."
_SEVERAL = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."

_Object = dict[str, Any]


def check_and_decrement(
    backend: RESTStorage, request: ResourceRequest, pod: Mapping[str, Any], *, dry_run: bool
) -> None:
    """Take an eviction off the budget of a pod, if it has one.

    Raises:
        Refused: 429, the budget cannot spare it; 500, the pod has several budgets.
    """
    if pod["metadata"].get("deletionTimestamp") or pod["status"].get("phase") in ("Succeeded", "Failed", "Pending"):
        return  # it serves nobody any more, or not yet
    found = _budgets(backend, request, pod)
    if not found:
        return
    if len(found) > 1:
        raise unknown_error(_SEVERAL)
    stored, budget = found[0]
    if _is_ready(pod) or not _can_ignore_budget(budget):
        _check(budget)
        if not dry_run:
            _decrement(backend, request, stored, budget, pod["metadata"]["name"])


def _budgets(
    backend: RESTStorage, request: ResourceRequest, pod: Mapping[str, Any]
) -> list[tuple[StoredObject, _Object]]:
    type_ = backend.registry.require("policy", "v1", BUDGETS)
    labels = pod["metadata"].get("labels") or {}
    found = []
    for stored in backend.collection(type_).current(request.target.namespace):
        budget = stored.read(type_)
        if LabelSelector.from_wire(budget["spec"].get("selector")).matches(labels):
            found.append((stored, budget))
    return found


def _is_ready(pod: Mapping[str, Any]) -> bool:
    conditions = pod["status"].get("conditions") or ()
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def _can_ignore_budget(budget: _Object) -> bool:
    """Whether a pod that is not ready can go without being taken off the budget."""
    status = budget.get("status") or {}
    if budget["spec"].get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    healthy, wanted = status.get("currentHealthy", 0), status.get("desiredHealthy", 0)
    return bool(healthy >= wanted > 0)


def _check(budget: _Object) -> None:
    """Refuse what the budget cannot spare."""
    name, status = budget["metadata"]["name"], budget.get("status") or {}
    if status.get("observedGeneration", 0) < budget["metadata"].get("generation", 0):
        why = f"The disruption budget {name} is still being processed by the server."
        raise _too_many(why, PROCESSING_SECONDS)
    if status.get("disruptionsAllowed", 0) < 0:
        raise forbidden(BUDGETS, name, "pod disruption budget is negative", "policy")
    if len(status.get("disruptedPods") or ()) > MAX_DISRUPTED_PODS:
        why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller"
        raise forbidden(BUDGETS, name, why, "policy")
    if status.get("disruptionsAllowed", 0) == 0:
        raise _too_many(_shortage(name, status))


def _shortage(name: str, status: Mapping[str, Any]) -> str:
    for condition in status.get("conditions") or ():
        if condition["type"] == "DisruptionAllowed" and condition.get("reason") == "SyncFailed":
            trouble = condition.get("message")
            return (
                f"The disruption budget {name} does not allow evicting pods currently because it failed sync: {trouble}"
            )
    wanted, healthy = status.get("desiredHealthy", 0), status.get("currentHealthy", 0)
    return f"The disruption budget {name} needs {wanted} healthy pods and has {healthy} currently"


def _too_many(why: str, seconds: int = 0) -> StatusError:
    details: _Object = {"causes": [{"reason": "DisruptionBudget", "message": why}]}
    if seconds:
        details["retryAfterSeconds"] = seconds
    headers = [("Retry-After", str(seconds))] if seconds else []
    return StatusError(429, failure_status(429, "TooManyRequests", _REFUSAL, details), headers)


def _decrement(backend: RESTStorage, request: ResourceRequest, stored: StoredObject, budget: _Object, pod: str) -> None:
    """Take the pod off the budget; the controller counts anew when it sees the pod go."""
    type_ = backend.registry.require("policy", "v1", BUDGETS)
    old, status = stored.read(type_), budget["status"]
    status["disruptionsAllowed"] -= 1
    status.setdefault("disruptedPods", {})[pod] = timestamp()
    if not status["disruptionsAllowed"]:
        _tell_exhausted(status)
    update_managed_fields(
        budget,
        old,
        manager=request.manager,
        operation="Update",
        api_version=type_.api_version,
        subresource="status",
        type=type_,
    )
    backend.put(budget, type_)


def _tell_exhausted(status: _Object) -> None:
    for condition in status.get("conditions") or ():
        if condition["type"] == "DisruptionAllowed" and condition["status"] != "False":
            condition.update(status="False", reason="InsufficientPods", lastTransitionTime=timestamp())


def add_disruption_target(pod: _Object) -> None:
    """Say in a pod's conditions that it goes because it was evicted."""
    conditions = pod["status"].setdefault("conditions", [])
    reason, message = "EvictionByEvictionAPI", "Eviction API: evicting"
    present = next((each for each in conditions if each["type"] == "DisruptionTarget"), None)
    if present is not None and (present["status"], present.get("reason")) == ("True", reason):
        return
    conditions[:] = [each for each in conditions if each["type"] != "DisruptionTarget"]
    conditions.append(
        {
            "type": "DisruptionTarget",
            "status": "True",
            "lastProbeTime": None,
            "lastTransitionTime": timestamp(),
            "reason": reason,
            "message": message,
        }
    )
