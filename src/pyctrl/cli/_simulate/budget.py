"""Budget of an exploration: a time or a number of runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from cyclopts import Token

from pyctrl.cli._durations import duration, shown_duration

__all__ = ["DEFAULT_BUDGET", "Budget", "budget_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """When an exploration stops: after some seconds, or after some runs."""

    seconds: float | None = None
    runs: int | None = None

    def __str__(self) -> str:
        return str(self.runs) if self.seconds is None else shown_duration(timedelta(seconds=self.seconds))


DEFAULT_BUDGET = Budget(seconds=60.0)


def budget_of(kind: Any, tokens: Sequence[Token]) -> Budget:
    """Parse the value of a flag: a number of runs such as `500`, or a duration such as `60s`."""
    text = tokens[0].value
    if not text.isdecimal():
        return Budget(seconds=duration(kind, tokens).total_seconds())
    if not int(text):
        raise ValueError("0 is not positive; a number of runs or a duration above 0 was expected")
    return Budget(runs=int(text))
