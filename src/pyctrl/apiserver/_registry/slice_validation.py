"""Validation of ResourceSlices (dynamic resource allocation)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
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
    too_many,
)
from pyctrl.apiserver._registry._pods.scheduling import validate_node_selector
from pyctrl.apiserver._registry._pods.volume_sources import csi_driver_name
from pyctrl.apiserver._registry.device_validation import DEVICE_EFFECTS, qualified_device_name, validate_items
from pyctrl.apiserver._registry.field_validation import invalid_name, required_name, text_of
from pyctrl.apiserver._registry.go_structs import go_struct, go_value
from pyctrl.apiserver._registry.strategy import Object
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["validate_binding_conditions", "validate_pool_name", "validate_slice"]

_Part: TypeAlias = Mapping[str, JSON]
_Errors: TypeAlias = Iterator[FieldError]
_MOST_DEVICES, _MOST_ADVANCED_DEVICES, _MOST_ATTRIBUTES, _MOST_VALUES = 128, 64, 32, 48
_MOST_COUNTER_SETS, _MOST_COUNTERS, _MOST_CONSUMED = 8, 32, 2
_MOST_TAINTS, _MOST_CONDITIONS, _MOST_OPTIONS = 16, 4, 10
_LONGEST_POOL, _LONGEST_VALUE = 253, 64
_LONGEST_KEY = 63 + 1 + 32  # of an attribute, as shown in a path
_ONE_PLACE = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
_ONE_PLACE_OF_DEVICE = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true "
    "in the ResourceSlice spec"
)
_NO_PLACE_OF_DEVICE = (
    "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the "
    "ResourceSlice spec"
)
_NUMBER, _BUILD = "(0|[1-9][0-9]*)", "[0-9a-zA-Z-]+"
_PRERELEASE = "(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)"
_VERSION = re.compile(rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-{_PRERELEASE}(\.{_PRERELEASE})*)?(\+{_BUILD}(\.{_BUILD})*)?")


def validate_slice(new: Object, old: Object | None) -> _Errors:
    """Check a ResourceSlice; its pool, driver and node do not change."""
    spec = new["spec"]
    yield from csi_driver_name(text_of(spec, "driver"), "spec.driver")
    yield from _pool(spec.get("pool") or {}, "spec.pool")
    if old is not None:
        yield from _immutable(spec, old["spec"])
    yield from _place(spec)
    devices, counters = spec.get("devices"), spec.get("sharedCounters")
    if devices is not None and counters is not None:
        yield invalid_value("spec", "", "only one of `sharedCounters` or `devices` is allowed")
    is_advanced = any(each.get("taints") or each.get("consumesCounters") for each in devices or ())
    most = _MOST_ADVANCED_DEVICES if is_advanced else _MOST_DEVICES
    known = {text_of(each, "name"): each for each in ((old or {}).get("spec") or {}).get("devices") or ()}

    def device(each: _Part, path: str) -> _Errors:
        before = known.get(text_of(each, "name"))
        yield from _device(each, before, path, has_place=bool(spec.get("perDeviceNodeSelection")))

    yield from validate_items(devices or (), most, "spec.devices", device, key="name")
    yield from validate_items(counters or (), _MOST_COUNTER_SETS, "spec.sharedCounters", _counter_set, key="name")


def _pool(pool: _Part, path: str) -> _Errors:
    yield from validate_pool_name(text_of(pool, "name"), f"{path}.name")
    if (pool.get("resourceSliceCount") or 0) <= 0:
        count = pool.get("resourceSliceCount") or 0
        yield invalid_value(f"{path}.resourceSliceCount", count, "must be greater than zero")
    if (pool.get("generation") or 0) < 0:
        yield invalid_value(f"{path}.generation", pool["generation"], "must be greater than or equal to zero")


def validate_pool_name(name: str, path: str) -> _Errors:
    """Check the name of a pool: subdomains with slashes between them."""
    if not name:
        yield required(path)
        return
    if len(name) > _LONGEST_POOL:
        yield too_long(path, _LONGEST_POOL)
    for part in name.split("/"):
        yield from invalid_name(names.subdomain, part, path)


def _immutable(new: _Part, old: _Part) -> _Errors:
    pools = [text_of(each.get("pool") or {}, "name") for each in (new, old)]
    for path, now, was in (
        ("pool.name", *pools),
        ("driver", text_of(new, "driver"), text_of(old, "driver")),
        ("nodeName", new.get("nodeName"), old.get("nodeName")),
    ):
        if now != was:
            yield invalid_value(f"spec.{path}", now, "field is immutable")


def _place(spec: _Part) -> _Errors:
    chosen = []
    if (node := spec.get("nodeName")) is not None:
        if node:
            chosen.append("`nodeName`")
            yield from invalid_name(names.subdomain, node, "spec.nodeName")
        else:
            yield invalid_value("spec.nodeName", node, "must be either unset or set to a non-empty string")
    if (selector := spec.get("nodeSelector")) is not None:
        chosen.append("`nodeSelector`")
        yield from validate_node_selector(selector, "spec.nodeSelector")
        terms = selector.get("nodeSelectorTerms")
        if len(terms or ()) != 1:
            shown = go_value("[]NodeSelectorTerm", terms)
            yield invalid_value(
                "spec.nodeSelector.nodeSelectorTerms", shown, "must have exactly one node selector term"
            )
    for key in ("allNodes", "perDeviceNodeSelection"):
        if spec.get(key):
            chosen.append(f"`{key}`")
        elif spec.get(key) is not None:
            yield invalid_value(f"spec.{key}", False, "must be either unset or set to true")
    if not chosen:
        yield required("spec", _ONE_PLACE)
    elif len(chosen) > 1:
        why = f"{_ONE_PLACE}, but multiple fields are set"
        yield invalid_value("spec", f"{{{', '.join(chosen)}}}", why)


# -- devices -----------------------------------------------------------------------------------------------------


def _device(device: _Part, before: _Part | None, path: str, *, has_place: bool) -> _Errors:
    yield from invalid_name(names.label, text_of(device, "name"), f"{path}.name")
    attributes, capacity = device.get("attributes") or {}, device.get("capacity") or {}
    if len(attributes) + len(capacity) > _MOST_ATTRIBUTES:
        why = f"the total number of attributes and capacities must not exceed {_MOST_ATTRIBUTES}"
        yield invalid_value(path, len(attributes) + len(capacity), why)
    if len(attributes) > _MOST_VALUES:
        why = f"the total number of attribute values must not exceed {_MOST_VALUES}"
        yield invalid_value(path, len(attributes), why)
    yield from _entries(attributes, f"{path}.attributes", _attribute)
    is_shared = bool(device.get("allowMultipleAllocations"))
    yield from _entries(capacity, f"{path}.capacity", _shared_capacity if is_shared else _capacity)
    taints = device.get("taints") or ()
    if before is None or taints != (before.get("taints") or ()):
        yield from validate_items(taints, _MOST_TAINTS, f"{path}.taints", _taint)
    consumed = device.get("consumesCounters") or ()
    yield from validate_items(consumed, _MOST_CONSUMED, f"{path}.consumesCounters", _consumption, key="counterSet")
    if has_place:
        yield from _place_of_device(device, path)
    elif any(device.get(key) is not None for key in ("nodeName", "nodeSelector", "allNodes")):
        yield invalid_value(path, None, _NO_PLACE_OF_DEVICE)
    yield from validate_binding_conditions(device, path)


def _place_of_device(device: _Part, path: str) -> _Errors:
    chosen = []
    if (node := device.get("nodeName")) is not None:
        if node:
            chosen.append("`nodeName`")
            yield from invalid_name(names.subdomain, node, f"{path}.nodeName")
        else:
            yield invalid_value(f"{path}.nodeName", node, "must not be empty")
    if (selector := device.get("nodeSelector")) is not None:
        chosen.append("`nodeSelector`")
        yield from validate_node_selector(selector, f"{path}.nodeSelector")
    if device.get("allNodes"):
        chosen.append("`allNodes`")
    elif device.get("allNodes") is not None:
        yield invalid_value(f"{path}.allNodes", False, "must be either unset or set to true")
    if not chosen:
        yield required(path, _ONE_PLACE_OF_DEVICE)
    elif len(chosen) > 1:
        yield invalid_value(path, f"{{{', '.join(chosen)}}}", _ONE_PLACE_OF_DEVICE)


def _entries(entries: _Part, path: str, check: Callable[[_Part, str], _Errors]) -> _Errors:
    for name, each in entries.items():
        shown = name if len(name) <= _LONGEST_KEY else f"{name[:47]}...{name[-46:]}"
        yield from qualified_device_name(name, path)
        yield from check(each or {}, f"{path}[{shown}]")


def _attribute(attribute: _Part, path: str) -> _Errors:
    for key in ("string", "version"):
        text = attribute.get(key)
        if text is None:
            continue
        if key == "version" and not _VERSION.fullmatch(text):
            yield invalid_value(f"{path}.{key}", text, "must be a string compatible with semver.org spec 2.0.0")
        if len(text) > _LONGEST_VALUE:
            yield too_long(f"{path}.{key}", _LONGEST_VALUE)
    count = sum(attribute.get(key) is not None for key in ("bool", "int", "string", "version"))
    if count != 1:
        shown = go_struct("DeviceAttribute", attribute) if count else ""
        yield invalid_value(path, shown, "exactly one value must be specified")


def _capacity(capacity: _Part, path: str) -> _Errors:
    if capacity.get("requestPolicy") is not None:
        yield field_forbidden(f"{path}.requestPolicy", "allowMultipleAllocations must be true")


def _taint(taint: _Part, path: str) -> _Errors:
    yield from invalid_name(names.qualified_name, text_of(taint, "key"), f"{path}.key")
    if value := text_of(taint, "value"):
        yield from invalid_name(names.label_value, value, f"{path}.value")
    effect = text_of(taint, "effect")
    if not effect:
        yield required(f"{path}.effect")
    elif effect not in DEVICE_EFFECTS:
        yield not_supported(f"{path}.effect", effect, DEVICE_EFFECTS)


def validate_binding_conditions(device: _Part, path: str) -> _Errors:
    """Check the conditions of the binding of a device, and those of its failure."""
    conditions, failures = (device.get(key) or [] for key in ("bindingConditions", "bindingFailureConditions"))
    where, of_failures = f"{path}.bindingConditions", f"{path}.bindingFailureConditions"
    for items, place in ((conditions, where), (failures, of_failures)):
        yield from validate_items(items, _MOST_CONDITIONS, place, _condition)
    yield from (duplicate(f"{where}[{i}]", each) for i, each in enumerate(conditions) if each in conditions[:i])
    for index, each in enumerate(failures):
        if each in failures[:index]:
            yield duplicate(f"{of_failures}[{index}]", each)
        if each in conditions:
            why = "bindingFailureConditions must not overlap with bindingConditions"
            yield invalid_value(f"{of_failures}[{index}]", each, why)
    if failures and not conditions:
        why = "bindingConditions are required to use bindingFailureConditions"
        yield invalid_value(where, device.get("bindingConditions"), why)
    if conditions and not failures:
        why = "bindingFailureConditions are required to use bindingConditions"
        yield invalid_value(of_failures, device.get("bindingFailureConditions"), why)


def _condition(text: str, path: str) -> _Errors:
    yield from invalid_name(names.qualified_name, text, path)


# -- counters ----------------------------------------------------------------------------------------------------


def _counter_set(counters: _Part, path: str) -> _Errors:
    yield from required_name(names.label, text_of(counters, "name"), f"{path}.name")
    yield from _counters(counters.get("counters") or {}, f"{path}.counters")


def _consumption(consumption: _Part, path: str) -> _Errors:
    yield from required_name(names.label, text_of(consumption, "counterSet"), f"{path}.counterSet")
    yield from _counters(consumption.get("counters") or {}, f"{path}.counters")


def _counters(counters: _Part, path: str) -> _Errors:
    if not counters:
        yield required(path)
    elif len(counters) > _MOST_COUNTERS:
        yield too_many(path, len(counters), _MOST_COUNTERS)
    else:
        for name in counters:
            yield from invalid_name(names.label, name, path)


# -- request policies --------------------------------------------------------------------------------------------


def _shared_capacity(capacity: _Part, path: str) -> _Errors:
    policy, where = capacity.get("requestPolicy") or {}, f"{path}.requestPolicy"
    values, limits, default = policy.get("validValues"), policy.get("validRange"), policy.get("default")
    whole = capacity.get("value") or "0"
    if values and limits is not None:
        why = 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time'
        yield field_forbidden(where, why)
        return
    if values:
        if default is None:
            yield required(f"{where}.default", "required when validValues is defined")
        else:
            yield from _options(values, default, whole, f"{where}.validValues")
    elif limits is not None:
        if default is None:
            yield required(f"{where}.default", "required when validRange is defined")
        else:
            yield from _range(limits, default, whole, f"{where}.validRange")


def _options(values: Sequence[str], default: str, whole: str, path: str) -> _Errors:
    amounts = [Quantity(each) for each in values]
    for index in range(1, len(values)):
        if amounts[index - 1] > amounts[index]:
            yield invalid_value(f"{path}[{index}]", values[index], "values must be sorted in ascending order")
    if len(values) > _MOST_OPTIONS:
        yield too_many(path, len(values), _MOST_OPTIONS)
    else:
        for index, each in enumerate(values):
            if amounts[index] > Quantity(whole):
                yield invalid_value(f"{path}[{index}]", each, f"option is larger than capacity value: {whole}")
        for index, amount in enumerate(amounts):
            if amount in amounts[:index]:
                yield duplicate(f"{path}[{index}]", str(-(-amount.value // 1)))
    if len(values) > _MOST_OPTIONS or Quantity(default) not in amounts:
        yield invalid_value(path, default, "default value is not valid according to the requestPolicy")


def _range(limits: _Part, default: str, whole: str, path: str) -> _Errors:
    low, high, step = (limits.get(key) for key in ("min", "max", "step"))
    if low is None:
        yield required(f"{path}.min", "required when validRange is defined")
        return
    if Quantity(low) > Quantity(whole):
        yield invalid_value(f"{path}.min", low, f"min is larger than capacity value: {whole}")
    if Quantity(default) < Quantity(low):
        yield invalid_value(f"{path}.min", default, f"default is less than min: {low}")
    if high is not None:
        if Quantity(low) > Quantity(high):
            yield invalid_value(f"{path}.max", low, f"min is larger than max: {high}")
        if Quantity(high) > Quantity(whole):
            yield invalid_value(f"{path}.max", high, f"max is larger than capacity value: {whole}")
        if Quantity(default) > Quantity(high):
            yield invalid_value(f"{path}.max", default, f"default is more than max: {high}")
    if step is not None:
        added = Quantity(low) + Quantity(step)
        if added > Quantity(whole):
            why = f"one step {added} is larger than capacity value: {whole}"
            yield invalid_value(f"{path}.step", step, why)
        for each in (default, high):
            if each is not None and _is_between_steps(each, low, step):
                why = f"value is not a multiple of a given step ({step}) from ({low})"
                yield invalid_value(f"{path}.step", each, why)


def _is_between_steps(value: str, low: str, step: str) -> bool:
    """Return whether a value is not a number of steps above the lowest."""
    numbers = [-(-Quantity(each).value // 1) for each in (value, low, step)]
    return not numbers[2] or (numbers[0] - numbers[1]) % numbers[2] != 0
