"""The HTTP servers of a process: listening, accepting, and limits on what clients may hold.

What needs aiohttp is imported by those who serve: `pyctrl._serving._http`.
"""

from __future__ import annotations

from pyctrl._serving._accept import Acceptor
from pyctrl._serving._limits import ServerLimits

__all__ = ["Acceptor", "ServerLimits"]
