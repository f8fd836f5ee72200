"""The member of a ring: joins it, renews its Lease, follows the others, and moves slots without overlap."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from random import Random

from pyctrl._tasks import unwrapped
from pyctrl.api import Key
from pyctrl.client import Client, HttpRequest
from pyctrl.controller import SLOTS, ControllerShard, slots_in
from pyctrl.errors import LeadershipLost, NotLeading, PyctrlError
from pyctrl.manager._election.lease_lock import current_moment
from pyctrl.manager._election.options import JITTER_FACTOR
from pyctrl.manager._runnables.runnable_group import CANCEL_TIMEOUT
from pyctrl.manager._sharding.member_state import MemberLoad, MemberState
from pyctrl.manager._sharding.membership import Membership
from pyctrl.manager._sharding.options import Sharding
from pyctrl.manager._sharding.rendezvous import Member
from pyctrl.manager._sharding.ring_leases import LeaseGone, RingLeases
from pyctrl.rbac import LEADER_ELECTION, Permission, PermissionScope

__all__ = ["ShardGate", "ShardMember", "ShardingStatistics"]

log = logging.getLogger("pyctrl.manager")

#: The part of a retry period between two reads of the Leases while others have yet to acknowledge this replica.
_QUICK = 1 / 8
#: In retry periods: how long the Lease of a replica that has ended is kept, so that all others see that it has ended.
_KEEP_ENDED = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardingStatistics:
    """The state and counters of the sharding, as seen by this replica."""

    identity: str
    #: The replicas that may work, this one included.
    members: int
    #: Whether this replica works, and the slots that it takes of all.
    has_joined: bool
    slots: int
    all_slots: int
    #: Requests of its controllers that are ready or running.
    requests: int
    #: The slots of its fair share, by weight.
    fair_slots: float
    #: Slots taken and given up since the start.
    taken: int
    yielded: int
    #: How often it has joined, and how often it had to stop because its Lease was not renewed in time.
    terms: int
    losses: int
    #: Runs that were cancelled because their slot moved.
    cancelled: int
    #: Failed requests for Leases.
    failures: int


class ShardGate:
    """The gate for the writes of one run: its slot must be held in the term in which it began."""

    __slots__ = ("_member", "_slot", "_term")

    def __init__(self, member: ShardMember, slot: int, term: str) -> None:
        self._member, self._slot, self._term = member, slot, term

    def check(self, request: HttpRequest) -> None:
        """Raise NotLeading if another replica may work on the slot by now; see `WriteGate`."""
        if not self._member.may_write(self._slot, self._term):
            raise NotLeading(
                f"{request} was not sent: this replica ({self._member.identity}) no longer holds the shard of the "
                "request that it reconciles, and another one may work on it"
            )


class ShardMember:
    """A replica's member of the ring, a runnable of `Group.SHARDING`; a `ShardAssignment` for controllers.

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
        self._ending = ending or asyncio.Event()
        self.identity: str = identity
        self._options = options
        self._times = options.times()
        self._random = random
        self._lease = f"{options.name}-{random.getrandbits(32):08x}"
        self._leases = RingLeases(client, options, Key(namespace, self._lease))
        #: The rules of the ring.
        self.membership: Membership = Membership(options)
        self.keep_for: timedelta = 2 * options.lease_duration + options.handover_timeout
        self._shards: list[ControllerShard] = []
        self._taken = 0  # the slots that its controllers take, as they know
        self._refused = 0  # slots of which a request was refused because the Lease was not renewed in time
        self._deadlines: dict[int, float] = {}  # when runs in slots that move are cancelled
        self._overdue: float | None = None  # when runs that were cancelled must have ended
        self._ended: dict[str, float] = {}  # Leases of replicas that have ended, since when
        self._stopping = asyncio.Event()
        self._has_news = asyncio.Event()  # for `_watch`
        self._must_write = asyncio.Event()  # there is something to acknowledge
        self._group: asyncio.TaskGroup | None = None
        self._last_error = ""
        self._terms = self._losses = self._failures = self._taken_count = self._yielded_count = self._cancelled = 0
        #: Called with the slots that this replica takes, whenever they change.
        self.on_change: Callable[[int], None] | None = None

    @property
    def rbac(self) -> tuple[Permission, ...]:
        """Permissions for the Leases of the ring, whose names are not known before."""
        where = PermissionScope.OWN if self._options.namespace is None else frozenset([self._options.namespace])
        rule = replace(LEADER_ELECTION.rule, verbs=("create", "delete", "get", "list", "update"))
        return (Permission(rule=rule, where=where),)

    def statistics(self) -> ShardingStatistics:
        """Return the state and counters, for metrics."""
        membership = self.membership
        weights = sum(peer.member.weight for peer in membership.peers.values()) + self._options.weight
        return ShardingStatistics(
            identity=self.identity,
            members=len(membership.peers) + (membership.me is not None),
            has_joined=membership.has_joined,
            slots=self._taken.bit_count(),
            all_slots=SLOTS,
            requests=sum(shard.requests for shard in self._shards),
            fair_slots=SLOTS * self._options.weight / weights,
            taken=self._taken_count,
            yielded=self._yielded_count,
            terms=self._terms,
            losses=self._losses,
            cancelled=self._cancelled,
            failures=self._failures,
        )

    # --- for controllers ---

    def adopt(self, shard: ControllerShard) -> None:
        """Divide the requests of a controller; before it runs."""
        self._shards.append(shard)

    def release(self, shard: ControllerShard) -> None:
        """Forget a controller that has ended."""
        self._shards.remove(shard)

    def has(self, slot: int) -> bool:
        """Return whether this replica takes the requests of a slot, as far as it has noticed."""
        return bool(self._taken >> slot & 1)

    def may_begin(self, slot: int) -> bool:
        """Return whether a request of a slot may begin to run now."""
        may = self.has(slot) and bool(self.membership.taken(current_moment()) >> slot & 1)
        if not may and self.has(slot):
            self._refused |= 1 << slot
            self._has_news.set()
        return may

    def may_write(self, slot: int, term: str) -> bool:
        """Return whether a run that began in a term may write now."""
        me = self.membership.me
        is_held = me is not None and me.term == term and bool(self.membership.held >> slot & 1)
        return is_held and self.membership.may_write(current_moment())

    def gate(self, slot: int) -> ShardGate:
        """Return the gate for the writes of a run that begins now."""
        me = self.membership.me
        return ShardGate(self, slot, "" if me is None else me.term)

    def finished(self) -> None:
        """Note that a run has ended, which a slot that moves may have waited for."""
        if self._deadlines or self._overdue is not None or self.membership.is_leaving:
            self._has_news.set()

    # --- run ---

    def ask_to_stop(self) -> None:
        """Release the Lease, and let `run` return."""
        self._stopping.set()
        self._has_news.set()

    async def run(self) -> None:
        """Be a member of the ring until asked to stop.

        Raises:
            LeadershipLost: a run did not end although it was cancelled.
        """
        try:
            with unwrapped():
                async with asyncio.TaskGroup() as self._group:
                    leaving = self._group.create_task(self._leave_in_time(), name=f"{self.name}/leave")
                    while await self._join():
                        await self._serve()
                    leaving.cancel()
        finally:
            self._group = None
            await self._leave()

    async def _leave_in_time(self) -> None:
        """Leave before the controllers have ended, once they must: others take each slot when nothing runs in it."""
        await self._ending.wait()
        self.membership.is_leaving = True
        self._has_news.set()

    async def _join(self) -> bool:
        """Begin a term and list all others; return False when asked to stop before."""
        self._terms += 1
        term = f"{self._random.getrandbits(32):08x}"
        options = self._options
        me = Member(self._lease, self.identity, term, options.weight, options.version, options.canary)
        while not self._stopping.is_set():
            self.membership.begin_term(me)
            try:
                sent = await self._leases.begin(self._state(), self._request_seconds)
                self.membership.renewed(sent, current_moment())
                await self._observe()
            except (PyctrlError, TimeoutError) as error:
                self._failed("Failed to join the ring", error)
                await self._wait(self._times.retry_period.total_seconds() * self._jitter())
                continue
            self._last_error = ""
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
        if not self._stopping.is_set():
            self._losses += 1
            reason = self._last_error or "this process was suspended or its event loop blocked"
            log.error("Failed to renew lease, all reconciles stop", extra=self._fields() | {"reason": reason})
            await self._stop_runs()
        self.membership.end_term()

    async def _watch(self) -> None:
        """Move slots whenever something has changed; return when asked to stop, or when the term is over."""
        loop = asyncio.get_running_loop()
        while not self._stopping.is_set():
            self._has_news.clear()
            if not self.membership.may_write(current_moment()):
                return
            self._apply()
            with suppress(TimeoutError):
                async with asyncio.timeout_at(self._next_deadline(loop.time())):
                    await self._has_news.wait()

    def _next_deadline(self, now: float) -> float:
        """Return when `_apply` must look again: a run must be cancelled, or the Lease is not renewed."""
        membership = self.membership
        times = [*self._deadlines.values(), membership.renew_until, membership.cancel_at]
        if self._overdue is not None:
            times.append(self._overdue)
        return min([time for time in times if time > now] + [membership.ends_at])

    # --- slots ---

    def _apply(self) -> None:
        """Take and yield slots, cancel runs that are late, and acknowledge others once nothing runs in their slots."""
        membership, now = self.membership, current_moment()
        taken = membership.taken(now)
        lost, gained = self._taken & ~taken, taken & (~self._taken | self._refused)
        self._taken, self._refused = taken, 0
        if lost or gained:
            self._move(lost, gained)
        self._cancel_late(now.loop)
        busy = self._busy()
        if membership.is_leaving:
            before = membership.held
            membership.leave(busy)
            if before != membership.held or lost:
                self._must_write.set()
        terms = membership.acknowledgeable(busy)
        if terms != membership.acknowledged:
            membership.acknowledge(terms)
            self._must_write.set()

    def _move(self, lost: int, gained: int) -> None:
        self._yielded_count += lost.bit_count()
        self._taken_count += gained.bit_count()
        self.membership.hold(gained)
        counts = {"members": len(self.membership.peers) + 1, "slots": self._taken.bit_count()}
        moved = {"taken": gained.bit_count(), "yielded": lost.bit_count()}
        log.info("Shards have moved", extra=self._fields() | counts | moved)
        for shard in self._shards:
            if lost:
                shard.lose(lost)
            if gained and self._group is not None:
                self._group.create_task(shard.take(gained), name=f"{self.name}/{shard.name}")
        if self.on_change is not None:
            self.on_change(self._taken)

    def _busy(self) -> int:
        slots = 0
        for shard in self._shards:
            slots |= shard.busy
        return slots

    def _cancel_late(self, now: float) -> None:
        """Cancel runs in slots that move once their deadline is over, or that of the Lease."""
        membership = self.membership
        moving = self._busy() & ~self._taken
        deadline = now + self._options.handover_timeout.total_seconds()
        if now >= membership.renew_until:
            deadline = min(deadline, membership.cancel_at)
        self._deadlines = {slot: min(self._deadlines.get(slot, deadline), deadline) for slot in slots_in(moving)}
        late = sum(1 << slot for slot, until in self._deadlines.items() if until <= now)
        if not late:
            self._overdue = None
        elif self._cancel(late) or self._overdue is None:
            self._overdue = now + CANCEL_TIMEOUT.total_seconds()
        elif now >= self._overdue:
            raise LeadershipLost("reconciles did not end although they were cancelled: their shards move")

    def _cancel(self, slots: int) -> int:
        """Cancel the runs in some slots, and return how many had not been cancelled before."""
        count = sum(shard.cancel(slots) for shard in self._shards)
        if count:
            self._cancelled += count
            log.warning("Cancelled reconciles whose shards move", extra=self._fields() | {"reconciles": count})
        return count

    async def _stop_runs(self) -> None:
        """Stop all runs at the end of a term, and return when they have ended.

        Raises:
            LeadershipLost: some have not ended in time.
        """
        lost, self._taken = self._taken, 0
        self._move(lost, 0)
        if busy := self._busy():
            self._cancel(busy)
        loop = asyncio.get_running_loop()
        self._overdue = until = loop.time() + CANCEL_TIMEOUT.total_seconds()
        while self._busy():
            self._has_news.clear()
            if loop.time() >= until:
                raise LeadershipLost("reconciles did not end although they were cancelled: the lease was not renewed")
            with suppress(TimeoutError):
                async with asyncio.timeout_at(until):
                    await self._has_news.wait()
        self._overdue = None
        self._deadlines.clear()

    # --- Leases ---

    async def _renew_always(self) -> None:
        """Renew the Lease each period, and at once when there is something to acknowledge."""
        loop, period = asyncio.get_running_loop(), self._times.retry_period.total_seconds()
        tried = loop.time()
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout_at(tried + period):
                    await self._must_write.wait()
            self._must_write.clear()
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
            self._has_news.set()

    def _end_early(self, error: PyctrlError | None) -> None:
        """End the term: others may not know it, or may believe that it is over."""
        if error is not None:
            self._failed("Lost the lease", error)
        self.membership.renewed_at = None

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
        self._has_news.set()

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
        """Release the Lease if no run is left."""
        self._taken = 0
        if self._leases.may_exist and self._options.release_on_stop:
            if self._busy():
                log.warning("Not releasing lease, reconciles are still running", extra=self._fields())
            else:
                await self._leases.release(self._state(is_released=True))
        self.membership.end_term()

    # --- helpers ---

    def _state(self, *, is_released: bool = False) -> MemberState:
        me = self.membership.me or Member(self._lease, self.identity, "none")
        return MemberState(
            member=me,
            holder="" if is_released else self.identity,
            renewal="",
            lease_seconds=self._options.lease_duration.total_seconds(),
            acknowledged=self.membership.acknowledged,
            kept=self.membership.held if self.membership.is_leaving else None,
            load=self._load(),
        )

    def _load(self) -> MemberLoad:
        return MemberLoad(
            slots=self._taken.bit_count(),
            requests=sum(shard.requests for shard in self._shards),
            moves=self._taken_count + self._yielded_count,
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
