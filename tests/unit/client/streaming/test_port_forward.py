"""Forwarded ports: without sockets, and over a port of this machine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from pyctrl.api import Key
from pyctrl.client import Client, port_forward, wait_for
from pyctrl.cluster import Cluster, Kubelet, Script
from pyctrl.errors import ApiError, NotFound, StreamBroken
from pyctrl.kinds.core.v1 import Pod
from pyctrl.testing import run_virtual

DB = Key("default", "db")


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer each line in upper case, and say goodbye at the end."""
    while line := await reader.readline():
        writer.write(line.upper())
        await writer.drain()
    writer.write(b"bye")


@asynccontextmanager
async def with_pod(cluster: Cluster | None = None) -> AsyncIterator[Client]:
    """Run a pod that listens at port 80."""
    cluster = cluster or Cluster(kubelet=Kubelet(script=lambda *_: Script(ports={80: echo})))
    async with cluster, cluster.client() as client:
        spec = {"containers": [{"name": "main", "image": "i"}]}
        await client.create(Pod.from_wire({"metadata": {"name": "db", "namespace": "default"}, "spec": spec}))
        await wait_for(client, Pod, DB, lambda pod: pod.status.phase == "Running")
        yield client


def test_connections_to_a_port() -> None:
    """Several connections share one request, and each side may end its stream alone."""

    async def main() -> None:
        async with with_pod() as client, port_forward(client, DB) as forwarder:
            streams = [await forwarder.connect(80) for _ in range(3)]
            for number, (_, writer) in enumerate(streams):
                writer.write(b"line %d\n" % number)
            for number, (reader, writer) in enumerate(streams):
                assert await reader.readline() == b"LINE %d\n" % number
                writer.write_eof()
                assert await reader.read() == b"bye"
                writer.close()

    run_virtual(main())


def test_a_port_at_which_nothing_listens() -> None:
    """Reading raises the kubelet's message; other connections go on."""

    async def main() -> None:
        async with with_pod() as client, port_forward(client, DB) as forwarder:
            reader, _ = await forwarder.connect(81)
            with pytest.raises(StreamBroken, match="error forwarding port 81 to pod db.*connection refused"):
                await reader.read()
            reader, writer = await forwarder.connect(80)
            writer.write(b"x\n")
            assert await reader.readline() == b"X\n"

    run_virtual(main())


def test_a_pod_that_does_not_run() -> None:
    """The request is refused: a pod that does not exist, or that has not started."""

    async def main() -> None:
        async with with_pod() as client:
            with pytest.raises(NotFound, match='pods "none" not found'):
                async with port_forward(client, Key("default", "none")):
                    pytest.fail("not reached")
            waiting = {"initContainers": [{"name": "i", "image": "i", "command": ["false"]}]}
            spec = {"containers": [{"name": "main", "image": "i"}], "restartPolicy": "Never", **waiting}
            await client.create(Pod.from_wire({"metadata": {"name": "no", "namespace": "default"}, "spec": spec}))
            await wait_for(client, Pod, Key("default", "no"), lambda pod: pod.status.phase == "Failed")
            with pytest.raises(ApiError, match="pod not found"):
                async with port_forward(client, Key("default", "no")):
                    pytest.fail("not reached")

    run_virtual(main())


def test_a_deleted_pod_ends_its_connections() -> None:
    """Readers see the end."""

    async def main() -> None:
        async with with_pod() as client, port_forward(client, DB) as forwarder:
            reader, _ = await forwarder.connect(80)
            await client.delete(Pod, DB, grace_period_seconds=0)
            assert await reader.read() == b""

    run_virtual(main())


@pytest.mark.real_time  # sockets
async def test_a_port_of_this_machine() -> None:
    """Any program reaches the pod by a local port, over HTTP to the API server."""
    cluster = Cluster(kubelet=Kubelet(script=lambda *_: Script(ports={80: echo})))
    async with (
        asyncio.timeout(20),
        with_pod(cluster),
        cluster.serve() as config,
        Client.connect(config) as client,
        port_forward(client, DB) as forwarder,
        forwarder.listen(80) as port,
    ):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"x" * 50_000 + b"\n")
        assert await reader.readline() == b"X" * 50_000 + b"\n"
        writer.write_eof()
        assert await reader.read() == b"bye"
        writer.close()
