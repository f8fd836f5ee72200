"""A smaller budget for the simulations of generated projects: their authors' default is longer than a test may take."""

from __future__ import annotations

from functools import partial
from typing import cast

import pytest

from pyctrl.simulation import Explore

RUNS = 8


@pytest.fixture
def explore(explore: Explore) -> Explore:
    """Explorer that tries the first plans only, which have something of everything."""
    return cast("Explore", partial(explore, budget=RUNS))
