"""Patches of MutatingAdmissionPolicies: apply configurations, and JSON patches, that expressions construct."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pyctrl._go.text import quoted
from pyctrl.apiserver._admission.subresource_type import SubresourceType
from pyctrl.apiserver._errors import UndecodableBody, internal_error
from pyctrl.apiserver._fieldmanager.apply import merge_values
from pyctrl.apiserver._fieldmanager.typed import GoValue, typed_problems
from pyctrl.apiserver._patch.json_patch import PatchFailed, PatchTestFailed, apply_json_patch
from pyctrl.apiserver._schema.schema import JSON, SchemaNode
from pyctrl.cel import (
    EvaluationFailed,
    ObjectValue,
    UnconvertedLiteral,
    go_formats,
    object_value_json,
    type_name_problems,
    value_json,
)

if TYPE_CHECKING:
    from pyctrl.apiserver._admission.subresource_type import PatchedType

__all__ = ["MutationFailed", "apply_configuration", "apply_json_patch_value", "decode_configured"]


class MutationFailed(Exception):
    """Raised if a patch cannot be applied; the text is kube-apiserver's."""


def apply_configuration(value: ObjectValue, obj: dict[str, Any], resource: PatchedType | None) -> dict[str, Any]:
    """Return the object with an apply configuration merged; the argument is not changed.

    Raises:
        MutationFailed: The configuration does not fit the schema, or sets something that can be set as a whole only.
    """
    _check_type_names(value)
    try:
        fields = object_value_json(value)
    except EvaluationFailed:
        raise MutationFailed("invalid return type: *dynamic.ObjectVal") from None
    patch = {**fields, "apiVersion": obj.get("apiVersion"), "kind": obj.get("kind")}
    if isinstance(resource, SubresourceType):
        patch = {**fields, "apiVersion": resource.api_version, "kind": resource.kind.kind}
        if not resource.is_published:
            why = f"no corresponding type for {resource.api_version}, Kind={resource.kind.kind}"
            raise MutationFailed(f"error applying patch: failed to convert patch object to typed object: {why}")
    schema = resource.schema if resource is not None else None
    if problems := typed_problems(schema, _go_values(patch), needs_keys=resource is not None and resource.is_custom):
        why = f"failed to convert patch object to typed object: {problems}"
        raise MutationFailed(f"error applying patch: {why}")
    patch = _plain(patch)
    if atomics := list(_atomics(schema, patch, "")):
        why = f"invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: {', '.join(atomics)}"
        raise MutationFailed(f"error applying patch: {why}")
    found: dict[str, Any] = merge_values(schema, obj, patch)
    return found


def _go_values(value: Any) -> Any:
    """Replace what JSON does not have, and null, which no field accepts."""
    if isinstance(value, dict):
        return {key: _go_values(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_go_values(each) for each in value]
    return value if isinstance(value, (str, bool, int, float)) else GoValue(*go_formats(value))


def _plain(value: Any) -> Any:
    """Return a configuration that fits its schema, which accepts any literal, as JSON."""
    if isinstance(value, UnconvertedLiteral):
        return _plain(object_value_json(value.value))
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list) else value


def _check_type_names(value: Any) -> None:
    if problems := type_name_problems(value):
        raise MutationFailed("type mismatch: " + "\n".join(problems))


def _atomics(node: SchemaNode | None, value: JSON, path: str) -> Iterator[str]:
    """Yield the paths of the atomic lists and maps in a configuration."""
    if node is None:
        return
    if isinstance(value, dict) and _is_map(node):
        if node.atomic:
            yield path
        for key, each in value.items():
            yield from _atomics(node.properties.get(key), each, f"{path}.{key}")
    elif isinstance(value, list) and node.type == "array":
        if node.list_type == "atomic":
            yield path
        for index, each in enumerate(value):
            yield from _atomics(node.items, each, f"{path}[{index}]")


def _is_map(node: SchemaNode) -> bool:
    return node.type == "object" or bool(node.properties or node.additional)


def apply_json_patch_value(
    operations: list[Mapping[str, Any]], obj: dict[str, Any], resource: PatchedType | None
) -> dict[str, Any]:
    """Return the object with a JSON patch applied; the argument is not changed.

    An object whose `test` fails stays as it is.

    Args:
        resource: The type that the result is decoded as; None for a kind without a schema.

    Raises:
        MutationFailed: The patch does not apply.
        StatusError: 500, the result does not decode as its kind.
    """
    try:
        new: dict[str, Any] = apply_json_patch(obj, [_operation(each) for each in operations])
    except PatchTestFailed:
        return obj
    except PatchFailed as failed:
        raise MutationFailed(f"JSON Patch: {failed}") from None
    if resource is not None:
        decode_patched(new, resource, "Ignore" if resource.is_custom else "Strict")
    return new


def decode_configured(obj: dict[str, Any], resource: PatchedType) -> None:
    """Decode an object with a merged apply configuration again: defaults are set, and unknown fields dropped.

    Raises:
        MutationFailed: It does not decode as its kind.
        StatusError: 500, it has another kind, or it is a custom resource that does not decode.
    """
    if resource.is_custom:
        decode_patched(obj, resource, "Ignore")
        return
    if not isinstance(resource, SubresourceType):
        _check_kind(obj, resource)
    try:
        resource.decode(obj, field_validation="Ignore", warnings=[])
    except UndecodableBody as error:
        kind = resource.kind.kind if isinstance(resource, SubresourceType) else resource.kind
        group, _, version = resource.api_version.rpartition("/")
        why = f"unable to convert unstructured object to {group}/{version}, Kind={kind}: error decoding from json"
        raise MutationFailed(f"{why}: {error.why}") from None


def decode_patched(obj: dict[str, Any], resource: PatchedType, field_validation: str) -> None:
    """Decode a patched object again: defaults are set, and unknown fields refused or dropped.

    Raises:
        StatusError: 500, it does not decode as its kind, or has another kind.
    """
    if not isinstance(resource, SubresourceType) and not resource.is_custom:
        _check_kind(obj, resource)
    try:
        resource.decode(obj, field_validation=field_validation, warnings=[])
    except UndecodableBody as error:
        raise internal_error(error.why) from None


def _check_kind(obj: Mapping[str, Any], resource: PatchedType) -> None:
    api_version, kind = obj.get("apiVersion"), obj.get("kind")
    if api_version and kind and api_version != resource.api_version:
        where = 'scheme "pkg/runtime/scheme.go:111"'
        raise internal_error(f"no kind {quoted(kind)} is registered for version {quoted(api_version)} in {where}")
    if kind and kind != resource.kind:
        version, package = resource.api_version.rpartition("/")[2], resource.api_version.rpartition("/")[0] or "core"
        shown = f"({version}.{kind}) to ({package.partition('.')[0]}.{resource.kind})"
        raise internal_error(f"failed to convert object: converting {shown}: unknown conversion")


def _operation(given: Mapping[str, Any]) -> dict[str, Any]:
    operation = {"op": given.get("op", ""), "path": given.get("path", "")}
    if source := given.get("from"):
        operation["from"] = source
    if "value" in given:
        _check_type_names(given["value"])
        try:
            operation["value"] = value_json(given["value"])
        except EvaluationFailed as failed:
            why = "JSONPath valueExpression evaluated to a type that could not marshal to JSON"
            raise MutationFailed(f"{why}: {failed}") from None
    return operation
