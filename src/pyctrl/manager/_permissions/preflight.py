"""The option `Preflight`. `PermissionWatcher`, which applies it, is imported when a manager connects."""

from __future__ import annotations

from enum import Enum

__all__ = ["Preflight"]


class Preflight(Enum):
    """How a manager handles missing permissions."""

    #: Do not review permissions: requests fail with Forbidden.
    OFF = "off"
    #: Log what is missing and how to grant it; controllers that need it wait, the others run.
    WARN = "warn"
    #: At start, raise `MissingPermissions`; later, as `WARN`.
    STRICT = "strict"
