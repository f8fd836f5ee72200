"""Fields of a log record, and the format of their values on the console and in JSON."""

from __future__ import annotations

import json
import logging
import math
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import Enum
from typing import Any

from pyctrl._log.escaping import printable

__all__ = ["context_of", "error_of", "extra_of", "in_json", "in_words"]

LONGEST = 200  # characters of a value on the console, two lines of a terminal; JSON has all of it
DEEPEST = 6  # levels of nested values in JSON; deeper ones, also of recursive values, become text

_WORD = re.compile(r'[^\s"=]+')

#: The attributes of every record; all others come from ``extra``.
_OWN = {*vars(logging.makeLogRecord({})), "message", "asctime", "taskName", "context"}


def context_of(record: logging.LogRecord) -> Mapping[str, object]:
    """Return the fields of `log_context` for a record."""
    context: Mapping[str, object] = getattr(record, "context", {})
    return context


def extra_of(record: logging.LogRecord) -> dict[str, object]:
    """Return the fields passed as ``extra``."""
    return {key: value for key, value in vars(record).items() if key not in _OWN}


def error_of(record: logging.LogRecord) -> str:
    """Return the error of a record in one line; "" if it has none."""
    text = vars(record).get("error")
    if text is None and record.exc_info and record.exc_info[1] is not None:
        error = record.exc_info[1]
        return f"{type(error).__name__}: {' '.join(str(error).split())}".removesuffix(": ")
    return "" if text is None else str(text)


def in_words(value: object) -> str:
    """Return a value for the console: unquoted if it is one word, else quoted; long values are cut."""
    if type(value) is not str:  # most are
        if isinstance(value, list | tuple | set | frozenset) and not hasattr(value, "_fields"):
            return printable(_cut("[" + ", ".join(_text(item) for item in value) + "]"))
        value = _text(value)
    text = _cut(value)
    return text if _WORD.fullmatch(text) and text.isprintable() else printable(json.dumps(text, ensure_ascii=False))


def _text(value: object) -> str:
    if type(value) is int:
        return str(value)
    match value:
        case bool():
            return str(value).lower()
        case float():
            return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"  # three significant digits
        case timedelta():
            return _duration(value)
        case Enum():
            return str(value.value)
    if (about := _object(value)) is not None:
        return (
            f"{about['kind']} {about['namespace']}/{about['name']}"
            if about["namespace"]
            else f"{about['kind']} {about['name']}"
        )
    return str(value)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _duration(value: timedelta) -> str:
    """Return a duration as Go prints one: 250ms, 10s, 1m30s, 2h0m0s."""
    seconds = value.total_seconds()
    if abs(seconds) < 1:
        return f"{seconds * 1000:.3g}ms" if seconds else "0s"
    sign, whole = "-" if seconds < 0 else "", abs(seconds)
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(int(minutes), 60)
    parts = f"{hours}h{minutes}m" if hours else f"{minutes}m" if minutes else ""
    return f"{sign}{parts}{round(rest, 3):g}s"


def in_json(value: object, depth: int = 0) -> Any:
    """Return a value for JSON: durations in seconds, times in RFC 3339, an object by its kind and name."""
    match value:
        case Enum():
            return in_json(value.value, depth)
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case timedelta():
            return value.total_seconds()
        case datetime():
            return value.isoformat()
    if depth < DEEPEST and isinstance(value, Mapping):
        return {str(key): in_json(item, depth + 1) for key, item in value.items()}
    if depth < DEEPEST and isinstance(value, list | tuple | set | frozenset) and not hasattr(value, "_fields"):
        return [in_json(item, depth + 1) for item in value]
    return _object(value) or str(value)


def _object(value: object) -> dict[str, str] | None:
    """Return apiVersion, kind, namespace and name of a Kubernetes object; None for any other value."""
    metadata, gvk = getattr(value, "metadata", None), getattr(value, "gvk", None)
    if metadata is None or gvk is None or isinstance(value, type):
        return None
    return {
        "apiVersion": str(getattr(gvk, "api_version", "")),
        "kind": str(getattr(gvk, "kind", "")),
        "namespace": str(getattr(metadata, "namespace", "") or ""),
        "name": str(getattr(metadata, "name", "") or ""),
    }
