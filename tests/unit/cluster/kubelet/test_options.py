"""Options of the simulated kubelet."""

from __future__ import annotations

import pytest

from pyctrl.cluster import Kubelet


def test_negative_durations_are_refused() -> None:
    """A negative duration is refused with the name of the option."""
    with pytest.raises(ValueError, match="pull_seconds must be a number of seconds, at least 0; got -1"):
        Kubelet(pull_seconds=-1)
