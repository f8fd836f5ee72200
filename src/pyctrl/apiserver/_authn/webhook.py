"""Webhook token authenticator: TokenReviews of bearer tokens, with a cache."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Any, Literal, NamedTuple

from pyctrl.apiserver._user import User, add_authenticated_group
from pyctrl.apiserver._webhooks import ReviewCache, ReviewClient, ReviewPending, WebhookCallFailed, WebhookClient

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


class WebhookTokenResponse(NamedTuple):
    """What the webhook has said about a token."""

    user: User | None = None
    audiences: tuple[str, ...] = ()
    error: str = ""


class WebhookTokenAuthenticator:
    """Authenticator of tokens by TokenReviews that a webhook answers."""

    def __init__(self, options: AuthenticationWebhook, client: WebhookClient, random: Random) -> None:
        self._options = options
        self._review_client = ReviewClient(client, random, url=options.url, ca=options.ca)
        self._kept: ReviewCache[tuple[str, tuple[str, ...]], WebhookTokenResponse] = ReviewCache()

    def find(self, token: str, audiences: tuple[str, ...]) -> WebhookTokenResponse:
        """Return what is known about a token.

        Raises:
            ReviewPending: The response is not cached; the webhook must be called first.
        """
        found = self._kept.find((token, audiences))
        if found is None:
            raise ReviewPending(lambda: self._ask(token, audiences))
        return found

    async def _ask(self, token: str, audiences: tuple[str, ...]) -> None:
        review = {
            "kind": "TokenReview",
            "apiVersion": f"{GROUP}/{self._options.version}",
            "metadata": {},
            "spec": {"token": token, "audiences": list(audiences)},
            "status": {"user": {}},
        }
        seconds = self._options.cache.total_seconds()
        try:
            found = _read(await self._review_client.ask(review), audiences)
        except WebhookCallFailed as failed:
            found, seconds = WebhookTokenResponse(error=str(failed)), 0.0
        self._kept.keep((token, audiences), found, seconds if not found.error else 0.0)


def _read(status: Mapping[str, Any], audiences: tuple[str, ...]) -> WebhookTokenResponse:
    """Read an answer; one that names no audience is for this server's own, which are those it was asked about."""
    if not status.get("authenticated"):
        return WebhookTokenResponse(error=str(status.get("error") or ""))
    named = status.get("audiences")
    good = tuple(each for each in audiences if each in named) if named else audiences
    if not good:
        return WebhookTokenResponse()
    told = status.get("user") or {}
    extra = {key: tuple(values) for key, values in (told.get("extra") or {}).items()}
    name, groups = told.get("username") or "", tuple(told.get("groups") or ())
    return WebhookTokenResponse(
        add_authenticated_group(User(name=name, uid=told.get("uid") or "", groups=groups, extra=extra)), good
    )
