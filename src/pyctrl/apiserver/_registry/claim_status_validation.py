"""Validation of the status of ResourceClaims, which the scheduler and drivers of devices write."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping
from typing import TypeAlias

import msgspec

from pyctrl._validation import names
from pyctrl.apiserver._errors import (
    FieldError,
    duplicate,
    field_forbidden,
    invalid_value,
    not_supported,
    required,
    too_long,
    too_many,
)
from pyctrl.apiserver._registry._pods.scheduling import validate_node_selector
from pyctrl.apiserver._registry._pods.volume_sources import csi_driver_name
from pyctrl.apiserver._registry.device_validation import (
    request_names,
    validate_items,
    validate_opaque,
    validate_references,
)
from pyctrl.apiserver._registry.field_validation import invalid_name, text_of
from pyctrl.apiserver._registry.go_structs import go_struct
from pyctrl.apiserver._registry.slice_validation import validate_binding_conditions, validate_pool_name
from pyctrl.apiserver._registry.status_validation import validate_conditions
from pyctrl.apiserver._registry.strategy import Object
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["drop_deallocated_devices", "validate_claim_status"]

_Part: TypeAlias = Mapping[str, JSON]
_DeviceId: TypeAlias = tuple[str, ...]  # driver, pool, device and share
_Errors: TypeAlias = Iterator[FieldError]
_MOST_CONSUMERS, _MOST_RESULTS, _MOST_CONFIGURATIONS = 256, 32, 64
_MOST_CONDITIONS, _MOST_ADDRESSES = 8, 16
_LONGEST_DATA, _LONGEST_INTERFACE, _LONGEST_HARDWARE_ADDRESS = 10 * 1024, 256, 128  # bytes
_SOURCES = ("FromClaim", "FromClass")
_UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_NO_UID = (
    "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal "
    "characters"
)


def drop_deallocated_devices(new: Object, old: Object | None) -> None:
    """Drop the statuses of devices that were allocated and are no longer."""
    status, before = new.get("status") or {}, (old or {}).get("status") or {}
    gone = _allocated(before) - _allocated(status)
    if devices := [each for each in status.get("devices") or () if _device_id(each) not in gone]:
        status["devices"] = devices
    else:
        status.pop("devices", None)


def validate_claim_status(new: Object, old: Object | None) -> _Errors:
    """Check the status of a ResourceClaim; an allocation does not change."""
    status, before = new.get("status") or {}, (old or {}).get("status") or {}
    consumers, allocation = status.get("reservedFor") or (), status.get("allocation")
    yield from validate_items(consumers, _MOST_CONSUMERS, "status.reservedFor", _consumer, key="uid")
    yield from _devices(status)
    if consumers and allocation is None:
        yield field_forbidden("status.reservedFor", "may not be specified when `allocated` is not set")
    elif new["metadata"].get("deletionTimestamp") and any(
        each not in (before.get("reservedFor") or ()) for each in consumers
    ):
        why = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"
        yield field_forbidden("status.reservedFor", why)
    if allocation is None:
        return
    if (allocated := before.get("allocation")) is None:
        yield from _allocation(allocation, new["spec"])
    elif allocation != allocated:
        yield invalid_value("status.allocation", go_struct("AllocationResult", allocation), "field is immutable")


def _consumer(consumer: _Part, path: str) -> _Errors:
    for key in ("resource", "name", "uid"):
        if not consumer.get(key):
            yield required(f"{path}.{key}")


# -- allocation --------------------------------------------------------------------------------------------------


def _allocation(allocation: _Part, spec: _Part) -> _Errors:
    known = request_names(spec)

    def result(each: _Part, path: str) -> _Errors:
        yield from validate_references([text_of(each, "request")], f"{path}.request", known, is_list=False)
        yield from _device_names(each, path)
        yield from validate_binding_conditions(each, path)
        yield from _share(each, path)

    def configuration(each: _Part, path: str) -> _Errors:
        source = text_of(each, "source")
        if not source:
            yield required(f"{path}.source")
        elif source not in _SOURCES:
            yield not_supported(f"{path}.source", source, _SOURCES)
        yield from validate_references(each.get("requests") or (), f"{path}.requests", known)
        yield from validate_opaque(each, path)

    devices, where = allocation.get("devices") or {}, "status.allocation.devices"
    yield from validate_items(devices.get("results") or (), _MOST_RESULTS, f"{where}.results", result)
    yield from validate_items(devices.get("config") or (), _MOST_CONFIGURATIONS, f"{where}.config", configuration)
    if (selector := allocation.get("nodeSelector")) is not None:
        yield from validate_node_selector(selector, "status.allocation.nodeSelector")


def _device_names(device: _Part, path: str) -> _Errors:
    yield from csi_driver_name(text_of(device, "driver"), f"{path}.driver")
    yield from validate_pool_name(text_of(device, "pool"), f"{path}.pool")
    yield from invalid_name(names.label, text_of(device, "device"), f"{path}.device")


def _share(device: _Part, path: str) -> _Errors:
    """Check the uid of a share of a device."""
    uid, where = device.get("shareID"), f"{path}.shareID"
    if uid is None:
        return
    if len(uid) != len("xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"):
        yield invalid_value(where, uid, f"error validating uid: invalid UUID length: {len(uid)}")
    elif not _UID.fullmatch(uid):
        yield invalid_value(where, uid, "error validating uid: invalid UUID format")
    elif uid != uid.lower():
        yield invalid_value(where, uid, _NO_UID)


# -- devices -----------------------------------------------------------------------------------------------------


def _device_id(device: _Part) -> _DeviceId:
    return tuple(text_of(device, key) for key in ("driver", "pool", "device", "shareID"))


def _shown(name: _DeviceId) -> _Part:
    """Return the id of a device as Go prints it."""
    return dict(zip(("Driver", "Pool", "Device", "ShareID"), name, strict=True))


def _allocated(status: _Part) -> frozenset[_DeviceId]:
    """Return the ids of the devices that are allocated."""
    devices = (status.get("allocation") or {}).get("devices") or {}
    return frozenset(_device_id(each) for each in devices.get("results") or ())


def _devices(status: _Part) -> _Errors:
    known, seen = _allocated(status), set[_DeviceId]()
    devices = status.get("devices") or ()
    for index, device in enumerate(devices):
        yield from _device(device, f"status.devices[{index}]", known)
    for index, device in enumerate(devices):
        if (name := _device_id(device)) in seen:
            yield duplicate(f"status.devices[{index}]", _shown(name))
        seen.add(name)


def _device(device: _Part, path: str, allocated: frozenset[_DeviceId]) -> _Errors:
    yield from _device_names(device, path)
    yield from _share(device, path)
    if (name := _device_id(device)) not in allocated:
        yield invalid_value(path, _shown(name), "must be an allocated device in the claim")
    conditions = device.get("conditions") or ()
    if len(conditions) > _MOST_CONDITIONS:
        yield too_many(f"{path}.conditions", len(conditions), _MOST_CONDITIONS)
    yield from validate_conditions(conditions, f"{path}.conditions")
    if (data := device.get("data")) is not None:
        if len(msgspec.json.encode(data)) > _LONGEST_DATA:
            yield too_long(f"{path}.data", _LONGEST_DATA)
        elif not isinstance(data, dict):
            yield invalid_value(f"{path}.data", "<value omitted>", "must be a valid JSON object")
    yield from _network_data(device.get("networkData") or {}, f"{path}.networkData")


def _network_data(data: _Part, path: str) -> _Errors:
    for key, longest in (("interfaceName", _LONGEST_INTERFACE), ("hardwareAddress", _LONGEST_HARDWARE_ADDRESS)):
        if len(text_of(data, key).encode()) > longest:
            yield too_long(f"{path}.{key}", longest)
    yield from validate_items(data.get("ips") or (), _MOST_ADDRESSES, f"{path}.ips", _interface_address, key="")


def _interface_address(text: str, path: str) -> _Errors:
    """Check an address with the length of its network."""
    try:
        found = ipaddress.ip_interface(text if "/" in text else "")
    except ValueError:
        why = "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"
        yield invalid_value(path, text, why)
        return
    if text != str(found):
        yield invalid_value(path, text, f'must be in canonical form ("{found}")')
