"""Responses of the API server and its errors: `Status` objects with the messages of kube-apiserver.

Code that refuses a request raises a `StatusError` from a constructor in this module (`raise not_found(...)`). The
server turns it into a response in one place. `FieldError` is a field error as apimachinery's `field` package prints it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import msgspec

from pyctrl._go.text import aggregate_messages, quoted, shown_value

__all__ = [
    "JSON",
    "MEDIA_TYPES",
    "MODIFIED",
    "PROTOBUF",
    "STREAM_MEDIA_TYPES",
    "YAML",
    "FieldError",
    "Response",
    "StatusError",
    "UndecodableBody",
    "Upgrade",
    "UpgradedConnection",
    "already_exists",
    "apply_conflict",
    "bad_request",
    "conflict",
    "duplicate",
    "failure_status",
    "field_forbidden",
    "forbidden",
    "generate_name_conflict",
    "internal_error",
    "invalid",
    "invalid_options",
    "invalid_value",
    "media_type_without_handler",
    "method_not_allowed",
    "method_not_supported",
    "not_acceptable",
    "not_acceptable_for_list",
    "not_acceptable_representation",
    "not_found",
    "not_supported",
    "qualified_resource",
    "request_entity_too_large",
    "required",
    "resource_expired",
    "resource_not_served",
    "status_error",
    "success_status",
    "too_large_resource_version",
    "too_long",
    "too_many",
    "type_invalid",
    "unauthorized",
    "unknown_error",
    "unprocessable",
    "unsupported_media_type",
]

JSON = "application/json"
YAML = "application/yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"
MEDIA_TYPES = (JSON, YAML, PROTOBUF)
STREAM_MEDIA_TYPES = ("application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch")


class UpgradedConnection(Protocol):
    """The bytes of an upgraded connection, in both directions. One task may read while another one writes."""

    async def read(self) -> bytes:
        """Return the bytes that were received since the last call, at least one; b"" when the client sends no more."""
        ...

    async def write(self, data: bytes) -> None:
        """Write bytes. Waits while the client reads slower than they are written.

        Raises:
            ConnectionError: The client has disconnected.
        """
        ...


@dataclass(frozen=True, slots=True)
class Upgrade:
    """The body of a response with the status 101: takes over the connection after the head of the response.

    `serve` is cancelled when the connection is lost or the server stops. A client that closes its side is noticed by
    reading only. The connection is closed when `serve` returns. A handler that returns an `Upgrade` sets the headers
    `Upgrade` and `Connection` of the response.
    """

    serve: Callable[[UpgradedConnection], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """A response of the server.

    Its body is whole, a stream of chunks that is closed when the client disconnects, or an `Upgrade`.
    """

    status: int
    headers: Sequence[tuple[str, str]] = (("Content-Type", JSON),)
    body: bytes | AsyncGenerator[bytes, None] | Upgrade = b""
    is_verbatim: bool = False  # the response of another server, which is neither formatted nor compressed again


class StatusError(Exception):
    """A refused request, with the `Status` object of the response."""

    def __init__(self, code: int, status: dict[str, Any], headers: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__(status.get("message", ""))
        self.code = code
        self.status = status
        self.headers = tuple(headers)

    def response(self, headers: Sequence[tuple[str, str]] = ()) -> Response:
        """Return the HTTP response."""
        return Response(
            status=self.code,
            headers=(("Content-Type", JSON), *self.headers, *headers),
            body=msgspec.json.encode(self.status),
        )


class FieldError(NamedTuple):
    """An error of one field: the reason of the cause, its message and the path of the field."""

    reason: str
    message: str
    field: str


# -- field errors ----------------------------------------------------------------------------------------------


def invalid_value(field: str, value: object, why: str) -> FieldError:
    """`FIELD: Invalid value: VALUE: WHY`."""
    return FieldError("FieldValueInvalid", f"Invalid value: {shown_value(value)}: {why}", field)


def type_invalid(field: str, value: object, why: str) -> FieldError:
    """`FIELD: Invalid value: VALUE: WHY` for a value of the wrong type."""
    return FieldError("FieldValueTypeInvalid", f"Invalid value: {shown_value(value)}: {why}", field)


def required(field: str, why: str = "") -> FieldError:
    """`FIELD: Required value: WHY`."""
    return FieldError("FieldValueRequired", f"Required value: {why}" if why else "Required value", field)


def duplicate(field: str, value: object) -> FieldError:
    """`FIELD: Duplicate value: VALUE`."""
    return FieldError("FieldValueDuplicate", f"Duplicate value: {shown_value(value)}", field)


def field_forbidden(field: str, why: str) -> FieldError:
    """`FIELD: Forbidden: WHY`."""
    return FieldError("FieldValueForbidden", f"Forbidden: {why}", field)


def too_long(field: str, limit: int) -> FieldError:
    """`FIELD: Too long: may not be more than LIMIT bytes`."""
    return FieldError("FieldValueTooLong", f"Too long: may not be more than {limit} byte{_s(limit)}", field)


def too_many(field: str, count: int, limit: int) -> FieldError:
    """`FIELD: Too many: COUNT: must have at most LIMIT items`."""
    return FieldError("FieldValueTooMany", f"Too many: {count}: must have at most {limit} item{_s(limit)}", field)


def _s(count: int) -> str:
    return "" if count == 1 else "s"


def not_supported(field: str, value: object, supported: Iterable[str]) -> FieldError:
    """`FIELD: Unsupported value: VALUE: supported values: "A", "B"`, in the order of `supported`."""
    values = ", ".join(quoted(each) for each in supported)
    return FieldError(
        "FieldValueNotSupported", f"Unsupported value: {shown_value(value)}: supported values: {values}", field
    )


# -- Status ----------------------------------------------------------------------------------------------------


def qualified_resource(resource: str, group: str) -> str:
    """`configmaps`, or `deployments.apps` for a resource (or kind) of a named group."""
    return f"{resource}.{group}" if group else resource


def _details(
    *, name: str = "", group: str = "", kind: str = "", uid: str = "", causes: Sequence[FieldError] = ()
) -> dict[str, Any]:
    parts: dict[str, Any] = {"name": name, "group": group, "kind": kind, "uid": uid}
    details = {key: value for key, value in parts.items() if value}
    if causes:
        details["causes"] = [_cause(cause) for cause in causes]
    return details


def _cause(cause: FieldError) -> dict[str, str]:
    parts = {"reason": cause.reason, "message": cause.message, "field": cause.field}
    return {key: value for key, value in parts.items() if value}


def failure_status(code: int, reason: str, message: str, details: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the `Status` of a failure; `details` is left out only when it is None."""
    status: dict[str, Any] = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "details": details,
        "code": code,
    }
    return {key: value for key, value in status.items() if value is not None and value != ""}


def status_error(code: int, reason: str, message: str, details: Mapping[str, Any] | None = None) -> StatusError:
    """Return the error for a `Status` that has no constructor of its own."""
    return StatusError(code, failure_status(code, reason, message, details))


def success_status(resource: str, name: str, group: str = "", uid: str = "") -> dict[str, Any]:
    """Return the `Status` of a completed delete."""
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": _details(name=name, group=group, kind=resource, uid=uid),
    }


def not_found(resource: str, name: str, group: str = "") -> StatusError:
    """404: the object does not exist."""
    message = f"{qualified_resource(resource, group)} {quoted(name)} not found"
    return status_error(404, "NotFound", message, _details(name=name, group=group, kind=resource))


def resource_not_served() -> StatusError:
    """404: nothing is served at this path."""
    return status_error(404, "NotFound", "the server could not find the requested resource", {})


def already_exists(resource: str, name: str, group: str = "", *, is_deleted: bool = False) -> StatusError:
    """409: an object of this name exists."""
    message = _already_exists(resource, name, group, is_deleted=is_deleted)
    return status_error(409, "AlreadyExists", message, _details(name=name, group=group, kind=resource))


def _already_exists(resource: str, name: str, group: str, *, is_deleted: bool) -> str:
    start = "object is being deleted: " if is_deleted else ""
    return f"{start}{qualified_resource(resource, group)} {quoted(name)} already exists"


def generate_name_conflict(resource: str, name: str, group: str = "", *, is_deleted: bool = False) -> StatusError:
    """409: every generated name is taken; a retry may succeed."""
    start = _already_exists(resource, name, group, is_deleted=is_deleted)
    message = f"{start}, the server was not able to generate a unique name for the object"
    details = {**_details(name=name, group=group, kind=resource), "retryAfterSeconds": 1}
    return status_error(409, "AlreadyExists", message, details)


MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"


def conflict(resource: str, name: str, group: str = "", why: str = MODIFIED) -> StatusError:
    """409: the object is not in the state that the request expects."""
    message = f"Operation cannot be fulfilled on {qualified_resource(resource, group)} {quoted(name)}: {why}"
    return status_error(409, "Conflict", message, _details(name=name, group=group, kind=resource))


def apply_conflict(message: str, causes: Sequence[FieldError]) -> StatusError:
    """409: server-side apply of fields that other managers own."""
    return status_error(409, "Conflict", message, _details(causes=causes))


def invalid(kind: str, name: str, causes: Sequence[FieldError], group: str = "") -> StatusError:
    """422: the object is invalid. The message has equal errors once, the causes have all of them."""
    reasons = aggregate_messages(f"{cause.field}: {cause.message}" for cause in causes)
    message = f"{qualified_resource(kind, group)} {quoted(name)} is invalid: {reasons}"
    return status_error(422, "Invalid", message, _details(name=name, group=group, kind=kind, causes=causes))


def invalid_options(kind: str, causes: Sequence[FieldError]) -> StatusError:
    """422: the options of a request (`ListOptions`, `PatchOptions`, ...) are invalid."""
    return invalid(kind, "", causes, group="meta.k8s.io")


def unprocessable() -> StatusError:
    """422: a patch that is well formed but does not apply."""
    return status_error(422, "Invalid", "the server rejected our request due to an error in our request", {})


def bad_request(message: str) -> StatusError:
    """400: the request is malformed."""
    return status_error(400, "BadRequest", message)


class UndecodableBody(StatusError):
    """400: a body that does not decode as its kind. `why` is the reason, which patches report with 422."""

    wrapped: tuple[tuple[str | int, ...], int] | None = None  # where a number has too many bits, and what is left of it

    def __init__(self, kind: str, version: str, why: str, *, of: str = "", converted: str = "") -> None:
        message = f'{kind} in version "{version}" cannot be handled as a {of or kind}: {why}'
        super().__init__(400, failure_status(400, "BadRequest", message))
        self.why = why
        self.converted = converted or why  # the reason that strategic merge patches report


def unauthorized() -> StatusError:
    """401: the credentials are invalid."""
    return status_error(401, "Unauthorized", "Unauthorized")


def forbidden(resource: str, name: str, why: str, group: str = "", causes: Sequence[FieldError] = ()) -> StatusError:
    """403: `RESOURCE "NAME" is forbidden: WHY` (without the name when it is unknown)."""
    subject = f"{qualified_resource(resource, group)} {quoted(name)}" if name else qualified_resource(resource, group)
    details = _details(name=name, group=group, kind=resource, causes=causes)
    return status_error(403, "Forbidden", f"{subject} is forbidden: {why}", details)


def method_not_allowed() -> StatusError:
    """405: the path is served, but not with this method."""
    return status_error(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {})


def method_not_supported(resource: str, verb: str, group: str = "") -> StatusError:
    """405: the resource does not have the verb."""
    message = f"{verb} is not supported on resources of kind {quoted(qualified_resource(resource, group))}"
    return status_error(405, "MethodNotAllowed", message, _details(group=group, kind=resource))


def not_acceptable(available: Sequence[str] = MEDIA_TYPES) -> StatusError:
    """406: the server supports no media type that the client accepts."""
    message = f"406: Not Acceptable\n\nAvailable representations: {', '.join(available)}"
    return status_error(406, "NotAcceptable", message, {})


def not_acceptable_representation(available: Sequence[str] = MEDIA_TYPES) -> StatusError:
    """406: the media type is known, its parameters are not, or not for this request."""
    message = f"only the following media types are accepted: {', '.join(available)}"
    return status_error(406, "NotAcceptable", message)


def not_acceptable_for_list(wanted: str, go_type: str, *, is_list: bool) -> StatusError:
    """406: the client accepts only the representation of one object for a list, or the other way round."""
    is_or_not = "is a list" if is_list else "is not a list"
    message = f"you requested {wanted}, but the requested object {is_or_not} ({go_type})"
    return status_error(406, "NotAcceptable", message)


def unsupported_media_type(accepted: Sequence[str] = MEDIA_TYPES) -> StatusError:
    """415: the server does not read bodies of this content type."""
    message = f"the body of the request was in an unknown format - accepted media types include: {', '.join(accepted)}"
    return status_error(415, "UnsupportedMediaType", message)


def media_type_without_handler() -> StatusError:
    """415: no patch type has this content type."""
    return status_error(415, "UnsupportedMediaType", "415: Unsupported Media Type", {})


def request_entity_too_large(limit: int) -> StatusError:
    """413: the body is larger than the limit."""
    message = f"Request entity too large: limit is {limit}"
    return status_error(413, "RequestEntityTooLarge", message)


def resource_expired(message: str) -> StatusError:
    """410: the requested resource version is compacted."""
    return status_error(410, "Expired", message)


def too_large_resource_version(wanted: int, current: int, *, is_cached: bool = True) -> StatusError:
    """504: the requested resource version lies in the future. A cache, which events do not have, may reach it soon."""
    causes = [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]
    details = {"causes": causes, **({"retryAfterSeconds": 1} if is_cached else {})}
    return status_error(504, "Timeout", f"Timeout: Too large resource version: {wanted}, current: {current}", details)


def internal_error(message: str) -> StatusError:
    """500: an internal error."""
    cause = {"message": message}
    return status_error(500, "InternalError", f"Internal error occurred: {message}", {"causes": [cause]})


def unknown_error(message: str) -> StatusError:
    """500 without a reason: the response of kube-apiserver for errors that it does not map."""
    return status_error(500, "", message)
