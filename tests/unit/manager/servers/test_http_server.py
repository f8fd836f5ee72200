"""The HTTP server for probes and metrics, on real sockets."""

from __future__ import annotations

import socket

import aiohttp
import pytest

from pyctrl.apiserver import ApiServer
from pyctrl.client import Config
from pyctrl.errors import ManagerError
from pyctrl.manager import Manager


@pytest.mark.real_time
async def test_kubelet_is_answered_over_http() -> None:
    """A server with an address answers in plain text; port 0 chooses a free port."""
    manager = Manager(Config.in_process(ApiServer()), health_bind_address="127.0.0.1:0")
    async with manager, manager.running(), aiohttp.ClientSession() as kubelet:
        assert manager.health_server is not None
        url = f"http://127.0.0.1:{manager.health_server.port}"
        async with kubelet.get(f"{url}/readyz?verbose&exclude=caches") as response:
            assert response.status == 200
            assert "[+]caches excluded: ok" in await response.text()
            assert response.content_type == "text/plain"
        async with kubelet.get(f"{url}/healthz/") as response:
            assert await response.text() == "ok"
        async with kubelet.post(f"{url}/healthz") as response:
            assert response.status == 405


@pytest.mark.real_time
async def test_an_address_that_is_taken_ends_the_manager() -> None:
    """The error has the option, the address and the reason."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        async with Manager(Config.in_process(ApiServer()), health_bind_address=address) as manager:
            with pytest.raises(ManagerError, match=f"health_bind_address='{address}': Address already in use"):
                await manager.run(handle_signals=False)
