"""Warnings of a server about its clients, so few that no attacker fills the disk with them."""

from __future__ import annotations

import asyncio
import logging

from pyctrl._log import RepeatedErrors

__all__ = ["ServerWarnings"]

log = logging.getLogger("pyctrl.server")

EVERY_SECONDS = 60.0  # between two warnings, whatever they say


class ServerWarnings:
    """Logs at most one warning a minute, in the name of a server."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._complaints = RepeatedErrors()

    def warn(self, message: str, **facts: int) -> None:
        """Log a warning, unless there was one within the last minute."""
        now = asyncio.get_running_loop().time()
        if self._complaints.level("any", logging.WARNING, now, every=EVERY_SECONDS) == logging.WARNING:
            log.warning(message, extra={"server": self._server, **facts})
