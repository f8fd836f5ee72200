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
    #: Not everything that exists is in the queue yet.
    WAITING_FOR_SOURCES = "waits for its sources"
    #: It reconciles.
    RUNNING = "runs"
    #: It reconciles, but a right is gone that it had: what needs it fails, and is tried again once it is back.
    LACKING_RIGHTS = "lacks rights"
    #: It has ended.
    STOPPED = "has stopped"
