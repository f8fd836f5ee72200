"""Log lines as JSON objects."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from pyctrl import LogOptions

Row = tuple[str, str, set[str]]


@contextmanager
def logged() -> Iterator[list[dict[str, Any]]]:
    """Collect pyctrl's log lines in the block; they are available after the block."""
    stream, lines = io.StringIO(), list[dict[str, Any]]()
    logger = logging.getLogger("pyctrl")
    handler, level = LogOptions(encoder="json").handler(stream), logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        yield lines
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        lines += [json.loads(line) for line in stream.getvalue().splitlines()]


def read_table(table: str) -> list[Row]:
    """Read rows of level, message and keys; in a key with a space, ``+`` replaces the space."""
    rows = [[cell.strip() for cell in row.split("|")] for row in table.strip().splitlines()]
    return [(level, message, {key.replace("+", " ") for key in keys.split()}) for level, message, keys in rows]


def missing(table: str, lines: Iterable[dict[str, Any]]) -> list[Row]:
    """Return the rows of a table that were not logged, or not with all of their keys."""
    found: dict[tuple[str, str], set[str]] = {}
    for line in lines:
        found.setdefault((line["level"], line["msg"]), set(line))
    lacking = [(row[0], row[1], row[2] - found.get(row[:2], set())) for row in read_table(table)]
    return [row for row in lacking if row[2] or row[:2] not in found]
