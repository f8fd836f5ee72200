"""Webhook token authentication: tokens that nobody else knows are shown to a webhook."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Any, Literal, NamedTuple

from pyctrl.apiserver._authentication._user import User, authenticated
from pyctrl.apiserver._webhooks import CallFailed, Kept, Questioner, Undecided, WebhookClient

GROUP = "authentication.k8s.io"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthenticationWebhook:
    """A webhook that says whose a token is: kube-apiserver's ``--authentication-token-webhook-*``.

    Attributes:
        url: where it is asked.
        ca: whom to trust, as PEM; without, the authorities of the system.
        version: of the TokenReviews; kube-apiserver's own default is v1beta1.
        cache: how long an answer is good; a failure is not kept.
    """

    url: str
    ca: bytes = b""
    version: Literal["v1", "v1beta1"] = "v1"
    cache: timedelta = timedelta(minutes=2)


class Found(NamedTuple):
    """What the webhook has said about a token."""

    user: User | None = None
    audiences: tuple[str, ...] = ()
    error: str = ""


class TokenWebhook:
    """Asks the webhook about tokens."""

    def __init__(self, options: AuthenticationWebhook, client: WebhookClient, random: Random) -> None:
        self._options = options
        self._questioner = Questioner(client, random, url=options.url, ca=options.ca)
        self._kept: Kept[tuple[str, tuple[str, ...]], Found] = Kept()

    def find(self, token: str, audiences: tuple[str, ...]) -> Found:
        """Return what is known about a token.

        Raises:
            Undecided: the webhook has to be asked.
        """
        found = self._kept.find((token, audiences))
        if found is None:
            raise Undecided(lambda: self._ask(token, audiences))
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
            found = _read(await self._questioner.ask(review), audiences)
        except CallFailed as failed:
            found, seconds = Found(error=str(failed)), 0.0
        self._kept.keep((token, audiences), found, seconds if not found.error else 0.0)


def _read(status: Mapping[str, Any], audiences: tuple[str, ...]) -> Found:
    """Read an answer; one that names no audience is for this server's own, which are those it was asked about."""
    if not status.get("authenticated"):
        return Found(error=str(status.get("error") or ""))
    named = status.get("audiences")
    good = tuple(each for each in audiences if each in named) if named else audiences
    if not good:
        return Found()
    told = status.get("user") or {}
    extra = {key: tuple(values) for key, values in (told.get("extra") or {}).items()}
    name, groups = told.get("username") or "", tuple(told.get("groups") or ())
    return Found(authenticated(User(name=name, uid=told.get("uid") or "", groups=groups, extra=extra)), good)
