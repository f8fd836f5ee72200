"""The oracle: what is wrong with a run, found by comparing it with runs without faults."""

from __future__ import annotations

from pyctrl.simulation._oracle.fingerprint import fingerprint
from pyctrl.simulation._oracle.judge import judge
from pyctrl.simulation._oracle.reference import Reference

__all__ = ["Reference", "fingerprint", "judge"]
