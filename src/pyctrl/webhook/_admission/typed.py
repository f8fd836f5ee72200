"""Admission handlers made from a `Defaulter` or a `Validator`."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar, cast

import msgspec

from pyctrl.api import CustomResource, KindLike, Unstructured, decode, kind_of
from pyctrl.errors import BadRequest, DecodeError
from pyctrl.webhook._admission.admission import AdmissionHandler, AdmissionRequest, AdmissionResponse, Operation
from pyctrl.webhook._admission.handlers import Defaulter, Validator, Warnings
from pyctrl.webhook._json_diff import json_diff

__all__ = ["defaulting", "validating"]

log = logging.getLogger("pyctrl.webhook.admission")

T = TypeVar("T")

Validate: TypeAlias = Callable[..., Warnings | Awaitable[Warnings]]


def defaulting(kind: KindLike, defaulter: Defaulter[Any]) -> AdmissionHandler:
    """Return the handler that lets a defaulter complete objects of a kind and answers with the patch.

    Deletions and connections are allowed without calling it. So is an object of a custom kind that does not decode,
    with a warning: mutating webhooks run before the API server validates against the schema, and the API server's error
    names every field and its supported values.
    """

    async def answer(request: AdmissionRequest) -> AdmissionResponse:
        if request.operation not in (Operation.CREATE, Operation.UPDATE):
            return AdmissionResponse(allowed=True)
        try:
            # decoded twice: both encode alike, so that only the defaulter's changes differ
            before, obj = _object(kind, request.object, "object"), _object(kind, request.object, "object")
        except DecodeError as error:
            if not _has_schema(kind):
                raise BadRequest(str(error)) from error
            return _allowed(f"defaults were not set, because the object cannot be decoded: {error}")
        result = await _awaited(defaulter.default(obj, request))
        after = obj if result is None else result
        if not hasattr(after, "to_wire"):
            raise TypeError(f"default() of {type(defaulter).__name__} returned {after!r}; expected an object or None")
        return AdmissionResponse(allowed=True, patch=json_diff(before.to_wire(), after.to_wire()))

    return answer


def validating(kind: KindLike, validator: Validator[Any]) -> AdmissionHandler:
    """Return the handler that lets a validator review objects of a kind. Connections are allowed without calling it.

    Validating webhooks run after the API server has validated against the schema. An object that does not decode is
    therefore rejected: its class is stricter than the schema. An object that was stored before that does not block: it
    may be deleted, and updated if the update does not change the invalid part, for example when a controller removes a
    finalizer. An update that fixes the object is validated as a creation.
    """

    async def answer(request: AdmissionRequest) -> AdmissionResponse:
        match request.operation:
            case Operation.CREATE:
                return await _validated(validator.validate_create, kind, request)
            case Operation.UPDATE:
                return await _updated(kind, validator, request)
            case Operation.DELETE:
                return await _deleted(kind, validator, request)
            case _:
                return AdmissionResponse(allowed=True)

    return answer


async def _validated(validate: Validate, kind: KindLike, request: AdmissionRequest, *before: Any) -> AdmissionResponse:
    try:
        obj = _object(kind, request.object, "object")
    except DecodeError as error:
        return _denied(request, error)
    warnings = await _awaited(validate(*before, obj, request))
    return AdmissionResponse(allowed=True, warnings=_warning_texts(warnings, validate))


async def _updated(kind: KindLike, validator: Validator[Any], request: AdmissionRequest) -> AdmissionResponse:
    try:
        old = _object(kind, request.old_object, "oldObject")
    except DecodeError as error:
        if _is_unchanged(request) or _is_deleting(request):
            return _allowed(f"the stored object was not validated, because it cannot be decoded: {error}")
        answer = await _validated(validator.validate_create, kind, request)
        warning = f"validated as a new object, because the stored one cannot be decoded: {error}"
        return replace(answer, warnings=(*answer.warnings, warning))
    return await _validated(validator.validate_update, kind, request, old)


async def _deleted(kind: KindLike, validator: Validator[Any], request: AdmissionRequest) -> AdmissionResponse:
    try:
        old = _object(kind, request.old_object, "oldObject")
    except DecodeError as error:
        return _allowed(f"the deletion was not validated, because the object cannot be decoded: {error}")
    warnings = await _awaited(validator.validate_delete(old, request))
    return AdmissionResponse(allowed=True, warnings=_warning_texts(warnings, validator.validate_delete))


def _has_schema(kind: KindLike) -> bool:
    """Return whether the API server validates the kind against a schema after the mutating webhooks."""
    return isinstance(kind, type) and issubclass(kind, CustomResource)


def _is_unchanged(request: AdmissionRequest) -> bool:
    """Return whether an update changes metadata only."""
    old, new = (
        {name: value for name, value in (obj or {}).items() if name != "metadata"}
        for obj in (request.old_object, request.object)
    )
    return old == new


def _is_deleting(request: AdmissionRequest) -> bool:
    """Return whether the stored object is being deleted; such an object is never rejected."""
    return bool(((request.old_object or {}).get("metadata") or {}).get("deletionTimestamp"))


def _allowed(why: str) -> AdmissionResponse:
    log.warning("Allowed an object that cannot be decoded: %s", why)
    return AdmissionResponse(allowed=True, warnings=(why,))


def _denied(request: AdmissionRequest, error: DecodeError) -> AdmissionResponse:
    name = f'{request.kind.group_kind} "{request.name}"'
    message = f"{name} is invalid: it fits the schema, but not the types of the program that validates it: {error}"
    return AdmissionResponse(allowed=False, code=422, reason="Invalid", message=message)


def _object(kind: KindLike, wire: Mapping[str, Any] | None, member: str) -> Any:
    """Decode the object of a request.

    Raises:
        BadRequest: the review has no such object.
        DecodeError: the object does not decode as its class; the message has the path of the field.
    """
    if wire is None:
        raise BadRequest(f"expected {kind_of(kind)} in the review's {member}, which is empty")
    obj = decode(kind, msgspec.json.encode(wire))
    if isinstance(obj, Unstructured):
        _ = obj.metadata  # decodes the metadata, so that both sides are compared in decoded form
    return obj


async def _awaited(result: T | Awaitable[T]) -> T:
    return cast(T, await result if isinstance(result, Awaitable) else result)


def _warning_texts(warnings: Warnings, validate: Validate) -> tuple[str, ...]:
    if warnings is None:
        return ()
    if isinstance(warnings, str):
        return (warnings,)
    if isinstance(warnings, list | tuple) and all(isinstance(each, str) for each in warnings):
        return tuple(warnings)
    name = validate.__qualname__.rpartition("<locals>.")[2]
    raise TypeError(f"{name}() returned {warnings!r}; expected None, or warnings: str or list of str")
