"""The slots that a replica works on: taken and yielded as the rules allow, with the runs in them cancelled in time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from datetime import timedelta
from typing import Any, Literal

from pyctrl.client import HttpRequest
from pyctrl.controller import ControllerShard, slots_in
from pyctrl.errors import LeadershipLost, NotLeading
from pyctrl.manager._election.candidate import Moment
from pyctrl.manager._election.lease_lock import current_moment
from pyctrl.manager._election.unanswered_writes import UnansweredWrites
from pyctrl.manager._runnables.runnable_group import CANCEL_TIMEOUT
from pyctrl.manager._sharding.member_state import MemberLoad
from pyctrl.manager._sharding.membership import Membership
from pyctrl.manager._sharding.shard_caches import ShardCaches

__all__ = ["ShardGate", "ShardSlots"]

log = logging.getLogger("pyctrl.manager")

#: The verbs that a replica needs besides list and watch, by `Sharding.memory`.
_VERBS: Mapping[bool | str, tuple[str, ...]] = {False: (), True: ("get",), "label": ("get", "patch")}


class ShardSlots:
    """What the controllers of a replica may do, by the rules of its `Membership`; a `ShardAssignment`.

    Args:
        membership: the rules.
        identity: the name of this replica, for messages.
        handover_timeout: how long running reconciles may take when their slots move.
        keep_for: how long requests without an object in the cache are kept.
        safe_time: how long a write may be unanswered and still keep its slot here.
        fields: of log lines.
        memory: whether the caches of reconciled and owned kinds have the objects of this replica only.
    """

    def __init__(
        self,
        membership: Membership,
        *,
        identity: str,
        handover_timeout: timedelta,
        keep_for: timedelta,
        safe_time: timedelta,
        fields: Mapping[str, object],
        memory: bool | Literal["label"] = False,
    ) -> None:
        self.identity: str = identity
        self.keep_for: timedelta = keep_for
        #: What a controller does with objects of its kinds that its cache does not have.
        self.verbs_beyond_cache: tuple[str, ...] = _VERBS[memory]
        #: The slots that the controllers take, as they know.
        self.taken: int = 0
        #: Set when `apply` must be called.
        self.has_news: asyncio.Event = asyncio.Event()
        #: The caches of reconciled and owned kinds.
        self.caches: ShardCaches = ShardCaches(memory, changed=self.has_news.set)
        #: Set when the Lease must be written, because there is something to acknowledge.
        self.must_write: asyncio.Event = asyncio.Event()
        #: Slots taken and yielded, and runs cancelled, since the start.
        self.taken_count: int = 0
        self.yielded_count: int = 0
        self.cancelled_count: int = 0
        self._membership, self._fields = membership, fields
        self._handover_seconds = handover_timeout.total_seconds()
        self._shards: list[ControllerShard] = []
        self._refused = 0  # slots of which a request was refused because the Lease was not renewed in time
        self._deadlines: dict[int, float] = {}  # when runs in slots that move are cancelled
        self._overdue: float | None = None  # when runs that were cancelled must have ended
        self._wanted = 0  # the slots that the caches cover, or will cover
        self._announced: int | None = None  # the slots that it keeps while it leaves, as its Lease says
        self._followers: list[Callable[[], None]] = []
        self._yielding = 0  # slots that it no longer takes, and in which something still runs or is unanswered
        #: The writes of runs that the server has not answered.
        self.unanswered: UnansweredWrites = UnansweredWrites(safe_time, self.finished)
        self._moving: set[asyncio.Task[None]] = set()

    # --- for controllers ---

    def adopt(self, shard: ControllerShard) -> None:
        """Divide the requests of a controller; before it runs."""
        self._shards.append(shard)

    def release(self, shard: ControllerShard) -> None:
        """Forget a controller that has ended."""
        self._shards.remove(shard)

    def has(self, slot: int) -> bool:
        """Return whether this replica takes the requests of a slot, as far as it has noticed."""
        return bool(self.taken >> slot & 1)

    def may_begin(self, slot: int) -> bool:
        """Return whether a request of a slot may begin to run now."""
        may = self.has(slot) and bool(self._membership.taken(current_moment()) >> slot & 1)
        if not may and self.has(slot):
            self._refused |= 1 << slot
            self.has_news.set()
        return may

    def may_write(self, slot: int, term: str) -> bool:
        """Return whether a run that began in a term may write now."""
        me = self._membership.me
        is_held = me is not None and me.term == term and bool(self._membership.held >> slot & 1)
        return is_held and self._membership.may_write(current_moment())

    def gate(self, slot: int) -> ShardGate:
        """Return the gate for the writes of a run that begins now."""
        me = self._membership.me
        return ShardGate(self, slot, "" if me is None else me.term)

    def finished(self) -> None:
        """Note that a run has ended, or a write is answered, which a slot that moves may have waited for."""
        if self._yielding or self._overdue is not None or self._membership.is_leaving:
            self.has_news.set()

    def on_move(self, callback: Callable[[], None]) -> None:
        """Call a function whenever slots have been taken or yielded."""
        self._followers.append(callback)

    # --- for the member ---

    @property
    def running(self) -> int:
        """The slots in which requests run."""
        slots = 0
        for shard in self._shards:
            slots |= shard.busy
        return slots

    @property
    def busy(self) -> int:
        """The slots in which requests run, or have sent writes that are not answered."""
        return self.running | self.unanswered.slots

    @property
    def requests(self) -> int:
        """The number of requests that are ready or running."""
        return sum(shard.requests for shard in self._shards)

    @property
    def load(self) -> MemberLoad:
        """How much this replica has to do, and has done."""
        return MemberLoad(
            slots=self.taken.bit_count(),
            requests=self.requests,
            reconciles=sum(shard.reconciles for shard in self._shards),
            errors=sum(shard.errors for shard in self._shards),
            moves=self.taken_count + self.yielded_count,
        )

    def apply(self) -> None:
        """Take and yield slots, cancel runs that are late, and acknowledge others once nothing runs in their slots.

        Raises:
            LeadershipLost: a run has not ended although it was cancelled.
        """
        membership, now = self._membership, current_moment()
        taken = membership.taken(now) & self.caches.covered
        lost, gained = self.taken & ~taken, taken & (~self.taken | self._refused)
        self.taken, self._refused = taken, 0
        if lost or gained:
            self._move(lost, gained)
        self._yielding = self.busy & ~taken
        self._cancel_late(now)
        self._acknowledge()
        self._cover()

    def next_deadline(self, now: float) -> float:
        """Return when `apply` must be called again: a run must be cancelled, or the Lease is not renewed."""
        membership = self._membership
        times = [*self._deadlines.values(), membership.renew_until, membership.cancel_at]
        times += self.unanswered.next_deadline(self._yielding)
        if self._overdue is not None:
            times.append(self._overdue)
        return min([time for time in times if time > now] + [membership.ends_at])

    async def stop(self) -> None:
        """Stop all runs at the end of a term, and return when they have ended.

        Raises:
            LeadershipLost: some have not ended in time.
        """
        lost, self.taken = self.taken, 0
        self._move(lost, 0)
        self._cancel(self.running)
        loop = asyncio.get_running_loop()
        self._overdue = until = loop.time() + CANCEL_TIMEOUT.total_seconds()
        try:
            async with asyncio.timeout_at(until):
                while self.running:
                    self.has_news.clear()
                    await self.has_news.wait()
        except TimeoutError:
            raise LeadershipLost("reconciles did not end although they were cancelled: a lease was lost") from None
        self._overdue = None
        self._deadlines.clear()

    # --- moves ---

    def _move(self, lost: int, gained: int) -> None:
        self.yielded_count += lost.bit_count()
        self.taken_count += gained.bit_count()
        self._membership.hold(gained)
        counts = {"members": len(self._membership.peers) + 1, "slots": self.taken.bit_count()}
        moved = {"taken": gained.bit_count(), "yielded": lost.bit_count()}
        log.info("Shards have moved", extra={**self._fields, **counts, **moved})
        for shard in self._shards:
            if lost:
                self._start(shard.lose(lost), shard)
            if gained:
                self._start(shard.take(gained), shard)
        for follower in self._followers:
            follower()

    def _start(self, moving: Coroutine[Any, Any, None], shard: ControllerShard) -> None:
        """Drop or add the requests of slots that have moved, a time slice at a time."""
        task = asyncio.get_running_loop().create_task(moving, name=f"sharding/{shard.name}")
        self._moving.add(task)
        task.add_done_callback(self._moving.discard)

    def _acknowledge(self) -> None:
        membership, busy = self._membership, self.busy
        if membership.is_leaving:
            membership.leave(busy)
        terms = membership.acknowledgeable(busy)
        if terms != membership.acknowledged:
            membership.acknowledge(terms)
            self.must_write.set()
        announced = membership.held if membership.is_leaving else None
        if self._announced != announced:
            self._announced = announced
            self.must_write.set()

    def _cover(self) -> None:
        """Cache the objects of slots that are to be taken, and of those in which something still runs."""
        wanted = self._membership.won | self.busy
        if wanted != self._wanted:
            self._wanted = wanted
            self.caches.cover(wanted)

    def _cancel_late(self, now: Moment) -> None:
        """Cancel runs in slots that move once their deadline is over, or that of the Lease."""
        deadline = now.loop + self._handover_seconds
        if now.loop >= self._membership.renew_until:
            deadline = min(deadline, self._membership.cancel_at)
        moving = slots_in(self.running & ~self.taken)
        self._deadlines = {slot: min(self._deadlines.get(slot, deadline), deadline) for slot in moving}
        late = sum(1 << slot for slot, until in self._deadlines.items() if until <= now.loop)
        if not late:
            self._overdue = None
        elif self._cancel(late) or self._overdue is None:
            self._overdue = now.loop + CANCEL_TIMEOUT.total_seconds()
        elif now.loop >= self._overdue:
            raise LeadershipLost("reconciles did not end although they were cancelled: their shards move")

    def _cancel(self, slots: int) -> int:
        """Cancel the runs in some slots, and return how many had not been cancelled before."""
        count = sum(shard.cancel(slots) for shard in self._shards)
        if count:
            self.cancelled_count += count
            log.warning("Cancelled reconciles whose shards move", extra={**self._fields, "reconciles": count})
        return count


class ShardGate:
    """The gate for the writes of one run: its slot must be held in the term in which it began."""

    __slots__ = ("_slot", "_slots", "_term")

    def __init__(self, slots: ShardSlots, slot: int, term: str) -> None:
        self._slots, self._slot, self._term = slots, slot, term

    def check(self, request: HttpRequest) -> None:
        """Raise NotLeading if another replica may work on the slot by now; see `WriteGate`."""
        if not self._slots.may_write(self._slot, self._term):
            raise NotLeading(
                f"{request} was not sent: this replica ({self._slots.identity}) no longer holds the shard of the "
                "request that it reconciles, and another one may work on it"
            )

    def sent(self, answer: asyncio.Task[Any]) -> None:
        """Note a write; its slot stays here until it is answered."""
        self._slots.unanswered.add(answer, self._slot)
