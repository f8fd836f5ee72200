"""Errors of a user's program while it is imported or wired, as one message with file, line and excerpt."""

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
_ENDS = 'put what runs the program below: if __name__ == "__main__":'


@contextmanager
def loading(what: str) -> Iterator[None]:
    """Raise what goes wrong in this block as a CommandFailed of one message, as `load_error` makes it.

    Args:
        what: begins the message: ``importing operator.py``.

    Raises:
        CommandFailed: anything went wrong, the end of the process included.
    """
    try:
        yield
    except (Exception, SystemExit) as error:
        raise load_error(what, error) from error


def load_error(what: str, error: BaseException) -> CommandFailed:
    """Return an error of a program as one message: what went wrong, what to do, file, line and excerpt.

    An error of pyctrl keeps its message, and gets the place if it has none.

    Args:
        what: what was done with the program: ``importing operator.py``.
        error: what that raised.
    """
    from pyctrl._source_excerpts import error_excerpt  # here and below: most programs can be loaded

    place = error_excerpt(error)
    if isinstance(error, PyctrlError):
        text = str(error)
        return CommandFailed(text if place is None or ARROW in text else f"{text}\n{place}")
    sentence, place = _described(error, place)
    text = f"{what} failed: {sentence}"
    return CommandFailed(text if place is None else f"{text}\n{place}")


def _described(error: BaseException, place: Excerpt | None) -> tuple[str, Excerpt | None]:
    """Return what an error says, with what to do, and the place that it is about."""
    from pyctrl._source_excerpts import field_excerpt

    text, kind = str(error), type(error).__name__
    if kind == "SchemaError" and place is not None:
        return _of_pydantic(text, place)
    if found := _NO_SCHEMA.match(text):
        name = (found["cls"] or found["other"]).rpartition(".")[2]
        cure = "a field is a Model or one of the types that docs/definitions.md lists"
        where = place and field_excerpt(place, annotation=name)
        return f"{name} cannot be the type of a field; {cure}", where
    sentence = text.partition("\n\nFor further information visit")[0] if kind.startswith("Pydantic") else text
    if isinstance(error, SyntaxError):
        sentence = error.msg or text
    cure = _cure(error, text)
    return (f"{kind}: {sentence}" if sentence else kind) + (f"; {cure}" if cure else ""), place


def _of_pydantic(text: str, place: Excerpt) -> tuple[str, Excerpt]:
    """Shorten what pydantic-core says of a class that it cannot build: ten lines, of which one is the cause."""
    from pyctrl._source_excerpts import field_excerpt

    fields = _FIELD.findall(text)
    where = field_excerpt(place, name=fields[-1]) if fields else place
    field = f"field {fields[-1]}: " if fields else ""
    if found := _REGEX.search(text):
        cure = "patterns are regular expressions of Go (RE2), without look-around and back-references"
        return f"{field}{found['pattern'].strip()!r} is no regular expression: {found['why']}; {cure}", where
    return f"{field}{text.rpartition('SchemaError: ')[2].strip()}", where


def _cure(error: BaseException, text: str) -> str:
    """Return what to do about an error that is met often; "" for any other."""
    if isinstance(error, ModuleNotFoundError):
        return (
            "install what has it, and name that in [project] dependencies of pyproject.toml, or correct the name"
            if error.name and "." not in error.name
            else "correct the name"
        )
    if isinstance(error, ImportError) and "partially initialized module" in text:
        return "two modules import each other: move what both need to a third one"
    if isinstance(error, TabError):
        return "indent with spaces only"
    if isinstance(error, SyntaxError | UnicodeDecodeError) and "codec can't decode" in text and "utf-8" in text:
        return "save the file as UTF-8"
    if isinstance(error, SyntaxError) and "null bytes" in text:
        return "save the file as UTF-8 text"
    if isinstance(error, SystemExit):
        return f"importing it ends the process; {_ENDS}"
    if isinstance(error, RuntimeError) and "asyncio.run() cannot be called" in text:
        return _ENDS
    return ""
