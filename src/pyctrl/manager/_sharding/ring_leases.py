"""Requests for the Leases of a ring: write and release one's own, list all, delete those of ended replicas."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from pyctrl.api import Key
from pyctrl.client import Client, Preconditions
from pyctrl.errors import AlreadyExists, Conflict, NotFound, PyctrlError
from pyctrl.kinds.coordination.v1 import Lease
from pyctrl.manager._election.candidate import RELEASED_SECONDS, Moment
from pyctrl.manager._election.lease_lock import RELEASE_SECONDS, current_moment
from pyctrl.manager._sharding.member_state import RING_LABEL, MemberState, new_lease
from pyctrl.manager._sharding.options import Sharding

__all__ = ["LeaseGone", "ListedLeases", "RingLeases"]

log = logging.getLogger("pyctrl.manager")


class LeaseGone(PyctrlError):
    """Raised when a replica's own Lease has been deleted or replaced: replicas that join do not know its term."""


@dataclass(frozen=True, slots=True)
class ListedLeases:
    """The Leases of a ring, and when the request for them was sent and answered."""

    states: list[MemberState]
    sent: float
    received: float


class RingLeases:
    """Reads and writes the Leases of a ring for one replica.

    Args:
        client: used for these requests only; not behind a write gate.
        options: the options of the ring.
        key: the namespace and name of the replica's own Lease.
    """

    def __init__(self, client: Client, options: Sharding, key: Key) -> None:
        self.key = key
        self._client = client
        self._options = options
        self._own: Lease | None = None
        self._transitions = -1
        #: Whether a Lease was written that is not known to be released or deleted.
        self.may_exist = False

    async def begin(self, state: MemberState, at_most: float) -> Moment:
        """Write the Lease for a new term, and return when the request that succeeded was sent.

        Raises:
            PyctrlError, TimeoutError: it could not be written.
        """
        async with asyncio.timeout(at_most):
            if self._own is not None or self.may_exist:
                self._own = await self._client.find(Lease, self.key)
            self._transitions += 1
            return await self._write(state)

    async def renew(self, state: MemberState, at_most: float) -> Moment:
        """Renew the Lease, and return when the request that succeeded was sent.

        Raises:
            LeaseGone: it is deleted, or another one has its name.
            PyctrlError, TimeoutError: it could not be written.
        """
        async with asyncio.timeout(at_most):
            try:
                return await self._write(state)
            except Conflict:  # another client has changed it
                known, self._own = self._own, await self._client.find(Lease, self.key)
                if self._own is None or known is None or self._own.metadata.uid != known.metadata.uid:
                    raise LeaseGone(f"the lease {self.key} was deleted") from None
                if self._own.spec.holder_identity != known.spec.holder_identity:
                    raise LeaseGone(f"the lease {self.key} had expired, and was released by another replica") from None
                return await self._write(state)
            except NotFound:
                self._own = None
                raise LeaseGone(f"the lease {self.key} was deleted") from None

    async def list(self, at_most: float) -> ListedLeases:
        """List the Leases of the ring as they are now.

        Raises:
            ManagerError: a replica of another version has other slots.
            PyctrlError, TimeoutError: they could not be listed.
        """
        loop = asyncio.get_running_loop()
        sent, default = loop.time(), self._options.lease_duration.total_seconds()
        async with asyncio.timeout(at_most):
            leases = await self._client.list(Lease, namespace=self.key.namespace, labels=self._labels())
        states = [state for lease in leases if (state := MemberState.of(lease, default)) is not None]
        return ListedLeases(states, sent, loop.time())

    async def release(self, state: MemberState) -> None:
        """Release the Lease, so that others need not wait. A failure is logged; the Lease then expires."""
        try:
            async with asyncio.timeout(RELEASE_SECONDS):
                with suppress(LeaseGone):
                    await self.renew(state, RELEASE_SECONDS)
                self.may_exist = False
                log.info("Released lease", extra={"lock": str(self.key)})
        except (PyctrlError, TimeoutError) as error:
            reason = str(error) or "the server did not answer in time"
            log.warning("Failed to release lease", extra={"lock": str(self.key), "error": reason})

    async def release_for(self, expired: MemberState) -> None:
        """Release the Lease of a replica whose time is over, unless it has changed since. A failure is logged.

        So a replica that joins need not wait for a lease duration to find the same. Its holder, should it run again,
        notices that it must begin a new term.
        """
        key = Key(self.key.namespace, expired.member.lease)
        with self._ignoring_changes("release", key):
            async with asyncio.timeout(self._options.times().request_timeout.total_seconds()):
                lease = await self._client.find(Lease, key)
                if lease is not None and lease.metadata.resource_version == expired.resource_version:
                    lease.spec.holder_identity, lease.spec.lease_duration_seconds = "", RELEASED_SECONDS
                    await self._client.update(lease)

    async def delete(self, ended: MemberState) -> None:
        """Delete the Lease of a replica that has ended, unless it has changed since. A failure is logged."""
        key = Key(self.key.namespace, ended.member.lease)
        same = Preconditions(uid=ended.uid or None, resource_version=ended.resource_version)
        with self._ignoring_changes("delete", key):
            async with asyncio.timeout(self._options.times().request_timeout.total_seconds()):
                await self._client.delete(Lease, key, preconditions=same)

    @contextmanager
    def _ignoring_changes(self, verb: str, key: Key) -> Iterator[None]:
        try:
            yield
        except (Conflict, NotFound):  # it was not over, or another replica was faster
            pass
        except (PyctrlError, TimeoutError) as error:
            text = "Failed to %s the lease of a replica that has ended"
            log.debug(text, verb, extra={"lease": str(key), "error": str(error)})

    async def _write(self, state: MemberState) -> Moment:
        """Create or update the Lease, only if it is unchanged since it was read."""
        is_new = self._own is None
        lease = new_lease(self.key.name, self.key.namespace, {}) if self._own is None else self._own.deep_copy()
        lease.metadata.labels = {**lease.metadata.labels, **self._options.labels, **self._labels()}
        sent = current_moment()
        state.write_to(lease, sent.wall, self._transitions)
        self.may_exist = True
        known = lease.metadata.uid
        try:
            self._own = await (self._client.create(lease) if is_new else self._client.update(lease))
        except AlreadyExists:
            self._own = await self._client.find(Lease, self.key)
            raise
        if known and self._own.metadata.uid != known:  # some servers create what an update does not find
            raise LeaseGone(f"the lease {self.key} was deleted")
        return sent

    def _labels(self) -> dict[str, str]:
        return {RING_LABEL: self._options.name}
