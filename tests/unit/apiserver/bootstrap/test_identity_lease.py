"""The Lease of the server's identity."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from pyctrl.apiserver import ApiServer
from pyctrl.apiserver._bootstrap.identity_lease import renewed_identity

PATH = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"


def lease(server: ApiServer) -> dict[str, Any]:
    """Return the Lease of the server."""
    response = server.handle_nowait("GET", PATH, [("labelSelector", "apiserver.kubernetes.io/identity=kube-apiserver")])
    assert isinstance(response.body, bytes)
    (found,) = json.loads(response.body)["items"]
    return dict(found)


async def test_the_lease_is_renewed_every_ten_seconds() -> None:
    """A client that reads the Lease sees a renewal of the last ten seconds, and the same version until the next one."""
    server = ApiServer()
    first = lease(server)
    assert first["spec"]["leaseDurationSeconds"] == 3600
    with renewed_identity(server.storage):
        await asyncio.sleep(25)
        second = lease(server)
        await asyncio.sleep(4)
        assert lease(server) == second
        await asyncio.sleep(1)
        third = lease(server)
    times = [each["spec"]["renewTime"] for each in (first, second, third)]
    seconds = [int(each[17:19]) + 60 * int(each[14:16]) for each in times]
    assert [(each - seconds[0]) % 3600 for each in seconds] == [0, 20, 30]
    await asyncio.sleep(60)
    assert lease(server) == third


async def test_a_lease_that_was_deleted_is_not_renewed() -> None:
    """The heartbeat of a server without a Lease writes nothing."""
    server = ApiServer()
    leases = server.storage.collection("coordination.k8s.io", "leases")
    stored = leases.find("kube-system", lease(server)["metadata"]["name"])
    assert stored is not None
    leases.remove(stored)
    version = server.storage.version
    with renewed_identity(server.storage):
        await asyncio.sleep(10)
        server.storage.heartbeats.catch_up()
    assert server.storage.version == version
