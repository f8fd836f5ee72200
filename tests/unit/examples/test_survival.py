"""The example operators under every fault of the simulation. `PYCTRL_SIMULATION_BUDGET=10m` tries more at night."""

from __future__ import annotations

from typing import Any

import pytest

from examples.evc.evc import add_evc
from examples.podset.podset import add_podset
from examples.sampledb.reconciler import add_sampledb
from examples.website.website import WebsiteReconciler
from pyctrl.simulation import Explore


def add_evc_with_finalizer(manager: Any) -> None:
    """Add the operator of EphemeralVolumeClaims with its finalizer."""
    add_evc(manager, finalizer=True)


@pytest.mark.slow("forty runs of an operator, or eight of one that waits for backups")
@pytest.mark.timeout(180)
@pytest.mark.parametrize(
    ("program", "runs"),
    [
        (add_podset, 40),
        (add_evc, 40),
        (add_evc_with_finalizer, 40),
        (WebsiteReconciler, 40),
        (add_sampledb, 8),
    ],
)
def test_survives(explore: Explore, program: Any, runs: int) -> None:
    """No crash, lost answer, stale view, conflict or meddling user breaks an example."""
    explore(program, budget=runs)
