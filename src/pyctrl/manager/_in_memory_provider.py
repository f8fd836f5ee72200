"""Clusters that a program, or a test, names itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping

from pyctrl.client import Config

__all__ = ["InMemoryProvider"]


class InMemoryProvider:
    """A provider for a `Fleet` that is told in code which clusters there are.

        provider = InMemoryProvider({"a": Config.load(context="a")})
        fleet = manager.add_fleet("edge", provider)
        provider.add("b", Config.load(context="b"))

    Args:
        clusters: those of the beginning.
    """

    def __init__(self, clusters: Mapping[str, Config] | None = None) -> None:
        self._clusters = dict(clusters or {})
        self._changed = asyncio.Event()

    def add(self, name: str, config: Config) -> None:
        """Let a cluster come; one that is there gets the new login, or is another one from now on (see `Fleet`)."""
        self._clusters[name] = config
        self._changed.set()

    def remove(self, name: str) -> None:
        """Let a cluster leave, if it is there."""
        self._clusters.pop(name, None)
        self._changed.set()

    async def follow(self) -> AsyncIterator[Mapping[str, Config]]:
        """Yield all of them, at once and whenever that has changed; for one fleet at a time."""
        while True:
            self._changed.clear()
            yield dict(self._clusters)
            await self._changed.wait()
