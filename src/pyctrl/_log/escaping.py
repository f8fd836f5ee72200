"""Escaping of untrusted text on the console, so that it cannot forge lines or control the terminal."""

from __future__ import annotations

import logging
from collections.abc import Generator
from traceback import TracebackException
from typing import Any

__all__ = ["Lines", "indented", "message_lines", "printable", "traceback_lines"]

INDENT = "    "  # of every line after the first; a line of the log begins with its time


class Lines(str):
    r"""A message of several lines, such as commands to copy: ``log.warning("%s", Lines(text))``.

    The console indents its lines; a line break in any other message is shown as ``\n``.
    """

    __slots__ = ()


def printable(text: str) -> str:
    """Return a text in one line, with control characters, line separators and text direction marks escaped."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else _escaped(each) for each in text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode()


def message_lines(record: logging.LogRecord) -> list[str]:
    """Return the lines of a record's message: one, unless an argument is `Lines`."""
    message = record.getMessage()
    if isinstance(record.args, tuple) and any(isinstance(each, Lines) for each in record.args):
        first, *more = message.split("\n")
        return [printable(first), *indented(more)]
    return [printable(message)]


def indented(lines: list[str]) -> list[str]:
    """Return lines indented and printable, to follow the first line of a record."""
    return [f"{INDENT}{printable(line)}" if line else line for line in lines]


def traceback_lines(error: BaseException) -> list[str]:
    """Return a traceback with its causes, indented. The text of each error is escaped to one line."""
    traceback = TracebackException.from_exception(error)
    _escape(traceback)
    return indented("".join(traceback.format()).rstrip("\n").split("\n"))


class _Escaped(TracebackException):
    """One error of a chain, with printable text."""

    def format_exception_only(self, **options: Any) -> Generator[str, None, None]:  # options: since Python 3.13
        for line in super().format_exception_only(**options):
            yield printable(line.removesuffix("\n")) + "\n"


def _escape(traceback: TracebackException) -> None:
    """Change the class of every error of a chain; the base class's constructor creates the causes as base class."""
    rest = [traceback]
    while rest:
        each = rest.pop()
        each.__class__ = _Escaped
        rest += [found for found in (each.__cause__, each.__context__, *(each.exceptions or ())) if found is not None]
