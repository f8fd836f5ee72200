"""Sampling of repeated log lines, like zap's: the first lines of a second, then each hundredth, and a count."""

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
FIRST = 100  # lines of one message in a period; zap's
FIRST_WARNINGS = 10  # lines of one warning or error: 10,000 failing objects would otherwise log a megabyte a second
THEREAFTER = 100  # afterwards each hundredth line is logged; zap's
TRACE_PERIOD = 60.0  # seconds
TRACES = 5  # tracebacks that end in one line of code, in a TRACE_PERIOD
PLACES = 1000  # lines of code with counted tracebacks


class Sampled(NamedTuple):
    """The decision about one line."""

    is_shown: bool
    #: Whether the traceback of its error is logged with it.
    is_traced: bool


class _Count(Struct):
    """Lines of one message in this period."""

    example: logging.LogRecord
    seen: int = 0
    left_out: int = 0


class Sampler:
    """Decides which lines are logged, by the times of their records.

    Lines repeat if they have the same level, logger, controller and message without its arguments. In one second, the
    first hundred are logged, the first ten of warnings and errors, and then each hundredth. Tracebacks that end in the
    same line of code are logged five times a minute.
    """

    def __init__(self) -> None:
        self._counts: dict[tuple[object, ...], _Count] = {}
        #: When the period began, in seconds since 1970.
        self.began: float = -inf
        self._traces: dict[tuple[object, ...], tuple[float, int]] = {}

    def is_over(self, now: float) -> bool:
        """Return whether the period is over, at a time in seconds since 1970; also if the clock was set back."""
        return not -PERIOD < now - self.began < PERIOD

    def take(self, record: logging.LogRecord) -> Sampled:
        """Count a line and decide on it."""
        if self.is_over(record.created):
            self.began = record.created
            self._counts.clear()
        message = record.msg if isinstance(record.msg, str) else type(record.msg)  # msg may be any object
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
        """Whether lines of this period were dropped."""
        return any(count.left_out for count in self._counts.values())

    def finish(self) -> list[logging.LogRecord]:
        """End the period; return a record with the count for each message with dropped lines."""
        lines = [_summary(count) for count in self._counts.values() if count.left_out]
        self._counts.clear()
        self.began = -inf
        return lines


def _summary(count: _Count) -> logging.LogRecord:
    """Return the record with the number of dropped lines, with their level and logger."""
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
        stream: the output.
        later: calls a function after a number of seconds, in another thread; by default a `threading.Timer`.
    """

    def __init__(self, stream: TextIO, *, later: Callable[[float, Callable[[], None]], None] | None = None) -> None:
        super().__init__(stream)
        self._sampler = Sampler()
        self._later = later or _later
        self._awaited: float | None = None  # the beginning of the period that a timer ends

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line unless it is dropped; called with the handler's lock."""
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
        """Write how many lines were dropped."""
        assert self.lock is not None  # logging creates one for each handler
        with self.lock:
            self._finish()

    def close(self) -> None:
        """Write how many lines were dropped, and close the handler."""
        self.finish()
        super().close()

    def _await(self) -> None:
        """End the period with a timer, as the next line may be logged much later."""
        self._awaited = self._sampler.began
        self._later(PERIOD, self._end_awaited)

    def _end_awaited(self) -> None:
        assert self.lock is not None  # see above
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
    """Return a copy of the record without its traceback, with the error as a field."""
    copy = logging.makeLogRecord(record.__dict__)
    copy.error = error_of(record)
    copy.exc_info = None
    return copy


def _later(seconds: float, call: Callable[[], None]) -> None:
    timer = threading.Timer(seconds, call)
    timer.name, timer.daemon = "pyctrl-log-sampling", True
    timer.start()
