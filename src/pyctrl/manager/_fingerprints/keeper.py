"""The runnable that loads fingerprints when a replica begins to lead, and writes them while it does."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import blake2b
from typing import TYPE_CHECKING

from pyctrl.cache import Cache
from pyctrl.client import Config
from pyctrl.controller import Controller, FingerprintKeeping
from pyctrl.errors import ConfigError, DecodeError
from pyctrl.manager._fingerprints.program_version import program_version
from pyctrl.manager._fingerprints.saved_data import HEAD, SavedData, difference, pack, unpack
from pyctrl.manager._fingerprints.store import Fingerprints
from pyctrl.rbac import Permission

if TYPE_CHECKING:
    from pyctrl.manager._election.leader_elector import LeaderElector

__all__ = ["FingerprintKeeper", "cluster_identity"]

log = logging.getLogger("pyctrl.manager")

LOAD_TIMEOUT = 30.0  # seconds; then all requests run
#: How many times as long as the collection of the data took, the next one waits: it takes at most 1 % of a CPU.
REST = 100.0


class FingerprintKeeper:
    """Keeps the fingerprints of the controllers of a manager in a store; runs on the leader only.

    It writes when something has changed, at most once in the interval of the store, and at the end, after the
    controllers have ended. Data that another program, another cluster or another format has written is ignored.

    Args:
        store: where they are kept.
        config: the login of the manager; None if it was given a client.
        cache: the cache of the manager.
        elector: returns the leader elector; None without leader election.
    """

    name = "fingerprints"

    def __init__(
        self,
        store: Fingerprints,
        config: Config | None,
        cache: Cache,
        elector: Callable[[], LeaderElector | None],
    ) -> None:
        self._store, self._cluster, self._cache, self._elector = store, cluster_identity(config), cache, elector
        self._controllers: dict[str, Controller] = {}
        self._loaded = asyncio.Event()
        self._kept: dict[str, bytes] = {}  # what was loaded or written last, by controller
        self._written = b""  # the beginning of it, with its checksum
        self._version: dict[str, str] = {}
        self._has_changed = asyncio.Event()
        self._stopping = asyncio.Event()
        #: How often it has written.
        self.writes: int = 0

    @property
    def rbac(self) -> Sequence[Permission]:
        """The permissions that the store needs."""
        return self._store.rbac

    def adopt(self, *controllers: Controller) -> None:
        """Keep the fingerprints of controllers, if a restart can know what has changed."""
        for controller in controllers:
            self._adopt(controller)

    def _adopt(self, controller: Controller) -> None:
        if controller.cluster or not controller.only_leader:
            reason = "it works in another cluster" if controller.cluster else "every replica runs it"
        else:
            keeping = FingerprintKeeping(
                self._load, self._has_changed.set, self._store.verify_within, lambda: self._cache.informers
            )
            reason = controller.keep_fingerprints(keeping)
        if reason:
            facts = {"controller": controller.name, "reason": reason}
            log.info("Keeping no fingerprints: each start runs all requests", extra=facts)
        else:
            self._controllers[controller.name] = controller

    async def run(self) -> None:
        """Write what changes, until asked to stop; then write a last time."""
        self._stopping.clear()
        try:
            self._kept = await self._load_all()
            self._loaded.set()
            while not self._stopping.is_set():
                took = await self._write() if self._has_changed.is_set() else 0.0
                await self._rest(max(self._store.interval.total_seconds(), took * REST))
            for controller in self._controllers.values():
                if controller.fingerprints is not None:
                    await controller.fingerprints.ended.wait()
            await self._write()
        finally:
            self._loaded.clear()  # a later term loads again what other leaders have written meanwhile

    def ask_to_stop(self) -> None:
        """Write a last time once the controllers have ended; then `run` returns."""
        self._stopping.set()

    @property
    def _may_write(self) -> bool:
        """Whether no other replica can lead."""
        elector = self._elector()
        return elector is None or elector.may_act

    async def _rest(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopping.wait()

    # --- load ---

    async def _load(self, controller: str) -> bytes | None:
        await self._loaded.wait()
        return self._kept.get(controller)

    async def _load_all(self) -> dict[str, bytes]:
        """Load what was saved, if this program may use it. No failure ends it: then all requests run."""
        modules = [type(each.reconciler).__module__ for each in self._controllers.values()]
        self._version = program_version(modules, code=self._store.code)
        try:
            async with asyncio.timeout(LOAD_TIMEOUT):
                data = await self._store.load()
        except Exception as error:  # noqa: BLE001 - a store of the user may raise anything
            log.warning("Failed to load fingerprints, all requests run: %s", error)
            return {}
        if data is None:
            log.info("There are no fingerprints yet, all requests run")
            return {}
        return self._usable(data)

    def _usable(self, data: bytes) -> dict[str, bytes]:
        try:
            saved = unpack(data)
        except DecodeError as error:
            log.info("Ignoring fingerprints: %s", error)
            return {}
        if saved.cluster != self._cluster:
            log.info("Ignoring fingerprints: they are of another cluster")
            return {}
        if differing := difference(saved.version, self._version):
            log.info("Ignoring fingerprints: the program has changed", extra={"changed": differing})
            return {}
        return dict(saved.controllers)

    # --- write ---

    async def _write(self) -> float:
        """Collect and write the fingerprints; return the seconds that the collection took."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        self._has_changed.clear()
        try:
            for name, controller in self._controllers.items():
                assert controller.fingerprints is not None  # `adopt` checks it
                if (found := await controller.fingerprints.collect()) is not None:
                    self._kept[name] = found
            data = await pack(SavedData(self._version, self._cluster, self._kept))
            took = loop.time() - began
            if self._kept and self._may_write and data[:HEAD] != self._written:
                await self._store.save(data)
                self._written = data[:HEAD]
                self.writes += 1
        except Exception as error:  # noqa: BLE001 - as for `load`; the next write tries again
            self._has_changed.set()
            log.warning("Failed to write fingerprints, trying again later: %s", error)
            return loop.time() - began
        return took


def cluster_identity(config: Config | None) -> str:
    """Return what distinguishes clusters without a request: a digest of address and certificate authority.

    It is not exact, and need not be: objects of another cluster have other uids.
    """
    if config is None:
        return ""
    found = blake2b(config.server.encode(), digest_size=16)
    with suppress(ConfigError):  # without its certificate authority, it cannot be reached anyway
        found.update(b"" if config.tls.ca is None else config.tls.ca.read())
    return found.hexdigest()
