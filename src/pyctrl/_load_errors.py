"""Errors while a user's program is imported or set up, as one message with file, line and excerpt."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyctrl.errors import CommandFailed, PyctrlError

if TYPE_CHECKING:
    from pyctrl._source_excerpts import Excerpt

__all__ = ["load_error", "loading"]

ARROW = "\n  --> "

_FIELD = re.compile(r'Field "([^"]+)"')
_REGEX = re.compile(r"regex parse error:\n\s*(?P<pattern>.*)\n(?:.*\n)*?error: (?P<why>.*)", re.MULTILINE)
_NO_SCHEMA = re.compile(r"Unable to generate pydantic-core schema for (?:<class '(?P<cls>[^']+)'>|(?P<other>.+?))\. ")
_MAIN_GUARD = 'put the code that runs the program below: if __name__ == "__main__":'


@contextmanager
def loading(action: str) -> Iterator[None]:
    """Raise any error in the block as a CommandFailed with the message of `load_error`.

    Args:
        action: the beginning of the message: ``importing operator.py``.

    Raises:
        CommandFailed: the block raised an error or SystemExit.
    """
    try:
        yield
    except (Exception, SystemExit) as error:
        raise load_error(action, error) from error


def load_error(action: str, error: BaseException) -> CommandFailed:
    """Return an error of a program as one message: the error, the remedy, file, line and excerpt.

    An error of pyctrl keeps its message; file, line and excerpt are added if it has none.

    Args:
        action: the failed action: ``importing operator.py``.
        error: the error that it raised.
    """
    from pyctrl._source_excerpts import error_excerpt  # here and below: most programs can be loaded

    place = error_excerpt(error)
    if isinstance(error, PyctrlError):
        text = str(error)
        return CommandFailed(text if place is None or ARROW in text else f"{text}\n{place}")
    sentence, place = _described(error, place)
    text = f"{action} failed: {sentence}"
    return CommandFailed(text if place is None else f"{text}\n{place}")


def _described(error: BaseException, place: Excerpt | None) -> tuple[str, Excerpt | None]:
    """Return the text of an error with its remedy, and its place in the source."""
    from pyctrl._source_excerpts import field_excerpt

    text, kind = str(error), type(error).__name__
    if kind == "SchemaError" and place is not None:
        return _of_pydantic(text, place)
    if found := _NO_SCHEMA.match(text):
        name = (found["cls"] or found["other"]).rpartition(".")[2]
        remedy = "use a Model or one of the types that docs/definitions.md lists"
        where = place and field_excerpt(place, annotation=name)
        return f"{name} cannot be the type of a field; {remedy}", where
    sentence = text.partition("\n\nFor further information visit")[0] if kind.startswith("Pydantic") else text
    if isinstance(error, SyntaxError):
        sentence = error.msg or text
    remedy = _remedy(error, text)
    return (f"{kind}: {sentence}" if sentence else kind) + (f"; {remedy}" if remedy else ""), place


def _of_pydantic(text: str, place: Excerpt) -> tuple[str, Excerpt]:
    """Shorten pydantic-core's error for a class that it cannot build: of its ten lines, one is the cause."""
    from pyctrl._source_excerpts import field_excerpt

    fields = _FIELD.findall(text)
    where = field_excerpt(place, name=fields[-1]) if fields else place
    field = f"field {fields[-1]}: " if fields else ""
    if found := _REGEX.search(text):
        remedy = "patterns are regular expressions of Go (RE2), without look-around and back-references"
        return f"{field}{found['pattern'].strip()!r} is not a regular expression: {found['why']}; {remedy}", where
    return f"{field}{text.rpartition('SchemaError: ')[2].strip()}", where


def _remedy(error: BaseException, text: str) -> str:
    """Return the remedy of a frequent error; "" for any other."""
    if isinstance(error, ModuleNotFoundError):
        return (
            "install its package and add it to [project] dependencies of pyproject.toml, or correct the name"
            if error.name and "." not in error.name
            else "correct the name"
        )
    if isinstance(error, ImportError) and "partially initialized module" in text:
        return "two modules import each other: move the names that both need to a third one"
    if isinstance(error, TabError):
        return "indent with spaces only"
    if isinstance(error, SyntaxError | UnicodeDecodeError) and "codec can't decode" in text and "utf-8" in text:
        return "save the file as UTF-8"
    if isinstance(error, SyntaxError) and "null bytes" in text:
        return "save the file as UTF-8 text"
    if isinstance(error, SystemExit):
        return f"importing it ends the process; {_MAIN_GUARD}"
    if isinstance(error, RuntimeError) and "asyncio.run() cannot be called" in text:
        return _MAIN_GUARD
    return ""
