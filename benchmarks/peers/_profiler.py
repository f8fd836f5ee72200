"""Where the time of a peer in Python goes, between two commands.

BENCHMARK_PROFILE has the two commands, which time the second comes, and the file; `run.py --profile` sets it. Without,
this does nothing. It can begin before anything is imported, which counts as the command "load":
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
FUNCTIONS = 50  # called for an event, about
EMPTY = 20_000  # calls that do nothing, at the end, which show what the profiler adds to each


class Profiler:
    """Begins before one command and writes after another."""

    def __init__(self, told: str) -> None:
        self._first, self._last, times, self._path = told.split(" ", 3)
        self._times = int(times or 0)
        if self._path:
            from cProfile import Profile  # only now: what is measured shall not carry it

            # By the wall's clock: that of the process is a system call, which costs more than most functions
            self._profile = Profile()

    def before(self, command: str) -> None:
        """Begin, if it is time."""
        if command == self._first and self._times:
            self._times -= 1
            if not self._times:
                self._first = ""
                self._profile.enable()

    def after(self, command: str) -> None:
        """End and write, if it is time."""
        if command == self._last and not self._first:
            self._last = ""
            self._profile.disable()
            self._profile.runcall(call_nothing)
            self._profile.dump_stats(self._path)


def call_nothing() -> None:
    """Call what does nothing: many functions in turns, since it is to find them that costs the profiler most."""
    functions = [FunctionType(nothing.__code__.replace(co_firstlineno=line), {}) for line in range(1, FUNCTIONS + 1)]
    for number in range(EMPTY // FUNCTIONS):
        for function in functions:
            function(number)


def nothing(number: int) -> int:
    """Do nothing."""
    return number


@cache
def profiler() -> Profiler:
    """Return that of this process."""
    return Profiler(os.environ.get("BENCHMARK_PROFILE", "   "))


def main() -> None:
    """Run a module, which is told all but the first argument."""
    from peers import _profiler  # what the module finds; this is `__main__`

    del sys.argv[0]
    _profiler.profiler().before(LOAD)
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
