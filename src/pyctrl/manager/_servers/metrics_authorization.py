"""Who may read metrics: whom the API server knows by the token, and lets get the path."""

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

# controller-runtime's times: how long an answer of the API server holds, in seconds.
KNOWN_SECONDS = 60.0
ALLOWED_SECONDS = 300.0
DENIED_SECONDS = 30.0
PATIENCE = 10.0  # for one review
REMEMBERED = 1000  # answers; who sends a new token each time must not fill the memory

_TOKEN_REVIEW = GroupVersionKind("authentication.k8s.io", "v1", "TokenReview")
_ACCESS_REVIEW = GroupVersionKind("authorization.k8s.io", "v1", "SubjectAccessReview")

#: What asking takes; only where metrics are secured.
SCRAPE_RBAC: tuple[Permission, ...] = (
    allow(Resource("authentication.k8s.io", "tokenreviews", False), "create"),
    allow(Resource("authorization.k8s.io", "subjectaccessreviews", False), "create"),
)

T = TypeVar("T")


class ScrapeGuard:
    """Lets those pass who send a bearer token that the API server knows, and who may ``get`` the path.

    The rule that lets somebody pass is ``nonResourceURLs: ["/metrics"], verbs: ["get"]``. Answers of the API server are
    remembered, allowed five minutes, denied half a minute, who somebody is for one; tokens only as their hash.
    """

    def __init__(self, client: Callable[[], Client]) -> None:
        self._client = client
        self._users: _Memory[dict[str, Any] | None] = _Memory()
        self._verdicts: _Memory[bool] = _Memory()

    async def refusal(self, authorization: str, path: str) -> tuple[int, str] | None:
        """Return status and text of the refusal of a GET; None lets it pass."""
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer" or not token.strip() or not token.isascii():  # RFC 6750, 2.1: it is ASCII
            return 401, "Unauthorized\n"
        try:
            async with asyncio.timeout(PATIENCE):
                return await self._judge(token.strip(), path)
        except TimeoutError:
            return 500, "Authentication failed: the API server does not answer\n"
        except PyctrlError as error:
            return 500, f"Authentication failed: {type(error).__name__}\n"

    async def _judge(self, token: str, path: str) -> tuple[int, str] | None:
        name = sha256(token.encode()).hexdigest()
        if name not in self._users:
            self._users.keep(name, await self._identify(token), KNOWN_SECONDS)
        user = self._users[name]
        if user is None:
            return 401, "Unauthorized\n"
        if (name, path) not in self._verdicts:
            may = await self._may(user, path)
            self._verdicts.keep((name, path), may, ALLOWED_SECONDS if may else DENIED_SECONDS)
        if self._verdicts[name, path]:
            return None
        return 403, f"Authorization denied for user {user.get('username', '')}\n"

    async def _identify(self, token: str) -> dict[str, Any] | None:
        review = Unstructured.new(_TOKEN_REVIEW, spec={"token": token})
        status = (await self._client().create(review)).get("status", {})
        return dict(status.get("user", {})) if status.get("authenticated") else None

    async def _may(self, user: dict[str, Any], path: str) -> bool:
        parts = {name: user[name] for name in ("uid", "groups", "extra") if user.get(name)}
        spec = {"user": user.get("username", ""), **parts, "nonResourceAttributes": {"path": path, "verb": "get"}}
        answer = await self._client().create(Unstructured.new(_ACCESS_REVIEW, spec=spec))
        return bool(answer.get("status", {}).get("allowed"))


@dataclass
class _Memory(Generic[T]):
    """Answers, for as long as each holds."""

    _kept: dict[Hashable, tuple[float, T]] = field(default_factory=dict)

    def keep(self, key: Hashable, answer: T, seconds: float) -> None:
        if len(self._kept) >= REMEMBERED:
            del self._kept[next(iter(self._kept))]
        self._kept[key] = (asyncio.get_running_loop().time() + seconds, answer)

    def __contains__(self, key: Hashable) -> bool:
        until, _ = self._kept.get(key, (0.0, None))
        if until <= asyncio.get_running_loop().time():
            self._kept.pop(key, None)
            return False
        return True

    def __getitem__(self, key: Hashable) -> T:
        return self._kept[key][1]
