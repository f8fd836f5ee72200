"""Log filter that separates the program's lines from those of its in-process cluster."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["ProgramLogFilter", "cluster_logs"]

_is_cluster: ContextVar[bool] = ContextVar("pyctrl_dev_is_cluster", default=False)


@contextmanager
def cluster_logs() -> Iterator[None]:
    """Mark the tasks that are started in this block as the cluster's."""
    token = _is_cluster.set(True)
    try:
        yield
    finally:
        _is_cluster.reset(token)


class ProgramLogFilter(logging.Filter):
    """A filter for handlers: passes the program's lines, and of the cluster's controllers only warnings."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether to show a record."""
        return record.levelno >= logging.WARNING or not _is_cluster.get()
