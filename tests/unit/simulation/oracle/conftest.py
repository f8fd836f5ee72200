"""The reference of an operator that makes two children."""

from __future__ import annotations

import pytest

from pyctrl.simulation._oracle import Reference
from tests.unit.simulation.oracle._scene import plain


@pytest.fixture
def reference() -> Reference:
    """Return the reference of an operator that makes two children."""
    return Reference([plain(seed) for seed in range(3)])
