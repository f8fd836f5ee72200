"""Admission as data: what an API server asks before it stores something, and what it is answered."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from pyctrl.api import GroupVersionKind, GroupVersionResource, Key
from pyctrl.errors import Cause, DecodeError

__all__ = ["AdmissionHandler", "AdmissionRequest", "AdmissionResponse", "Operation", "UserInfo", "read_request"]


class Operation(StrEnum):
    """What somebody wants to do with an object."""

    CREATE = "CREATE"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    CONNECT = "CONNECT"


@dataclass(frozen=True, slots=True, kw_only=True)
class UserInfo:
    """Who asks, as the API server authenticated them."""

    username: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionRequest:
    """What the API server asks about one write.

    Attributes:
        uid: the id of this question, which the answer repeats; logs of the webhook have it as ``requestID``.
        kind: the kind and version that the objects are in, which is what the webhook's rule names.
        resource: its resource; `subresource` is "" for the object itself.
        request_kind: the kind that the user sent; differs where an equivalent version was converted for the webhook.
        name: "" where the server is still to generate one.
        namespace: "" for what is cluster-scoped.
        user: who wants it.
        dry_run: whether nothing will be stored; a webhook with side effects must leave them out.
        options: CreateOptions, UpdateOptions, PatchOptions or DeleteOptions, as they came.
        object: the new object as it came; None on DELETE.
        old_object: the object as stored; None on CREATE.
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
    """The answer to one question.

    Attributes:
        allowed: whether the write may go on.
        code: 200 when allowed; otherwise what the user's request is answered with.
        reason: Kubernetes' word for the code, such as ``Forbidden``.
        message: a sentence for the user.
        causes: what is wrong with which field.
        patch: operations of a JSON patch that change the object; for mutating webhooks only.
        warnings: sentences that the user's client shows; allowed or not.
        audit_annotations: facts for the audit log of the API server.
        status: a whole Status, of an error that another API server answered; it goes to the user as it is.
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
    """Answers questions about writes; an ``async def`` function will do.

    `defaulting` and `validating` make one of typed Python. What it raises becomes an answer, as described there.
    """

    def __call__(self, request: AdmissionRequest, /) -> Awaitable[AdmissionResponse]:
        """Answer one question."""
        ...


def read_request(asked: Mapping[str, Any]) -> AdmissionRequest:
    """Read the ``request`` of an AdmissionReview.

    Raises:
        DecodeError: something that every question has is not there.
    """
    try:
        kind, resource = GroupVersionKind(**asked["kind"]), GroupVersionResource(**asked["resource"])
        request_kind, request_resource = asked.get("requestKind"), asked.get("requestResource")
        return AdmissionRequest(
            uid=asked["uid"],
            kind=kind,
            resource=resource,
            operation=Operation(asked["operation"]),
            user=_user(asked.get("userInfo") or {}),
            subresource=asked.get("subResource") or "",
            request_kind=GroupVersionKind(**request_kind) if request_kind else kind,
            request_resource=GroupVersionResource(**request_resource) if request_resource else resource,
            name=asked.get("name") or "",
            namespace=asked.get("namespace") or "",
            dry_run=bool(asked.get("dryRun")),
            options=asked.get("options") or {},
            object=asked.get("object"),
            old_object=asked.get("oldObject"),
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
