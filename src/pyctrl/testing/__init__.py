"""What users and we test with: virtual time, faults, fixtures, real binaries.

`run_virtual` and the pytest marker ``virtual_time`` run a program on a clock that jumps instead of waiting.
`FaultyTransport` makes the network fail as scripted, or by chance, which is `Weather`. `control_plane` starts a real
API server from its binaries. The pytest plugin, found by pytest itself, gives the fixtures ``cluster``, ``client``,
``namespace``, ``running_pods`` and ``storage_class``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from pyctrl.testing._virtual_time import (
    Deadlock,
    OutsideWorld,
    Runaway,
    Spinning,
    VirtualTimeError,
    VirtualTimeLoop,
    run_virtual,
)

if TYPE_CHECKING:
    from pyctrl.testing._access_recorder import AccessRecorder
    from pyctrl.testing._cluster_under_test import ClusterUnderTest
    from pyctrl.testing._control_plane import ControlPlane, ControlPlaneFailed, control_plane
    from pyctrl.testing._faults import (
        Answered,
        AnswerLost,
        Broken,
        Delayed,
        Ended,
        Fault,
        FaultyTransport,
        Inserted,
        Refused,
        Repeated,
        Rule,
        Silent,
    )
    from pyctrl.testing._under_role import Operator, UnderRole
    from pyctrl.testing._weather import Weather
    from pyctrl.testing._webhook_caller import webhook_caller

__all__ = [
    "AccessRecorder",
    "AnswerLost",
    "Answered",
    "Broken",
    "ClusterUnderTest",
    "ControlPlane",
    "ControlPlaneFailed",
    "Deadlock",
    "Delayed",
    "Ended",
    "Fault",
    "FaultyTransport",
    "Inserted",
    "Operator",
    "OutsideWorld",
    "Refused",
    "Repeated",
    "Rule",
    "Runaway",
    "Silent",
    "Spinning",
    "UnderRole",
    "VirtualTimeError",
    "VirtualTimeLoop",
    "Weather",
    "control_plane",
    "run_virtual",
    "webhook_caller",
]

_FILES = {
    "AccessRecorder": "_access_recorder",
    "ClusterUnderTest": "_cluster_under_test",
    "ControlPlane": "_control_plane",
    "ControlPlaneFailed": "_control_plane",
    "control_plane": "_control_plane",
    "Operator": "_under_role",
    "UnderRole": "_under_role",
    "Weather": "_weather",
    "webhook_caller": "_webhook_caller",
}


def __getattr__(name: str) -> Any:
    """Import what needs a client or certificates only where it is used: pytest imports this room in every project."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_FILES.get(name, '_faults')}"), name)
