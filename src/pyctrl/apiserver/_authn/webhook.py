"""Webhook token authenticator: TokenReviews of bearer tokens, with a cache."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Any, Literal

from pyctrl.apiserver._authn.authenticator import AuthenticatorResponse
from pyctrl.apiserver._user import User, add_authenticated_group
from pyctrl.apiserver._webhooks import ReviewCache, ReviewClient, ReviewPending, WebhookCallFailed, WebhookClient

__all__ = ["AuthenticationWebhook", "WebhookTokenAuthenticator"]


GROUP = "authentication.k8s.io"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthenticationWebhook:
    """Options of the webhook token authenticator: kube-apiserver's ``--authentication-token-webhook-*``.

    Attributes:
        url: The URL that TokenReviews are posted to.
        ca: The certificate authorities of the webhook as PEM; empty for those of the system.
        version: The API version of the TokenReviews; kube-apiserver's default is v1beta1.
        cache: The time that responses are cached. Failures are not cached.
    """

    url: str
    ca: bytes = b""
    version: Literal["v1", "v1beta1"] = "v1"
    cache: timedelta = timedelta(minutes=2)


class WebhookTokenAuthenticator:
    """Authenticator of tokens by TokenReviews that a webhook answers."""

    def __init__(self, options: AuthenticationWebhook, client: WebhookClient, random: Random) -> None:
        self._options = options
        self._review_client = ReviewClient(client, random, url=options.url, ca=options.ca)
        self._cache: ReviewCache[tuple[str, tuple[str, ...]], AuthenticatorResponse] = ReviewCache()

    def authenticate_token(self, token: str, audiences: tuple[str, ...]) -> AuthenticatorResponse:
        """Return the cached response for a token.

        Raises:
            ReviewPending: The response is not cached; the webhook must be called first.
        """
        found = self._cache.find((token, audiences))
        if found is None:
            raise ReviewPending(lambda: self._review(token, audiences))
        return found

    async def _review(self, token: str, audiences: tuple[str, ...]) -> None:
        review = {
            "kind": "TokenReview",
            "apiVersion": f"{GROUP}/{self._options.version}",
            "metadata": {},
            "spec": {"token": token, "audiences": list(audiences)},
            "status": {"user": {}},
        }
        seconds = self._options.cache.total_seconds()
        try:
            found = _read(await self._review_client.review(review), audiences)
        except WebhookCallFailed as failed:
            found, seconds = AuthenticatorResponse(error=str(failed)), 0.0
        self._cache.put((token, audiences), found, seconds if not found.error else 0.0)


def _read(status: Mapping[str, Any], audiences: tuple[str, ...]) -> AuthenticatorResponse:
    """Read the status of a TokenReview; without audiences, the token is valid for all requested ones."""
    if not status.get("authenticated"):
        return AuthenticatorResponse(error=str(status.get("error") or ""))
    named = status.get("audiences")
    good = tuple(each for each in audiences if each in named) if named else audiences
    if not good:
        return AuthenticatorResponse()
    info = status.get("user") or {}
    extra = {key: tuple(values) for key, values in (info.get("extra") or {}).items()}
    name, groups = info.get("username") or "", tuple(info.get("groups") or ())
    return AuthenticatorResponse(
        add_authenticated_group(User(name=name, uid=info.get("uid") or "", groups=groups, extra=extra)), good
    )
