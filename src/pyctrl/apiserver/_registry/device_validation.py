"""Validation of ResourceClaims, ResourceClaimTemplates and DeviceClasses (dynamic resource allocation)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

import msgspec

from pyctrl._validation import names
from pyctrl.apiserver._errors import (
    FieldError,
    duplicate,
    invalid_value,
    not_supported,
    required,
    too_long,
    too_many,
)
from pyctrl.apiserver._registry._pods.resources import is_extended
from pyctrl.apiserver._registry._pods.volume_sources import csi_driver_name
from pyctrl.apiserver._registry.field_validation import invalid_name, required_name, text_of
from pyctrl.apiserver._registry.go_structs import go_struct
from pyctrl.apiserver._registry.strategy import Object
from pyctrl.apiserver._registry.volume_claims import forbidden_metadata
from pyctrl.apiserver._schema.schema import JSON

__all__ = [
    "DEVICE_EFFECTS",
    "RequestNames",
    "c_identifier",
    "qualified_device_name",
    "request_names",
    "validate_claim",
    "validate_claim_template",
    "validate_device_class",
    "validate_items",
    "validate_opaque",
    "validate_references",
]

_Part: TypeAlias = Mapping[str, JSON]
_Errors: TypeAlias = Iterator[FieldError]
RequestNames: TypeAlias = Mapping[str, frozenset[str] | None]  # with the names of their alternatives
DEVICE_EFFECTS = ("NoExecute", "NoSchedule", "None")
_MODES = ("All", "ExactCount")
_MOST, _MOST_ALTERNATIVES = 32, 8
_LONGEST_EXPRESSION = _LONGEST_PARAMETERS = 10 * 1024  # characters, bytes
_LONGEST_IDENTIFIER = 32
_ONE_REQUEST = "exactly one of `exactly` or `firstAvailable` is required"
_NO_REQUEST = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
_NO_IDENTIFIER = (
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters "
    "or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')"
)


def validate_claim(new: Object, old: Object | None) -> _Errors:
    """Check a ResourceClaim; its spec does not change."""
    if old is None:
        yield from _claim_spec(new["spec"], "spec")
    elif new["spec"] != old["spec"]:
        yield invalid_value("spec", go_struct("ResourceClaimSpec", new["spec"]), "field is immutable")


def validate_claim_template(new: Object, old: Object | None) -> _Errors:
    """Check a ResourceClaimTemplate; its spec does not change."""
    spec = new["spec"]
    yield from forbidden_metadata(spec.get("metadata") or {}, "spec.metadata")
    yield from _claim_spec(spec.get("spec") or {}, "spec.spec")
    if old is not None and spec != old["spec"]:
        yield invalid_value("spec", go_struct("ResourceClaimTemplateSpec", spec), "field is immutable")


def validate_device_class(new: Object, _old: Object | None) -> _Errors:
    """Check a DeviceClass."""
    spec = new["spec"]
    yield from _selectors(spec.get("selectors") or (), "spec.selectors")
    yield from validate_items(spec.get("config") or (), _MOST, "spec.config", validate_opaque)
    name = spec.get("extendedResourceName")
    if name is not None and not is_extended(name):
        yield invalid_value("spec.extendedResourceName", name, "must be a valid extended resource name")


def request_names(spec: _Part) -> RequestNames:
    """Return the names of the requests of a claim's spec."""
    return {
        text_of(each, "name"): frozenset(text_of(other, "name") for other in each["firstAvailable"])
        if each.get("firstAvailable")
        else None
        for each in (spec.get("devices") or {}).get("requests") or ()
    }


def _claim_spec(spec: _Part, path: str) -> _Errors:
    devices, where = spec.get("devices") or {}, f"{path}.devices"
    known = request_names(spec)

    def constraint(each: _Part, path: str) -> _Errors:
        yield from validate_references(each.get("requests") or (), f"{path}.requests", known)
        for key in ("matchAttribute", "distinctAttribute"):
            if (name := each.get(key)) is not None:
                yield from qualified_device_name(name, f"{path}.{key}")
                if "/" not in name:
                    why = "a fully qualified name must be a domain and a name separated by a slash"
                    yield invalid_value(f"{path}.{key}", name, why)
                return
        why = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'
        yield required(path, why)

    def configuration(each: _Part, path: str) -> _Errors:
        yield from validate_references(each.get("requests") or (), f"{path}.requests", known)
        yield from validate_opaque(each, path)

    yield from validate_items(devices.get("requests") or (), _MOST, f"{where}.requests", _request, key="name")
    yield from validate_items(devices.get("constraints") or (), _MOST, f"{where}.constraints", constraint)
    yield from validate_items(devices.get("config") or (), _MOST, f"{where}.config", configuration)


def validate_items(
    items: Sequence[JSON], most: int, path: str, check: Callable[[JSON, str], _Errors], *, key: str | None = None
) -> _Errors:
    """Check the items of a list that has at most so many.

    Args:
        key: The field that differs from item to item; "" stands for the item itself, None for no such field.
    """
    if len(items) > most:
        yield too_many(path, len(items), most)
        return
    for index, each in enumerate(items):
        yield from check(each, f"{path}[{index}]")
    seen: set[str] = set()
    for index, each in enumerate(items if key is not None else ()):
        name = text_of(each, key) if key else each
        if name in seen:
            yield duplicate(f"{path}[{index}]", name)
        seen.add(name)


# -- requests ----------------------------------------------------------------------------------------------------


def _request(request: _Part, path: str) -> _Errors:
    yield from invalid_name(names.label, text_of(request, "name"), f"{path}.name")
    alternatives, exactly = request.get("firstAvailable") or (), request.get("exactly")
    if not alternatives and exactly is None:
        yield required(path, _ONE_REQUEST)
    elif alternatives and exactly is not None:
        yield invalid_value(path, None, f"{_ONE_REQUEST}, but multiple fields are set")
    elif exactly is not None:
        yield from _exact_request(exactly, f"{path}.exactly")
    else:
        where = f"{path}.firstAvailable"
        yield from validate_items(alternatives, _MOST_ALTERNATIVES, where, _alternative, key="name")


def _alternative(request: _Part, path: str) -> _Errors:
    yield from invalid_name(names.label, text_of(request, "name"), f"{path}.name")
    yield from _exact_request(request, path)


def _exact_request(request: _Part, path: str) -> _Errors:
    yield from required_name(names.subdomain, text_of(request, "deviceClassName"), f"{path}.deviceClassName")
    yield from _selectors(request.get("selectors") or (), f"{path}.selectors")
    mode, count = text_of(request, "allocationMode"), request.get("count") or 0
    if mode == "All":
        if count:
            yield invalid_value(f"{path}.count", count, "must not be specified when allocationMode is 'All'")
    elif mode == "ExactCount":
        if count <= 0:
            yield invalid_value(f"{path}.count", count, "must be greater than zero")
    else:
        yield not_supported(f"{path}.allocationMode", mode, _MODES)
    for index, each in enumerate(request.get("tolerations") or ()):
        yield from _toleration(each, f"{path}.tolerations[{index}]")


def _toleration(toleration: _Part, path: str) -> _Errors:
    key, value, operator, effect = (text_of(toleration, each) for each in ("key", "value", "operator", "effect"))
    if key:
        yield from invalid_name(names.qualified_name, key, f"{path}.key")
    if operator == "Exists":
        if value:
            yield invalid_value(f"{path}.value", value, "must be empty for operator `Exists`")
    elif operator == "Equal":
        yield from invalid_name(names.label_value, value, f"{path}.value")
    elif not operator:
        yield required(f"{path}.operator")
    else:
        yield not_supported(f"{path}.operator", operator, ("Equal", "Exists"))
    if effect and effect not in DEVICE_EFFECTS:
        yield not_supported(f"{path}.effect", effect, DEVICE_EFFECTS)


def validate_references(references: Sequence[str], path: str, known: RequestNames, *, is_list: bool = True) -> _Errors:
    """Check the names of requests in a list, or the only one of a field that is no list."""

    def reference(name: str, path: str) -> _Errors:
        segments = name.split("/")
        if len(segments) > 2:
            yield invalid_value(path, name, _NO_REQUEST)
            return
        for each in segments:
            yield from invalid_name(names.label, each, path)
        if segments[0] not in known or (len(segments) == 2 and segments[1] not in (known[segments[0]] or ())):
            yield invalid_value(path, name, _NO_REQUEST)

    if is_list:
        yield from validate_items(references, _MOST, path, reference, key="")
    else:
        yield from reference(references[0], path)


# -- selectors and configurations --------------------------------------------------------------------------------


def _selectors(selectors: Sequence[_Part], path: str) -> _Errors:
    yield from validate_items(selectors, _MOST, path, _selector)


def _selector(selector: _Part, path: str) -> _Errors:
    if selector.get("cel") is None:
        yield required(f"{path}.cel")
        return
    text, where = text_of(selector["cel"], "expression"), f"{path}.cel.expression"
    if len(text) > _LONGEST_EXPRESSION:
        yield too_long(where, _LONGEST_EXPRESSION)
    elif "cel.bind" not in text:  # macros of cel-go's extension are unknown here
        yield from _expression(text, where)


def _expression(text: str, path: str) -> _Errors:
    from pyctrl.cel import BOOL, DEVICE_SELECTOR, DYN, CompileFailed, Environment, has_library  # here: slow to import

    if not has_library():
        return
    try:
        found = Environment(DEVICE_SELECTOR).compile(text).type
    except CompileFailed as failed:
        yield invalid_value(path, text, str(failed))
    else:
        if found not in (BOOL, DYN):
            yield invalid_value(path, text, "must evaluate to bool or the unknown type, not " + str(found))


def validate_opaque(configuration: _Part, path: str) -> _Errors:
    """Check the parameters of a driver."""
    opaque, where = configuration.get("opaque"), f"{path}.opaque"
    if opaque is None:
        yield required(where)
        return
    yield from csi_driver_name(text_of(opaque, "driver"), f"{where}.driver")
    parameters = opaque.get("parameters")
    if parameters is None:
        yield required(f"{where}.parameters")
    elif len(msgspec.json.encode(parameters)) > _LONGEST_PARAMETERS:
        yield too_long(f"{where}.parameters", _LONGEST_PARAMETERS)
    elif not isinstance(parameters, dict):
        yield invalid_value(f"{where}.parameters", "<value omitted>", "must be a valid JSON object")


# -- names -------------------------------------------------------------------------------------------------------


def qualified_device_name(name: str, path: str) -> _Errors:
    """Check the name of an attribute or a capacity: an identifier, with a domain before it or without one."""
    domain, slash, rest = name.partition("/")
    if not slash:
        yield from c_identifier(name, path)
    elif "/" not in rest:  # upstream accepts names with several slashes
        if domain:
            yield from csi_driver_name(domain, path)
        else:
            yield invalid_value(path, "", "the domain must not be empty")
        if rest:
            yield from c_identifier(rest, path)
        else:
            yield invalid_value(path, "", "the name must not be empty")


def c_identifier(text: str, path: str) -> _Errors:
    """Check an identifier as in C, of at most 32 characters."""
    if len(text) > _LONGEST_IDENTIFIER:
        yield too_long(path, _LONGEST_IDENTIFIER)
    if not (text.isascii() and text.isidentifier()):
        yield invalid_value(path, text, _NO_IDENTIFIER)
