"""Facts of the built-in kinds' Go types that their OpenAPI documents do not have.

An optional field of the document is a pointer or a plain value in Go. The zero of a pointer (`replicas: 0`) is kept.
The zero of a plain value (`paused: false`, `message: ""`) is omitted, unless it is always written. Times differ: both
are optional in the document, and a plain time is written as null. `tools/generate_go_types.py` reads the facts from
Kubernetes' sources.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from typing import Any

from pyctrl import _schemas

__all__ = ["field_order", "go_path", "internal_structs", "is_always_written", "is_pointer", "type_name"]

# Structs that embed another one, which decoding errors name: the fields of the embedded struct, or, after a `-`, all
# fields but those.
_EMBEDDED = {
    "ConfigMapEnvSource": "LocalObjectReference:name",
    "ConfigMapKeySelector": "LocalObjectReference:name",
    "ConfigMapProjection": "LocalObjectReference:name",
    "ConfigMapVolumeSource": "LocalObjectReference:name",
    "DeviceAllocationConfiguration": "DeviceConfiguration:opaque",
    "DeviceClaimConfiguration": "DeviceConfiguration:opaque",
    "DeviceClassConfiguration": "DeviceConfiguration:opaque",
    "EphemeralContainer": "EphemeralContainerCommon:-targetContainerName",
    "IngressRule": "IngressRuleValue:http",
    "NamedRuleWithOperations": "RuleWithOperations.Rule:-operations resourceNames;RuleWithOperations:operations",
    "PersistentVolumeSpec": "PersistentVolumeSource:-accessModes capacity claimRef mountOptions nodeAffinity "
    "persistentVolumeReclaimPolicy storageClassName volumeAttributesClassName volumeMode",
    "Probe": "ProbeHandler:exec httpGet tcpSocket grpc",
    "RuleWithOperations": "Rule:-operations",
    "SecretEnvSource": "LocalObjectReference:name",
    "SecretKeySelector": "LocalObjectReference:name",
    "SecretProjection": "LocalObjectReference:name",
    "Volume": "VolumeSource:-name",
}


def go_path(struct: str, field: str) -> str:
    """Return a field with the embedded structs above it, as decoding errors have it."""
    for each in _EMBEDDED.get(struct, "").split(";"):
        embedded, _, fields = each.partition(":")
        is_all_but = fields.startswith("-")
        if embedded and (field in fields.removeprefix("-").split()) != is_all_but:
            return f"{embedded}.{field}"
    return field


def is_pointer(component: str, field: str) -> bool:
    """Return whether a field of a component is a pointer, whose zero is kept, or a time that is omitted if absent."""
    return _place(component, field) in _sets()["pointers"]


def type_name(component: str, field: str) -> str:
    """Return the Go type of a field with a named type, as decoding errors have it; "" for other fields."""
    found: str = _facts()["named"].get(_place(component, field), "")
    return found


def is_always_written(component: str, field: str) -> bool:
    """Return whether Go writes a field even if it has the zero value."""
    return _place(component, field) in _sets()["written"]


def internal_structs() -> Mapping[str, Any]:
    """Return the fields of internal structs in their order: the Go name, the name on the wire, and the type."""
    found: Mapping[str, Any] = _facts()["internal"]
    return found


def field_order(package: str, struct: str, fields: AbstractSet[str]) -> Sequence[str]:
    """Return the fields of a struct in the order in which Go writes them.

    Args:
        package: The package of the object, such as `apps.v1`. Its parts may be of others.
        fields: The fields of the struct, which tell it from others of its name.
    """
    found = _field_orders().get(struct, {})
    candidates = [found[package]] if package in found else []
    return next((each for each in (*candidates, *found.values()) if fields <= {*each}), sorted(fields))


def _place(component: str, field: str) -> str:
    return f"{'.'.join(component.split('.')[-3:])}.{field}"


@cache
def _facts() -> Mapping[str, Any]:
    return _schemas.load("go_types")


@cache
def _field_orders() -> Mapping[str, Mapping[str, Sequence[str]]]:
    return _schemas.load("go_fields")


@cache
def _sets() -> Mapping[str, frozenset[str]]:
    facts = _facts()
    return {key: frozenset(facts[key]) for key in ("pointers", "written")}
