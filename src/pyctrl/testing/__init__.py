"""What users and we test with: virtual time, faults, fixtures, real binaries.

`run_virtual` and the pytest marker ``virtual_time`` run a program on a clock that jumps instead of waiting.
`FaultyTransport` makes the network fail as scripted, or by chance, which is `Weather`. `control_plane` starts a real
API server from its binaries. `admission_request` is what a webhook is asked about an object, such as a `sample_of` its
kind. The pytest plugin, found by pytest itself, gives the fixtures ``cluster``, ``client``, ``namespace``,
``install_kinds``, ``running_pods`` and ``storage_class``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyctrl._door import opened_by_name
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
    from pyctrl.testing._install_kinds import InstallKinds
    from pyctrl.testing._questions import admission_request, sample_of
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
    "InstallKinds",
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
    "admission_request",
    "control_plane",
    "run_virtual",
    "sample_of",
    "webhook_caller",
]

_FAULTS = ("Answered", "AnswerLost", "Broken", "Delayed", "Ended", "Fault", "FaultyTransport", "Inserted", "Refused")

#: Imported when they are used: pytest imports this room in every project.
_FILES = {
    **dict.fromkeys((*_FAULTS, "Repeated", "Rule", "Silent"), "_faults"),
    **dict.fromkeys(("ControlPlane", "ControlPlaneFailed", "control_plane"), "_control_plane"),
    **dict.fromkeys(("Operator", "UnderRole"), "_under_role"),
    "AccessRecorder": "_access_recorder",
    "ClusterUnderTest": "_cluster_under_test",
    **dict.fromkeys(("admission_request", "sample_of"), "_questions"),
    "InstallKinds": "_install_kinds",
    "Weather": "_weather",
    "webhook_caller": "_webhook_caller",
}

if not TYPE_CHECKING:  # type checkers would take it as a promise of any name
    __getattr__, __dir__ = opened_by_name(__name__, _FILES)
