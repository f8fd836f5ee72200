"""The guess at the class of mistake behind a failure."""

from __future__ import annotations

from pyctrl.simulation._evidence import Evidence
from pyctrl.simulation._rules import RULES

__all__ = ["guess"]


def guess(evidence: Evidence) -> str:
    """Return the probable mistake and what to do about it, as a sentence without a full stop; "" if none is known."""
    return next(filter(None, (rule.text(evidence) for rule in RULES)), "")
