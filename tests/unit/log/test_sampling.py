"""Sampling: the first repeated lines are logged, the others counted."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Callable
from typing import Any

from pyctrl import LogOptions
from pyctrl._log import JsonFormatter, log_context
from pyctrl._log.sampling import FIRST, FIRST_WARNINGS, PLACES, THEREAFTER, TRACES, Sampler, SamplingHandler
from tests.unit.log._lines import make_record, raised

AT = 1_800_000_000.0


def record(message: str = "Reconciler error: %s", *, at: float = AT, **options: Any) -> logging.LogRecord:
    made = make_record(message, level=options.pop("level", logging.ERROR), **options)
    made.args, made.created = (f"ValueError: {at}",) if "%s" in message else (), at
    return made


class Written:
    """A handler for JSON, its lines, and its pending timers."""

    def __init__(self) -> None:
        self.stream = io.StringIO()
        self.later: list[Callable[[], None]] = []
        self.handler = SamplingHandler(self.stream, later=lambda _, call: self.later.append(call))
        self.handler.setFormatter(JsonFormatter())

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.stream.getvalue().splitlines()]


def test_of_errors_that_repeat_the_first_are_shown_and_then_one_in_a_hundred() -> None:
    """Of a repeated error, the first lines are logged and then one in a hundred, even with different arguments."""
    sampler = Sampler()
    shown = [number for number in range(1000) if sampler.take(record()).is_shown]
    assert shown == [*range(FIRST_WARNINGS), *range(FIRST_WARNINGS + THEREAFTER - 1, 1000, THEREAFTER)]
    assert sampler.take(record(at=AT + 1.0)).is_shown


def test_each_controller_message_and_level_has_its_own_count() -> None:
    """A controller that fails constantly does not suppress lines of other controllers or the manager."""
    sampler = Sampler()
    for controller in ("podset", "backup"):
        with log_context(controller=controller):
            assert sum(sampler.take(record()).is_shown for _ in range(50)) == FIRST_WARNINGS
            assert sampler.take(record("Reconciler error, not retried: %s")).is_shown
            assert sum(sampler.take(record(level=logging.INFO)).is_shown for _ in range(FIRST)) == FIRST
    assert sampler.take(record()).is_shown
    odd = record()
    odd.msg = {"not": "text"}  # logging accepts any object
    assert sampler.take(odd).is_shown


def test_what_was_left_out_is_counted_at_the_end_of_the_second() -> None:
    """The number of omitted lines is logged with the next line or after a second, under the controller's name."""
    written = Written()
    with log_context(controller="podset", name="web"):
        for _ in range(60):
            written.handler.handle(record())
    assert len(written.lines) == FIRST_WARNINGS
    (finish,) = written.later
    finish()
    expected = {
        "level": "error",
        "logger": "podset",
        "msg": "Left out lines that repeat",
        "controller": "podset",
        "of": "Reconciler error: %s",
        "left out": 50,
        "shown": 10,
    }
    assert {key: value for key, value in written.lines[-1].items() if key != "ts"} == expected
    finish()
    assert len(written.lines) == FIRST_WARNINGS + 1
    for _ in range(20):
        written.handler.handle(record(at=AT + 5))
    written.handler.handle(record("hello", at=AT + 7))
    assert [line["msg"] for line in written.lines[-2:]] == ["Left out lines that repeat", "hello"]
    for _ in range(20):
        written.handler.handle(record(at=AT + 9))
    written.handler.close()
    assert written.lines[-1]["left out"] == 10


def test_what_ends_a_second_does_not_shorten_the_next() -> None:
    """The timer of an ended second does not end the second after it."""
    written = Written()
    for _ in range(20):
        written.handler.handle(record())
    for _ in range(20):
        written.handler.handle(record(at=AT + 1.0))
    (late,) = written.later
    late()
    assert [line.get("left out") for line in written.lines].count(10) == 1
    _, finish = written.later
    finish()
    assert [line.get("left out") for line in written.lines].count(10) == 2


def test_a_clock_that_is_set_back_does_not_silence_the_log() -> None:
    """A clock that is set back does not suppress lines, and a late line of another thread starts no new second."""
    sampler = Sampler()
    for _ in range(FIRST_WARNINGS):
        assert sampler.take(record()).is_shown
    assert not sampler.take(record(at=AT - 0.001)).is_shown
    assert sampler.take(record(at=AT - 3600)).is_shown


def test_tracebacks_of_one_place_are_shown_five_times_a_minute() -> None:
    """Tracebacks of one place are logged five times a minute, then only the error; other handlers get all."""
    written = Written()
    error = raised(ValueError("no"))
    records = [record(f"{number}", exc=error) for number in range(TRACES + 3)]
    for each in records:
        written.handler.handle(each)
    assert ["stacktrace" in line for line in written.lines] == [True] * TRACES + [False] * 3
    assert {line["error"] for line in written.lines} == {"ValueError: no"}
    assert all(each.exc_info and not hasattr(each, "error") for each in records)
    written.handler.handle(record("elsewhere", exc=ValueError("never raised")))
    written.handler.handle(record("later", at=AT + 60, exc=error))
    assert "stacktrace" in written.lines[-1]


def test_what_is_remembered_is_bounded() -> None:
    """Memory is bounded, also for different messages and many error classes."""
    sampler = Sampler()
    for number in range(PLACES + 10):
        kind = type(f"Error{number}", (Exception,), {})
        sampler.take(record(f"{number}", at=AT + number, exc=raised(kind())))
    assert len(sampler._traces) == PLACES
    assert len(sampler._counts) == 1


def test_sampling_is_on_unless_for_development() -> None:
    """Sampling is off in development, as in controller-runtime, and can be switched off otherwise."""

    def shown(options: LogOptions) -> int:
        stream = io.StringIO()
        handler = options.handler(stream)
        for number in range(50):
            handler.handle(record("failed: %s", at=AT + number / 100))
        handler.close()
        return stream.getvalue().count("failed: ") - stream.getvalue().count("of=")

    assert shown(LogOptions()) < 50
    assert shown(LogOptions(devel=False)) < 50
    assert shown(LogOptions(devel=True)) == 50
    assert shown(LogOptions(sampling=False)) == 50
    assert shown(LogOptions(devel=True, sampling=True)) < 50
