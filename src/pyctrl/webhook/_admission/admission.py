"""Admission requests and responses."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from pyctrl.api import GroupVersionKind, GroupVersionResource, Key
from pyctrl.errors import Cause, DecodeError

__all__ = ["AdmissionHandler", "AdmissionRequest", "AdmissionResponse", "Operation", "UserInfo", "read_request"]


class Operation(StrEnum):
    """The operation of an admission request."""

    CREATE = "CREATE"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    CONNECT = "CONNECT"


@dataclass(frozen=True, slots=True, kw_only=True)
class UserInfo:
    """The user of a request, as the API server authenticated them."""

    username: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionRequest:
    """The API server's request to review one write.

    Attributes:
            uid: the id of the request, which the response repeats; webhook logs have it as ``requestID``.
            kind: the kind and version of the objects, as named by the webhook's rule.
            resource: its resource; `subresource` is "" for the object itself.
            request_kind: the kind that the user sent; differs if an equivalent version was converted for the webhook.
            name: "" if the server has not generated one yet.
            namespace: "" for cluster-scoped objects.
            user: the user who sent the request.
            dry_run: True if nothing will be stored; a webhook must then have no side effects.
            options: CreateOptions, UpdateOptions, PatchOptions or DeleteOptions, as received.
            object: the new object as received; None on DELETE.
            old_object: the stored object; None on CREATE.
    """

    uid: str
    kind: GroupVersionKind
    resource: GroupVersionResource
    operation: Operation
    user: UserInfo
    subresource: str = ""
    request_kind: GroupVersionKind
    request_resource: GroupVersionResource
    name: str = ""
    namespace: str = ""
    dry_run: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    object: Mapping[str, Any] | None = None
    old_object: Mapping[str, Any] | None = None

    @property
    def key(self) -> Key:
        """Namespace and name."""
        return Key(self.namespace, self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionResponse:
    """The response to an admission request.

    Attributes:
            allowed: whether the write is admitted.
            code: 200 when allowed; otherwise the HTTP code of the user's request.
            reason: the Kubernetes reason of the code, such as ``Forbidden``.
            message: a message for the user.
            causes: the invalid fields.
            patch: operations of a JSON patch that change the object; for mutating webhooks only.
            warnings: messages that the user's client shows, whether or not the write is allowed.
            audit_annotations: annotations for the API server's audit log.
            status: the complete Status of an error of another API server, which is returned to the user unchanged.
    """

    allowed: bool
    code: int = 200
    reason: str = ""
    message: str = ""
    causes: tuple[Cause, ...] = ()
    patch: tuple[Mapping[str, Any], ...] = ()
    warnings: tuple[str, ...] = ()
    audit_annotations: Mapping[str, str] = field(default_factory=dict)
    status: Mapping[str, Any] = field(default_factory=dict)


class AdmissionHandler(Protocol):
    """Handles admission requests. An ``async def`` function implements it.

    `defaulting` and `validating` return one for a typed class. Exceptions become responses, as described there.
    """

    def __call__(self, request: AdmissionRequest, /) -> Awaitable[AdmissionResponse]:
        """Return the response to one request."""
        ...


def read_request(wire: Mapping[str, Any]) -> AdmissionRequest:
    """Decode the ``request`` of an AdmissionReview.

    Raises:
        DecodeError: a member that every request has is missing.
    """
    try:
        kind, resource = GroupVersionKind(**wire["kind"]), GroupVersionResource(**wire["resource"])
        request_kind, request_resource = wire.get("requestKind"), wire.get("requestResource")
        return AdmissionRequest(
            uid=wire["uid"],
            kind=kind,
            resource=resource,
            operation=Operation(wire["operation"]),
            user=_user(wire.get("userInfo") or {}),
            subresource=wire.get("subResource") or "",
            request_kind=GroupVersionKind(**request_kind) if request_kind else kind,
            request_resource=GroupVersionResource(**request_resource) if request_resource else resource,
            name=wire.get("name") or "",
            namespace=wire.get("namespace") or "",
            dry_run=bool(wire.get("dryRun")),
            options=wire.get("options") or {},
            object=wire.get("object"),
            old_object=wire.get("oldObject"),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DecodeError(f"expected the request of an AdmissionReview; it lacks or misspells: {error}") from error


def _user(info: Mapping[str, Any]) -> UserInfo:
    return UserInfo(
        username=info.get("username") or "",
        uid=info.get("uid") or "",
        groups=tuple(info.get("groups") or ()),
        extra=info.get("extra") or {},
    )
