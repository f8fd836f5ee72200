"""The controller csrcleaner: deletes old CertificateSigningRequests, once an hour."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from pyctrl import _clock
from pyctrl.controller import Builder, Controller, ManagedCluster, Reconciler, Request, Result, TickSource
from pyctrl.errors import NotFound
from pyctrl.kinds.certificates.v1 import CertificateSigningRequest

__all__ = ["add_csr_cleaner"]

POLLING_INTERVAL = timedelta(hours=1)
DECIDED = timedelta(hours=1)  # after which issued, denied and failed requests are deleted
PENDING = timedelta(hours=24)  # after which requests without a decision or a certificate are deleted


def add_csr_cleaner(host: ManagedCluster) -> Controller:
    """Run the controller csrcleaner in a manager."""
    tick = TickSource(POLLING_INTERVAL, [Request("", "every-request")], name="csrcleaner", random=host.random)
    return Builder(host).watches_source(tick).options(name="csrcleaner").build(CSRCleanerReconciler())


class CSRCleanerReconciler(Reconciler[CertificateSigningRequest]):
    """Deletes the requests that have passed their deadline."""

    async def reconcile(self, request: Request) -> Result | None:
        for csr in await self.client.live.list(CertificateSigningRequest):
            if any(_clock.now() > deadline for deadline in _deadlines(csr)):
                try:
                    await self.client.delete(csr)
                except NotFound:
                    continue
        return None


def _deadlines(csr: CertificateSigningRequest) -> Iterator[datetime]:
    """Yield the times after which a request is deleted."""
    created = csr.metadata.creation_timestamp
    if not csr.status.conditions and created is not None:
        yield created + PENDING
    for condition in csr.status.conditions:
        updated = condition.last_update_time
        if updated is None:
            continue
        if condition.type in ("Denied", "Failed"):
            yield updated + DECIDED
        elif condition.type == "Approved":
            yield updated + (DECIDED if csr.status.certificate else PENDING)
