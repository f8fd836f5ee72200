"""Validation of the specs of PersistentVolumes."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from pyctrl._validation import names
from pyctrl.api import Quantity
from pyctrl.apiserver._errors import FieldError, field_forbidden, invalid_value, not_supported, required
from pyctrl.apiserver._registry._pods import volume_sources as sources
from pyctrl.apiserver._registry._pods.scheduling import validate_node_selector
from pyctrl.apiserver._registry.field_validation import invalid_name, required_name, required_texts, text_of
from pyctrl.apiserver._registry.volume_claims import ACCESS_MODES, VOLUME_MODES
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["validate_inline_volume", "validate_volume_spec"]

_Part: TypeAlias = Mapping[str, JSON]
_Errors: TypeAlias = Iterator[FieldError]
_RECLAIM_POLICIES: Final = ("Delete", "Recycle", "Retain")
_MANY = "may not specify more than 1 volume type"
_LONGEST_PORTAL = 64
_LONG = (
    "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is "
    "specified."
)
_SECRETS = ("controllerPublishSecretRef", "controllerExpandSecretRef", "nodePublishSecretRef", "nodeExpandSecretRef")


def validate_volume_spec(spec: _Part, path: str, name: str) -> _Errors:
    """Check the spec of a volume; `name` is that of the volume."""
    yield from _access_modes(spec.get("accessModes") or (), f"{path}.accessModes")
    yield from _capacity(spec.get("capacity"), f"{path}.capacity")
    policy = spec.get("persistentVolumeReclaimPolicy")
    if policy not in (None, "", *_RECLAIM_POLICIES):
        yield not_supported(f"{path}.persistentVolumeReclaimPolicy", policy, _RECLAIM_POLICIES)
    if (affinity := spec.get("nodeAffinity")) is not None:
        if affinity.get("required") is None:
            yield required(f"{path}.nodeAffinity.required", "must specify required node constraints")
        else:
            yield from validate_node_selector(affinity["required"], f"{path}.nodeAffinity.required")
    yield from _source(spec, path, name)
    if policy == "Recycle" and posixpath.normpath((spec.get("hostPath") or {}).get("path") or ".") == "/":
        why = "may not be 'recycle' for a hostPath mount of '/'"
        yield field_forbidden(f"{path}.persistentVolumeReclaimPolicy", why)
    if class_name := text_of(spec, "storageClassName"):
        yield from invalid_name(names.subdomain, class_name, f"{path}.storageClassName")
    mode = spec.get("volumeMode")
    if mode is not None and mode not in VOLUME_MODES:
        yield not_supported(f"{path}.volumeMode", mode, VOLUME_MODES)
    yield from _attributes_class(spec, path)


def validate_inline_volume(spec: _Part, path: str) -> _Errors:
    """Check the volume inside of an attachment: a CSI volume without a claim."""
    inline = "in the context of inline volumes"
    if spec.get("claimRef") is not None:
        yield field_forbidden(f"{path}.claimRef", f"may not be specified {inline}")
    if spec.get("capacity"):
        yield field_forbidden(f"{path}.capacity", f"may not be specified {inline}")
    if spec.get("csi") is None:
        yield required(f"{path}.csi", f"has to be specified {inline}")
    yield from _access_modes(spec.get("accessModes") or (), f"{path}.accessModes")
    if spec.get("persistentVolumeReclaimPolicy", "") != "Retain":
        yield field_forbidden(f"{path}.persistentVolumeReclaimPolicy", f"may only be Retain {inline}")
    if spec.get("nodeAffinity") is not None:
        yield field_forbidden(f"{path}.nodeAffinity", f"may not be specified {inline}")
    yield from _source(spec, path, "")
    if spec.get("storageClassName"):
        yield field_forbidden(f"{path}.storageClassName", f"may not be specified {inline}")
    if spec.get("volumeMode") not in (None, "Filesystem"):
        why = f"may not specify volumeMode other than Filesystem {inline}"
        yield field_forbidden(f"{path}.volumeMode", why)


def _access_modes(modes: JSON, path: str) -> _Errors:
    if not modes:
        yield required(path)
    yield from (not_supported(path, each, ACCESS_MODES) for each in modes if each not in ACCESS_MODES)
    known = set(modes) & set(ACCESS_MODES)
    if "ReadWriteOncePod" in known and len(known) > 1:
        yield field_forbidden(path, "may not use ReadWriteOncePod with other access modes")


def _capacity(capacity: _Part | None, path: str) -> _Errors:
    if not capacity:
        yield required(path)
    if "storage" not in (capacity or {}) or len(capacity or {}) > 1:
        shown = None if capacity is None else dict(sorted(capacity.items()))
        yield not_supported(path, shown, ("storage",))
    for name, quantity in (capacity or {}).items():
        amount = Quantity(quantity)
        if amount < 0:
            yield invalid_value(f"{path}[{name}]", int(amount.value // 1), "must be a valid resource quantity")
        if amount <= 0:
            yield invalid_value(f"{path}[{name}]", quantity, "must be greater than zero")


def _attributes_class(spec: _Part, path: str) -> _Errors:
    name, where = spec.get("volumeAttributesClassName"), f"{path}.volumeAttributesClassName"
    if name is None:
        return
    if not name:
        yield required(where, "an empty string is disallowed")
    else:
        yield from invalid_name(names.subdomain, name, where)
    if spec.get("csi") is None:
        yield required(f"{path}.csi", "has to be specified when using volumeAttributesClassName")


# -- volume sources ----------------------------------------------------------------------------------------------


def _source(spec: _Part, path: str, name: str) -> _Errors:
    count = 0
    for key, check in _SOURCES.items():
        source = spec.get(key)
        if source is None:
            continue
        if count and key != "flexVolume":  # upstream counts a FlexVolume without looking at the others
            yield field_forbidden(f"{path}.{'cephFS' if key == 'cephfs' else key}", _MANY)
            continue
        count += 1
        yield from check(source, f"{path}.{'persistentDisk' if key == 'gcePersistentDisk' else key}")
        if key == "iscsi":
            yield from _long_portal(source, f"{path}.iscsi", name)
        if key == "local" and spec.get("nodeAffinity") is None:
            yield required(f"{path}.nodeAffinity", "Local volume requires node affinity")
    if not count:
        yield required(path, "must specify a volume type")


def _long_portal(source: _Part, path: str, name: str) -> _Errors:
    portal = text_of(source, "targetPortal")
    if source.get("initiatorName") is not None and len(f"{name}:{portal}") > _LONGEST_PORTAL:
        yield invalid_value(f"{path}.targetportal", portal, _LONG)


def _glusterfs(source: _Part, path: str) -> _Errors:
    yield from required_texts(source, path, "endpoints", "path")
    namespace, where = source.get("endpointsNamespace"), f"{path}.endpointsNamespace"
    if namespace == "":
        why = "if the endpointnamespace is set, it must be a valid namespace name"
        yield invalid_value(where, namespace, why)
    elif namespace is not None:
        yield from invalid_name(names.label, namespace, where)


def _iscsi(source: _Part, path: str) -> _Errors:
    yield from required_texts(source, path, "targetPortal")
    yield from sources.iscsi_names(source, path, "must be valid format")


def _cinder(source: _Part, path: str) -> _Errors:
    yield from sources.cinder(source, path, has_namespace=True)


def _storage_os(source: _Part, path: str) -> _Errors:
    yield from sources.storage_os(source, path, has_namespace=True)


def _azure_file(source: _Part, path: str) -> _Errors:
    yield from required_texts(source, path, "secretName", "shareName")
    if source.get("secretNamespace") == "":
        yield required(f"{path}.secretNamespace")


def _local(source: _Part, path: str) -> _Errors:
    yield from sources.host_path({"path": source.get("path")}, path)


def _csi(source: _Part, path: str) -> _Errors:
    yield from sources.csi_driver_name(text_of(source, "driver"), f"{path}.driver")
    yield from required_texts(source, path, "volumeHandle")
    for key in _SECRETS:
        if (reference := source.get(key)) is not None:
            yield from required_name(names.subdomain, text_of(reference, "name"), f"{path}.{key}.name")
            yield from required_name(names.label, text_of(reference, "namespace"), f"{path}.{key}.namespace")


_SOURCES: Final[Mapping[str, Callable[[_Part, str], _Errors]]] = {  # in the order of kube-apiserver's checks
    "hostPath": sources.host_path,
    "gcePersistentDisk": sources.partition_of("pdName"),
    "awsElasticBlockStore": sources.partition_of("volumeID"),
    "glusterfs": _glusterfs,
    "flocker": sources.flocker,
    "nfs": sources.nfs,
    "rbd": sources.needs("monitors", "image"),
    "quobyte": sources.quobyte,
    "cephfs": sources.needs("monitors"),
    "iscsi": _iscsi,
    "cinder": _cinder,
    "fc": sources.fibre_channel,
    "flexVolume": sources.flex_volume,
    "azureFile": _azure_file,
    "vsphereVolume": sources.needs("volumePath"),
    "photonPersistentDisk": sources.needs("pdID"),
    "portworxVolume": sources.needs("volumeID"),
    "azureDisk": sources.azure_disk,
    "scaleIO": sources.needs("gateway", "system", "volumeName"),
    "local": _local,
    "storageos": _storage_os,
    "csi": _csi,
}
