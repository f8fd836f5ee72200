"""The leader elector: acquires, renews and releases the Lease, and starts and stops the elected group."""

from __future__ import annotations

import asyncio
import logging
import uuid
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from random import Random
from typing import Any, Protocol

from pyctrl.api import Key
from pyctrl.client import Client, EventRecorder, HttpRequest
from pyctrl.errors import LeadershipLost, NotLeading
from pyctrl.manager._election.candidate import Candidate
from pyctrl.manager._election.lease_lock import ANSWER_SECONDS, LeaseLock, current_moment
from pyctrl.manager._election.options import JITTER_FACTOR, LeaderElection, OnLoss
from pyctrl.manager._election.unanswered_writes import UnansweredWrites
from pyctrl.rbac import EVENTS, LEADER_ELECTION, Permission, PermissionScope

__all__ = ["ElectedWork", "ElectionStatistics", "LeaderElector", "make_identity"]

log = logging.getLogger("pyctrl.manager")

STAGGER = 0.05  # of a retry period: the longest random delay of a candidate after the Lease has expired


class ElectedWork(Protocol):
    """The runnables of the leader. `Lifecycle` starts them for the first time, once the elector is ready."""

    @property
    def has_ended(self) -> bool:
        """Whether none of them is running."""
        ...

    def restart_elected(self) -> None:
        """Start them again, in the background."""

    async def stop_elected(self, timeout: timedelta) -> None:
        """Ask them to stop, cancel the remaining ones after ``timeout``, and return when they have ended or not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ElectionStatistics:
    """The state and counters of the leader election, as seen by this replica."""

    identity: str
    is_leader: bool
    #: The holder of the Lease, "" for none, and how often it has changed.
    holder: str
    transitions: int
    #: The time since the last successful renewal was sent; None while this replica does not lead.
    since_renewal: timedelta | None
    #: How often this replica has become leader, and how often it has lost the Lease.
    terms: int
    losses: int
    renewals: int
    #: Renewals that had to read the Lease first, because another client had changed it.
    slow_paths: int
    #: Failed requests.
    failures: int


class LeaderElector:
    """Leader election of one replica, a runnable of `Group.ELECTION` that is ready once it leads for the first time.

    It renews the Lease until it is asked to stop, which happens after the elected runnables have ended, and then
    releases it. If it cannot renew the Lease it first stops the elected runnables, and then raises or contends again,
    according to `OnLoss`. It is the write gate of the elected runnables.

    Args:
        client: used for election requests only; not behind a write gate.
        options: the leader election options.
        work: the runnables to start and stop.
        key: the namespace and name of the Lease.
        random: the source of jitter.
        identity: the ``holderIdentity`` of this replica.
        recorder: records changes of leadership as Events of the Lease.
    """

    name = "leader election"

    def __init__(
        self,
        client: Client,
        options: LeaderElection,
        work: ElectedWork,
        *,
        key: Key,
        identity: str,
        random: Random,
        recorder: EventRecorder,
    ) -> None:
        self.key = key
        self._options = options
        self._work = work
        self._random = random
        self._recorder = recorder
        self._candidate = Candidate(options, key, identity)
        self._lock = LeaseLock(client, options, self._candidate, key)
        self._unanswered = UnansweredWrites(options.safe_time)
        self._stopping = asyncio.Event()
        self._has_led = asyncio.Event()
        self._terms = self._losses = 0

    @property
    def identity(self) -> str:
        """The ``holderIdentity`` of this replica."""
        return self._candidate.identity

    @property
    def held_lease(self) -> tuple[str, float] | None:
        """The Lease and its renew deadline on the loop's clock; None while this replica does not lead."""
        return (str(self.key), self._candidate.renew_until) if self._candidate.is_leading else None

    @property
    def rbac(self) -> tuple[Permission, ...]:
        """Permissions to create the Lease, to read and update only this one, and to record Events."""
        where = PermissionScope.OWN if self._options.namespace is None else frozenset([self._options.namespace])
        rule = LEADER_ELECTION.rule
        create = replace(rule, verbs=("create",))
        change = replace(rule, verbs=("get", "update"), names=(self._options.name,))
        return (*(Permission(rule=rule, where=where) for rule in (create, change)), replace(EVENTS, where=where))

    def statistics(self) -> ElectionStatistics:
        """Return the state and counters, for metrics."""
        renewed_at = self._candidate.renewed_at
        return ElectionStatistics(
            identity=self.identity,
            is_leader=self._candidate.is_leading,
            holder=self._candidate.holder,
            transitions=self._candidate.transitions,
            since_renewal=timedelta(seconds=current_moment().seconds_since(renewed_at))
            if renewed_at is not None
            else None,
            terms=self._terms,
            losses=self._losses,
            renewals=self._lock.renewals,
            slow_paths=self._lock.slow_paths,
            failures=self._lock.failures,
        )

    @property
    def may_act(self) -> bool:
        """Whether no other replica can lead by now."""
        return self._candidate.may_act(current_moment())

    def check(self, request: HttpRequest) -> None:
        """Raise NotLeading if another replica may lead by now; see `WriteGate`."""
        if not self.may_act:
            raise NotLeading(
                f"{request} was not sent: this replica ({self.identity}) has not renewed the lease {self.key} within "
                f"{self._options.safe_time.total_seconds():g} s, and another one may lead"
            )

    def sent(self, answer: asyncio.Task[Any]) -> None:
        """Note a write of elected work; the Lease is released once it is answered."""
        self._unanswered.add(answer)

    def ask_to_stop(self) -> None:
        """Release the Lease, and let `run` return."""
        self._stopping.set()

    async def wait_until_ready(self) -> None:
        """Return when this replica leads for the first time."""
        await self._has_led.wait()

    async def run(self) -> None:
        """Contend for the Lease and renew it, until asked to stop.

        Raises:
            LeadershipLost: the Lease could not be renewed; the elected runnables have been stopped.
        """
        try:
            while await self._acquire():
                self._start_leading()
                if (reason := await self._renew()) is None:
                    return
                await self._step_down(reason)
        finally:
            await self._release()

    # --- contend ---

    async def _acquire(self) -> bool:
        """Try until the Lease is acquired; return False when asked to stop before."""
        log.info("Attempting to acquire leader lease...", extra=self._fields())
        holder = ""
        while not self._stopping.is_set():
            if await self._lock.try_acquire_or_renew():
                return True
            if self._candidate.is_held_by_other and self._candidate.holder != holder:
                holder = self._candidate.holder
                log.info("Lease is held by another replica", extra=self._fields() | {"holder": holder})
            await self._wait_until(self._next_try())
        return False

    def _next_try(self) -> float:
        now, retry = _time(), self._options.retry_period.total_seconds()
        at = now + retry * (1 + JITTER_FACTOR * self._random.random())
        free_at = self._candidate.free_at
        return min(at, free_at + retry * STAGGER * self._random.random()) if free_at > now else at

    def _start_leading(self) -> None:
        self._terms += 1
        log.info("Successfully acquired lease", extra=self._fields() | {"identity": self.identity})
        self._record_event("became leader")
        if self._terms == 1:
            self._has_led.set()
        else:
            self._work.restart_elected()

    # --- lead ---

    async def _renew(self) -> str | None:
        """Renew until asked to stop, which returns None, or until the Lease is lost, which returns the reason."""
        candidate = self._candidate
        tried = candidate.renew_until - self._options.renew_deadline.total_seconds()
        while True:
            if await self._wait_until(self._next_renewal(tried)):
                return None
            tried = _time()  # the period counts from try to try: a slow answer must not delay the next one
            if tried >= candidate.renew_until:
                within = f"{self._options.renew_deadline.total_seconds():g} s"
                why = self._lock.last_error or "this process was suspended or its event loop blocked"
                return f"{self.key} was not renewed within {within}: {why}"
            await self._lock.try_acquire_or_renew()
            if candidate.is_held_by_other:
                return f"{candidate.holder} has acquired {self.key}"

    def _next_renewal(self, tried: float) -> float:
        """Return when to try again: every retry period, and a last time half a period before the renew deadline."""
        retry, until = self._options.retry_period.total_seconds(), self._candidate.renew_until
        last = until - retry / 2
        return last if tried < last <= tried + retry else min(tried + retry, until)

    async def _step_down(self, reason: str) -> None:
        """Stop the elected runnables before another replica may start them."""
        self._losses += 1
        log.error("Failed to renew lease", extra=self._fields() | {"reason": reason})
        seconds = self._candidate.cancel_at - _time()
        if self._candidate.is_held_by_other:
            seconds = 0.0
            self._candidate.stop_leading()
        await self._work.stop_elected(timedelta(seconds=max(0.0, seconds)))
        self._candidate.stop_leading()
        self._record_event("stopped leading")
        if self._options.on_loss is OnLoss.EXIT or not self._work.has_ended:
            raise LeadershipLost(f"leader election lost: {reason}")

    # --- end ---

    async def _release(self) -> None:
        """Stop leading, and release the Lease if all elected runnables have ended and their writes are answered."""
        was_leading = self._candidate.is_leading
        self._candidate.stop_leading()
        if self._options.release_on_stop and (was_leading or self._lock.may_hold):
            if not self._work.has_ended:
                text = "Not releasing lease, leader election runnables are still running"
                log.warning(text, extra=self._fields())
            elif not await self._unanswered.wait(ANSWER_SECONDS):
                log.warning("Not releasing lease, the server has not answered all writes", extra=self._fields())
            else:
                await self._lock.release()
        if was_leading:
            self._record_event("stopped leading")

    # --- helpers ---

    async def _wait_until(self, until: float) -> bool:
        """Wait until a time of the loop's clock; return True at once when asked to stop."""
        with suppress(TimeoutError):
            async with asyncio.timeout_at(until):
                await self._stopping.wait()
        return self._stopping.is_set()

    def _record_event(self, change: str) -> None:
        if self._candidate.lease is not None:
            self._recorder.normal(self._candidate.lease, "LeaderElection", f"{self.identity} {change}", action="Elect")

    def _fields(self) -> dict[str, object]:
        return {"lock": str(self.key)}


def make_identity(host: str, random: Random) -> str:
    """Return a unique identity for this replica: ``host_uuid``, as controller-runtime does."""
    return f"{host}_{uuid.UUID(int=random.getrandbits(128), version=4)}"


def _time() -> float:
    return asyncio.get_running_loop().time()
