"""Which log lines are the program's, and which those of the cluster that it lives in."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["ProgramLogFilter", "cluster_logs"]

_is_cluster: ContextVar[bool] = ContextVar("pyctrl_dev_is_cluster", default=False)


@contextmanager
def cluster_logs() -> Iterator[None]:
    """Take what is started in this block for the cluster's own."""
    token = _is_cluster.set(True)
    try:
        yield
    finally:
        _is_cluster.reset(token)


class ProgramLogFilter(logging.Filter):
    """For a handler: lets the program's lines through, and of the cluster's own controllers only warnings."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Tell whether a record is shown."""
        return record.levelno >= logging.WARNING or not _is_cluster.get()
