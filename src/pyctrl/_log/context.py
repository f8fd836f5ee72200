"""Fields that belong to a stretch of work: every line that is logged in it has them."""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["LazyFields", "LogContextFilter", "current_log_context", "log_context", "log_fields"]

_context: ContextVar[Mapping[str, object]] = ContextVar("pyctrl_log_context", default={})  # noqa: B039 (never mutated)
#: The variable behind `log_context`, for who sets it a hundred thousand times a second.
log_fields = _context


class LazyFields(Mapping[str, object]):
    """Fields that are made when a line is logged, if one is; most stretches of work log nothing.

    Who makes them says how, in `_make`, and sets `_made` to None to begin with: there is no ``__init__`` to call, for
    there is one of these for each reconcile.
    """

    __slots__ = ("_made",)

    _made: Mapping[str, object] | None

    @abstractmethod
    def _make(self) -> Mapping[str, object]:
        """Return the fields."""

    def _fields(self) -> Mapping[str, object]:
        if self._made is None:
            self._made = self._make()
        return self._made

    def __getitem__(self, key: str) -> object:
        return self._fields()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields())

    def __len__(self) -> int:
        return len(self._fields())


@contextmanager
def log_context(**fields: object) -> Iterator[None]:
    """Give every log line of the block these fields, on top of those that are there already."""
    token = _context.set({**_context.get(), **fields})
    try:
        yield
    finally:
        _context.reset(token)


def current_log_context() -> Mapping[str, object]:
    """Return the fields that a line logged here would have."""
    return _context.get()


class LogContextFilter(logging.Filter):
    """Put the fields of `log_context` on each record, as ``record.context``. Add it to a handler.

    They are one mapping and not attributes of their own because a record's ``name`` is its logger's, while an
    object's ``name`` is what one wants to read in a log of a controller.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Keep every record."""
        record.context = _context.get()
        return True
