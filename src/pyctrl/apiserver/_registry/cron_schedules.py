"""Validation of cron expressions: the errors of github.com/robfig/cron/v3, which kube-apiserver reports."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from pyctrl._go.durations import duration_problem
from pyctrl._go.text import quoted

__all__ = ["schedule_error"]


class _Bounds(NamedTuple):
    low: int
    high: int
    names: Mapping[str, int] = {}


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_FIELDS: Final = (
    *(_Bounds(0, 59), _Bounds(0, 23), _Bounds(1, 31)),
    _Bounds(1, 12, {name: number for number, name in enumerate(_MONTHS, 1)}),
    _Bounds(0, 6, {name: number for number, name in enumerate(_WEEKDAYS)}),
)
_DESCRIPTORS = ("@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly")
_LARGEST = 2**63


class _Wrong(ValueError):
    """The error of a field."""


def schedule_error(schedule: str) -> str:
    """Return the error of a cron expression; "" if it is valid."""
    if schedule.startswith(("TZ=", "CRON_TZ=")):
        schedule = schedule.partition(" ")[2].strip()
    if schedule.startswith("@"):
        return _descriptor_error(schedule)
    fields = schedule.split()
    if len(fields) != len(_FIELDS):
        return f"expected exactly {len(_FIELDS)} fields, found {len(fields)}: [{' '.join(fields)}]"
    try:
        for field, bounds in zip(fields, _FIELDS, strict=True):
            for each in filter(None, field.split(",")):
                _check_range(each, bounds)
    except _Wrong as wrong:
        return str(wrong)
    return ""


def _descriptor_error(text: str) -> str:
    if text in _DESCRIPTORS:
        return ""
    if not text.startswith("@every "):
        return f"unrecognized descriptor: {text}"
    duration = text.removeprefix("@every ")
    problem = duration_problem(duration)
    return f"failed to parse duration {text}: {problem}" if problem else ""


def _check_range(text: str, bounds: _Bounds) -> None:
    steps = text.split("/")
    limits = steps[0].split("-")
    start, end = _limits(text, limits, bounds)
    step = 1
    if len(steps) == 2:
        step = _number(steps[1])
        end = bounds.high if len(limits) == 1 else end
    elif len(steps) > 2:
        raise _Wrong(f"too many slashes: {text}")
    if start < bounds.low:
        raise _Wrong(f"beginning of range ({start}) below minimum ({bounds.low}): {text}")
    if end > bounds.high:
        raise _Wrong(f"end of range ({end}) above maximum ({bounds.high}): {text}")
    if start > end:
        raise _Wrong(f"beginning of range ({start}) beyond end of range ({end}): {text}")
    if step == 0:
        raise _Wrong(f"step of range should be a positive number: {text}")


def _limits(text: str, limits: Sequence[str], bounds: _Bounds) -> tuple[int, int]:
    if limits[0] in ("*", "?"):
        return bounds.low, bounds.high
    start = _named(limits[0], bounds)
    if len(limits) > 2:
        raise _Wrong(f"too many hyphens: {text}")
    return start, start if len(limits) == 1 else _named(limits[1], bounds)


def _named(text: str, bounds: _Bounds) -> int:
    number = bounds.names.get(text.lower())
    return _number(text) if number is None else number


def _number(text: str) -> int:
    if not re.fullmatch(r"[-+]?[0-9]+", text):
        raise _Wrong(f"failed to parse int from {text}: strconv.Atoi: parsing {quoted(text)}: invalid syntax")
    number = int(text)
    if not -_LARGEST <= number < _LARGEST:
        raise _Wrong(f"failed to parse int from {text}: strconv.Atoi: parsing {quoted(text)}: value out of range")
    if number < 0:
        raise _Wrong(f"negative number ({number}) not allowed: {text}")
    return number
