"""Sampling of log lines that repeat, as zap samples: the first ones of a second, then one in a hundred, and a count."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from math import inf
from typing import NamedTuple, TextIO

from msgspec import Struct

from pyctrl._log.fields import context_of, error_of

__all__ = ["Sampled", "Sampler", "SamplingHandler"]

PERIOD = 1.0  # seconds; zap's
FIRST = 100  # of one message in a period; zap's
FIRST_WARNINGS = 10  # of one warning or error: 10,000 objects that fail would write a megabyte a second otherwise
THEREAFTER = 100  # of the rest one in so many; zap's
TRACE_PERIOD = 60.0  # seconds, in which one place is shown by so many tracebacks:
TRACES = 5
PLACES = 1000  # whose tracebacks are counted


class Sampled(NamedTuple):
    """What becomes of one line."""

    is_shown: bool
    #: Whether it is shown with the traceback of its error.
    is_traced: bool


class _Count(Struct):
    """How often a message came in this period."""

    example: logging.LogRecord
    seen: int = 0
    left_out: int = 0


class Sampler:
    """Decides which lines are shown. Reads no clock: a record has the time at which it was made.

    Lines are alike that have level, logger, controller and message, without its arguments, in common. Of those within
    a second the first hundred are shown, of warnings and errors the first ten; beyond that, each hundredth. Tracebacks
    that end in the same line of code are shown five times a minute.
    """

    def __init__(self) -> None:
        self._counts: dict[tuple[object, ...], _Count] = {}
        #: When the period began, in seconds since 1970.
        self.began: float = -inf
        self._traces: dict[tuple[object, ...], tuple[float, int]] = {}

    def is_over(self, now: float) -> bool:
        """Tell whether the period is over, at a time in seconds since 1970; also by a clock that was set back."""
        return not -PERIOD < now - self.began < PERIOD

    def take(self, record: logging.LogRecord) -> Sampled:
        """Count a line and decide on it."""
        if self.is_over(record.created):
            self.began = record.created
            self._counts.clear()
        message = record.msg if isinstance(record.msg, str) else type(record.msg)  # anything may be logged
        key = (record.levelno, record.name, message, context_of(record).get("controller"))
        count = self._counts.get(key)
        if count is None:
            count = self._counts[key] = _Count(record)
        count.seen += 1
        beyond = count.seen - (FIRST_WARNINGS if record.levelno >= logging.WARNING else FIRST)
        if beyond > 0 and beyond % THEREAFTER:
            count.left_out += 1
            return Sampled(is_shown=False, is_traced=False)
        return Sampled(is_shown=True, is_traced=self._take_trace(record))

    def _take_trace(self, record: logging.LogRecord) -> bool:
        trace = record.exc_info[2] if record.exc_info else None
        if trace is None or record.exc_info is None:
            return True
        while trace.tb_next is not None:
            trace = trace.tb_next
        key = (record.name, record.exc_info[0], trace.tb_frame.f_code.co_filename, trace.tb_lineno)
        began, count = self._traces.pop(key, (record.created, 0))
        if not -TRACE_PERIOD < record.created - began < TRACE_PERIOD:
            began, count = record.created, 0
        self._traces[key] = (began, count + 1)
        if len(self._traces) > PLACES:
            del self._traces[next(iter(self._traces))]
        return count < TRACES

    @property
    def has_left_out(self) -> bool:
        """Whether lines of this period were left out."""
        return any(count.left_out for count in self._counts.values())

    def finish(self) -> list[logging.LogRecord]:
        """End the period: return a line for each message of which some were left out, with how many."""
        lines = [_summary(count) for count in self._counts.values() if count.left_out]
        self._counts.clear()
        self.began = -inf
        return lines


def _summary(count: _Count) -> logging.LogRecord:
    """Make the line that says how many were left out, at the level and in the name of those."""
    like = count.example
    line = logging.LogRecord(
        like.name, like.levelno, like.pathname, like.lineno, "Left out lines that repeat", (), None
    )
    controller = context_of(like).get("controller")
    line.context = {"controller": controller} if controller else {}
    line.__dict__ |= {"of": str(like.msg), "left out": count.left_out, "shown": count.seen - count.left_out}
    return line


class SamplingHandler(logging.StreamHandler[TextIO]):
    """Writes lines to a stream, sampled by a `Sampler`.

    Args:
        stream: where they go.
        later: calls a function after so many seconds, in a thread of its own; by default by a `threading.Timer`.
    """

    def __init__(self, stream: TextIO, *, later: Callable[[float, Callable[[], None]], None] | None = None) -> None:
        super().__init__(stream)
        self._sampler = Sampler()
        self._later = later or _later
        self._awaited: float | None = None  # the period that `finish` is to end

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line, unless it is left out; the handler's lock is held."""
        if self._sampler.is_over(record.created):
            self._finish()
        verdict = self._sampler.take(record)
        if not verdict.is_shown:
            if self._awaited is None:
                self._await()
            return
        if not verdict.is_traced:
            record = _without_trace(record)
        super().emit(record)

    def finish(self) -> None:
        """Write how many lines were left out."""
        assert self.lock is not None  # logging makes one for each handler
        with self.lock:
            self._finish()

    def close(self) -> None:
        """Write what is missing, and end."""
        self.finish()
        super().close()

    def _await(self) -> None:
        """See to it that the period ends although nothing else may be logged for long."""
        self._awaited = self._sampler.began
        self._later(PERIOD, self._end_awaited)

    def _end_awaited(self) -> None:
        assert self.lock is not None  # as above
        with self.lock:
            awaited, self._awaited = self._awaited, None
            if self._sampler.began == awaited:
                self._finish()
            elif self._sampler.has_left_out:
                self._await()

    def _finish(self) -> None:
        for line in self._sampler.finish():
            super().emit(line)


def _without_trace(record: logging.LogRecord) -> logging.LogRecord:
    """Return the line without the traceback, for this handler only; its error is a field."""
    copy = logging.makeLogRecord(record.__dict__)
    copy.error = error_of(record)
    copy.exc_info = None
    return copy


def _later(seconds: float, call: Callable[[], None]) -> None:
    timer = threading.Timer(seconds, call)
    timer.name, timer.daemon = "pyctrl-log-sampling", True
    timer.start()
