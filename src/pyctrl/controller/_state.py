"""How far a controller is."""

from __future__ import annotations

from enum import Enum

__all__ = ["ControllerState"]


class ControllerState(Enum):
    """What a controller is doing, in the order of its life."""

    #: Its manager has not come to it: caches are being filled, or another replica leads.
    NOT_STARTED = "has not been started"
    #: It does nothing before it may do everything it declares, for as long as that takes.
    WAITING_FOR_RIGHTS = "waits for rights"
    #: The cluster does not serve a kind that it follows: it begins when the definition is there.
    WAITING_FOR_DEFINITION = "waits for a definition"
    #: The kind that it reconciles is optional and not served: nothing is wrong, there is nothing to do.
    DORMANT = "rests until its kind is served"
    #: A source fails, or has not told in time what is there; it is tried again until it works.
    FAILING = "cannot start"
    #: Not everything that exists is in the queue yet.
    WAITING_FOR_SOURCES = "waits for its sources"
    #: It reconciles.
    RUNNING = "runs"
    #: It reconciles, but a right is gone that it had: what needs it fails, and is tried again once it is back.
    LACKING_RIGHTS = "lacks rights"
    #: It reconciles, but a kind that it follows is no longer served, or a source has failed and is tried again.
    LACKING_SOURCES = "lacks a source"
    #: It has ended.
    STOPPED = "has stopped"

    @property
    def is_at_work(self) -> bool:
        """Whether there are workers, so that requests are reconciled."""
        return self in (ControllerState.RUNNING, ControllerState.LACKING_RIGHTS, ControllerState.LACKING_SOURCES)

    @property
    def is_at_rest(self) -> bool:
        """Whether it does not run, or not now, because this replica does not lead."""
        return self in (ControllerState.NOT_STARTED, ControllerState.STOPPED)

    @property
    def is_well(self) -> bool:
        """Whether it does what it should and lacks nothing for it."""
        return self in (ControllerState.RUNNING, ControllerState.DORMANT)
