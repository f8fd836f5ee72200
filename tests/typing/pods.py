"""Streams of pods and scripts of containers, as type checkers see them. Checked, never run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import assert_type

from pyctrl.api import Key
from pyctrl.client import (
    Client,
    ExecResult,
    PortForwarder,
    RemoteProcess,
    attach,
    exec_command,
    exec_process,
    follow_logs,
    port_forward,
    read_logs,
)
from pyctrl.cluster import Cluster, ContainerOutput, ExecProcess, Kubelet, PodSession, Script, host_process
from pyctrl.kinds.core.v1 import Container, Pod

POD = Key("default", "db")


async def streams_of_a_pod(client: Client) -> None:
    assert_type(await exec_command(client, POD, ["psql"], stdin=b"select 1"), ExecResult)
    async with exec_process(client, POD, ["psql"], tty=True) as process:
        assert_type(process, RemoteProcess)
        assert_type(await process.stdout.read(), bytes)
        assert_type(await process.wait(), int)
    async with attach(client, POD) as process:
        assert_type(process, RemoteProcess)
    async with port_forward(client, POD) as forwarder:
        assert_type(forwarder, PortForwarder)
        assert_type(await forwarder.connect(80), tuple[asyncio.StreamReader, asyncio.StreamWriter])
        async with forwarder.listen(80) as local:
            assert_type(local, int)
    assert_type(await read_logs(client, POD, tail_lines=3), str)
    assert_type(follow_logs(client, POD), AsyncGenerator[str, None])


async def psql(process: ExecProcess) -> int:
    await process.stdout.write(b" ".join(each.encode() for each in process.command))
    return 0


async def log(output: ContainerOutput) -> None:
    print("ready", file=output.stdout, flush=True)


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(await reader.read())


def script(pod: Pod, container: Container) -> Script | None:
    if container.name == "shell":
        return Script(exec=host_process(), logs="ready\n")
    return Script(exec=psql, ports={5432: echo, 80: "localhost:8080"}, logs=log, exit_code=(1, 0))


async def wrong_script(process: ExecProcess) -> str:
    return ""


def scripts_of_a_cluster() -> None:
    cluster = Cluster(kubelet=Kubelet(script=script))
    assert_type(cluster.pod_sessions(POD), Sequence[PodSession])
    Script(exec=wrong_script)  # type: ignore[arg-type]
    Kubelet(script=psql)  # type: ignore[arg-type]
