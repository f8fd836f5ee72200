"""Validation of the environment variables of containers, and of references to fields of the pod."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from pyctrl._validation import names
from pyctrl.api import Quantity
from pyctrl.apiserver._errors import FieldError, invalid_value, not_supported, required
from pyctrl.apiserver._registry.field_validation import invalid_name, no_backsteps, required_name, text_of
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["validate_environment", "validate_field_reference", "validate_resource_reference"]

_Part: TypeAlias = Mapping[str, JSON]
_Errors: TypeAlias = Iterator[FieldError]
_NO_NAME = "a valid environment variable name must consist only of printable ASCII characters other than '='"
_SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")
_FIELDS = (
    *("metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName"),
    *("status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"),
)
_SUBSCRIPTED = ("metadata.annotations", "metadata.labels")
_LABELS = frozenset((*_FIELDS, *_SUBSCRIPTED, "spec.restartPolicy", "spec.schedulerName", "status.phase"))
_RESOURCES = tuple(
    f"{part}.{name}" for part in ("limits", "requests") for name in ("cpu", "ephemeral-storage", "memory")
)
_SIZES = ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")
_SHOWN_SIZES = ", ".join(_SIZES)


def validate_environment(container: _Part, path: str) -> _Errors:
    """Check the environment variables of a container and their sources."""
    for index, variable in enumerate(container.get("env") or ()):
        where = f"{path}.env[{index}]"
        name = text_of(variable, "name")
        if not name:
            yield required(f"{where}.name")
        else:
            yield from _variable_name(name, f"{where}.name")
        if variable.get("valueFrom") is not None:
            yield from _value_source(variable, f"{where}.valueFrom")
    yield from _objects(container.get("envFrom") or (), f"{path}.envFrom")


def _variable_name(name: str, path: str) -> _Errors:
    if "=" in name or not (name.isascii() and name.isprintable()):
        yield invalid_value(path, name, _NO_NAME)


def _value_source(variable: _Part, path: str) -> _Errors:
    source = variable["valueFrom"]
    present = [key for key in _SOURCES if source.get(key) is not None]
    for key in present:
        where = f"{path}.{key}"
        if key == "fieldRef":
            yield from validate_field_reference(source[key], _FIELDS, where)
        elif key == "resourceFieldRef":
            yield from validate_resource_reference(source[key], where, needs_container=False)
        elif key == "fileKeyRef":
            yield from _file_key(source[key], where)
        else:
            yield from _object_key(source[key], where)
    if not present:
        listed = ", ".join(f"`{key}`" for key in _SOURCES[:-1])
        yield invalid_value(path, "", f"must specify one of: {listed} or `{_SOURCES[-1]}`")
    elif variable.get("value"):
        yield invalid_value(path, "", "may not be specified when `value` is not empty")
    elif len(present) > 1:
        yield invalid_value(path, "", "may not have more than one field specified at a time")


def _object_key(source: _Part, path: str) -> _Errors:
    yield from invalid_name(names.subdomain, text_of(source, "name"), f"{path}.name")
    yield from required_name(names.config_key, text_of(source, "key"), f"{path}.key")


def _file_key(source: _Part, path: str) -> _Errors:
    key, file = text_of(source, "key"), text_of(source, "path")
    if key:
        yield from _variable_name(key, f"{path}.key")
    else:
        yield required(f"{path}.key")
    yield from required_name(names.label, text_of(source, "volumeName"), f"{path}.volumeName")
    if file:
        yield from no_backsteps(file, f"{path}.path")
    else:
        yield required(f"{path}.path")


def validate_field_reference(reference: _Part, fields: Sequence[str], path: str) -> _Errors:
    """Check a reference to a field of the pod, one of `fields`, or to one label or annotation."""
    version, field = text_of(reference, "apiVersion"), text_of(reference, "fieldPath")
    if not version:
        yield required(f"{path}.apiVersion")
        return
    if not field:
        yield required(f"{path}.fieldPath")
        return
    name, bracket, rest = field.partition("['")
    subscript = rest.removesuffix("']") if bracket and name and rest.endswith("']") else None
    if complaint := _conversion_error(version, field, name if subscript is not None else ""):
        yield invalid_value(f"{path}.fieldPath", field, f"error converting fieldPath: {complaint}")
    elif subscript is not None:
        text = subscript.lower() if name == "metadata.annotations" else subscript
        yield from invalid_name(names.qualified_name, text, path)
    elif field not in fields:
        yield not_supported(f"{path}.fieldPath", field, sorted(fields))


def _conversion_error(version: str, field: str, subscripted: str) -> str:
    if version != "v1":
        return f"unsupported pod version: {version}"
    if subscripted:
        return "" if subscripted in _SUBSCRIPTED else f"field label does not support subscript: {field}"
    return "" if field in _LABELS else f"field label not supported: {field}"


def validate_resource_reference(reference: _Part, path: str, *, needs_container: bool) -> _Errors:
    """Check a reference to a resource of a container."""
    name = text_of(reference, "resource")
    is_huge = name.startswith(("limits.hugepages-", "requests.hugepages-"))
    if needs_container and not reference.get("containerName"):
        yield required(f"{path}.containerName")
    elif not name:
        yield required(f"{path}.resource")
    elif name not in _RESOURCES and not is_huge:
        yield not_supported(f"{path}.resource", name, _RESOURCES)
    yield from _divisor(name, reference.get("divisor") or "0", f"{path}.divisor")


def _divisor(name: str, divisor: str, path: str) -> _Errors:
    if Quantity(divisor) == Quantity("0"):
        return
    kind = name.partition(".")[2]
    if kind == "cpu" and divisor not in ("1", "1m"):
        yield invalid_value(path, name, "only divisor's values 1m and 1 are supported with the cpu resource")
    shown = {"memory": "memory", "ephemeral-storage": "local ephemeral storage"}.get(kind)
    shown = "hugepages" if kind.startswith("hugepages-") else shown
    if shown and divisor not in _SIZES:
        why = f"only divisor's values {_SHOWN_SIZES} are supported with the {shown} resource"
        yield invalid_value(path, name, why)


def _objects(sources: Sequence[_Part], path: str) -> _Errors:
    for index, each in enumerate(sources):
        where = f"{path}[{index}]"
        if prefix := text_of(each, "prefix"):
            yield from _variable_name(prefix, f"{where}.prefix")
        present = [key for key in ("configMapRef", "secretRef") if each.get(key) is not None]
        for key in present:
            name = text_of(each[key], "name")
            if not name:
                yield required(f"{where}.{key}.name")
            else:
                for why in names.subdomain(names.masked_as_prefix(name)):
                    yield invalid_value(f"{where}.{key}.name", name, why)
        if not present:
            yield invalid_value(path, "", "must specify one of: `configMapRef` or `secretRef`")
        elif len(present) > 1:
            yield invalid_value(path, "", "may not have more than one field specified at a time")
