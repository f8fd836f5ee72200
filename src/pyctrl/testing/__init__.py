"""Test tools: virtual time, network faults, pytest fixtures, and control planes from real binaries.

`run_virtual` and the pytest marker ``virtual_time`` run a program on a clock that jumps instead of waiting.
`FaultyTransport` injects network faults, scripted (`Rule`) or random (`RandomFaults`). `control_plane` starts a real
API server from its binaries. `admission_request` makes the request that a webhook receives about an object, such as a
`sample_of` its kind. pytest loads the plugin automatically; it provides the fixtures ``cluster``, ``client``,
``namespace``, ``install_kinds``, ``running_pods`` and ``storage_class``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyctrl._lazy_imports import lazy_names
from pyctrl.testing._loop.virtual_time import (
    Deadlock,
    OutsideWorld,
    Runaway,
    Spinning,
    VirtualTimeError,
    VirtualTimeLoop,
    run_virtual,
)

if TYPE_CHECKING:
    from pyctrl.testing._access.recorder import AccessRecorder
    from pyctrl.testing._access.under_role import Operator, UnderRole
    from pyctrl.testing._admission_requests import admission_request, sample_of
    from pyctrl.testing._cluster.cluster_under_test import ClusterUnderTest
    from pyctrl.testing._cluster.control_plane import ControlPlane, ControlPlaneFailed, control_plane
    from pyctrl.testing._cluster.install_kinds import InstallKinds
    from pyctrl.testing._faults.random_faults import RandomFaults
    from pyctrl.testing._faults.transport import (
        Answered,
        AnswerLost,
        Broken,
        ConnectionRefused,
        Delayed,
        Ended,
        Fault,
        FaultyTransport,
        Inserted,
        Repeated,
        Rule,
        Silent,
    )
    from pyctrl.testing._webhook_caller import webhook_caller

__all__ = [
    "AccessRecorder",
    "AnswerLost",
    "Answered",
    "Broken",
    "ClusterUnderTest",
    "ConnectionRefused",
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
    "RandomFaults",
    "Repeated",
    "Rule",
    "Runaway",
    "Silent",
    "Spinning",
    "UnderRole",
    "VirtualTimeError",
    "VirtualTimeLoop",
    "admission_request",
    "control_plane",
    "run_virtual",
    "sample_of",
    "webhook_caller",
]

_FAULTS = (
    *("Answered", "AnswerLost", "Broken", "ConnectionRefused", "Delayed", "Ended", "Fault", "FaultyTransport"),
    *("Inserted", "Repeated", "Rule", "Silent"),
)

#: Imported on first use: pytest imports this package in every project.
_FILES = {
    **dict.fromkeys(_FAULTS, "_faults.transport"),
    **dict.fromkeys(("ControlPlane", "ControlPlaneFailed", "control_plane"), "_cluster.control_plane"),
    **dict.fromkeys(("Operator", "UnderRole"), "_access.under_role"),
    "AccessRecorder": "_access.recorder",
    "ClusterUnderTest": "_cluster.cluster_under_test",
    **dict.fromkeys(("admission_request", "sample_of"), "_admission_requests"),
    "InstallKinds": "_cluster.install_kinds",
    "RandomFaults": "_faults.random_faults",
    "webhook_caller": "_webhook_caller",
}

if not TYPE_CHECKING:  # a type checker would take a module __getattr__ to define every name
    __getattr__, __dir__ = lazy_names(__name__, _FILES)
