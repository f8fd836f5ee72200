"""Reviews by authentication and authorization webhooks, with a cache.

Authenticators and authorizers are not async. They look a review up in a `ReviewCache` and raise `ReviewPending` if it
is missing. The server then calls the webhook and starts the request again (`resolve_reviews`); nothing has been
written by then.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from random import Random
from typing import Any, Generic, TypeVar

from pyctrl.apiserver._webhooks.caller import WebhookCredentials
from pyctrl.apiserver._webhooks.client import WebhookCallFailed, WebhookClient

__all__ = ["ReviewCache", "ReviewClient", "ReviewPending", "resolve_reviews"]


K = TypeVar("K")
V = TypeVar("V")
T = TypeVar("T")

TIMEOUT_SECONDS = 30  # this and the next three lines are k8s.io/apiserver's values
ATTEMPTS = 5
FIRST_PAUSE, PAUSE_FACTOR, PAUSE_JITTER = 0.5, 1.5, 0.2  # seconds between attempts
_NO_CREDENTIALS = WebhookCredentials()
RETRIED = (429, 500, 504)  # status codes of transient errors
MAX_CACHED = 8192  # reviews in a cache

_request_reviews: ContextVar[dict[object, Any] | None] = ContextVar("_request_reviews", default=None)


class ReviewPending(Exception):
    """Raised for a review that is not cached. `call_webhook` posts it and caches the result."""

    def __init__(self, call_webhook: Callable[[], Awaitable[None]]) -> None:
        super().__init__("a webhook must be called first")
        self.call_webhook = call_webhook


class ReviewCache(Generic[K, V]):
    """Cache of reviews. A review is valid for a time, and until the end of the request that needed it."""

    def __init__(self) -> None:
        self._reviews: dict[K, tuple[V, float]] = {}

    def find(self, key: K) -> V | None:
        """Return the cached review of a key, if there is one."""
        seen = _request_reviews.get()
        if seen is not None and (self, key) in seen:
            review: V = seen[self, key]
            return review
        found = self._reviews.get(key)
        if found is None or found[1] <= _time():
            return None
        if seen is not None:
            seen[self, key] = found[0]
        return found[0]

    def put(self, key: K, review: V, seconds: float) -> None:
        """Cache a review for a time; with 0 for the current request only."""
        seen = _request_reviews.get()
        if seen is not None:
            seen[self, key] = review
        if seconds <= 0:
            return
        if len(self._reviews) >= MAX_CACHED:
            now = _time()
            fresh = {each: value for each, value in self._reviews.items() if value[1] > now}
            self._reviews = fresh if len(fresh) < MAX_CACHED else {}
        self._reviews[key] = review, _time() + seconds


async def resolve_reviews(work: Callable[[], Awaitable[T]]) -> T:
    """Run the work of a request; call the webhooks of pending reviews and run it again until none is pending."""
    token = _request_reviews.set({})
    try:
        while True:
            try:
                return await work()
            except ReviewPending as pending:
                await pending.call_webhook()
    finally:
        _request_reviews.reset(token)


class ReviewClient:
    """Client of one webhook, with retries after transient errors."""

    def __init__(
        self,
        client: WebhookClient,
        random: Random,
        *,
        url: str,
        ca: bytes,
        credentials: WebhookCredentials = _NO_CREDENTIALS,
        first_pause: float = FIRST_PAUSE,
    ) -> None:
        self._client, self._random = client, random
        self._credentials, self._first_pause = credentials, first_pause
        self._config = {"url": url, "caBundle": base64.b64encode(ca).decode()}

    async def review(self, review: dict[str, Any]) -> dict[str, Any]:
        """Post a review and return the status of the returned one.

        Raises:
            WebhookCallFailed: The call failed or returned another kind; the text is kube-apiserver's.
        """
        pause = self._first_pause
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return await self._post(review)
            except WebhookCallFailed as failed:
                if failed.status not in RETRIED or attempt == ATTEMPTS:
                    raise
            await asyncio.sleep(pause * (1 + PAUSE_JITTER * self._random.random()))
            pause *= PAUSE_FACTOR
        raise AssertionError("unreachable: the last attempt returns or raises")

    async def _post(self, review: dict[str, Any]) -> dict[str, Any]:
        found = await self._client.post(self._config, review, TIMEOUT_SECONDS, self._credentials)
        return _status(found, review)


def _status(response: Any, review: dict[str, Any]) -> dict[str, Any]:
    wanted = review["kind"], review["apiVersion"]
    if not isinstance(response, dict):
        raise WebhookCallFailed(f"expected a {wanted[0]} of {wanted[1]}")
    found = response.get("kind") or wanted[0], response.get("apiVersion") or wanted[1]  # as in client-go
    if found != wanted:
        shown, into = (f"({version.rpartition('/')[2]}.{kind})" for kind, version in (found, wanted))
        raise WebhookCallFailed(f"converting {shown} to {into}: unknown conversion")
    status = response.get("status")
    return status if isinstance(status, dict) else {}


def _time() -> float:
    return asyncio.get_running_loop().time()
