"""Authentication and authorization of metrics requests by the API server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Generic, TypeVar

from pyctrl.api import GroupVersionKind, Unstructured
from pyctrl.client import Client
from pyctrl.errors import PyctrlError
from pyctrl.rbac import Permission, Resource, allow

__all__ = ["SCRAPE_RBAC", "ScrapeGuard"]

# How long a review is cached, in seconds: controller-runtime's times.
AUTHENTICATED_SECONDS = 60.0
ALLOWED_SECONDS = 300.0
DENIED_SECONDS = 30.0
REVIEW_SECONDS = 10.0  # timeout of one request's reviews
CACHED_REVIEWS = 1000  # so that a client that sends a new token each time cannot fill the memory

_TOKEN_REVIEW = GroupVersionKind("authentication.k8s.io", "v1", "TokenReview")
_ACCESS_REVIEW = GroupVersionKind("authorization.k8s.io", "v1", "SubjectAccessReview")

#: The permissions for these reviews; needed only with ``metrics_certificates``.
SCRAPE_RBAC: tuple[Permission, ...] = (
    allow(Resource("authentication.k8s.io", "tokenreviews", False), "create"),
    allow(Resource("authorization.k8s.io", "subjectaccessreviews", False), "create"),
)

T = TypeVar("T")


class ScrapeGuard:
    """Authorizes requests by TokenReview and SubjectAccessReview, like controller-runtime's metrics filter.

    The RBAC rule for a scraper is ``nonResourceURLs: ["/metrics"], verbs: ["get"]``. Reviews are cached: allowed
    accesses for five minutes, denied ones for 30 seconds, users for one minute. Only hashes of tokens are kept.
    """

    def __init__(self, client: Callable[[], Client]) -> None:
        self._client = client
        self._users: _ReviewCache[dict[str, Any] | None] = _ReviewCache()
        self._allowed: _ReviewCache[bool] = _ReviewCache()

    async def refusal(self, authorization: str, path: str) -> tuple[int, str] | None:
        """Return status and text of the error response to a GET; None if it is allowed."""
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer" or not token.strip() or not token.isascii():  # RFC 6750, 2.1: tokens are ASCII
            return 401, "Unauthorized\n"
        try:
            async with asyncio.timeout(REVIEW_SECONDS):
                return await self._review(token.strip(), path)
        except TimeoutError:
            return 500, "Authentication failed: the API server does not answer\n"
        except PyctrlError as error:
            return 500, f"Authentication failed: {type(error).__name__}\n"

    async def _review(self, token: str, path: str) -> tuple[int, str] | None:
        token_hash = sha256(token.encode()).hexdigest()
        if token_hash not in self._users:
            self._users.add(token_hash, await self._authenticate(token), AUTHENTICATED_SECONDS)
        user = self._users[token_hash]
        if user is None:
            return 401, "Unauthorized\n"
        if (token_hash, path) not in self._allowed:
            is_allowed = await self._authorize(user, path)
            self._allowed.add((token_hash, path), is_allowed, ALLOWED_SECONDS if is_allowed else DENIED_SECONDS)
        if self._allowed[token_hash, path]:
            return None
        return 403, f"Authorization denied for user {user.get('username', '')}\n"

    async def _authenticate(self, token: str) -> dict[str, Any] | None:
        review = Unstructured.new(_TOKEN_REVIEW, spec={"token": token})
        status = (await self._client().create(review)).get("status", {})
        return dict(status.get("user", {})) if status.get("authenticated") else None

    async def _authorize(self, user: dict[str, Any], path: str) -> bool:
        parts = {name: user[name] for name in ("uid", "groups", "extra") if user.get(name)}
        spec = {"user": user.get("username", ""), **parts, "nonResourceAttributes": {"path": path, "verb": "get"}}
        answer = await self._client().create(Unstructured.new(_ACCESS_REVIEW, spec=spec))
        return bool(answer.get("status", {}).get("allowed"))


@dataclass
class _ReviewCache(Generic[T]):
    """Results of reviews, each until it expires; at the limit the oldest one is dropped."""

    _results: dict[Hashable, tuple[float, T]] = field(default_factory=dict)

    def add(self, key: Hashable, result: T, seconds: float) -> None:
        if len(self._results) >= CACHED_REVIEWS:
            del self._results[next(iter(self._results))]
        self._results[key] = (asyncio.get_running_loop().time() + seconds, result)

    def __contains__(self, key: Hashable) -> bool:
        expires, _ = self._results.get(key, (0.0, None))
        if expires <= asyncio.get_running_loop().time():
            self._results.pop(key, None)
            return False
        return True

    def __getitem__(self, key: Hashable) -> T:
        return self._results[key][1]
