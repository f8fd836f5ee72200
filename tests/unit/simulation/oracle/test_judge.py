"""The judgement of a run: nothing, if all is well."""

from __future__ import annotations

import pytest

from pyctrl.simulation._oracle import Reference, judge
from tests.unit.simulation.oracle._scene import plain


def test_a_run_without_faults_is_well(reference: Reference) -> None:
    """A run with another seed has no problems."""
    assert judge(reference, plain(77)) == []


def test_a_reference_needs_a_run() -> None:
    """A reference without runs is refused."""
    with pytest.raises(ValueError, match="at least one run"):
        Reference([])
