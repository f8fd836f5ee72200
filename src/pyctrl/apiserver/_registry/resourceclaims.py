"""ResourceClaims, their templates, ResourceSlices and DeviceClasses (dynamic resource allocation)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyctrl._lazy_imports import lazy_function
from pyctrl.apiserver._meta.generation import STATUS_RESET_FIELDS
from pyctrl.apiserver._meta.system_fields import timestamp
from pyctrl.apiserver._meta.validation import MetadataCheck
from pyctrl.apiserver._registry.admin_access import AdminAccess
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.strategy import Object, Strategy, fields_at
from pyctrl.apiserver._registry.table_cells import Cells, spec_of, status_of

if TYPE_CHECKING:
    from pyctrl.apiserver._registry.claim_status_validation import drop_deallocated_devices, validate_claim_status
    from pyctrl.apiserver._registry.device_validation import (
        validate_claim,
        validate_claim_template,
        validate_device_class,
    )
    from pyctrl.apiserver._registry.slice_validation import validate_slice
else:  # imported with the first object
    _STATUSES = "pyctrl.apiserver._registry.claim_status_validation"
    drop_deallocated_devices = lazy_function(_STATUSES, "drop_deallocated_devices")
    validate_claim_status = lazy_function(_STATUSES, "validate_claim_status")
    _DEVICES = "pyctrl.apiserver._registry.device_validation"
    validate_claim = lazy_function(_DEVICES, "validate_claim")
    validate_claim_template = lazy_function(_DEVICES, "validate_claim_template")
    validate_device_class = lazy_function(_DEVICES, "validate_device_class")
    validate_slice = lazy_function("pyctrl.apiserver._registry.slice_validation", "validate_slice")

__all__ = ["RESOURCES"]


def _default_requests(spec: Object) -> None:
    """Default to one device of each request."""
    for request in (spec.get("devices") or {}).get("requests") or ():
        for each in (request.get("exactly"), *(request.get("firstAvailable") or ())):
            if each is None:
                continue
            each["allocationMode"] = each.get("allocationMode") or "ExactCount"
            if each["allocationMode"] == "ExactCount" and not each.get("count"):
                each["count"] = 1
            _default_tolerations(each)


def _default_tolerations(request: Object) -> None:
    for toleration in request.get("tolerations") or ():
        toleration["operator"] = toleration.get("operator") or "Equal"


def _default_claim(obj: Object) -> None:
    _default_requests(obj.get("spec") or {})
    allocation = (obj.get("status") or {}).get("allocation") or {}
    for result in (allocation.get("devices") or {}).get("results") or ():
        _default_tolerations(result)


def _default_claim_template(obj: Object) -> None:
    _default_requests((obj.get("spec") or {}).get("spec") or {})


def _default_slice(obj: Object) -> None:
    """Default to taints that were added now."""
    for device in (obj.get("spec") or {}).get("devices") or ():
        for taint in device.get("taints") or ():
            if taint.get("timeAdded") is None:
                taint["timeAdded"] = timestamp()


def _drop_disabled(new: Object, _old: Object | None) -> None:
    """Drop the fields of features that are off by default in Kubernetes 1.36."""
    for device in new["spec"].get("devices") or ():
        device.pop("nodeAllocatableResourceMappings", None)
        for attribute in (device.get("attributes") or {}).values():
            for key in ("bools", "ints", "strings", "versions"):
                attribute.pop(key, None)


def _claim_cells(obj: Object) -> Cells:
    status = status_of(obj)
    is_deleted, is_allocated = obj["metadata"].get("deletionTimestamp"), status.get("allocation") is not None
    states = {
        "deleted": is_deleted,
        "pending": not is_deleted and not is_allocated,
        "allocated": is_allocated,
        "reserved": is_allocated and status.get("reservedFor"),
    }
    return {"State": ",".join(state for state, holds in states.items() if holds)}


def _slice_cells(obj: Object) -> Cells:
    spec = spec_of(obj)
    return {
        "Node": spec.get("nodeName", ""),
        "Driver": spec.get("driver", ""),
        "Pool": (spec.get("pool") or {}).get("name", ""),
    }


def _new_claim_strategy() -> Strategy:
    access = AdminAccess()
    return Strategy(
        returns_deleted_object=True,
        on_update=(MetadataCheck.WHOLE, MetadataCheck.CHANGE),
        status_reset_fields=STATUS_RESET_FIELDS,
        defaults=(_default_claim,),
        validates=(access.check_claim, validate_claim),
        prepares=(drop_deallocated_devices,),
        validates_status=(access.check_status, validate_claim_status),
        uses=access.use,
    )


def _new_template_strategy() -> Strategy:
    access = AdminAccess()
    return Strategy(
        returns_deleted_object=True,
        on_update=(MetadataCheck.WHOLE, MetadataCheck.CHANGE),
        defaults=(_default_claim_template,),
        validates=(access.check_template, validate_claim_template),
        uses=access.use,
    )


_GROUP: Final = "resource.k8s.io"
RESOURCES: Final = (
    BuiltinResource(
        group=_GROUP,
        kind="DeviceClass",
        raw_fields=("spec.config[].opaque.parameters",),
        strategy=Strategy(
            returns_deleted_object=True,
            has_generation=True,
            on_update=(MetadataCheck.WHOLE, MetadataCheck.CHANGE),
            validates=(validate_device_class,),
        ),
    ),
    BuiltinResource(
        group=_GROUP,
        kind="ResourceClaim",
        raw_fields=(
            "spec.devices.config[].opaque.parameters",
            "status.allocation.devices.config[].opaque.parameters",
            "status.devices[].data",
        ),
        has_status_table=False,
        strategy=_new_claim_strategy,
        cells=_claim_cells,
    ),
    BuiltinResource(
        group=_GROUP,
        kind="ResourceClaimTemplate",
        raw_fields=("spec.spec.devices.config[].opaque.parameters",),
        strategy=_new_template_strategy,
    ),
    BuiltinResource(
        group=_GROUP,
        kind="ResourceSlice",
        strategy=Strategy(
            returns_deleted_object=True,
            has_generation=True,
            on_update=(MetadataCheck.CHANGE,),
            fields=fields_at("spec.nodeName", "spec.driver"),
            defaults=(_default_slice,),
            drops=(_drop_disabled,),
            validates=(validate_slice,),
        ),
        cells=_slice_cells,
    ),
)
