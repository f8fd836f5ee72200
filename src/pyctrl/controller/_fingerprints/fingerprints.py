"""The fingerprints of one controller: compared when it starts, collected while it runs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from datetime import timedelta
from random import Random
from typing import NamedTuple

from pyctrl import _clock
from pyctrl._time_slices import TimeSlice
from pyctrl.cache import Informer
from pyctrl.controller._causes import TriggerCause
from pyctrl.controller._fingerprints.comparison import AT_ONCE, SavedComparison, owned_digests, save
from pyctrl.controller._fingerprints.converged import ConvergedRequests
from pyctrl.controller._fingerprints.followed import FollowedKinds
from pyctrl.controller._fingerprints.saved import SavedController, SavedRequest, decode_saved, encode_saved
from pyctrl.controller._reads.subscriptions import Subscriptions
from pyctrl.controller._request import Request
from pyctrl.controller._sources.kind import KindSource
from pyctrl.controller._workqueue.priority_heap import LOW_PRIORITY
from pyctrl.controller._workqueue.queue import Queue
from pyctrl.errors import DecodeError

__all__ = ["ControllerFingerprints", "FingerprintKeeping"]

log = logging.getLogger("pyctrl.controller")

#: Seconds after the start without a verification: this time belongs to what has changed.
QUIET = 60.0

VERIFICATION = TriggerCause("verification of what did not change while the program did not run")


class FingerprintKeeping(NamedTuple):
    """How fingerprints are kept, by the manager."""

    #: Returns the saved fingerprints of a controller; None if there are none that this program may use.
    load: Callable[[str], Awaitable[bytes | None]]
    #: Is called when the fingerprints of a controller may have changed.
    on_change: Callable[[], None]
    #: The time within which a request that was not run at the start runs, counted from its last run.
    verify_within: timedelta
    #: Returns the informers of the manager's cache.
    informers: Callable[[], Iterable[Informer]]


class ControllerFingerprints:
    """Holds back the requests of first lists, and enqueues those whose fingerprints differ.

    The rest runs with `LOW_PRIORITY` at random times, at the latest when ``verify_within`` is over since its last run.

    Args:
        name: the name of the controller.
        followed: the kinds that it reconciles and owns.
        subscriptions: its subscriptions, which are restored.
        queue: its queue.
        keeping: how the fingerprints are kept.
        random: draws the times of verifications.
    """

    def __init__(
        self,
        name: str,
        followed: FollowedKinds,
        subscriptions: Subscriptions,
        queue: Queue,
        keeping: FingerprintKeeping,
        random: Random,
    ) -> None:
        self.name: str = name
        #: Knows which requests have converged; observes all runs.
        self.requests: ConvergedRequests = ConvergedRequests(name, followed, subscriptions, keeping.on_change)
        #: How many requests the last start has enqueued, and how many it has not, because they had converged.
        self.enqueued: int = 0
        self.skipped: int = 0
        self._followed, self._queue, self._keeping, self._random = followed, queue, keeping, random
        self._limit = keeping.verify_within.total_seconds()
        self._is_released = False
        self._final: bytes | None = None
        self._unverified: dict[Request, float] = {}  # with the time at which it runs, on the loop's clock
        #: Set while the controller does not run.
        self.ended: asyncio.Event = asyncio.Event()
        self.ended.set()

    # --- start ---

    def begin(self) -> None:
        """Begin a run of the controller, before its sources run."""
        self.ended.clear()
        self._final, self._is_released = None, False
        self.requests.open()
        for source in self._followed.sources:
            source.hold()

    async def release(self) -> None:
        """Enqueue the requests of the first lists that have not converged. Call it when all sources are synced."""
        comparison = await self._comparison()
        left_out: dict[Request, bool] = {}
        for source in self._followed.sources:
            await self._release(source, comparison, left_out)
        if comparison is not None:
            comparison.close()
        self.requests.end_start()
        self._is_released = True
        self.skipped = sum(left_out.values())
        self.enqueued = len(left_out) - self.skipped
        facts = {"controller": self.name, "unchanged": self.skipped, "enqueued": self.enqueued}
        log.info("Compared fingerprints", extra=facts)

    async def _release(
        self, source: KindSource, comparison: SavedComparison | None, left_out: dict[Request, bool]
    ) -> None:
        """Enqueue the requests for the first list of a source; ``left_out`` has those that are decided."""
        slice_, times = TimeSlice.current(), self._times()
        for number, change in enumerate(source.release()):
            is_needless = comparison is not None and comparison.has_restored_owners(change.new)
            for request in () if is_needless else source.requests_of(change):
                if request not in left_out:
                    found = None if comparison is None else comparison.restore(request)
                    left_out[request] = found is not None
                    if found is not None:
                        self._schedule(request, found, times)
                if not left_out[request]:
                    source.add(self._queue, request, change)
            if not number % AT_ONCE:
                await slice_.step()
                times = self._times()

    async def _comparison(self) -> SavedComparison | None:
        data = await self._keeping.load(self.name)
        saved = None if data is None else self._decode(data)
        if saved is None:
            return None
        owned = await owned_digests(self.requests)
        comparison = SavedComparison(self.requests, saved, self._keeping.informers(), owned)
        await comparison.prepare()
        return comparison

    def _decode(self, data: bytes) -> SavedController | None:
        try:
            saved = decode_saved(data)
        except DecodeError as error:
            log.info("Ignoring fingerprints: %s", error, extra={"controller": self.name})
            return None
        if saved.follows != self.requests.followed.described:
            log.info("Ignoring fingerprints: the controller follows other kinds", extra={"controller": self.name})
            return None
        return saved

    def _times(self) -> tuple[float, float]:
        """Return the present wall time and that of the loop."""
        return _clock.now().timestamp(), asyncio.get_running_loop().time()

    def _schedule(self, request: Request, saved: SavedRequest, times: tuple[float, float]) -> None:
        """Schedule the timer of a request, and draw the time of its verification."""
        now, loop_time = times
        if saved.due is not None:
            self._queue.restore_timer(request, timedelta(seconds=saved.due - now), saved.priority)
        left = min(max(0.0, saved.ran_at + self._limit - now), self._limit)  # the clock may have been wrong
        self._unverified[request] = loop_time + self._random.uniform(min(left, QUIET), left)

    async def verify(self) -> None:
        """Enqueue the requests that the start has not enqueued, each at its time, unless it has run meanwhile."""
        due = sorted(self._unverified, key=self._unverified.__getitem__, reverse=True)
        loop = asyncio.get_running_loop()
        while due:
            request = due.pop()
            at = self._unverified.pop(request)
            if self.requests.has_run(request):
                continue
            await asyncio.sleep(max(0.0, at - loop.time()))
            if not self.requests.has_run(request):
                self._queue.add(request, priority=LOW_PRIORITY, cause=VERIFICATION)

    # --- while it runs, and at the end ---

    async def collect(self) -> bytes | None:
        """Return the present fingerprints, in the saved form; None if the saved ones are to stay."""
        if self.ended.is_set():
            return self._final
        if not self._is_released:
            return None
        return encode_saved(await save(self.requests, self._queue))

    async def finish(self) -> None:
        """Keep the fingerprints at the end of the controller, for `collect`. Call it when no worker runs any more."""
        self._final = await self.collect()

    def close(self) -> None:
        """End the run of the controller."""
        self.requests.close()
        self._unverified.clear()
        self.ended.set()
