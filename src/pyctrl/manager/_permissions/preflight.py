"""What a manager does about rights that are missing; what does it is imported when a manager connects."""

from __future__ import annotations

from enum import Enum

__all__ = ["Preflight"]


class Preflight(Enum):
    """What a manager does about rights that are missing."""

    #: Nothing: whoever needs them finds out.
    OFF = "off"
    #: Say what is missing and how to grant it; controllers that need it wait, the others run.
    WARN = "warn"
    #: At start, end with `MissingPermissions`; later, as `WARN`.
    STRICT = "strict"
