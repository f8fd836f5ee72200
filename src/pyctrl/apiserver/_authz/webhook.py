"""Webhook authorizer: SubjectAccessReviews, with a cache."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Any, Literal

from pyctrl.api import Access, AccessRule
from pyctrl.apiserver._authn import User
from pyctrl.apiserver._authz.authorizer import Decision, RoleReference
from pyctrl.apiserver._webhooks import ReviewCache, ReviewClient, ReviewPending, WebhookCallFailed, WebhookClient

__all__ = ["AuthorizationWebhook", "WebhookAuthorizer"]


GROUP = "authorization.k8s.io"
_PARTS = ("namespace", "verb", "group", "resource", "subresource", "name")
_BOTH = "webhook subject access review returned both allow and deny response"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizationWebhook:
    """Options of the webhook authorizer: kube-apiserver's ``--authorization-webhook-*``.

    Attributes:
        url: The URL that SubjectAccessReviews are posted to.
        ca: The certificate authorities of the webhook as PEM; empty for those of the system.
        version: The API version of the SubjectAccessReviews; kube-apiserver's default is v1beta1.
        authorized_cache: The time that responses which allow an access are cached.
        unauthorized_cache: The time that other responses are cached. Failures are not cached.
    """

    url: str
    ca: bytes = b""
    version: Literal["v1", "v1beta1"] = "v1"
    authorized_cache: timedelta = timedelta(minutes=5)
    unauthorized_cache: timedelta = timedelta(seconds=30)


class WebhookAuthorizer:
    """Authorizer by a webhook. If a call fails, it has no opinion; the error is reported if no other allows."""

    def __init__(self, options: AuthorizationWebhook, client: WebhookClient, random: Random) -> None:
        self._options = options
        self._review_client = ReviewClient(client, random, url=options.url, ca=options.ca)
        self._cache: ReviewCache[tuple[User, Access], Decision] = ReviewCache()

    def decide(self, user: User, access: Access) -> Decision:
        """Return the cached decision of the webhook.

        Raises:
            ReviewPending: The decision is not cached; the webhook must be called first.
        """
        found = self._cache.find((user, access))
        if found is None:
            raise ReviewPending(lambda: self._review(user, access))
        return found

    def rules(self, user: User, namespace: str) -> tuple[list[AccessRule], list[RoleReference]]:
        """Return no rules: SubjectAccessReviews do not list rules."""
        return [], []

    def unresolved(self, user: User) -> str:
        """Return that the rules are not known."""
        return "webhook authorizer does not support user rule resolution"

    async def _review(self, user: User, access: Access) -> None:
        review = {
            "kind": "SubjectAccessReview",
            "apiVersion": f"{GROUP}/{self._options.version}",
            "metadata": {},
            "spec": self._spec(user, access),
            "status": {"allowed": False},
        }
        try:
            decision = _read(await self._review_client.review(review))
        except WebhookCallFailed as failed:
            decision = Decision(is_allowed=False, error=str(failed))
        options = self._options
        cache = options.authorized_cache if decision.is_allowed else options.unauthorized_cache
        self._cache.put((user, access), decision, 0.0 if decision.error else cache.total_seconds())

    def _spec(self, user: User, access: Access) -> dict[str, Any]:
        if access.is_resource:
            parts = {part: getattr(access, part) for part in _PARTS} | {"version": "*"}
            attributes = {"resourceAttributes": {part: value for part, value in parts.items() if value}}
        else:
            attributes = {"nonResourceAttributes": {"path": access.path, "verb": access.verb}}
        groups = "groups" if self._options.version == "v1" else "group"
        extra = {key: list(values) for key, values in user.extra.items()}
        subject = {"user": user.name, groups: list(user.groups), "uid": user.uid, "extra": extra}
        return attributes | {key: value for key, value in subject.items() if value}


def _read(status: Mapping[str, Any]) -> Decision:
    is_allowed, is_denied = bool(status.get("allowed")), bool(status.get("denied"))
    if is_allowed and is_denied:
        return Decision(is_allowed=False, is_denied=True, error=_BOTH)
    return Decision(is_allowed=is_allowed, is_denied=is_denied, reason=str(status.get("reason") or ""))
