"""Rules that recognise classes of mistakes in the evidence of a failure."""

from __future__ import annotations

from pyctrl.simulation._rules.clock import CLOCK
from pyctrl.simulation._rules.creates import CREATES
from pyctrl.simulation._rules.events import EVENTS, LATE
from pyctrl.simulation._rules.externals import EXTERNALS
from pyctrl.simulation._rules.finalizers import FINALIZERS
from pyctrl.simulation._rules.lost_writes import LOST_WRITES
from pyctrl.simulation._rules.meddling import MEDDLING
from pyctrl.simulation._rules.owners import OWNERS
from pyctrl.simulation._rules.plain import PLAIN
from pyctrl.simulation._rules.processes import PROCESSES
from pyctrl.simulation._rules.quiet import QUIET
from pyctrl.simulation._rules.rule import GuessRule

__all__ = ["RULES", "GuessRule"]

#: In the order in which they are tried: what an oracle has proven first, then the most specific patterns.
RULES: tuple[GuessRule, ...] = (
    *PROCESSES,
    *OWNERS,
    *CLOCK,
    *FINALIZERS,
    *EXTERNALS,
    *CREATES,
    *MEDDLING,
    *EVENTS,
    *LOST_WRITES,
    *LATE,
    *QUIET,
    *PLAIN,
)
