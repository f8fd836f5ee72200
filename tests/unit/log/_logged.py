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
    """Collect what pyctrl logs in the block; it is there when the block has ended."""
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
    """Read rows of level, message and keys; a key that has a space is written with a ``+`` for it."""
    rows = [[cell.strip() for cell in row.split("|")] for row in table.strip().splitlines()]
    return [(level, message, {key.replace("+", " ") for key in keys.split()}) for level, message, keys in rows]


def missing(table: str, lines: Iterable[dict[str, Any]]) -> list[Row]:
    """Say which rows of a table were not logged, or without which of their keys."""
    found: dict[tuple[str, str], set[str]] = {}
    for line in lines:
        found.setdefault((line["level"], line["msg"]), set(line))
    lacking = [(row[0], row[1], row[2] - found.get(row[:2], set())) for row in read_table(table)]
    return [row for row in lacking if row[2] or row[:2] not in found]
