"""Text of others in a log for people: it cannot begin a line of its own or steer the terminal."""

from __future__ import annotations

import logging
from collections.abc import Generator
from traceback import TracebackException
from typing import Any

__all__ = ["Lines", "indented", "message_lines", "printable", "traceback_lines"]

INDENT = "    "  # of every line below the first: a line of the log begins with its time


class Lines(str):
    r"""A message that has several lines on purpose, such as commands to copy: ``log.warning("%s", Lines(text))``.

    The console shows it line by line, indented; a line break in any other message is shown as ``\n``.
    """

    __slots__ = ()


def printable(text: str) -> str:
    """Return a text in one line, with control characters, line separators and text direction marks as escapes."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else _escaped(each) for each in text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode()


def message_lines(record: logging.LogRecord) -> list[str]:
    """Return the lines of a record's message: one, unless an argument of it is `Lines`."""
    message = record.getMessage()
    if isinstance(record.args, tuple) and any(isinstance(each, Lines) for each in record.args):
        first, *more = message.split("\n")
        return [printable(first), *indented(more)]
    return [printable(message)]


def indented(lines: list[str]) -> list[str]:
    """Return lines as they are below the first one of a record."""
    return [f"{INDENT}{printable(line)}" if line else line for line in lines]


def traceback_lines(error: BaseException) -> list[str]:
    """Return a traceback with its causes, indented. What errors say is in one line each, whatever they say."""
    told = TracebackException.from_exception(error)
    _escape(told)
    return indented("".join(told.format()).rstrip("\n").split("\n"))


class _Escaped(TracebackException):
    """One error of a chain, whose text is printable."""

    def format_exception_only(self, **options: Any) -> Generator[str, None, None]:  # options: since Python 3.13
        for line in super().format_exception_only(**options):
            yield printable(line.removesuffix("\n")) + "\n"


def _escape(told: TracebackException) -> None:
    """Make every error of a chain one with printable text; its constructor makes the others as the base class."""
    rest = [told]
    while rest:
        each = rest.pop()
        each.__class__ = _Escaped
        rest += [found for found in (each.__cause__, each.__context__, *(each.exceptions or ())) if found is not None]
