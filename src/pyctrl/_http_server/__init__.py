"""HTTP server of health, metrics and webhooks, with limits on its clients.

`pyctrl._http_server.server` imports aiohttp; import it only where a server runs.
"""

from __future__ import annotations

from pyctrl._http_server.limits import ServerLimits
from pyctrl._http_server.listener import Listener

__all__ = ["Listener", "ServerLimits"]
