"""Validation of StorageClasses, VolumeAttributesClasses, VolumeAttachments, CSI drivers, nodes and capacities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from pyctrl._validation import names
from pyctrl.api import Quantity
from pyctrl.apiserver._errors import (
    FieldError,
    duplicate,
    field_forbidden,
    invalid_value,
    not_supported,
    required,
    too_long,
)
from pyctrl.apiserver._meta.validation import validate_selector
from pyctrl.apiserver._registry._pods.volume_sources import csi_driver_name
from pyctrl.apiserver._registry.field_validation import NEGATIVE, in_range, invalid_name, not_negative, text_of
from pyctrl.apiserver._registry.go_structs import go_struct, go_value
from pyctrl.apiserver._registry.pod_templates import shown_selector
from pyctrl.apiserver._registry.strategy import Object
from pyctrl.apiserver._registry.volume_validation import validate_inline_volume
from pyctrl.apiserver._schema.schema import JSON

__all__ = [
    "validate_attachment",
    "validate_attachment_status",
    "validate_attributes_class",
    "validate_capacity",
    "validate_csi_driver",
    "validate_csi_node",
    "validate_storage_class",
]

_Part: TypeAlias = Mapping[str, JSON]
_Errors: TypeAlias = Iterator[FieldError]
_BINDING_MODES = ("Immediate", "WaitForFirstConsumer")
_FS_GROUP_POLICIES = ("File", "None", "ReadWriteOnceWithFSType")
_LONGEST_NODE_ID = 256
_LARGEST_PARAMETERS = 256 * 1024
_MOST_PARAMETERS = 512
_ONE_SOURCE = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"


def validate_storage_class(new: Object, old: Object | None) -> _Errors:
    """Check a class; only its expansion, mount options and topologies change."""
    yield from _provisioner(new, "provisioner")
    yield from _parameters(new, allow_empty=True)
    policy = new.get("reclaimPolicy")
    if policy and policy not in ("Delete", "Retain"):
        yield not_supported("reclaimPolicy", policy, ("Delete", "Retain"))
    mode = new.get("volumeBindingMode")
    if mode not in _BINDING_MODES:
        yield not_supported("volumeBindingMode", mode, _BINDING_MODES)
    yield from _topologies(new.get("allowedTopologies") or ())
    if old is not None:
        for key in ("parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"):
            if (new.get(key) or None) != (old.get(key) or None):
                shown = go_value("map[string]string", new.get(key)) if key == "parameters" else new.get(key)
                yield invalid_value(key, shown, "field is immutable")


def _provisioner(obj: _Part, key: str) -> _Errors:
    name = text_of(obj, key)
    if not name:
        yield required(key)
        return
    yield from invalid_name(names.qualified_name, name.lower(), key)


def _parameters(obj: _Part, *, allow_empty: bool) -> _Errors:
    parameters: Mapping[str, str] = obj.get("parameters") or {}
    if len(parameters) > _MOST_PARAMETERS:
        yield too_long("parameters", _MOST_PARAMETERS)
        return
    if "" in parameters:
        yield invalid_value("parameters", "", "field can not be empty.")
    if sum(len(key.encode()) + len(value.encode()) for key, value in parameters.items()) > _LARGEST_PARAMETERS:
        yield too_long("parameters", _LARGEST_PARAMETERS)
    if not allow_empty and not parameters:
        yield required("parameters", "must contain at least one key/value pair")


def _topologies(topologies: Sequence[_Part]) -> _Errors:
    # upstream compares each term with as many empty ones as there are terms, then with the terms before it
    seen: list[dict[str, set[str]]] = [{} for _ in topologies]
    for index, term in enumerate(topologies):
        path, found = f"allowedTopologies[{index}].matchLabelExpressions", dict[str, set[str]]()
        for number, each in enumerate(term.get("matchLabelExpressions") or ()):
            where, key, values = f"{path}[{number}]", text_of(each, "key"), each.get("values") or ()
            if not values:
                yield required(f"{where}.values")
            for place, value in enumerate(values):
                if value in values[:place]:
                    yield duplicate(f"{where}.values[{place}]", value)
            yield from invalid_name(names.qualified_name, key, f"{where}.key")
            if key in found:
                yield duplicate(f"{where}.key", key)
            found[key] = set(values)
        yield from (duplicate(path, "") for each in seen if each == found)
        seen.append(found)


def validate_attributes_class(new: Object, old: Object | None) -> _Errors:
    """Check a VolumeAttributesClass, which does not change."""
    if old is not None:
        for key in ("driverName", "parameters"):
            if (new.get(key) or None) != (old.get(key) or None):
                yield field_forbidden(key, f"updates to {key} are forbidden.")
    yield from _provisioner(new, "driverName")
    yield from _parameters(new, allow_empty=False)


def validate_attachment_status(new: Object, _old: Object | None) -> _Errors:
    """Check the codes of the errors of a VolumeAttachment."""
    status = new.get("status") or {}
    for key in ("attachError", "detachError"):
        code = (status.get(key) or {}).get("errorCode")
        if code is not None:
            yield from in_range(code, 0, 2**31 - 1, f"status.{key}.errorCode")


def validate_attachment(new: Object, old: Object | None) -> _Errors:
    """Check a VolumeAttachment; its spec does not change."""
    spec = new["spec"]
    yield from csi_driver_name(text_of(spec, "attacher"), "spec.attacher")
    source = spec.get("source") or {}
    volume, inline = source.get("persistentVolumeName"), source.get("inlineVolumeSpec")
    if volume is None and inline is None:
        yield required("spec.source", _ONE_SOURCE)
    elif volume is not None and inline is not None:
        yield field_forbidden("spec.source", _ONE_SOURCE)
    elif volume == "":
        yield required("spec.source.persistentVolumeName", "must specify non empty persistentVolumeName")
    elif inline is not None:
        yield from validate_inline_volume(inline, "spec.source.inlineVolumeSpec")
    yield from invalid_name(names.subdomain, text_of(spec, "nodeName"), "spec.nodeName")
    if volume is not None:
        yield from invalid_name(names.subdomain, volume, "spec.source.persistentVolumeName")
    if old is not None and spec != old["spec"]:
        yield invalid_value("spec", go_struct("VolumeAttachmentSpec", spec), "field is immutable")


# -- CSI ---------------------------------------------------------------------------------------------------------


def validate_csi_node(new: Object, old: Object | None) -> _Errors:
    """Check a CSINode; its drivers do not change but for what they can allocate."""
    drivers = new["spec"].get("drivers") or ()
    seen: set[str] = set()
    for index, driver in enumerate(drivers):
        name, where = text_of(driver, "name"), f"spec.drivers[{index}]"
        yield from csi_driver_name(name, f"{where}.name")
        node = text_of(driver, "nodeID")
        if not node:
            yield required(f"{where}.nodeID")
        if len(node) > _LONGEST_NODE_ID:
            yield invalid_value(f"{where}.nodeID", node, f"must be {_LONGEST_NODE_ID} characters or less")
        yield from not_negative(driver.get("allocatable") or {}, f"{where}.allocatable", "count")
        if name in seen:
            yield duplicate(f"{where}.name", name)
        seen.add(name)
        yield from _topology_keys(driver.get("topologyKeys") or (), where)
    for before in ((old or {}).get("spec") or {}).get("drivers") or ():
        for after in drivers:
            if after.get("name") == before.get("name") and _fixed(after) != _fixed(before):
                yield invalid_value("spec.drivers", _fixed(after), "field is immutable")


def _fixed(driver: _Part) -> JSON:
    return {
        "Name": text_of(driver, "name"),
        "NodeID": text_of(driver, "nodeID"),
        "TopologyKeys": driver.get("topologyKeys") or None,
        "Allocatable": None,
    }


def _topology_keys(keys: Sequence[str], path: str) -> _Errors:
    for index, key in enumerate(keys):
        if not key:
            yield required(path)
        if key in keys[:index]:
            yield duplicate(path, key)
        yield from invalid_name(names.qualified_name, key, path)


def validate_csi_driver(new: Object, old: Object | None) -> _Errors:
    """Check a CSIDriver; two of its fields do not change."""
    spec = new["spec"]
    for key, shown in (("attachRequired", "attachedRequired"), ("podInfoOnMount", "podInfoOnMount")):
        if spec.get(key) is None:
            yield required(f"spec.{shown}")
    if spec.get("storageCapacity") is None:
        yield required("spec.storageCapacity")
    policy = spec.get("fsGroupPolicy")
    if policy is not None and policy not in _FS_GROUP_POLICIES:
        yield not_supported("spec.fsGroupPolicy", policy, _FS_GROUP_POLICIES)
    yield from _tokens(spec.get("tokenRequests") or (), "spec.tokenRequests")
    for mode in spec.get("volumeLifecycleModes") or ():
        if mode not in ("Persistent", "Ephemeral"):
            yield not_supported("spec.volumeLifecycleModes", mode, ("Persistent", "Ephemeral"))
    period = spec.get("nodeAllocatableUpdatePeriodSeconds")
    if period is not None and period < 10:
        why = "must be greater than or equal to 10 seconds"
        yield invalid_value("spec.nodeAllocatableUpdatePeriodSeconds", period, why)
    in_secrets = spec.get("serviceAccountTokenInSecrets")
    if in_secrets is not None and not spec.get("tokenRequests"):
        why = "serviceAccountTokenInSecrets is set but no tokenRequests are specified"
        yield invalid_value("spec.serviceAccountTokenInSecrets", in_secrets, why)
    for key, shown in (("attachRequired", "attachedRequired"), ("volumeLifecycleModes", "volumeLifecycleModes")):
        if old is not None and spec.get(key) != old["spec"].get(key):
            yield invalid_value(f"spec.{shown}", spec.get(key), "field is immutable")


def _tokens(requests: Sequence[_Part], path: str) -> _Errors:
    seen: set[str] = set()
    for index, each in enumerate(requests):
        audience, seconds = text_of(each, "audience"), each.get("expirationSeconds")
        where = f"{path}[{index}].expirationSeconds"
        if audience in seen:
            yield duplicate(f"{path}[{index}].audience", audience)
            continue
        seen.add(audience)
        if seconds is not None and seconds < 600:
            yield invalid_value(where, seconds, "may not specify a duration less than 10 minutes")
        if seconds is not None and seconds > 1 << 32:
            yield invalid_value(where, seconds, "may not specify a duration larger than 2^32 seconds")


def validate_capacity(new: Object, old: Object | None) -> _Errors:
    """Check a CSIStorageCapacity; its class and topology do not change."""
    yield from validate_selector(new.get("nodeTopology") or {}, "nodeTopology")
    yield from invalid_name(names.subdomain, text_of(new, "storageClassName"), "storageClassName")
    capacity = new.get("capacity")
    if capacity is not None and Quantity(capacity) < 0:
        yield invalid_value("capacity", capacity, NEGATIVE)
    if old is None:
        return
    if new.get("nodeTopology") != old.get("nodeTopology"):
        yield invalid_value("nodeTopology", shown_selector(new.get("nodeTopology")), "field is immutable")
    if new.get("storageClassName") != old.get("storageClassName"):
        yield invalid_value("storageClassName", new.get("storageClassName"), "field is immutable")
