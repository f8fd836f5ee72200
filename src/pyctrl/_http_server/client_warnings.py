"""Rate-limited warnings of a server about its clients, so that clients cannot fill the log."""

from __future__ import annotations

import asyncio
import logging

from pyctrl._log import RepeatedErrors

__all__ = ["ServerWarnings"]

log = logging.getLogger("pyctrl.server")

EVERY_SECONDS = 60.0  # between two warnings of any kind


class ServerWarnings:
    """Logs at most one warning a minute for a server."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._errors = RepeatedErrors()

    def warn(self, message: str, **facts: int) -> None:
        """Log a warning, unless there was one within the last minute."""
        now = asyncio.get_running_loop().time()
        if self._errors.level("any", logging.WARNING, now, every=EVERY_SECONDS) == logging.WARNING:
            log.warning(message, extra={"server": self._server, **facts})
