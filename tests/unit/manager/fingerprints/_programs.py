"""A program that is started and stopped again and again with fingerprints, and a reconciler that notes what it saw."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from random import Random
from typing import Any

from pyctrl.api import Key, KindLike, ObjectMeta
from pyctrl.apiserver import ApiServer
from pyctrl.client import Config
from pyctrl.controller import Builder, Controller, Reading, Reconciler, Request, Result
from pyctrl.kinds.core.v1 import ConfigMap, Secret
from pyctrl.manager import Fingerprints, Manager, Preflight

Run = Callable[["Noter", Request], Awaitable[Any]]


class Noter(Reconciler[ConfigMap]):
    """Runs a function for each request, and notes the requests."""

    reads: tuple[KindLike | Reading, ...] = (Secret,)

    def __init__(self, run: Run) -> None:
        self._run = run
        self.runs: list[str] = []

    async def reconcile(self, request: Request) -> Result | None:
        if request.name == "kube-root-ca.crt":
            return None
        self.runs.append(request.name)
        result = await self._run(self, request)
        return result if isinstance(result, Result) else None


async def read_named_secret(noter: Noter, request: Request) -> None:
    """Read the Secret that the ConfigMap names."""
    found = await noter.client.find(ConfigMap, request.key)
    if found is not None and "secret" in found.data:
        await noter.client.find(Secret, Key("default", found.data["secret"]))


class Program:
    """A program with one controller; each `running` is a process of its own."""

    def __init__(
        self,
        store: Fingerprints | None,
        run: Run = read_named_secret,
        *,
        server: ApiServer | None = None,
        wire: Callable[[Builder[Any]], Builder[Any]] = lambda builder: builder,
        reads: tuple[KindLike | Reading, ...] | None = None,
        **options: Any,
    ) -> None:
        self.server = server or ApiServer()
        self.store, self._run, self._wire, self._reads, self._options = store, run, wire, reads, options
        self.noter = Noter(run)
        self.controller: Controller
        self.manager: Manager
        self._starts = 0

    @property
    def runs(self) -> list[str]:
        """The names of the requests that this process has run, in order."""
        return self.noter.runs

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Manager]:
        """Run the program during the block."""
        self._starts += 1
        async with Manager(
            Config.in_process(self.server),
            fingerprints=self.store,
            random=Random(self._starts),
            preflight=Preflight.OFF,
            **self._options,
        ) as manager:
            self.manager, self.noter = manager, Noter(self._run)
            if self._reads is not None:
                self.noter.reads = self._reads
            self.controller = self._wire(Builder(manager).reconciles(ConfigMap)).build(self.noter)
            async with manager.running():
                yield manager


def config_map(name: str, **data: str) -> ConfigMap:
    """Return a ConfigMap."""
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default"), data=data)


def secret(name: str, **data: str) -> Secret:
    """Return a Secret."""
    return Secret(metadata=ObjectMeta(name=name, namespace="default"), string_data=data)
