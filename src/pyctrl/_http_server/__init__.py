"""The HTTP servers of a process: listening, accepting, and limits on what clients may hold.

What needs aiohttp is imported by those who serve: `pyctrl._http_server.server`.
"""

from __future__ import annotations

from pyctrl._http_server.limits import ServerLimits
from pyctrl._http_server.listener import Listener

__all__ = ["Listener", "ServerLimits"]
