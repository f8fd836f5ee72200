"""The states of a controller."""

from __future__ import annotations

from enum import Enum

__all__ = ["ControllerState"]


class ControllerState(Enum):
    """The state of a controller, in the order of a start."""

    #: Its manager has not started it: caches are not synced, or another replica leads.
    NOT_STARTED = "has not been started"
    #: It waits, without a limit, until it has all permissions that it declares.
    WAITING_FOR_RIGHTS = "waits for rights"
    #: The cluster does not serve a kind that it follows: it starts once the CustomResourceDefinition is installed.
    WAITING_FOR_DEFINITION = "waits for a definition"
    #: The kind that it reconciles is optional and not served: there is nothing to do, and no problem.
    DORMANT = "rests until its kind is served"
    #: A source fails, or was not synced in time. It is retried until it works.
    FAILING = "cannot start"
    #: A source has not added everything that exists to the queue yet.
    WAITING_FOR_SOURCES = "waits for its sources"
    #: It reconciles.
    RUNNING = "runs"
    #: It reconciles, but has lost a permission. Reconciles that need it fail, and are retried once it is back.
    LACKING_RIGHTS = "lacks rights"
    #: It reconciles, but a kind that it follows is no longer served, or a source has failed and is retried.
    LACKING_SOURCES = "lacks a source"
    #: It has ended.
    STOPPED = "has stopped"

    @property
    def is_at_work(self) -> bool:
        """Whether its workers run."""
        return self in (ControllerState.RUNNING, ControllerState.LACKING_RIGHTS, ControllerState.LACKING_SOURCES)

    @property
    def is_at_rest(self) -> bool:
        """Whether it does not run: it has ended, or was not started, as on a replica that does not lead."""
        return self in (ControllerState.NOT_STARTED, ControllerState.STOPPED)

    @property
    def is_well(self) -> bool:
        """Whether it has no problem."""
        return self in (ControllerState.RUNNING, ControllerState.DORMANT)
