"""Validation of volume sources, most of which pods and PersistentVolumes share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from pyctrl._validation import names
from pyctrl.api import Quantity
from pyctrl.apiserver._errors import FieldError, invalid_value, not_supported, required, too_long
from pyctrl.apiserver._registry.field_validation import (
    in_range,
    invalid_name,
    local_path,
    no_backsteps,
    required_name,
    required_texts,
    text_of,
)
from pyctrl.apiserver._schema.schema import JSON

__all__ = [
    "azure_disk",
    "cinder",
    "csi_driver_name",
    "fibre_channel",
    "file_mode",
    "files_of",
    "flex_volume",
    "flocker",
    "host_path",
    "is_negative",
    "iscsi",
    "iscsi_names",
    "key_to_path",
    "needs",
    "nfs",
    "partition_of",
    "pull_policy",
    "quobyte",
    "storage_os",
]

_Part: TypeAlias = Mapping[str, JSON]
_Check: TypeAlias = Callable[[_Part, str], Iterator[FieldError]]
_MODES = 0o777
_NO_MODE = "must be a number between 0 and 0777 (octal), both inclusive"
_NO_PARTITION = "must be between 1 and 255, inclusive"
_HOST_PATHS = ("", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket")
_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_LONGEST_DRIVER = 63
_ISCSI_NAMES: Final = {
    "iqn": re.compile(r"iqn\.\d{4}-\d{2}\.[a-zA-Z0-9\-.]+:[^,;*&$|\s]+"),
    "eui": re.compile(r"eui.[a-zA-Z0-9]{16}"),
    "naa": re.compile(r"naa.[a-zA-Z0-9]{32}"),
}


def needs(*keys: str) -> _Check:
    """Return the check that fields are set."""
    return lambda source, path: required_texts(source, path, *keys)


def partition_of(key: str) -> _Check:
    """Return the check of a disk with a partition, named by a field."""

    def check(source: _Part, path: str) -> Iterator[FieldError]:
        yield from required_texts(source, path, key)
        if not 0 <= (source.get("partition") or 0) <= 255:
            yield invalid_value(f"{path}.partition", source["partition"], _NO_PARTITION)

    return check


def files_of(key: str) -> _Check:
    """Return the check of a volume with the files of an object, named by a field."""

    def check(source: _Part, path: str) -> Iterator[FieldError]:
        yield from required_texts(source, path, key)
        yield from file_mode(source, path, "defaultMode")
        for index, item in enumerate(source.get("items") or ()):
            yield from key_to_path(item, f"{path}.items[{index}]")

    return check


def file_mode(values: _Part, path: str, key: str) -> Iterator[FieldError]:
    """Check the mode bits of files."""
    mode = values.get(key)
    if mode is not None and not 0 <= mode <= _MODES:
        yield invalid_value(f"{path}.{key}", mode, _NO_MODE)


def key_to_path(item: _Part, path: str) -> Iterator[FieldError]:
    """Check the file of a key."""
    yield from required_texts(item, path, "key", "path")
    yield from local_path(text_of(item, "path"), f"{path}.path")
    yield from file_mode(item, path, "mode")


def pull_policy(policy: str, path: str) -> Iterator[FieldError]:
    """Check when an image is pulled."""
    if not policy:
        yield required(path)
    elif policy not in _PULL_POLICIES:
        yield not_supported(path, policy, _PULL_POLICIES)


def is_negative(quantity: JSON) -> bool:
    """Return whether a quantity is set and below zero."""
    return quantity is not None and Quantity(quantity) < Quantity("0")


def host_path(source: _Part, path: str) -> Iterator[FieldError]:
    """Check a directory or file of the node."""
    if not source.get("path"):
        yield required(f"{path}.path")
        return
    yield from no_backsteps(source["path"], f"{path}.path")
    kind = source.get("type")
    if kind is not None and kind not in _HOST_PATHS:
        yield not_supported(f"{path}.type", kind, _HOST_PATHS)


def nfs(source: _Part, path: str) -> Iterator[FieldError]:
    """Check an NFS volume."""
    yield from required_texts(source, path, "server", "path")
    if not text_of(source, "path").startswith("/"):
        yield invalid_value(f"{path}.path", text_of(source, "path"), "must be an absolute path")


def iscsi(source: _Part, path: str) -> Iterator[FieldError]:
    """Check the iSCSI volume of a pod."""
    yield from required_texts(source, path, "targetPortal")
    yield from iscsi_names(source, path, "must be valid format starting with iqn, eui, or naa")


def iscsi_names(source: _Part, path: str, unknown: str) -> Iterator[FieldError]:
    """Check what iSCSI volumes of pods and PersistentVolumes have in common.

    Args:
        unknown: The error of a name without a known prefix.
    """
    if not source.get("iqn"):
        yield required(f"{path}.iqn")
    else:
        yield from _iscsi_name(source["iqn"], f"{path}.iqn", unknown)
    yield from in_range(source.get("lun") or 0, 0, 255, f"{path}.lun")
    if (source.get("chapAuthDiscovery") or source.get("chapAuthSession")) and source.get("secretRef") is None:
        yield required(f"{path}.secretRef")
    if source.get("initiatorName") is not None:
        yield from _iscsi_name(source["initiatorName"], f"{path}.initiatorname", unknown)


def _iscsi_name(name: str, path: str, unknown: str) -> Iterator[FieldError]:
    if (pattern := _ISCSI_NAMES.get(name[:3])) is None:
        yield invalid_value(path, name, unknown)
    elif not pattern.fullmatch(name):
        yield invalid_value(path, name, "must be valid format")


def flocker(source: _Part, path: str) -> Iterator[FieldError]:
    """Check a Flocker volume."""
    name, uuid = text_of(source, "datasetName"), text_of(source, "datasetUUID")
    if not name and not uuid:
        yield required(path, "one of datasetName and datasetUUID is required")
    if name and uuid:
        yield invalid_value(path, "resource", "datasetName and datasetUUID can not be specified simultaneously")
    if "/" in name:
        yield invalid_value(f"{path}.datasetName", name, "must not contain '/'")


def cinder(source: _Part, path: str, *, has_namespace: bool = False) -> Iterator[FieldError]:
    """Check a Cinder volume."""
    yield from required_texts(source, path, "volumeID")
    yield from _secret(source, path, has_namespace=has_namespace)


def _secret(source: _Part, path: str, *, has_namespace: bool) -> Iterator[FieldError]:
    if source.get("secretRef") is not None:
        keys = ("name", "namespace") if has_namespace else ("name",)
        yield from required_texts(source["secretRef"], f"{path}.secretRef", *keys)


def quobyte(source: _Part, path: str) -> Iterator[FieldError]:
    """Check a Quobyte volume."""
    registry, pairs = text_of(source, "registry"), "must be a host:port pair or multiple pairs separated by commas"
    if not registry:
        yield required(f"{path}.registry", pairs)
    elif len(text_of(source, "tenant")) > 64:
        yield required(f"{path}.tenant", "must be a UUID and may not exceed a length of 64 characters")
    else:
        for each in registry.split(","):
            if each.count(":") != 1:
                yield invalid_value(f"{path}.registry", registry, pairs)
    yield from required_texts(source, path, "volume")


def fibre_channel(source: _Part, path: str) -> Iterator[FieldError]:
    """Check a Fibre Channel volume."""
    targets, wwids, lun = source.get("targetWWNs"), source.get("wwids"), source.get("lun")
    if not targets and not wwids:
        yield required(f"{path}.targetWWNs", "must specify either targetWWNs or wwids, but not both")
    if targets and wwids:
        why = "targetWWNs and wwids can not be specified simultaneously"
        yield invalid_value(f"{path}.targetWWNs", targets, why)
    if targets and lun is None:
        yield required(f"{path}.lun", "lun is required if targetWWNs is specified")
    elif targets:
        yield from in_range(lun or 0, 0, 255, f"{path}.lun")


def flex_volume(source: _Part, path: str) -> Iterator[FieldError]:
    """Check a FlexVolume."""
    yield from required_texts(source, path, "driver")
    for key in source.get("options") or ():
        namespace = "." + key.partition("/")[0].lower()
        if namespace.endswith((".kubernetes.io", ".k8s.io")):
            why = "kubernetes.io and k8s.io namespaces are reserved"
            yield invalid_value(f"{path}.options[{key}]", key, why)


def azure_disk(source: _Part, path: str) -> Iterator[FieldError]:
    """Check an Azure disk."""
    yield from required_texts(source, path, "diskName", "diskURI")
    for key, allowed in (("cachingMode", ("None", "ReadOnly", "ReadWrite")), ("kind", _AZURE_KINDS)):
        if source.get(key) is not None and source[key] not in allowed:
            yield not_supported(f"{path}.{key}", source[key], allowed)
    kind, uri = source.get("kind"), text_of(source, "diskURI")
    if kind == "Managed" and not uri.startswith("/subscriptions/"):
        yield not_supported(f"{path}.diskURI", uri, (_MANAGED_DISK,))
    elif kind not in (None, "Managed") and not uri.startswith("https://"):
        yield not_supported(f"{path}.diskURI", uri, (_BLOB_DISK,))


_AZURE_KINDS = ("Dedicated", "Managed", "Shared")
_MANAGED_DISK = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"
_BLOB_DISK = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"


def storage_os(source: _Part, path: str, *, has_namespace: bool = False) -> Iterator[FieldError]:
    """Check a StorageOS volume."""
    yield from required_name(names.label, text_of(source, "volumeName"), f"{path}.volumeName")
    if namespace := text_of(source, "volumeNamespace"):
        yield from invalid_name(names.label, namespace, f"{path}.volumeNamespace")
    yield from _secret(source, path, has_namespace=has_namespace)


def csi_driver_name(name: str, path: str) -> Iterator[FieldError]:
    """Check the name of a CSI driver."""
    if not name:
        yield required(path)
        return
    if len(name) > _LONGEST_DRIVER:
        yield too_long(path, _LONGEST_DRIVER)
    for why in names.subdomain(name.lower()):
        yield invalid_value(path, name, why)
