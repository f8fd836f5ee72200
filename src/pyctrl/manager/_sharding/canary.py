"""Canaries: whether a new version is promoted or rolled back, by its error rate beside that of the other version."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import Enum

from pyctrl.manager._sharding.member_state import MemberLoad, MemberState

__all__ = ["CanaryTrial", "CanaryVerdict", "Rates"]

#: Reconciles of the new version before its error rate counts.
MIN_RECONCILES = 50
#: A version is worse if its error rate is above that of the other one times a factor, plus a margin.
FACTOR, MARGIN = 2.0, 0.01


class CanaryVerdict(Enum):
    """What becomes of a canary."""

    WAIT = "wait"
    #: It gets the share of any other replica.
    PROMOTE = "promote"
    #: It gets nothing.
    ROLL_BACK = "roll back"


@dataclass(frozen=True, slots=True)
class Rates:
    """Reconciles of a version, and those that failed."""

    reconciles: int = 0
    errors: int = 0

    @property
    def share(self) -> float:
        """The share of reconciles that failed."""
        return self.errors / self.reconciles if self.reconciles else 0.0

    def since(self, load: MemberLoad, before: MemberLoad) -> Rates:
        """Return these with what a replica has done between two renewals of its Lease."""
        return Rates(
            self.reconciles + max(0, load.reconciles - before.reconciles),
            self.errors + max(0, load.errors - before.errors),
        )


class CanaryTrial:
    """The trial of a new version, from when one of its replicas has joined.

    A version has one trial. Its end is known while a replica of the ring runs: each Lease names the versions that were
    rolled back, and a replica of the version that is no canary shows that it was promoted.

    Args:
        version: the version on trial.
        seconds: how long it lasts.
    """

    def __init__(self, version: str, seconds: float) -> None:
        self._version, self._seconds = version, seconds
        self._began: float | None = None
        self._before: dict[str, MemberLoad] = {}

    def known(self, states: Collection[MemberState]) -> CanaryVerdict:
        """Return what another replica has decided, as the Leases say, else WAIT."""
        if any(self._version in state.rolled_back for state in states):
            return CanaryVerdict.ROLL_BACK
        if any(state.member.version == self._version and state.member.canary >= 1 for state in states):
            return CanaryVerdict.PROMOTE
        return CanaryVerdict.WAIT

    def judge(self, states: Collection[MemberState], own: Mapping[str, MemberLoad], now: float) -> CanaryVerdict:
        """Return what becomes of the canary, from what all Leases say, and what this replica has done by now."""
        if (known := self.known(states)) is not CanaryVerdict.WAIT:
            return known
        if self._began is None:
            self._began = now
        new, old = Rates(), Rates()
        for state in states:
            lease = state.member.lease
            load = own.get(lease, state.load)
            before = self._before.setdefault(lease, load)
            if state.member.version == self._version:
                new = new.since(load, before)
            else:
                old = old.since(load, before)
        if new.reconciles < MIN_RECONCILES:
            return CanaryVerdict.WAIT
        if new.share > FACTOR * old.share + MARGIN:
            return CanaryVerdict.ROLL_BACK
        return CanaryVerdict.PROMOTE if now - self._began >= self._seconds else CanaryVerdict.WAIT
