"""Patch types: the body of a PATCH request, decoded by its media type and applied to the live object."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from pyctrl._go.text import go_text
from pyctrl.api import merge_patch_apply
from pyctrl.apiserver._errors import (
    StatusError,
    UndecodableBody,
    bad_request,
    invalid,
    invalid_value,
    media_type_without_handler,
    request_entity_too_large,
    status_error,
    unprocessable,
    unsupported_media_type,
)
from pyctrl.apiserver._patch.go_order import in_go_order
from pyctrl.apiserver._patch.json_patch import PatchFailed, apply_json_patch
from pyctrl.apiserver._patch.merged_patch import merged_patch
from pyctrl.apiserver._patch.strategic_merge import strategic_merge
from pyctrl.apiserver._request.request import ResourceRequest
from pyctrl.apiserver._schema.defaulting import copied
from pyctrl.apiserver._serializer.decoding import BODY_LIMIT, TYPE_META, decode_json, duplicate_members, json_kind

__all__ = [
    "APPLY",
    "MERGE",
    "apply_patch_to_object",
    "check_patch_type",
    "decode_apply",
    "patch_outcome_undecodable",
    "report_repeated_keys",
]

JSON_PATCH = "application/json-patch+json"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"
OPERATIONS = 10_000  # kube-apiserver's limit on one JSON patch

_DECODING = "error decoding patch: "

_OF_CUSTOM = (JSON_PATCH, MERGE, APPLY)


def check_patch_type(request: ResourceRequest, media: str) -> None:
    """Refuse (415) a patch type that the resource does not support."""
    if request.resource.is_custom:
        if media not in _OF_CUSTOM:
            raise unsupported_media_type(_OF_CUSTOM)
    elif media not in (*_OF_CUSTOM, STRATEGIC):
        request.warnings.clear()  # the handler, which warns, is not reached
        raise media_type_without_handler()


def apply_patch_to_object(
    live: dict[str, Any], request: ResourceRequest, media: str
) -> tuple[dict[str, Any], list[str]]:
    """Apply the patch of a request to `live`, a fresh decode that may be changed.

    Returns:
        The new object, and the errors of strict validation: duplicate and unknown members of the patch.

    Raises:
        StatusError: 400, 413 or 422.
    """
    if len(request.body) > BODY_LIMIT:
        raise request_entity_too_large(BODY_LIMIT)
    if media == JSON_PATCH:
        return _json_patched(live, request)
    if media == STRATEGIC:
        return _strategic_merge_patched(live, request)
    patch = _decode(request)
    if patch is None:
        raise bad_request("Invalid JSON Patch")
    if not isinstance(patch, dict):
        raise bad_request(_cannot_unmarshal(patch, "map[string]interface {}"))
    new: dict[str, Any] = merge_patch_apply(live, patch)
    return new, duplicate_members(request.body, patch)


def _strategic_merge_patched(live: dict[str, Any], request: ResourceRequest) -> tuple[dict[str, Any], list[str]]:
    """Apply a strategic merge patch; its kind and apiVersion are ignored."""
    try:
        patch = decode_json(request.body)
    except ValueError as error:
        raise bad_request(str(error)) from None
    if patch is None:
        patch = {}
    if not isinstance(patch, dict):
        raise bad_request(_cannot_unmarshal(patch, "map[string]interface {}").removeprefix(_DECODING))
    new = strategic_merge(live, patch, request.resource.schema)
    for key in ("kind", "apiVersion"):
        if isinstance(new.get(key), str):
            new[key] = live[key]
    return new, duplicate_members(request.body, patch)


def patch_outcome_undecodable(
    live: dict[str, Any], request: ResourceRequest, media: str, unfit: UndecodableBody
) -> StatusError:
    """422: the patched object does not decode as its kind.

    The message shows the patch if it is a strategic merge patch, otherwise the patched object.
    """
    if media == STRATEGIC:
        left = merged_patch(live, _decode(request), request.resource.schema)
        return invalid("", "", [invalid_value("patch", go_text(left), unfit.converted)])
    before = copied(live)
    new, _ = apply_patch_to_object(live, request, media)
    if request.resource.is_custom:
        return _result_invalid(msgspec.json.decode(msgspec.json.encode(new, order="sorted")), unfit.why)
    resource = request.resource
    package = f"{resource.group.partition('.')[0] or 'core'}.{resource.version}"
    return _result_invalid(in_go_order(new, before, resource.schema, package), unfit.why)


def _result_invalid(result: object, why: str) -> StatusError:
    return invalid("", "", [invalid_value("patch", msgspec.json.encode(result).decode(), why)])


def _decode(request: ResourceRequest) -> Any:
    try:
        return decode_json(request.body)
    except ValueError as error:
        raise bad_request(f"{_DECODING}{error}") from None


def _cannot_unmarshal(value: object, into: str, where: str = "value") -> str:
    return f"{_DECODING}json: cannot unmarshal {json_kind(value)} into Go {where} of type {into}"


def _json_patched(live: dict[str, Any], request: ResourceRequest) -> tuple[dict[str, Any], list[str]]:
    operations = _decode(request)
    if operations is None:
        operations = []
    if not isinstance(operations, list):
        raise bad_request(_cannot_unmarshal(operations, "[]handlers.jsonPatchOp"))
    if len(operations) > OPERATIONS:
        message = f"The allowed maximum operations in a JSON patch is {OPERATIONS}, got {len(operations)}"
        raise status_error(413, "RequestEntityTooLarge", message)
    unknown = list(_unknown_members(operations))
    try:
        new = apply_json_patch(live, [each or {} for each in operations])
    except PatchFailed:
        raise unprocessable() from None
    if not isinstance(new, dict):
        why = f"json: cannot unmarshal array into Go value of type {TYPE_META}"
        raise _result_invalid(new, f"couldn't get version/kind; json parse error: {why}")
    duplicates = duplicate_members(request.body, operations)
    return new, [f"json patch {each}" for each in (*duplicates, *unknown)]


def _unknown_members(operations: list[Any]) -> Iterator[str]:
    """Yield errors about unknown members of operations; null is an operation without members.

    Raises:
        StatusError: 400, an item of the list is no operation.
    """
    for index, operation in enumerate(operations):
        if operation is not None and not isinstance(operation, dict):
            raise bad_request(_cannot_unmarshal(operation, "handlers.jsonPatchOp"))
        for name, value in (operation or {}).items():
            if name not in ("op", "path", "from", "value"):
                yield f'unknown field "[{index}].{name}"'
            elif name != "value" and value is not None and not isinstance(value, str):
                raise bad_request(_cannot_unmarshal(value, "string", f"struct field jsonPatchOp.{name}"))


def _read_configuration(body: bytes) -> tuple[Any, list[str]]:
    """Decode an apply configuration; return it with errors about repeated keys, which have lines.

    Raises:
        StatusError: 400, it is no YAML.
    """
    try:
        decoded = decode_json(body)  # programs send JSON, which decodes twenty times as fast as YAML
        if not duplicate_members(body, decoded):
            return decoded, []
    except ValueError:
        pass
    from pyctrl.apiserver._serializer.yaml_reader import read_yaml  # here: most clients send JSON

    repeated: list[str] = []
    try:
        return read_yaml(body, repeated), repeated
    except ValueError as error:
        raise bad_request(f"error decoding YAML: error converting YAML to JSON: {error}") from None


def report_repeated_keys(request: ResourceRequest, repeated: Sequence[str], field_validation: str) -> None:
    """Refuse (Strict) or warn about (Warn) repeated keys of an apply configuration, after it was applied.

    Raises:
        StatusError: 400.
    """
    if repeated and field_validation == "Strict":
        why = "".join(f"\n  {each}" for each in repeated)
        raise bad_request(f"error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:{why}")
    if field_validation == "Warn":
        request.warnings.extend(each for each in repeated if each not in request.warnings)


def decode_apply(request: ResourceRequest, kind: tuple[str, str, str]) -> tuple[dict[str, Any], list[str]]:
    """Decode the body of a server-side apply, which is YAML or JSON, for an object of a group, version and kind.

    Returns:
        The configuration, and errors about its repeated keys.

    Raises:
        StatusError: 400; the body is of another kind, or has managed fields.
    """
    if len(request.body) > BODY_LIMIT:
        raise request_entity_too_large(BODY_LIMIT)
    decoded, repeated = _read_configuration(request.body)
    if decoded is None:
        decoded = {}
    if not isinstance(decoded, dict):
        why = _cannot_unmarshal(decoded, "map[string]interface {}").removeprefix(_DECODING)
        raise bad_request(f"error decoding YAML: error unmarshaling JSON: while decoding JSON: {why}")
    group, _, version = str(decoded.get("apiVersion") or "").rpartition("/")
    found = group, version, str(decoded.get("kind") or "")
    if found != kind:
        raise bad_request(f"invalid object type: {group}/{version}, Kind={found[2]}")
    metadata = decoded.get("metadata")
    if isinstance(metadata, dict) and isinstance(metadata.get("managedFields"), list):
        raise bad_request("metadata.managedFields must be nil")
    return decoded, repeated
