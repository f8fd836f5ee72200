"""StorageClasses, VolumeAttributesClasses, CSI drivers and nodes, and VolumeAttachments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pyctrl._validation import names
from pyctrl.apiserver._errors import FieldError, invalid_value, not_supported, required
from pyctrl.apiserver._meta.validation import MetadataCheck
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.strategy import Object, Strategy
from pyctrl.apiserver._registry.table_cells import NONE, UNSET, Cells, spec_of, status_of
from pyctrl.apiserver._schema.defaulting import set_defaults
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["RESOURCES"]

_GROUP: Final = "storage.k8s.io"
_BINDING_MODES: Final = ("Immediate", "WaitForFirstConsumer")


def _default_storage_class(obj: Object) -> None:
    """Default to reclaim policy Delete and immediate binding."""
    set_defaults(obj, reclaimPolicy="Delete", volumeBindingMode="Immediate")


def _validate_storage_class(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check a class; only its expansion and mount options change."""
    if old is not None:
        for key in ("parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"):
            if new.get(key) != old.get(key):
                yield invalid_value(key, new.get(key), "field is immutable")
        return
    provisioner = new.get("provisioner") or ""
    if not provisioner:
        yield required("provisioner")
    else:
        lowered = provisioner.lower()
        yield from (invalid_value("provisioner", lowered, why) for why in names.qualified_name(lowered))
    if "" in (new.get("parameters") or {}):
        yield invalid_value("parameters", "", "field can not be empty.")
    if new["reclaimPolicy"] not in ("Delete", "Retain"):
        yield not_supported("reclaimPolicy", new["reclaimPolicy"], ("Delete", "Retain"))
    if new["volumeBindingMode"] not in _BINDING_MODES:
        yield not_supported("volumeBindingMode", new["volumeBindingMode"], _BINDING_MODES)
    yield from _topologies(new.get("allowedTopologies") or ())


def _topologies(topologies: Sequence[Mapping[str, JSON]]) -> Iterator[FieldError]:
    for index, term in enumerate(topologies):
        for place, each in enumerate(term.get("matchLabelExpressions") or ()):
            if not each.get("values"):
                yield required(f"allowedTopologies[{index}].matchLabelExpressions[{place}].values")


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
    set_defaults(spec, seLinuxMount=False, fsGroupPolicy="ReadWriteOnceWithFSType")
    if not spec.get("volumeLifecycleModes"):
        spec["volumeLifecycleModes"] = ["Persistent"]


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


RESOURCES: Final = (
    BuiltinResource(
        group=_GROUP,
        kind="StorageClass",
        strategy=Strategy(
            on_update=(MetadataCheck.WHOLE, MetadataCheck.CHANGE),
            returns_deleted_object=True,
            defaults=(_default_storage_class,),
            validates=(_validate_storage_class,),
        ),
        cells=_storage_class_cells,
    ),
    BuiltinResource(
        group=_GROUP,
        kind="VolumeAttributesClass",
        strategy=Strategy(returns_deleted_object=True),
        cells=_attributes_class_cells,
    ),
    BuiltinResource(
        group=_GROUP,
        kind="CSIDriver",
        strategy=Strategy(allows_unconditional_update=False, returns_deleted_object=True, defaults=(_default_driver,)),
        cells=_driver_cells,
    ),
    BuiltinResource(
        group=_GROUP,
        kind="CSINode",
        strategy=Strategy(
            on_update=(MetadataCheck.WHOLE,), allows_unconditional_update=False, returns_deleted_object=True
        ),
        cells=_csi_node_cells,
    ),
    BuiltinResource(
        group=_GROUP,
        kind="VolumeAttachment",
        strategy=Strategy(
            on_update=(MetadataCheck.WHOLE,), allows_unconditional_update=False, returns_deleted_object=True
        ),
        cells=_attachment_cells,
    ),
)
