"""Profiler of a peer in Python between two commands.

BENCHMARK_PROFILE has the two commands, the occurrence of the second one, and the file; `run.py --profile` sets it.
Without it this module does nothing. Profiling can start before any import, which counts as the command "load":
``python -m peers._profiler peers.pyctrl.peer ...``
"""

from __future__ import annotations

import os
import runpy
import sys
from functools import cache
from types import FunctionType

__all__ = ["LOAD", "Profiler", "call_nothing", "nothing", "profiler"]

LOAD = "load"
FUNCTIONS = 50  # approximate calls per event
EMPTY = 20_000  # calls that do nothing, at the end, to measure the profiler's overhead


class Profiler:
    """Starts before one command and writes after another."""

    def __init__(self, told: str) -> None:
        self._first, self._last, times, self._path = told.split(" ", 3)
        self._times = int(times or 0)
        if self._path:
            from cProfile import Profile  # imported here, because the measured process shall not load it otherwise

            # wall time: the process clock is a system call, which costs more than most functions
            self._profile = Profile()

    def before(self, command: str) -> None:
        """Start if this is the first command."""
        if command == self._first and self._times:
            self._times -= 1
            if not self._times:
                self._first = ""
                self._profile.enable()

    def after(self, command: str) -> None:
        """Stop and write if this is the second command."""
        if command == self._last and not self._first:
            self._last = ""
            self._profile.disable()
            self._profile.runcall(call_nothing)
            self._profile.dump_stats(self._path)


def call_nothing() -> None:
    """Call empty functions, many in turns, because most of the profiler's overhead is finding them."""
    functions = [FunctionType(nothing.__code__.replace(co_firstlineno=line), {}) for line in range(1, FUNCTIONS + 1)]
    for number in range(EMPTY // FUNCTIONS):
        for function in functions:
            function(number)


def nothing(number: int) -> int:
    """Do nothing."""
    return number


@cache
def profiler() -> Profiler:
    """Return the profiler of this process."""
    return Profiler(os.environ.get("BENCHMARK_PROFILE", "   "))


def main() -> None:
    """Run a module with all arguments but the first."""
    from peers import _profiler  # the module imports this one; this is `__main__`

    del sys.argv[0]
    _profiler.profiler().before(LOAD)
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
