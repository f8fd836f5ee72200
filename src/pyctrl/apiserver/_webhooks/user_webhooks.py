"""Questions about users: webhooks are asked who somebody is, or who may do what, and their answers are kept.

Whoever needs an answer is not async: it looks whether there is one (`ReviewCache`), and if not raises
`ReviewPending`. The server
then has the webhook asked, and begins anew (`resolve_reviews`); nothing has been written by then.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from random import Random
from typing import Any, Generic, TypeVar

from pyctrl.apiserver._webhooks.client import WebhookCallFailed, WebhookClient

K = TypeVar("K")
V = TypeVar("V")
T = TypeVar("T")

TIMEOUT_SECONDS = 30  # these four are k8s.io/apiserver's
ATTEMPTS = 5
FIRST_PAUSE, PAUSE_FACTOR, PAUSE_JITTER = 0.5, 1.5, 0.2  # seconds between attempts
RETRIED = (429, 500, 504)  # what may go well another time
MAX_CACHED = 8192  # answers that are kept

_seen: ContextVar[dict[object, Any] | None] = ContextVar("_seen", default=None)


class ReviewPending(Exception):
    """Raised where an answer is needed that no webhook has given yet."""

    def __init__(self, ask: Callable[[], Awaitable[None]]) -> None:
        super().__init__("a webhook has to be asked first")
        self.ask = ask


class ReviewCache(Generic[K, V]):
    """Answers of webhooks: each is good for a while, and until the end of the request that it was needed for."""

    def __init__(self) -> None:
        self._kept: dict[K, tuple[V, float]] = {}

    def find(self, key: K) -> V | None:
        """Return the answer to a question, if there is one."""
        seen = _seen.get()
        if seen is not None and (self, key) in seen:
            answer: V = seen[self, key]
            return answer
        found = self._kept.get(key)
        if found is None or found[1] <= _time():
            return None
        if seen is not None:
            seen[self, key] = found[0]
        return found[0]

    def keep(self, key: K, answer: V, seconds: float) -> None:
        """Keep an answer for so long; with 0 for this request only."""
        seen = _seen.get()
        if seen is not None:
            seen[self, key] = answer
        if seconds <= 0:
            return
        if len(self._kept) >= MAX_CACHED:
            now = _time()
            fresh = {kept: value for kept, value in self._kept.items() if value[1] > now}
            self._kept = fresh if len(fresh) < MAX_CACHED else {}
        self._kept[key] = answer, _time() + seconds


async def resolve_reviews(work: Callable[[], Awaitable[T]]) -> T:
    """Do some work for a request; have webhooks asked what it lacks, and begin again."""
    token = _seen.set({})
    try:
        while True:
            try:
                return await work()
            except ReviewPending as lacking:
                await lacking.ask()
    finally:
        _seen.reset(token)


class ReviewClient:
    """Asks one webhook, again if it fails in a way that may pass."""

    def __init__(self, client: WebhookClient, random: Random, *, url: str, ca: bytes) -> None:
        self._client, self._random = client, random
        self._config = {"url": url, "caBundle": base64.b64encode(ca).decode()}

    async def ask(self, review: dict[str, Any]) -> dict[str, Any]:
        """Send a review, and return the status of the one that comes back.

        Raises:
            WebhookCallFailed: none came, or another kind of thing; in kube-apiserver's words.
        """
        pause = FIRST_PAUSE
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return _status(await self._client.post(self._config, review, TIMEOUT_SECONDS), review)
            except WebhookCallFailed as failed:
                if failed.status not in RETRIED or attempt == ATTEMPTS:
                    raise
            await asyncio.sleep(pause * (1 + PAUSE_JITTER * self._random.random()))
            pause *= PAUSE_FACTOR
        raise AssertionError("the last attempt has raised")


def _status(answer: Any, review: dict[str, Any]) -> dict[str, Any]:
    wanted = review["kind"], review["apiVersion"]
    found = (answer.get("kind"), answer.get("apiVersion")) if isinstance(answer, dict) else (None, None)
    if found != wanted:
        raise WebhookCallFailed(f"expected a {wanted[0]} of {wanted[1]}, got {found[0]} of {found[1]}")
    status = answer.get("status")
    return status if isinstance(status, dict) else {}


def _time() -> float:
    return asyncio.get_running_loop().time()
