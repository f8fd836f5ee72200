"""Do what `Candidate` decides: try in time, begin and end the elected work, close the gate."""

from __future__ import annotations

import asyncio
import logging
import uuid
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from random import Random
from typing import Protocol

from pyctrl.api import Key
from pyctrl.client import Client, EventRecorder, HttpRequest
from pyctrl.errors import LeadershipLost, NotLeading
from pyctrl.manager._election.candidate import Candidate
from pyctrl.manager._election.lease_lock import LeaseLock, current_moment
from pyctrl.manager._election.options import JITTER_FACTOR, LeaderElection, OnLoss
from pyctrl.rbac import EVENTS, LEADER_ELECTION, Permission, PermissionScope

__all__ = ["ElectedWork", "ElectionStatistics", "LeaderElector", "make_identity"]

log = logging.getLogger("pyctrl.manager")

STAGGER = 0.05  # of a retry period, at most, that a candidate lets pass when the lease has run out


class ElectedWork(Protocol):
    """What runs while this replica leads. For the first time it is begun by who waits until the elector is ready."""

    @property
    def has_ended(self) -> bool:
        """Whether nothing of it runs."""
        ...

    def begin_elected(self) -> None:
        """Begin anew, in the background."""

    async def end_elected(self, patience: timedelta) -> None:
        """Ask it to stop, cancel what has not after ``patience``, and return when it is over or cannot be helped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ElectionStatistics:
    """How the election goes, as this replica sees it."""

    identity: str
    is_leader: bool
    #: Who holds the lease, "" for nobody, and how often it has changed hands.
    holder: str
    transitions: int
    #: How long ago the last renewal that succeeded was sent; None when this replica does not lead.
    since_renewal: timedelta | None
    #: How often this replica has begun to lead, and had to stop against its will.
    terms: int
    losses: int
    renewals: int
    #: Renewals that had to read the Lease first, because it was not as this replica had left it.
    slow_paths: int
    #: Requests of the election that failed.
    failures: int


class LeaderElector:
    """One replica's part in the election, run in the group `Group.ELECTION`: ready when it leads for the first time.

    It renews until it is asked to stop, which is after the elected work has ended, and then gives the lease up. When it
    cannot renew it ends the elected work first, and then fails or contends again, as `OnLoss` says. It is the gate that
    the elected work's writes pass.

    Args:
        client: sends nothing but requests of the election; never behind a gate.
        options: of the election.
        work: what is begun and ended.
        key: which Lease.
        random: the source of jitter.
        identity: what stands in the Lease for this replica.
        recorder: tells of changes by Events of the Lease.
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
        self._requests = LeaseLock(client, options, self._candidate, key)
        self._stopping = asyncio.Event()
        self._has_led = asyncio.Event()
        self._terms = self._losses = 0

    @property
    def identity(self) -> str:
        """What stands in the Lease for this replica."""
        return self._candidate.identity

    @property
    def held_lease(self) -> tuple[str, float] | None:
        """The Lease and when, on the loop's clock, it must have been renewed; None while this replica does not lead."""
        return (str(self.key), self._candidate.renew_until) if self._candidate.is_leading else None

    @property
    def rbac(self) -> tuple[Permission, ...]:
        """To create the Lease, to read and update this one only, and to tell of it."""
        where = PermissionScope.OWN if self._options.namespace is None else frozenset([self._options.namespace])
        rule = LEADER_ELECTION.rule
        create = replace(rule, verbs=("create",))
        change = replace(rule, verbs=("get", "update"), names=(self._options.name,))
        return (*(Permission(rule=rule, where=where) for rule in (create, change)), replace(EVENTS, where=where))

    def statistics(self) -> ElectionStatistics:
        """Return numbers for metrics and tests."""
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
            renewals=self._requests.renewals,
            slow_paths=self._requests.slow_paths,
            failures=self._requests.failures,
        )

    def check(self, request: HttpRequest) -> None:
        """Let a write of elected work pass while nobody else may lead; see `WriteGate`."""
        if not self._candidate.may_act(current_moment()):
            raise NotLeading(
                f"{request} was not sent: this replica ({self.identity}) has not renewed the lease {self.key} within "
                f"{self._options.safe_time.total_seconds():g} s, and another one may lead"
            )

    def ask_to_stop(self) -> None:
        """Give the lease up, and return from `run`."""
        self._stopping.set()

    async def wait_until_ready(self) -> None:
        """Return when it leads for the first time."""
        await self._has_led.wait()

    async def run(self) -> None:
        """Contend, lead, and give up when asked to stop.

        Raises:
            LeadershipLost: the lease could not be kept, and the elected work has been stopped.
        """
        try:
            while await self._acquire():
                self._begin()
                if (reason := await self._hold()) is None:
                    return
                await self._step_down(reason)
        finally:
            await self._give_up()

    # --- contend ---

    async def _acquire(self) -> bool:
        """Try until the lease is taken; False when asked to stop before."""
        log.info("Attempting to acquire leader lease...", extra=self._fields())
        holder = ""
        while not self._stopping.is_set():
            if await self._requests.attempt():
                return True
            if self._candidate.is_anothers and self._candidate.holder != holder:
                holder = self._candidate.holder
                log.info("Another replica leads", extra=self._fields() | {"holder": holder})
            await self._pause(self._next_try())
        return False

    def _next_try(self) -> float:
        now, retry = _time(), self._options.retry_period.total_seconds()
        at = now + retry * (1 + JITTER_FACTOR * self._random.random())
        free_at = self._candidate.free_at
        return min(at, free_at + retry * STAGGER * self._random.random()) if free_at > now else at

    def _begin(self) -> None:
        self._terms += 1
        log.info("Successfully acquired lease", extra=self._fields() | {"identity": self.identity})
        self._tell("became leader")
        if self._terms == 1:
            self._has_led.set()
        else:
            self._work.begin_elected()

    # --- lead ---

    async def _hold(self) -> str | None:
        """Renew until asked to stop, which is None, or until the work has to end, and say why."""
        candidate = self._candidate
        tried = candidate.renew_until - self._options.renew_deadline.total_seconds()
        while True:
            if await self._pause(self._next_renewal(tried)):
                return None
            tried = _time()  # from try to try: a server that is slow to answer must not cost time between them
            if tried >= candidate.renew_until:
                within = f"{self._options.renew_deadline.total_seconds():g} s"
                why = self._requests.trouble or "this process stood still"
                return f"{self.key} was not renewed within {within}: {why}"
            await self._requests.attempt()
            if candidate.is_anothers:
                return f"{candidate.holder} has taken {self.key}"

    def _next_renewal(self, tried: float) -> float:
        """Return when to try again: every retry period, and for the last time half of one before it is too late."""
        retry, until = self._options.retry_period.total_seconds(), self._candidate.renew_until
        last = until - retry / 2
        return last if tried < last <= tried + retry else min(tried + retry, until)

    async def _step_down(self, reason: str) -> None:
        """End the elected work before anybody else may do it."""
        self._losses += 1
        log.error("Failed to renew lease", extra=self._fields() | {"reason": reason})
        patience = self._candidate.cancel_at - _time()
        if self._candidate.is_anothers:
            patience = 0.0
            self._candidate.lost()
        await self._work.end_elected(timedelta(seconds=max(0.0, patience)))
        self._candidate.lost()
        self._tell("stopped leading")
        if self._options.on_loss is OnLoss.EXIT or not self._work.has_ended:
            raise LeadershipLost(f"leader election lost: {reason}")

    # --- end ---

    async def _give_up(self) -> None:
        """Leave the lease to others, if all elected work has ended."""
        was_leading = self._candidate.is_leading
        self._candidate.lost()
        if self._options.release_on_stop and (was_leading or self._requests.may_hold):
            if self._work.has_ended:
                await self._requests.release()
            else:
                log.warning("The lease is not released, elected work still runs", extra=self._fields())
        if was_leading:
            self._tell("stopped leading")

    # --- the rest ---

    async def _pause(self, until: float) -> bool:
        """Wait until a moment of the loop's clock; True at once when asked to stop."""
        with suppress(TimeoutError):
            async with asyncio.timeout_at(until):
                await self._stopping.wait()
        return self._stopping.is_set()

    def _tell(self, what: str) -> None:
        if self._candidate.lease is not None:
            self._recorder.normal(self._candidate.lease, "LeaderElection", f"{self.identity} {what}", action="Elect")

    def _fields(self) -> dict[str, object]:
        return {"lock": str(self.key)}


def make_identity(host: str, random: Random) -> str:
    """Return a name for this replica that no other has: ``host_uuid``, as client-go's users make it."""
    return f"{host}_{uuid.UUID(int=random.getrandbits(128), version=4)}"


def _time() -> float:
    return asyncio.get_running_loop().time()
