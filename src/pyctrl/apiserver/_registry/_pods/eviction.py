"""Evictions: POST to the subresource eviction deletes a pod if its disruption budget allows it.

The rules are those of kube-apiserver (pkg/registry/core/pod/storage/eviction.go). The disruption controller of a
cluster writes into the budget's status how many disruptions are allowed; each eviction takes one off.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from pyctrl._go.text import go_text
from pyctrl.api import LabelSelector
from pyctrl.apiserver._endpoints.backend import RESTStorage
from pyctrl.apiserver._endpoints.graceful_deletion import check_preconditions
from pyctrl.apiserver._endpoints.typed_bodies import EVICTION, decode_subresource_body
from pyctrl.apiserver._endpoints.update import UpdatedObject
from pyctrl.apiserver._errors import (
    Response,
    StatusError,
    bad_request,
    failure_status,
    forbidden,
    invalid,
    invalid_value,
    unknown_error,
)
from pyctrl.apiserver._fieldmanager.managed_fields import update_managed_fields
from pyctrl.apiserver._meta.system_fields import timestamp
from pyctrl.apiserver._registry._pods.admission import admit_posted, created_response
from pyctrl.apiserver._registry.builtin_resource import RESTContext
from pyctrl.apiserver._request.options import WriteOptions, delete_options, write_options
from pyctrl.apiserver._request.request import ResourceRequest
from pyctrl.apiserver._storage.storage import StoredObject

if TYPE_CHECKING:
    from pyctrl.apiserver._endpoints.backend import RESTStorage

__all__ = ["EvictionREST"]


_BUDGETS = "poddisruptionbudgets"
_MAX_DISRUPTED_PODS = 2000  # evicted pods that the disruption controller has not seen go (MaxDisruptedPodSize)
_PROCESSING_SECONDS = 10  # before a client retries while the budget is being processed
_REFUSAL = "Cannot evict pod as it would violate the pod's disruption budget."
_SEVERAL = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
_UNSAFE = "ignoreStoreReadErrorWithClusterBreakingPotential"
_Object = dict[str, Any]


class EvictionREST:
    """POST of an Eviction."""

    def __init__(self, context: RESTContext) -> None:
        self._backend = context.backend
        self._updates = context.updates
        self._deletes = context.deletes

    async def create(self, request: ResourceRequest) -> Response:
        """Delete the pod with the delete options of the Eviction, if its disruption budget allows it."""
        eviction = decode_subresource_body(request, EVICTION, self._backend.registry)
        creation = write_options(request.query, "CreateOptions")
        check = partial(_check, request.target.name, request.query.every("dryRun"))
        eviction = await admit_posted(self._backend, request, EVICTION, eviction, creation, check)
        options = delete_options(request.query, eviction.get("deleteOptions") or {})
        pod = self._backend.live(request).read(request.resource)
        dry_run = creation.dry_run or options.dry_run
        _check_and_decrement(self._backend, request, pod, dry_run=dry_run)
        check_preconditions(self._backend.live(request), request.resource, options)
        if not dry_run:
            self._mark_evicted(request, creation)
        await self._deletes.delete_object(
            request, replace(options, dry_run=dry_run, resource_version=None), admitted=True
        )
        return created_response(request)

    def _mark_evicted(self, request: ResourceRequest, options: WriteOptions) -> None:
        stored = self._backend.live(request)
        new, old = stored.read(request.resource), stored.read(request.resource)
        if "deletionTimestamp" not in new["metadata"]:
            _add_disruption_target(new)
            self._updates.commit_subresource(request, stored, UpdatedObject(new=new, old=old, options=options))


def _check(name: str, dry_run: Sequence[str], eviction: Mapping[str, Any]) -> None:
    """Refuse an Eviction with another name than the path, or with options that do not fit the request."""
    if eviction["metadata"].get("name", "") != name:
        raise bad_request("name in URL does not match name in Eviction object")
    options = eviction.get("deleteOptions") or {}
    if options.get(_UNSAFE):
        why = "can not be set for pod eviction, try after removing the option"
        raise invalid("Eviction", name, [invalid_value(f"deleteOptions.{_UNSAFE}", True, why)], "policy")
    content = options.get("dryRun") or []
    if dry_run and content and content != [*dry_run]:
        shown = f"{go_text([*dry_run])} and {go_text(content)}"
        raise unknown_error(f"Non-matching dry-run options in request and content: {shown}")


def _check_and_decrement(
    backend: RESTStorage, request: ResourceRequest, pod: Mapping[str, Any], *, dry_run: bool
) -> None:
    """Decrement the allowed disruptions of a pod's budget, if the pod has one.

    Raises:
        StatusError: 429, the budget allows no disruption; 500, the pod has several budgets.
    """
    if pod["metadata"].get("deletionTimestamp") or pod["status"].get("phase") in ("Succeeded", "Failed", "Pending"):
        return  # the pod is not running
    found = _budgets(backend, request, pod)
    if not found:
        return
    if len(found) > 1:
        raise unknown_error(_SEVERAL)
    stored, budget = found[0]
    if _is_ready(pod) or not _can_ignore_budget(budget):
        _check_allowed(budget)
        if not dry_run:
            _decrement(backend, request, stored, budget, pod["metadata"]["name"])


def _budgets(
    backend: RESTStorage, request: ResourceRequest, pod: Mapping[str, Any]
) -> list[tuple[StoredObject, _Object]]:
    type_ = backend.registry.require("policy", "v1", _BUDGETS)
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
    """Return whether a pod that is not ready is evicted without decrementing the budget."""
    status = budget.get("status") or {}
    if budget["spec"].get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    healthy, desired = status.get("currentHealthy", 0), status.get("desiredHealthy", 0)
    return bool(healthy >= desired > 0)


def _check_allowed(budget: _Object) -> None:
    """Refuse an eviction that the budget does not allow."""
    name, status = budget["metadata"]["name"], budget.get("status") or {}
    if status.get("observedGeneration", 0) < budget["metadata"].get("generation", 0):
        why = f"The disruption budget {name} is still being processed by the server."
        raise _too_many(why, _PROCESSING_SECONDS)
    if status.get("disruptionsAllowed", 0) < 0:
        raise forbidden(_BUDGETS, name, "pod disruption budget is negative", "policy")
    if len(status.get("disruptedPods") or ()) > _MAX_DISRUPTED_PODS:
        why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller"
        raise forbidden(_BUDGETS, name, why, "policy")
    if status.get("disruptionsAllowed", 0) == 0:
        raise _too_many(_refusal_message(name, status))


def _refusal_message(name: str, status: Mapping[str, Any]) -> str:
    for condition in status.get("conditions") or ():
        if condition["type"] == "DisruptionAllowed" and condition.get("reason") == "SyncFailed":
            error = condition.get("message")
            return (
                f"The disruption budget {name} does not allow evicting pods currently because it failed sync: {error}"
            )
    desired, healthy = status.get("desiredHealthy", 0), status.get("currentHealthy", 0)
    return f"The disruption budget {name} needs {desired} healthy pods and has {healthy} currently"


def _too_many(why: str, seconds: int = 0) -> StatusError:
    details: _Object = {"causes": [{"reason": "DisruptionBudget", "message": why}]}
    if seconds:
        details["retryAfterSeconds"] = seconds
    headers = [("Retry-After", str(seconds))] if seconds else []
    return StatusError(429, failure_status(429, "TooManyRequests", _REFUSAL, details), headers)


def _decrement(backend: RESTStorage, request: ResourceRequest, stored: StoredObject, budget: _Object, pod: str) -> None:
    """Decrement the allowed disruptions; the disruption controller recomputes them when the pod is gone."""
    type_ = backend.registry.require("policy", "v1", _BUDGETS)
    old, status = stored.read(type_), budget["status"]
    status["disruptionsAllowed"] -= 1
    status.setdefault("disruptedPods", {})[pod] = timestamp()
    if not status["disruptionsAllowed"]:
        _set_exhausted(status)
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


def _set_exhausted(status: _Object) -> None:
    for condition in status.get("conditions") or ():
        if condition["type"] == "DisruptionAllowed" and condition["status"] != "False":
            condition.update(status="False", reason="InsufficientPods", lastTransitionTime=timestamp())


def _add_disruption_target(pod: _Object) -> None:
    """Set the condition DisruptionTarget of a pod that is evicted."""
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
