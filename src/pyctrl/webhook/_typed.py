"""From typed Python to answers: what a handler returns, changes and raises becomes an `AdmissionResponse`."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import Any, TypeVar, cast

import msgspec

from pyctrl.api import KindLike, Unstructured, decode, kind_of
from pyctrl.errors import BadRequest, DecodeError

from ._admission import AdmissionHandler, AdmissionRequest, AdmissionResponse, Operation
from ._handlers import Defaulter, Validator, Warnings
from ._json_diff import json_diff

__all__ = ["defaulting", "validating"]

T = TypeVar("T")


def defaulting(kind: KindLike, defaulter: Defaulter[Any]) -> AdmissionHandler:
    """Make the handler that has a defaulter complete objects of a kind, and answers with the patch.

    Deletions and connections are allowed without asking it.
    """

    async def answer(request: AdmissionRequest) -> AdmissionResponse:
        if request.operation not in (Operation.CREATE, Operation.UPDATE):
            return AdmissionResponse(allowed=True)
        # twice, and not copied: each then says things in the same way, and only what the defaulter did differs
        before, obj = _object(kind, request.object, "object"), _object(kind, request.object, "object")
        given = await _awaited(defaulter.default(obj, request))
        after = obj if given is None else given
        if not hasattr(after, "to_wire"):
            raise TypeError(f"default() of {type(defaulter).__name__} returned {after!r}; expected an object or None")
        return AdmissionResponse(allowed=True, patch=json_diff(before.to_wire(), after.to_wire()))

    return answer


def validating(kind: KindLike, validator: Validator[Any]) -> AdmissionHandler:
    """Make the handler that asks a validator about objects of a kind. Connections are allowed without asking it."""

    async def answer(request: AdmissionRequest) -> AdmissionResponse:
        match request.operation:
            case Operation.CREATE:
                said = validator.validate_create(_object(kind, request.object, "object"), request)
            case Operation.UPDATE:
                old = _object(kind, request.old_object, "oldObject")
                said = validator.validate_update(old, _object(kind, request.object, "object"), request)
            case Operation.DELETE:
                said = validator.validate_delete(_object(kind, request.old_object, "oldObject"), request)
            case _:
                return AdmissionResponse(allowed=True)
        return AdmissionResponse(allowed=True, warnings=_sentences(await _awaited(said), validator))

    return answer


def _object(kind: KindLike, given: Mapping[str, Any] | None, member: str) -> Any:
    """Decode the object of a question.

    Raises:
        BadRequest: it is not there, or not what the class says; the user reads which field.
    """
    if given is None:
        raise BadRequest(f"expected {kind_of(kind)} in the review's {member}, which is empty")
    try:
        obj = decode(kind, msgspec.json.encode(given))
    except DecodeError as error:
        raise BadRequest(str(error)) from error
    if isinstance(obj, Unstructured):
        _ = obj.metadata  # decodes it, so that it is compared in the form that it will have when it was looked at
    return obj


async def _awaited(said: T | Awaitable[T]) -> T:
    return cast(T, await said if isinstance(said, Awaitable) else said)


def _sentences(warnings: Warnings, validator: object) -> tuple[str, ...]:
    if warnings is None:
        return ()
    if isinstance(warnings, str):
        return (warnings,)
    if isinstance(warnings, list | tuple) and all(isinstance(each, str) for each in warnings):
        return tuple(warnings)
    raise TypeError(f"{type(validator).__name__} returned {warnings!r}; expected None, or warnings: str or list of str")
