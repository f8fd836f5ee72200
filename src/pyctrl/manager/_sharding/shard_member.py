"""The member of a ring: joins it, renews its Lease, follows the others, and moves slots without overlap."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from dataclasses import replace
from random import Random

from pyctrl._tasks import unwrapped
from pyctrl.api import Key
from pyctrl.client import Client
from pyctrl.controller import SLOTS
from pyctrl.errors import PyctrlError
from pyctrl.manager._election.lease_lock import ANSWER_SECONDS, current_moment
from pyctrl.manager._election.options import JITTER_FACTOR
from pyctrl.manager._sharding.canary import CanaryTrial, CanaryVerdict
from pyctrl.manager._sharding.member_state import MemberState
from pyctrl.manager._sharding.membership import Membership
from pyctrl.manager._sharding.options import Sharding
from pyctrl.manager._sharding.rendezvous import Member, fair_slots
from pyctrl.manager._sharding.ring_leases import LeaseGone, RingLeases
from pyctrl.manager._sharding.shard_slots import ShardSlots
from pyctrl.manager._sharding.statistics import ShardingStatistics
from pyctrl.rbac import SHARDING, Permission, PermissionScope

__all__ = ["ShardMember"]

log = logging.getLogger("pyctrl.manager")

#: The part of a retry period between two reads of the Leases while others have yet to acknowledge this replica.
_QUICK = 1 / 8
#: In retry periods: how long the Lease of a replica that has ended is kept, so that all others see that it has ended.
_KEEP_ENDED = 2


class ShardMember:
    """A replica's member of the ring, a runnable of `Group.SHARDING`.

    It renews its Lease until it is asked to stop, which happens after all controllers have ended, and then releases it.
    If it cannot renew the Lease in time it stops all runs, and joins again in a new term. It raises LeadershipLost only
    if a run does not end although it was cancelled.

    Args:
        client: used for requests for Leases only; not behind a write gate.
        options: the options of the ring.
        namespace: that of the Leases.
        identity: the name of this replica.
        random: the source of jitter and of terms.
        ending: set once the manager stops, before its controllers have ended.
    """

    name = "sharding"

    def __init__(
        self,
        client: Client,
        options: Sharding,
        *,
        namespace: str,
        identity: str,
        random: Random,
        ending: asyncio.Event | None = None,
    ) -> None:
        self._options, self._times, self._random = options, options.times(), random
        self._identity, self._ending = identity, ending or asyncio.Event()
        self._lease = f"{options.name}-{random.getrandbits(32):08x}"
        self._leases = RingLeases(client, options, Key(namespace, self._lease))
        #: The rules of the ring.
        self.membership: Membership = Membership(options)
        #: The slots that its controllers work on; their `ShardAssignment`.
        self.slots: ShardSlots = ShardSlots(
            self.membership,
            identity=identity,
            handover_timeout=options.handover_timeout,
            keep_for=2 * options.lease_duration + options.handover_timeout,
            safe_time=self._times.safe_time,
            fields=self._fields(),
            memory=options.memory,
        )
        self._canary = options.canary
        self._trial = None
        if options.promote_after is not None:
            self._trial = CanaryTrial(options.version, options.promote_after.total_seconds())
        self._ended: dict[str, float] = {}  # Leases of replicas that have ended, since when
        self._rolled_back: frozenset[str] = frozenset()  # versions of which some Lease says it
        self._is_judged = False  # the term ends once nothing runs, because the share of this version changes
        self._stopping = asyncio.Event()
        self._last_error = ""
        self._terms = self._losses = self._failures = 0

    @property
    def rbac(self) -> tuple[Permission, ...]:
        """Permissions for the Leases of the ring, whose names are not known before."""
        where = PermissionScope.OWN if self._options.namespace is None else frozenset([self._options.namespace])
        return (replace(SHARDING, where=where),)

    def statistics(self) -> ShardingStatistics:
        """Return the state and counters, for metrics."""
        membership, slots = self.membership, self.slots
        me = membership.me or self._member("none")
        return ShardingStatistics(
            identity=self._identity,
            members=len(membership.peers) + (membership.me is not None),
            has_joined=membership.has_joined,
            slots=slots.taken.bit_count(),
            all_slots=SLOTS,
            requests=slots.requests,
            fair_slots=fair_slots(me, [peer.member for peer in membership.peers.values()]),
            taken=slots.taken_count,
            yielded=slots.yielded_count,
            terms=self._terms,
            losses=self._losses,
            cancelled=slots.cancelled_count,
            failures=self._failures,
        )

    @property
    def problem(self) -> str:
        """Why this replica does not work; "" if it works, or leaves."""
        membership = self.membership
        if membership.has_joined or membership.is_leaving:
            return ""
        if awaited := membership.awaited:
            return f"waiting until {', '.join(awaited)} have acknowledged this replica"
        return self._last_error or "it has not joined the ring yet"

    # --- run ---

    def ask_to_stop(self) -> None:
        """Release the Lease, and let `run` return."""
        self._stopping.set()
        self.slots.has_news.set()

    async def run(self) -> None:
        """Be a member of the ring until asked to stop.

        Raises:
            LeadershipLost: a run did not end although it was cancelled.
        """
        try:
            with unwrapped():
                async with asyncio.TaskGroup() as group:
                    leaving = group.create_task(self._leave_in_time(), name=f"{self.name}/leave")
                    while await self._join():
                        await self._serve()
                    leaving.cancel()
        finally:
            self.slots.caches.close()
            await self._leave()

    async def _leave_in_time(self) -> None:
        """Leave before the controllers have ended, once they must: others take each slot when nothing runs in it."""
        await self._ending.wait()
        self.membership.is_leaving = True
        self.slots.has_news.set()

    async def _join(self) -> bool:
        """Begin a term and list all others; return False when asked to stop before."""
        while not self._stopping.is_set():
            # A term for each try: another replica may have acknowledged that of an earlier try, and forgotten it again.
            term = f"{self._random.getrandbits(32):08x}"
            try:
                if self._trial is not None:
                    await self._learn_verdict(self._trial)
                self.membership.begin_term(self._member(term))
                sent = await self._leases.begin(self._state(), self._request_seconds)
                self.membership.renewed(sent, current_moment())
                await self._observe()
            except (PyctrlError, TimeoutError) as error:
                self._failed("Failed to join the ring", error)
                await self._wait(self._times.retry_period.total_seconds() * self._jitter())
                continue
            self._last_error = ""
            self._terms += 1
            log.info("Joining the ring", extra=self._fields() | {"awaited": self.membership.awaited})
            return True
        return False

    async def _serve(self) -> None:
        """Work until asked to stop, or until the term is over."""
        with unwrapped():
            async with asyncio.TaskGroup() as group:
                loops = [
                    group.create_task(loop, name=self.name) for loop in (self._renew_always(), self._list_always())
                ]
                await self._watch()
                for each in loops:
                    each.cancel()
        has_verdict, self._is_judged = self._is_judged, False
        if has_verdict:
            self.membership.is_leaving = self._ending.is_set()
        if has_verdict and not self.membership.held:
            log.info("The share of this version changes", extra=self._fields() | {"canary": self._canary})
        elif not self._stopping.is_set():
            self._losses += 1
            reason = self._last_error or "this process was suspended or its event loop blocked"
            log.error("Failed to renew lease, all reconciles stop", extra=self._fields() | {"reason": reason})
            await self.slots.stop()
        self.membership.end_term()

    async def _watch(self) -> None:
        """Move slots whenever something has changed; return when asked to stop, or when the term is over."""
        loop = asyncio.get_running_loop()
        while not self._stopping.is_set():
            self.slots.has_news.clear()
            if not self.membership.may_write(current_moment()):
                return
            self.slots.apply()
            if self._is_judged and not self.membership.held:
                return
            with suppress(TimeoutError):
                async with asyncio.timeout_at(self.slots.next_deadline(loop.time())):
                    await self.slots.has_news.wait()

    # --- Leases ---

    async def _renew_always(self) -> None:
        """Renew the Lease each period, and at once when there is something to acknowledge."""
        loop, period = asyncio.get_running_loop(), self._times.retry_period.total_seconds()
        tried = loop.time()
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout_at(tried + period):
                    await self.slots.must_write.wait()
            self.slots.must_write.clear()
            tried = loop.time()
            try:
                sent = await self._leases.renew(self._state(), self._request_seconds)
            except LeaseGone as error:
                self._end_early(error)
            except (PyctrlError, TimeoutError) as error:
                self._failed("Failed to update lease", error)
            else:
                self._last_error = ""
                if not self.membership.renewed(sent, current_moment()):
                    self._end_early(None)
            self.slots.has_news.set()

    def _end_early(self, error: PyctrlError | None) -> None:
        """End the term: others may not know it, or may believe that it is over."""
        if error is not None:
            self._failed("Lost the lease", error)
        self.membership.end_early()

    async def _list_always(self) -> None:
        """List the Leases of all members each period, and more often while some have yet to acknowledge this one."""
        loop, period = asyncio.get_running_loop(), self._times.retry_period.total_seconds()
        while True:
            begun = loop.time()
            await asyncio.sleep(period * (1 if self.membership.has_joined else _QUICK) * self._jitter(0.1))
            try:
                had_joined = self.membership.has_joined
                await self._observe()
                if self.membership.has_joined and not had_joined:
                    log.info("Joined the ring", extra=self._fields() | {"seconds": round(loop.time() - begun, 3)})
            except (PyctrlError, TimeoutError) as error:
                self._failed("Failed to list the leases of the ring", error)
            await self._clean_up()

    async def _observe(self) -> None:
        listed = await self._leases.list(self._request_seconds)
        self.membership.observe(listed.states, listed.sent, listed.received)
        self._rolled_back = self._rolled_back.union(*[state.rolled_back for state in listed.states])
        if self._trial is not None and self.membership.has_joined:
            verdict = self._trial.judge(listed.states, {self._lease: self.slots.load}, listed.received)
            if self._take_verdict(verdict):
                self._is_judged = self.membership.is_leaving = True
        self.slots.has_news.set()

    async def _learn_verdict(self, trial: CanaryTrial) -> None:
        """Take what was decided before this replica has joined."""
        listed = await self._leases.list(self._request_seconds)
        self._take_verdict(trial.known(listed.states))

    def _take_verdict(self, verdict: CanaryVerdict) -> bool:
        """Promote this canary or roll it back, from its next term on: nothing of a member changes during one."""
        if verdict is CanaryVerdict.WAIT:
            return False
        is_good = verdict is CanaryVerdict.PROMOTE
        self._canary, self._trial = float(is_good), None
        facts = self._fields() | {"version": self._options.version}
        if is_good:
            log.info("Promoting this version", extra=facts)
        else:
            self._rolled_back |= {self._options.version}
            log.error("Rolling back this version: it fails more often than the other one", extra=facts)
        return True

    async def _clean_up(self) -> None:
        """Release the Leases that have expired; later delete them, if this is the first of all members by name."""
        expired, now = self.membership.expired, asyncio.get_running_loop().time()
        for lease in [lease for lease in expired if lease not in self._ended]:
            if not expired[lease].is_released:
                await self._leases.release_for(expired[lease])
        self._ended = {lease: self._ended.get(lease, now) for lease in expired}
        if any(lease < self._lease for lease in self.membership.peers):
            return
        kept = _KEEP_ENDED * self._times.retry_period.total_seconds()
        for lease in [lease for lease, since in self._ended.items() if now - since > kept]:
            await self._leases.delete(expired[lease])

    async def _leave(self) -> None:
        """Release the Lease if no run is left, and all writes are answered."""
        self.slots.taken = 0
        if self._leases.may_exist and self._options.release_on_stop:
            if self.slots.running:
                log.warning("Not releasing lease, reconciles are still running", extra=self._fields())
            elif not await self.slots.unanswered.wait(ANSWER_SECONDS):
                log.warning("Not releasing lease, the server has not answered all writes", extra=self._fields())
            else:
                await self._leases.release(self._state(is_released=True))
        self.membership.end_term()

    # --- helpers ---

    def _member(self, term: str) -> Member:
        """Return what the ring knows of this replica in a term."""
        options = self._options
        return Member(self._lease, self._identity, term, options.weight, options.version, self._canary)

    def _state(self, *, is_released: bool = False) -> MemberState:
        return MemberState(
            member=self.membership.me or self._member("none"),
            holder="" if is_released else self._identity,
            renewal="",
            lease_seconds=self._options.lease_duration.total_seconds(),
            acknowledged=self.membership.acknowledged,
            kept=self.membership.held if self.membership.is_leaving else None,
            load=self.slots.load,
            rolled_back=self._rolled_back,
        )

    async def _wait(self, seconds: float) -> None:
        """Wait, unless asked to stop."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopping.wait()

    @property
    def _request_seconds(self) -> float:
        return self._times.request_timeout.total_seconds()

    def _jitter(self, factor: float = JITTER_FACTOR) -> float:
        return 1 + factor * self._random.random()

    def _failed(self, text: str, error: Exception) -> None:
        self._failures += 1
        reason = str(error) or self._last_error or "the server did not answer in time"
        level = logging.DEBUG if reason == self._last_error else logging.WARNING  # repeats every two seconds are noise
        self._last_error = reason
        log.log(level, text, extra=self._fields() | {"error": reason})

    def _fields(self) -> dict[str, object]:
        return {"ring": self._options.name, "lock": str(self._leases.key)}
