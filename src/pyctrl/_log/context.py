"""Log context: fields that are added to every line logged in a block."""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["LazyFields", "LogContextFilter", "current_log_context", "log_context", "log_fields"]

_context: ContextVar[Mapping[str, object]] = ContextVar("pyctrl_log_context", default={})  # noqa: B039 (never mutated)
#: The variable of `log_context`, for code that sets it many thousand times a second.
log_fields = _context


class LazyFields(Mapping[str, object]):
    """Context fields that are computed when the first line is logged; most reconciles log nothing.

    A subclass implements `_make` and initialises `_made` to None. There is no ``__init__``, because an instance is
    created for each reconcile.
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
    """Add fields to every line that is logged in the block."""
    token = _context.set({**_context.get(), **fields})
    try:
        yield
    finally:
        _context.reset(token)


def current_log_context() -> Mapping[str, object]:
    """Return the context fields of a line logged here."""
    return _context.get()


class LogContextFilter(logging.Filter):
    """A handler's filter that sets ``record.context`` to the fields of `log_context`.

    The fields are one mapping, not attributes of the record, because ``record.name`` is the name of the logger, while
    the context's ``name`` is that of the object.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Set the context; keep every record."""
        record.context = _context.get()
        return True
