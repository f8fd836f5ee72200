"""Authentication and authorization webhooks: TokenReview and SubjectAccessReview."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

from pyctrl.api import Access
from pyctrl.errors import BadRequest
from pyctrl.webhook._admission.admission import UserInfo

__all__ = ["Authenticator", "AuthorizationDecision", "Authorizer", "Decision", "review_access", "review_token"]

log = logging.getLogger("pyctrl.webhook.access")

AUTHENTICATION = "authentication.k8s.io"
AUTHORIZATION = "authorization.k8s.io"
VERSIONS = ("v1", "v1beta1")  # v1beta1 is kube-apiserver's default version of both


class Authenticator(Protocol):
    """Maps a token to a user. An ``async def`` function implements it."""

    def __call__(self, token: str, audiences: Sequence[str], /) -> Awaitable[UserInfo | None]:
        """Return the user of a token that is valid for one of the audiences; None when the token is invalid."""
        ...


class AuthorizationDecision(Enum):
    """The decision of an authorizer, as kube-apiserver's authorizer.Decision."""

    #: The request is allowed.
    ALLOW = "allow"
    #: The request is denied, regardless of other authorizers.
    DENY = "deny"
    #: The next authorizer decides.
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Decision:
    """An authorization decision and its reason, which users see when access is denied."""

    opinion: AuthorizationDecision
    reason: str = ""


class Authorizer(Protocol):
    """Decides whether a user has an access. An ``async def`` function implements it."""

    def __call__(self, user: UserInfo, access: Access, /) -> Awaitable[Decision]:
        """Decide."""
        ...


async def review_token(authenticator: Authenticator, document: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a TokenReview (v1 or v1beta1). An empty token is not authenticated.

    Raises:
        BadRequest: the document is not a TokenReview of these versions.
    """
    spec = _spec(document, AUTHENTICATION, "TokenReview")
    token, audiences = str(spec.get("token") or ""), tuple(spec.get("audiences") or ())
    try:
        user = await authenticator(token, audiences) if token else None
    except Exception as error:
        log.exception("Authenticator failed")
        return _answer(document, {"authenticated": False, "error": _bug(error)})
    if user is None:
        return _answer(document, {"authenticated": False})
    given = {"username": user.username, "uid": user.uid, "groups": list(user.groups), "extra": dict(user.extra)}
    status: dict[str, Any] = {"authenticated": True, "user": {name: value for name, value in given.items() if value}}
    if audiences:
        status["audiences"] = list(audiences)
    return _answer(document, status)


async def review_access(authorizer: Authorizer, document: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a SubjectAccessReview (v1 or v1beta1). If the authorizer fails, the answer is no opinion.

    Raises:
        BadRequest: the document is not a SubjectAccessReview of these versions.
    """
    spec = _spec(document, AUTHORIZATION, "SubjectAccessReview")
    user = UserInfo(
        username=spec.get("user") or "",
        uid=spec.get("uid") or "",
        groups=tuple(spec.get("groups") or spec.get("group") or ()),  # v1beta1 calls it `group`
        extra=spec.get("extra") or {},
    )
    try:
        decision = await authorizer(user, _access(spec))
    except Exception as error:
        log.exception("Authorizer failed")
        return _answer(document, {"allowed": False, "evaluationError": _bug(error)})
    status: dict[str, Any] = {"allowed": decision.opinion is AuthorizationDecision.ALLOW}
    if decision.opinion is AuthorizationDecision.DENY:
        status["denied"] = True
    if decision.reason:
        status["reason"] = decision.reason
    return _answer(document, status)


def _spec(document: Mapping[str, Any], group: str, kind: str) -> Mapping[str, Any]:
    found = (document.get("apiVersion"), document.get("kind"))
    if found not in [(f"{group}/{version}", kind) for version in VERSIONS]:
        wanted = f"{group}/{' or '.join(VERSIONS)}"
        raise BadRequest(f"expected {wanted}, Kind={kind}, got {found[0]}, Kind={found[1]}")
    spec = document.get("spec")
    if not isinstance(spec, Mapping):
        raise BadRequest(f"expected a {kind} with a spec; it has none")
    return spec


def _access(spec: Mapping[str, Any]) -> Access:
    wanted, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if wanted:
        return Access(
            verb=wanted.get("verb") or "",
            group=wanted.get("group") or "",
            resource=wanted.get("resource") or "",
            subresource=wanted.get("subresource") or "",
            namespace=wanted.get("namespace") or "",
            name=wanted.get("name") or "",
        )
    path = path or {}
    return Access(path.get("verb") or "", path=path.get("path") or "", is_resource=False)


def _answer(document: Mapping[str, Any], status: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": document["apiVersion"], "kind": document["kind"], "metadata": {}, "status": status}


def _bug(error: Exception) -> str:
    return f"the webhook failed: {type(error).__name__}; its log has more"
