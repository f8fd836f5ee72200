"""StorageClasses, VolumeAttributesClasses, CSI drivers and nodes, and VolumeAttachments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from pyctrl._lazy_imports import lazy_function
from pyctrl.apiserver._meta.generation import STATUS_RESET_FIELDS
from pyctrl.apiserver._meta.validation import MetadataCheck
from pyctrl.apiserver._registry._pods.defaults import default_volume_source
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.strategy import Object, Strategy
from pyctrl.apiserver._registry.table_cells import NONE, UNSET, Cells, spec_of, status_of
from pyctrl.apiserver._schema.defaulting import set_defaults

if TYPE_CHECKING:
    from pyctrl.apiserver._registry.storage_validation import (
        validate_attachment,
        validate_attachment_status,
        validate_attributes_class,
        validate_capacity,
        validate_csi_driver,
        validate_csi_node,
        validate_storage_class,
    )
else:  # imported with the first object
    validate_attachment = lazy_function("pyctrl.apiserver._registry.storage_validation", "validate_attachment")
    validate_attachment_status = lazy_function(
        "pyctrl.apiserver._registry.storage_validation", "validate_attachment_status"
    )
    validate_attributes_class = lazy_function(
        "pyctrl.apiserver._registry.storage_validation", "validate_attributes_class"
    )
    validate_capacity = lazy_function("pyctrl.apiserver._registry.storage_validation", "validate_capacity")
    validate_csi_driver = lazy_function("pyctrl.apiserver._registry.storage_validation", "validate_csi_driver")
    validate_csi_node = lazy_function("pyctrl.apiserver._registry.storage_validation", "validate_csi_node")
    validate_storage_class = lazy_function("pyctrl.apiserver._registry.storage_validation", "validate_storage_class")

__all__ = ["RESOURCES"]

_GROUP: Final = "storage.k8s.io"
_BINDING_MODES: Final = ("Immediate", "WaitForFirstConsumer")


def _default_storage_class(obj: Object) -> None:
    """Default to reclaim policy Delete and immediate binding."""
    obj.setdefault("reclaimPolicy", "Delete")
    obj.setdefault("volumeBindingMode", "Immediate")


def _storage_class_cells(obj: Object) -> Cells:
    is_default = (obj["metadata"].get("annotations") or {}).get("storageclass.kubernetes.io/is-default-class") == "true"
    name = obj["metadata"].get("name", "")
    return {
        "Name": f"{name} (default)" if is_default else name,
        "Provisioner": obj.get("provisioner", ""),
        "ReclaimPolicy": obj.get("reclaimPolicy", "Delete"),
        "VolumeBindingMode": obj.get("volumeBindingMode", "<unset>"),
        "AllowVolumeExpansion": bool(obj.get("allowVolumeExpansion")),
    }


def _default_driver(obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    set_defaults(spec, attachRequired=True, podInfoOnMount=False, storageCapacity=False, requiresRepublish=False)
    spec.setdefault("seLinuxMount", False)
    spec.setdefault("fsGroupPolicy", "ReadWriteOnceWithFSType")
    if not spec.get("volumeLifecycleModes"):
        spec["volumeLifecycleModes"] = ["Persistent"]


def _prepare_driver(new: Object, old: Object | None) -> None:
    """Count the changes of the spec, of which a new driver has none; drop a field of a disabled feature."""
    new["spec"].pop("preventPodSchedulingIfMissing", None)
    if old is not None and new["spec"] != old["spec"]:
        new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1


def _driver_warnings(new: Object) -> Iterator[str]:
    """Warn about tokens among the attributes of a volume."""
    spec = new["spec"]
    if spec.get("tokenRequests") and spec.get("serviceAccountTokenInSecrets") is None:
        why = "set to true to prevent possible logging of tokens in volume attributes"
        yield f"spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, {why}"


def _driver_cells(obj: Object) -> Cells:
    spec = spec_of(obj)
    tokens = ",".join(each.get("audience", "") for each in spec.get("tokenRequests") or ())
    return {
        "AttachRequired": spec.get("attachRequired", True),
        "PodInfoOnMount": spec.get("podInfoOnMount", False),
        "StorageCapacity": spec.get("storageCapacity", False),
        "TokenRequests": tokens or UNSET,
        "RequiresRepublish": spec.get("requiresRepublish", False),
        "Modes": ",".join(spec.get("volumeLifecycleModes") or ()) or NONE,
    }


def _csi_node_cells(obj: Object) -> Cells:
    return {"Drivers": len(spec_of(obj).get("drivers") or ())}


def _attachment_cells(obj: Object) -> Cells:
    spec = spec_of(obj)
    return {
        "Attacher": spec.get("attacher", ""),
        "PV": (spec.get("source") or {}).get("persistentVolumeName", ""),
        "Node": spec.get("nodeName", ""),
        "Attached": bool(status_of(obj).get("attached")),
    }


def _attributes_class_cells(obj: Object) -> Cells:
    return {"DriverName": obj.get("driverName", "")}


def _default_attachment(obj: Object) -> None:
    """Default the source of an inline volume."""
    source = (obj.get("spec") or {}).get("source") or {}
    if (inline := source.get("inlineVolumeSpec")) is not None:
        default_volume_source(inline)


RESOURCES: Final = (
    BuiltinResource(
        group=_GROUP,
        kind="StorageClass",
        strategy=Strategy(
            on_update=(MetadataCheck.WHOLE, MetadataCheck.CHANGE),
            returns_deleted_object=True,
            defaults=(_default_storage_class,),
            validates=(validate_storage_class,),
        ),
        cells=_storage_class_cells,
    ),
    BuiltinResource(
        group=_GROUP,
        kind="VolumeAttributesClass",
        strategy=Strategy(
            on_update=(MetadataCheck.CHANGE, MetadataCheck.WHOLE),
            returns_deleted_object=True,
            validates=(validate_attributes_class,),
        ),
        cells=_attributes_class_cells,
    ),
    BuiltinResource(
        group=_GROUP,
        kind="CSIDriver",
        strategy=Strategy(
            allows_unconditional_update=False,
            returns_deleted_object=True,
            defaults=(_default_driver,),
            prepares=(_prepare_driver,),
            validates=(validate_csi_driver,),
            warns=_driver_warnings,
            warns_on_update=lambda _new, _old: False,
        ),
        cells=_driver_cells,
    ),
    BuiltinResource(
        group=_GROUP,
        kind="CSINode",
        strategy=Strategy(
            on_update=(MetadataCheck.WHOLE,),
            allows_unconditional_update=False,
            returns_deleted_object=True,
            validates=(validate_csi_node,),
        ),
        cells=_csi_node_cells,
    ),
    BuiltinResource(
        group=_GROUP,
        kind="VolumeAttachment",
        strategy=Strategy(
            on_update=(MetadataCheck.WHOLE,),
            allows_unconditional_update=False,
            returns_deleted_object=True,
            defaults=(_default_attachment,),
            status_reset_fields=STATUS_RESET_FIELDS,
            validates=(validate_attachment,),
            validates_status=(validate_attachment_status,),
        ),
        cells=_attachment_cells,
    ),
    BuiltinResource(
        group=_GROUP,
        kind="CSIStorageCapacity",
        strategy=Strategy(
            on_update=(MetadataCheck.WHOLE, MetadataCheck.CHANGE),
            allows_unconditional_update=False,
            validates=(validate_capacity,),
        ),
    ),
)
