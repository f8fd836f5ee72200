"""Reconcilers that read what their object names, for tests of subscriptions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from pyctrl.api import Key, ObjectMeta
from pyctrl.controller import Reconciler, Request, Result, reconcile_causes
from pyctrl.kinds.core.v1 import ConfigMap, Secret

Read = Callable[["Readers", Request], Awaitable[Any]]


class Readers(Reconciler[ConfigMap]):
    """Reads Secrets by a function, and records requests and causes."""

    reads = (Secret,)

    def __init__(self, read: Read) -> None:
        self._read = read
        self.runs: list[str] = []
        self.causes: list[str] = []

    async def reconcile(self, request: Request) -> Result | None:
        self.runs.append(request.name)
        self.causes += map(str, reconcile_causes())
        result = await self._read(self, request)
        return result if isinstance(result, Result) else None

    def take(self) -> list[str]:
        """Return the names of the requests since the last call, in order."""
        runs, self.runs = self.runs, []
        self.causes.clear()
        return runs


async def named_secret(readers: Readers, request: Request) -> object:
    """Read the Secret that the ConfigMap names."""
    owner = await readers.client.find(ConfigMap, request.key)
    return owner and await readers.client.find(Secret, Key("default", owner.data["secret"]))


def secret(name: str, *, labels: dict[str, str] | None = None, namespace: str = "default", **data: str) -> Secret:
    """Return a Secret."""
    return Secret(metadata=ObjectMeta(name=name, namespace=namespace, labels=labels or {}), string_data=data)
