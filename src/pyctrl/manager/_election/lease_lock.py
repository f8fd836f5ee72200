"""Requests for the Lease: read, acquire, renew and release, each with a timeout."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

from pyctrl import _clock
from pyctrl.api import Key
from pyctrl.client import Client
from pyctrl.errors import ApiError, Conflict, PyctrlError
from pyctrl.kinds.coordination.v1 import Lease
from pyctrl.manager._election.candidate import Candidate, Moment
from pyctrl.manager._election.options import LeaderElection

__all__ = ["ANSWER_SECONDS", "RELEASE_SECONDS", "LeaseLock", "current_moment"]

log = logging.getLogger("pyctrl.manager")

# for the answers to writes, and then for releasing the Lease; together below the 5 s that a group waits when cancelled
ANSWER_SECONDS, RELEASE_SECONDS = 1.9, 3.0


class LeaseLock:
    """Reads and writes the Lease for a `Candidate`, and records the results in it.

    Args:
        client: used for election requests only; not behind a write gate.
        options: the leader election options.
        candidate: this replica's candidate; only this object updates it.
        key: the namespace and name of the Lease.
    """

    def __init__(self, client: Client, options: LeaderElection, candidate: Candidate, key: Key) -> None:
        self._client = client
        self._options = options
        self._candidate = candidate
        self._key = key
        #: Whether a claim was sent, and since then no other holder was observed.
        self.may_hold = False
        #: The error of the last request; "" if it succeeded.
        self.last_error = ""
        self.renewals = self.slow_paths = self.failures = 0

    async def try_acquire_or_renew(self) -> bool:
        """Try once to acquire or renew the Lease; return whether that succeeded."""
        try:
            if self._candidate.is_leading and await self._renew_without_reading():
                return True
            await self._read()
            if not self._candidate.may_write(current_moment().loop):
                facts = self._fields() | {"holder": self._candidate.holder}
                log.debug("Lease is held by and has not yet expired", extra=facts)
                return False
            await self._write()
        except (PyctrlError, TimeoutError) as error:
            self._failed(error)
            return False
        return True

    async def release(self) -> None:
        """Release the Lease if this replica holds it. A failure is logged; the Lease then expires."""
        try:
            async with asyncio.timeout(RELEASE_SECONDS):
                while not await self._try_to_release():
                    pass
        except (PyctrlError, TimeoutError) as error:
            reason = str(error) or "the server did not answer in time"
            log.warning("Failed to release lease", extra=self._fields() | {"error": reason})

    async def _try_to_release(self) -> bool:
        self._candidate.observe(await self._client.find(Lease, self._key), current_moment().loop)
        if self._candidate.holder != self._candidate.identity:
            return True
        with suppress(Conflict):
            await self._client.update(self._candidate.release(_clock.now()))
            log.info("Released lease", extra=self._fields())
            return True
        return False

    async def _renew_without_reading(self) -> bool:
        """Renew the Lease as last observed; False if it has changed, or the server rejects the update."""
        try:
            await self._write()
        except ApiError as error:
            self.slow_paths += 1
            text = "Failed to update lease optimistically, falling back to slow path"
            log.debug(text, extra=self._fields() | {"error": str(error)})
            return False
        return True

    async def _read(self) -> None:
        async with self._limit():
            lease = await self._client.find(Lease, self._key)
        self._candidate.observe(lease, current_moment().loop)
        if self._candidate.is_held_by_other:
            self.may_hold = False

    async def _write(self) -> None:
        """Acquire or renew the Lease, only if it is unchanged since it was read."""
        sent = current_moment()
        claim = self._candidate.claim(sent.wall)
        self.may_hold = True
        async with self._limit():
            write = self._client.update if self._candidate.lease is not None else self._client.create
            lease = await write(claim)
        self.renewals += self._candidate.is_leading
        self._candidate.renewed(lease, sent)
        self.last_error = ""

    def _limit(self) -> asyncio.Timeout:
        """Return the timeout of one request; a leader's request never outlasts its renew deadline."""
        at = current_moment().loop + self._options.request_timeout.total_seconds()
        return asyncio.timeout_at(min(at, self._candidate.renew_until) if self._candidate.is_leading else at)

    def _failed(self, error: Exception) -> None:
        self.failures += 1
        text = str(error)
        if isinstance(error, TimeoutError):  # the previous error says more than a timeout does
            text = self.last_error or "the server did not answer in time"
        level = logging.DEBUG if text == self.last_error else logging.WARNING  # repeats every two seconds are noise
        self.last_error = text
        log.log(level, "Failed to update lease", extra=self._fields() | {"error": text})

    def _fields(self) -> dict[str, object]:
        return {"lock": str(self._key)}


def current_moment() -> Moment:
    """Return the current moment on both clocks."""
    return Moment(asyncio.get_running_loop().time(), _clock.now())
