"""Functions that write the logs of containers: `Script(logs=…)`."""

from __future__ import annotations

import asyncio

import pytest

from pyctrl.api import Key
from pyctrl.client import Client, follow_logs, read_logs
from pyctrl.cluster import Cluster, ContainerOutput, Kubelet, Script
from tests.unit.cluster._pods import pod, until_phase

P = Key("default", "p")


async def ticks(output: ContainerOutput) -> None:
    """Print a line each 10 seconds, and the restarts first."""
    print("run", output.restart_count, output.pod.metadata.name, output.container.name, file=output.stdout)
    while True:
        await asyncio.sleep(10)
        output.stderr.write(b"tick\n")


async def running(client: Client) -> None:
    """Create pod p and wait until it runs."""
    await client.create(pod())
    await until_phase(client, "p", "Running")


async def test_a_function_writes_the_log() -> None:
    """The function runs with its container: again after a restart, and not after the end of the pod."""
    kubelet = Kubelet(script=lambda _pod, _container: Script(logs=ticks, run_seconds=25, exit_code=1))
    async with Cluster(kubelet=kubelet) as cluster, cluster.client() as client:
        await running(client)
        assert [line async for line in follow_logs(client, P)] == ["run 0 p c", "tick", "tick"]
        await asyncio.sleep(12)
        assert await read_logs(client, P, previous=True) == "run 0 p c\ntick\ntick\n"
        assert await read_logs(client, P) == "run 1 p c\ntick\n"
        following = asyncio.ensure_future(anext(follow_logs(client, P, tail_lines=0)))
        assert await following == "tick"


async def test_a_deleted_pod_ends_its_log() -> None:
    """A reader that follows the log of a pod ends with the pod."""
    kubelet = Kubelet(script=lambda _pod, _container: Script(logs=ticks))
    async with Cluster(kubelet=kubelet) as cluster, cluster.client() as client:
        await running(client)

        async def delete() -> None:
            await asyncio.sleep(15)
            await client.delete(pod())

        async with asyncio.TaskGroup() as group:
            group.create_task(delete())
            lines = [line async for line in follow_logs(client, P, timestamps=True)]
    assert [line.split(" ", 1)[1] for line in lines] == ["run 0 p c", "tick"]


async def test_an_error_of_the_function_is_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """A function that raises prints its traceback, as a program does; the container goes on."""

    async def fail(output: ContainerOutput) -> None:
        output.stdout.write("hello")
        raise RuntimeError("no database")

    kubelet = Kubelet(script=lambda _pod, _container: Script(logs=fail))
    async with Cluster(kubelet=kubelet) as cluster, cluster.client() as client:
        await running(client)
        await asyncio.sleep(1)
        text = await read_logs(client, P)
        assert text.startswith("Traceback")
        assert text.endswith("RuntimeError: no database\n")
    assert "Log function failed" in caplog.text
