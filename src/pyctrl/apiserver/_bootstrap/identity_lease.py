"""Renewal of the Lease of the server's identity, while the server serves over HTTP.

Clients in the process do not watch it: without them, a server in virtual time has nothing to do.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Final

from pyctrl._clock import now
from pyctrl.api import format_micro_time
from pyctrl.apiserver._bootstrap.system_objects import IDENTITY
from pyctrl.apiserver._meta.system_fields import timestamp
from pyctrl.apiserver._storage.storage import Storage
from pyctrl.errors import StorageError

__all__ = ["renewed_identity"]

RENEW_SECONDS: Final = 10.0  # IdentityLeaseRenewIntervalSeconds of kube-apiserver
NAMESPACE: Final = "kube-system"


@contextmanager
def renewed_identity(storage: Storage) -> Iterator[None]:
    """Renew the Lease of the server until the block ends."""
    storage.heartbeats.start(IDENTITY, _IdentityHeartbeat(storage))
    try:
        yield
    finally:
        storage.heartbeats.end(IDENTITY)


class _IdentityHeartbeat:
    """The heartbeat of the server. `HeartbeatWriter` has the contract."""

    def __init__(self, storage: Storage) -> None:
        self._leases = storage.collection("coordination.k8s.io", "leases")
        self._loop = asyncio.get_running_loop()
        self._renewed = self._loop.time()

    def due(self) -> float:
        """Return when the Lease is renewed next."""
        return self._renewed + RENEW_SECONDS

    def latest(self) -> float:
        """Return the time now: the server is alive."""
        return self._loop.time()

    def write(self) -> None:
        """Renew the Lease with the time at which it was due last. An extension API server has none."""
        elapsed = self._loop.time() - self._renewed
        self._renewed += elapsed // RENEW_SECONDS * RENEW_SECONDS
        stored = self._leases.find(NAMESPACE, IDENTITY)
        if stored is None:
            return
        lease, moment = stored.decode(), now() - timedelta(seconds=elapsed % RENEW_SECONDS)
        lease["spec"]["renewTime"] = format_micro_time(moment)
        for entry in lease["metadata"].get("managedFields") or ():
            entry["time"] = timestamp(moment)
        with suppress(StorageError):  # the next one is tried
            self._leases.put(lease, None)
