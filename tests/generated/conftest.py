"""A smaller budget for the simulations of generated projects: their authors' default is longer than a test may take."""

from __future__ import annotations

from functools import partial
from typing import cast

import pytest

from pyctrl.simulation import Explore

RUNS = 8
SIMULATION = "test_the_operator_survives"


@pytest.fixture
def explore(explore: Explore) -> Explore:
    """Explorer that tries the first plans only, which have something of everything."""
    return cast("Explore", partial(explore, budget=RUNS))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the simulations as slow: three runs without faults come first."""
    for item in items:
        if item.name == SIMULATION:
            item.add_marker(pytest.mark.slow(reason="three runs of the operator without faults come first"))
