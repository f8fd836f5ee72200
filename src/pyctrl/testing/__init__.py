"""What users and we test with: virtual time, faults, fixtures, real binaries."""

from __future__ import annotations

from pyctrl.testing._virtual_time import (
    Deadlock,
    OutsideWorld,
    Runaway,
    Spinning,
    VirtualTimeError,
    VirtualTimeLoop,
    run_virtual,
)

__all__ = [
    "Deadlock",
    "OutsideWorld",
    "Runaway",
    "Spinning",
    "VirtualTimeError",
    "VirtualTimeLoop",
    "run_virtual",
]
