"""The requests of an election: reading the Lease, taking it, renewing it, giving it up, each in its time."""

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

__all__ = ["LeaseLock", "current_moment"]

log = logging.getLogger("pyctrl.manager")

RELEASE_SECONDS = 4.0  # for giving the lease up; below the five that a group waits for who was cancelled


class LeaseLock:
    """Sends what a `Candidate` wants to know or to have written, and lets it know what came of it.

    Args:
        client: sends nothing but requests of the election; never behind a gate.
        options: of the election.
        candidate: of this replica; nobody else tells it what was read or written.
        key: which Lease.
    """

    def __init__(self, client: Client, options: LeaderElection, candidate: Candidate, key: Key) -> None:
        self._client = client
        self._options = options
        self._candidate = candidate
        self._key = key
        #: A claim was sent, and since then nothing has shown that another one holds the lease.
        self.may_hold = False
        #: Why the last request failed; "" when it did not.
        self.trouble = ""
        self.renewals = self.slow_paths = self.failures = 0

    async def attempt(self) -> bool:
        """Try once to take the lease or to renew it, and tell whether that went well."""
        try:
            if self._candidate.is_leading and await self._renew_as_it_was():
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
        """Give the lease up, if this replica holds it; a failure is logged, and the lease runs out by itself."""
        try:
            async with asyncio.timeout(RELEASE_SECONDS):
                while not await self._try_to_release():
                    pass
        except (PyctrlError, TimeoutError) as error:
            reason = str(error) or "the server did not answer in time"
            log.warning("Failed to release lease", extra=self._fields() | {"error": reason})

    async def _try_to_release(self) -> bool:
        self._candidate.saw(await self._client.find(Lease, self._key), current_moment().loop)
        if self._candidate.holder != self._candidate.identity:
            return True
        with suppress(Conflict):
            await self._client.update(self._candidate.release(_clock.now()))
            log.info("Released lease", extra=self._fields())
            return True
        return False

    async def _renew_as_it_was(self) -> bool:
        """Renew without reading; False when somebody else has written, or the server has another reason."""
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
        self._candidate.saw(lease, current_moment().loop)
        if self._candidate.is_anothers:
            self.may_hold = False

    async def _write(self) -> None:
        """Take or renew the lease: only if it still is as it was read."""
        sent = current_moment()
        claim = self._candidate.claim(sent.wall)
        self.may_hold = True
        async with self._limit():
            write = self._client.update if self._candidate.lease is not None else self._client.create
            lease = await write(claim)
        self.renewals += self._candidate.is_leading
        self._candidate.wrote(lease, sent)
        self.trouble = ""

    def _limit(self) -> asyncio.Timeout:
        """Bound one request; none may keep a leader waiting beyond the moment at which it must stop its work."""
        at = current_moment().loop + self._options.request_timeout.total_seconds()
        return asyncio.timeout_at(min(at, self._candidate.renew_until) if self._candidate.is_leading else at)

    def _failed(self, error: Exception) -> None:
        self.failures += 1
        trouble = str(error)
        if isinstance(error, TimeoutError):  # what was wrong before says more than that time is up
            trouble = self.trouble or "the server did not answer in time"
        level = logging.DEBUG if trouble == self.trouble else logging.WARNING  # every two seconds it is noise
        self.trouble = trouble
        log.log(level, "Failed to update lease", extra=self._fields() | {"error": trouble})

    def _fields(self) -> dict[str, object]:
        return {"lock": str(self._key)}


def current_moment() -> Moment:
    """Return this moment on both clocks."""
    return Moment(asyncio.get_running_loop().time(), _clock.now())
