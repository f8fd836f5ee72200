"""The kinds of patch: each body is decoded as its media type says and applied to the live object."""

from __future__ import annotations

from collections.abc import Iterator
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
from pyctrl.apiserver._patch.json_patch import PatchFailed, apply_json_patch
from pyctrl.apiserver._patch.strategic_merge import strategic_merge
from pyctrl.apiserver._request.request import ResourceRequest
from pyctrl.apiserver._serializer.decoding import BODY_LIMIT, TYPE_META, decode_json, duplicate_members

JSON_PATCH = "application/json-patch+json"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"
OPERATIONS = 10_000  # kube-apiserver's limit on one JSON patch

_DECODING = "error decoding patch: "

_OF_CUSTOM = (JSON_PATCH, MERGE, APPLY)


def check_patch_type(request: ResourceRequest, media: str) -> None:
    """Refuse (415) a kind of patch that the resource does not take."""
    if request.resource.is_custom:
        if media not in _OF_CUSTOM:
            raise unsupported_media_type(_OF_CUSTOM)
    elif media not in (*_OF_CUSTOM, STRATEGIC):
        raise media_type_without_handler()


def apply_patch_to_object(
    live: dict[str, Any], request: ResourceRequest, media: str
) -> tuple[dict[str, Any], list[str]]:
    """Apply the patch of a request; `live` is a fresh decode that may be changed.

    Returns:
        The new object, and what strict validation has against the patch: members that it has twice or should not have.

    Raises:
        Refused: 400, 413 or 422.
    """
    if len(request.body) > BODY_LIMIT:
        raise request_entity_too_large(BODY_LIMIT)
    if media == JSON_PATCH:
        return _json_patched(live, request)
    if media == STRATEGIC:
        return _strategically(live, request)
    patch = _decode(request)
    if not isinstance(patch, dict):
        raise bad_request(_cannot_unmarshal(patch, "map[string]interface {}"))
    new: dict[str, Any] = merge_patch_apply(live, patch)
    return new, duplicate_members(request.body, patch)


def _strategically(live: dict[str, Any], request: ResourceRequest) -> tuple[dict[str, Any], list[str]]:
    """Merge a strategic patch; whatever it says of its kind is not looked at."""
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
    """422: what comes of a patch is no object of its kind. A strategic patch is shown, of others what came of them."""
    if media == STRATEGIC:
        return invalid("", "", [invalid_value("patch", go_text(_decode(request)), unfit.converted)])
    new, _ = apply_patch_to_object(live, request, media)
    if request.resource.is_custom:
        return _outcome_invalid(msgspec.json.decode(msgspec.json.encode(new, order="sorted")), unfit.why)
    return _outcome_invalid({name: new[name] for name in sorted(new)}, unfit.why)


def _outcome_invalid(outcome: object, why: str) -> StatusError:
    return invalid("", "", [invalid_value("patch", msgspec.json.encode(outcome).decode(), why)])


def _decode(request: ResourceRequest) -> Any:
    try:
        return decode_json(request.body)
    except ValueError as error:
        raise bad_request(f"{_DECODING}{error}") from None


def _cannot_unmarshal(value: object, into: str, where: str = "value") -> str:
    names = ((bool, "bool"), (int, "number"), (float, "number"), (str, "string"), (list, "array"), (dict, "object"))
    what = next((name for type_, name in names if isinstance(value, type_)), "null")
    return f"{_DECODING}json: cannot unmarshal {what} into Go {where} of type {into}"


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
        raise _outcome_invalid(new, f"couldn't get version/kind; json parse error: {why}")
    repeated = duplicate_members(request.body, operations)
    return new, [f"json patch {each}" for each in (*repeated, *unknown)]


def _unknown_members(operations: list[Any]) -> Iterator[str]:
    """Find members that no operation has; a null is an operation without members.

    Raises:
        Refused: 400, something in the list is no operation.
    """
    for index, operation in enumerate(operations):
        if operation is not None and not isinstance(operation, dict):
            raise bad_request(_cannot_unmarshal(operation, "handlers.jsonPatchOp"))
        for name, value in (operation or {}).items():
            if name not in ("op", "path", "from", "value"):
                yield f'unknown field "[{index}].{name}"'
            elif name != "value" and value is not None and not isinstance(value, str):
                raise bad_request(_cannot_unmarshal(value, "string", f"struct field jsonPatchOp.{name}"))


def decode_apply(request: ResourceRequest) -> dict[str, Any]:
    """Decode the body of a server-side apply: YAML, of which JSON is a part."""
    if len(request.body) > BODY_LIMIT:
        raise request_entity_too_large(BODY_LIMIT)
    try:
        decoded = decode_json(request.body)  # what programs send, read twenty times as fast as YAML
    except ValueError:
        from pyctrl.apiserver._serializer.yaml_reader import read_yaml  # here: few write YAML by hand

        try:
            decoded = read_yaml(request.body, [])
        except ValueError as error:
            raise bad_request(f"error decoding YAML: {error}") from None
    if not isinstance(decoded, dict):
        raise bad_request(f"error decoding YAML: {_cannot_unmarshal(decoded, 'map[string]interface {}')}")
    return decoded
