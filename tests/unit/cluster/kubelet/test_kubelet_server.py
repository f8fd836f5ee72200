"""Commands in simulated containers and their logs, in this process and over sockets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from datetime import timedelta

import msgspec
import pytest

from pyctrl._pipes import Pipe
from pyctrl.api import Key
from pyctrl.apiserver import ContainerStreams, KubeletError, User
from pyctrl.client import (
    Client,
    ExecResult,
    HttpRequest,
    MergePatch,
    attach,
    exec_command,
    follow_logs,
    port_forward,
    read_logs,
    wait_for,
    wait_until_gone,
)
from pyctrl.cluster import Cluster, ExecProcess, Kubelet, Script
from pyctrl.errors import ApiError, BadRequest, Forbidden, NotFound, StreamBroken
from pyctrl.kinds.core.v1 import Container, Pod
from pyctrl.kinds.rbac.v1 import ClusterRole, ClusterRoleBinding
from pyctrl.testing import run_virtual

DB = Key("default", "db")


async def psql(process: ExecProcess) -> int:
    """Print the command and its input; fail for `psql broken`."""
    if process.command[1:] == ["broken"]:
        raise RuntimeError("no database")
    await process.stdout.write(" ".join(process.command).encode() + b"<" + await process.stdin.read_all())
    await process.stderr.write(b"notice")
    return 0 if len(process.command) == 1 else 3


def script(_: Pod, container: Container) -> Script | None:
    return Script(exec=psql) if (container.image or "").startswith("postgres") else None


@asynccontextmanager
async def with_pod(cluster: Cluster, *images: str) -> AsyncIterator[Client]:
    """Run a pod with containers a, b and so on."""
    containers = [{"name": name, "image": image} for name, image in zip("abc", images, strict=False)]
    async with cluster, cluster.client() as client:
        await client.create(
            Pod.from_wire({"metadata": {"name": "db", "namespace": "default"}, "spec": {"containers": containers}})
        )
        await wait_for(client, Pod, DB, lambda pod: pod.status.phase == "Running")
        yield client


def test_a_script_runs_the_commands_of_its_container() -> None:
    """The function gets the command and its input; the caller gets exit code, stdout and stderr."""

    async def main() -> None:
        async with with_pod(Cluster(kubelet=Kubelet(script=script)), "postgres:18") as client:
            assert await exec_command(client, DB, ["psql"], stdin=b"select 1") == ExecResult(
                0, b"psql<select 1", b"notice"
            )
            assert await exec_command(client, DB, ["psql", "x"]) == ExecResult(3, b"psql x<", b"notice")

    run_virtual(main())


def test_a_script_that_raises_is_an_error_of_the_server() -> None:
    """The caller gets the message as an internal error."""

    async def main() -> None:
        async with with_pod(Cluster(kubelet=Kubelet(script=script)), "postgres:18") as client:
            with pytest.raises(ApiError, match="error executing command in container: no database"):
                await exec_command(client, DB, ["psql", "broken"])
            with pytest.raises(ApiError, match="expected the parameter command at least once, got none"):
                await exec_command(client, DB, [])

    run_virtual(main())


def test_a_container_without_a_script_says_so() -> None:
    """The command exits with 126, and stderr names the setting that is missing."""

    async def main() -> None:
        async with with_pod(Cluster(), "busybox") as client:
            result = await exec_command(client, DB, ["ls"])
            assert result.exit_code == 126
            assert b"set exec in the Script of the Kubelet" in result.stderr

    run_virtual(main())


def test_commands_that_cannot_start() -> None:
    """No pod, no such container, and several containers without a choice are kube-apiserver's errors."""

    async def main() -> None:
        async with with_pod(Cluster(), "busybox", "busybox") as client:
            with pytest.raises(NotFound, match='pods "none" not found'):
                await exec_command(client, Key("default", "none"), ["ls"])
            with pytest.raises(BadRequest, match="container z is not valid for pod db"):
                await exec_command(client, DB, ["ls"], container="z")
            with pytest.raises(BadRequest, match=r"must be specified for pod db, choose one of: \[a b\]"):
                await exec_command(client, DB, ["ls"])

    run_virtual(main())


def test_a_container_that_does_not_run_has_no_commands() -> None:
    """A pod that was scheduled and has ended answers with the kubelet's message."""

    async def main() -> None:
        async with Cluster() as cluster, cluster.client() as client:
            spec = {"containers": [{"name": "a", "image": "i", "command": ["true"]}], "restartPolicy": "Never"}
            await client.create(Pod.from_wire({"metadata": {"name": "db", "namespace": "default"}, "spec": spec}))
            await wait_for(client, Pod, DB, lambda pod: pod.status.phase == "Succeeded")
            with pytest.raises(ApiError, match=r'unable to upgrade connection: container not found \("a"\)'):
                await exec_command(client, DB, ["ls"])

    run_virtual(main())


def test_exec_needs_the_verb_create() -> None:
    """As since Kubernetes 1.35, `get` on pods/exec does not allow a WebSocket."""

    async def main() -> None:
        cluster = Cluster(rbac=True)
        async with with_pod(cluster, "busybox") as admin:
            rule = {"apiGroups": [""], "resources": ["pods/exec"], "verbs": ["get"]}
            await admin.create(ClusterRole.from_wire({"metadata": {"name": "r"}, "rules": [rule]}))
            role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "r"}
            subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "jane"}
            bound = {"metadata": {"name": "r"}, "roleRef": role, "subjects": [subject]}
            await admin.create(ClusterRoleBinding.from_wire(bound))
            async with Client.connect(cluster.config_for(User(name="jane"))) as jane:
                with pytest.raises(Forbidden, match='cannot create resource "pods/exec"'):
                    await exec_command(jane, DB, ["ls"])

    run_virtual(main())


@pytest.mark.real_time  # sockets
async def test_a_command_over_sockets() -> None:
    """The same works over HTTP, with input of more than a frame's short length."""
    cluster = Cluster(kubelet=Kubelet(script=script))
    async with with_pod(cluster, "postgres:18"), cluster.serve() as config, Client.connect(config) as client:
        async with asyncio.timeout(10):
            result = await exec_command(client, DB, ["psql"], stdin=b"x" * 200_000)
        assert (result.exit_code, len(result.stdout)) == (0, 200_005)
        with pytest.raises(NotFound, match='pods "none" not found'):
            await exec_command(client, Key("default", "none"), ["ls"])


def test_a_command_ends_with_its_container() -> None:
    """A command in a container that is deleted has the exit code of a killed process."""

    async def hang(_: ExecProcess) -> None:
        await asyncio.get_running_loop().create_future()

    async def main() -> None:
        cluster = Cluster(kubelet=Kubelet(script=lambda *_: Script(exec=hang)))
        async with with_pod(cluster, "busybox") as client, asyncio.TaskGroup() as tasks:
            running = tasks.create_task(exec_command(client, DB, ["hang"]))
            await asyncio.sleep(1)
            await client.delete(Pod, DB, grace_period_seconds=0)
            assert await running == ExecResult(137)

    run_virtual(main())


async def attach_to(cluster: Cluster, client: Client, streams: ContainerStreams) -> int:
    """Attach to the first container of the pod."""
    node = (await client.get(Pod, DB)).spec.node_name
    return await cluster.server.kubelets[node or ""].get_attach("default", "db", "a")(streams)


def test_clients_attach_to_the_process_of_a_container() -> None:
    """The function of the script plays the process; a container without stdin reads none."""

    async def play(process: ExecProcess) -> None:
        await process.stdout.write(b"hello" + await process.stdin.read_all())

    async def main() -> None:
        cluster = Cluster(kubelet=Kubelet(script=lambda *_: Script(attach=play)))
        async with with_pod(cluster, "busybox") as client:
            streams = ContainerStreams(Pipe(), Pipe(), Pipe())
            assert await attach_to(cluster, client, streams) == 0
            assert await streams.stdout.read() == b"hello"

    run_virtual(main())


def test_a_process_without_a_script_is_silent_until_its_container_ends() -> None:
    """A client stays attached and reads nothing."""

    async def main() -> None:
        cluster = Cluster()
        async with with_pod(cluster, "busybox") as client, asyncio.TaskGroup() as tasks:
            attached = tasks.create_task(attach_to(cluster, client, ContainerStreams(Pipe(), Pipe(), Pipe())))
            await asyncio.sleep(1)
            assert not attached.done()
            await client.delete(Pod, DB, grace_period_seconds=0)
            assert await attached == 0

    run_virtual(main())


def test_ports_are_those_of_the_scripts_of_a_pod() -> None:
    """All containers of a pod share its ports; nothing listens at the others."""

    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hello")

    async def main() -> None:
        cluster = Cluster(kubelet=Kubelet(script=lambda _, c: Script(ports={80: serve} if c.name == "b" else None)))
        async with with_pod(cluster, "i", "i") as client:
            node = (await client.get(Pod, DB)).spec.node_name
            forward = cluster.server.kubelets[node or ""].get_port_forward("default", "db")
            sent = Pipe()
            await forward(80, Pipe(), sent)
            assert await sent.read_all() == b"hello"
            with pytest.raises(KubeletError, match="dial tcp4 127.0.0.1:81: connect: connection refused"):
                await forward(81, Pipe(), Pipe())

    run_virtual(main())


def test_a_port_may_be_at_this_machine() -> None:
    """The address of a port is that of the script; functions and other ports have none."""

    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async def main() -> None:
        cluster = Cluster(kubelet=Kubelet(script=lambda *_: Script(ports={80: serve, 9443: ":19443", 81: "[::1]:81"})))
        async with with_pod(cluster, "i") as client:
            kubelet = cluster.server.kubelets[(await client.get(Pod, DB)).spec.node_name or ""]
            assert kubelet.find_address("default", "db", 9443) == ("localhost", 19443)
            assert kubelet.find_address("default", "db", 81) == ("::1", 81)
            assert kubelet.find_address("default", "db", 80) is None
            assert kubelet.find_address("default", "db", 82) is None
            assert kubelet.find_address("default", "other", 9443) is None

    run_virtual(main())


def test_pods_that_are_not_there() -> None:
    """Attach and port forwarding have the kubelet's errors."""

    async def main() -> None:
        cluster = Cluster()
        async with with_pod(cluster, "busybox") as client:
            kubelet = cluster.server.kubelets[(await client.get(Pod, DB)).spec.node_name or ""]
            with pytest.raises(KubeletError, match="container z not found in pod db_default"):
                kubelet.get_attach("default", "db", "z")
            for refused in (
                lambda: kubelet.get_attach("default", "no", "a"),
                lambda: kubelet.get_port_forward("x", "y"),
            ):
                with pytest.raises(KubeletError, match="pod does not exist"):
                    refused()

    run_virtual(main())


async def test_the_annotation_is_printed_by_each_run() -> None:
    """The text of the annotation is the log of each run; what is added to it later is printed then."""
    async with Cluster() as cluster, cluster.client() as client:
        annotations = {"pyctrl.dev/logs": "one\ntwo", "pyctrl.dev/logs.b": "other"}
        await client.create(scripted_pod(annotations, "a", "b"))
        await wait_for(client, Pod, DB, lambda pod: pod.status.phase == "Running")
        assert await read_logs(client, DB, container="a") == "one\ntwo\n"
        assert await read_logs(client, DB, container="b") == "other\n"
        longer = {"pyctrl.dev/logs": "one\ntwo\nthree", "pyctrl.dev/logs.b": "new"}
        await client.patch(Pod, DB, MergePatch({"metadata": {"annotations": longer}}))
        await asyncio.sleep(5)
        assert await read_logs(client, DB, container="a", since=timedelta(seconds=6)) == "one\ntwo\nthree\n"
        assert await read_logs(client, DB, container="b") == "other\nnew\n"


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ({"pull-error": "gone"}, "is waiting to start: image can't be pulled"),
        ({"pull-seconds": "100"}, "is waiting to start: ContainerCreating"),
    ],
)
async def test_a_container_that_has_not_started_has_no_log(script: dict[str, str], message: str) -> None:
    """The message has the reason why the container waits, as the kubelet's."""
    async with Cluster() as cluster, cluster.client() as client:
        await client.create(scripted_pod({f"pyctrl.dev/{key}": value for key, value in script.items()}, "a"))
        await wait_for(client, Pod, DB, lambda pod: bool(pod.status.container_statuses))
        with pytest.raises(BadRequest, match=f'^container "a" in pod "db" {message} '):
            await read_logs(client, DB)


async def test_a_container_that_has_not_ended_has_no_previous_log() -> None:
    """The log of the first run is empty without a script, and there is none before it."""
    async with Cluster() as cluster, cluster.client() as client:
        await client.create(scripted_pod({}, "a"))
        await wait_for(client, Pod, DB, lambda pod: pod.status.phase == "Running")
        assert await read_logs(client, DB) == ""
        with pytest.raises(BadRequest, match='^previous terminated container "a" in pod "db" not found'):
            await read_logs(client, DB, previous=True)


async def test_init_and_ephemeral_containers_have_logs() -> None:
    """The log of a finished init container can be read, and that of an added ephemeral one."""
    async with Cluster() as cluster, cluster.client() as client:
        pod = scripted_pod({"pyctrl.dev/logs.setup": "done"}, "a")
        pod.spec.init_containers = [Container(name="setup", image="i")]
        await client.create(pod)
        await wait_for(client, Pod, DB, lambda found: found.status.phase == "Running")
        assert await read_logs(client, DB, container="setup") == "done\n"
        body = msgspec.json.encode({"spec": {"ephemeralContainers": [{"name": "debug", "image": "i"}]}})
        path = "/api/v1/namespaces/default/pods/db/ephemeralcontainers"
        headers = {"Content-Type": "application/strategic-merge-patch+json"}
        await client.connection.rest.send(HttpRequest(method="PATCH", path=path, headers=headers, body=body))
        await wait_for(client, Pod, DB, lambda found: bool(found.status.ephemeral_container_statuses))
        assert await read_logs(client, DB, container="debug") == ""


def scripted_pod(annotations: dict[str, str], *names: str) -> Pod:
    """Return pod db with annotations and containers."""
    containers = [{"name": name, "image": "i"} for name in names]
    metadata = {"name": "db", "namespace": "default", "annotations": annotations}
    return Pod.from_wire({"metadata": metadata, "spec": {"containers": containers}})


@pytest.mark.real_time  # sockets
async def test_a_log_over_sockets() -> None:
    """A log can be followed over HTTP; the stream ends when the pod is deleted."""
    cluster = Cluster()
    async with cluster, cluster.serve() as config, Client.connect(config) as client:
        await client.create(scripted_pod({"pyctrl.dev/logs": "one\n\ntwo"}, "a"))
        await wait_for(client, Pod, DB, lambda pod: pod.status.phase == "Running")
        async with asyncio.timeout(10), aclosing(follow_logs(client, DB)) as lines:
            assert [await anext(lines) for _ in range(3)] == ["one", "", "two"]
            await client.delete(Pod, DB, grace_period_seconds=0)
            assert [line async for line in lines] == []


def test_a_cluster_knows_what_was_run_in_a_pod() -> None:
    """Commands have their times and exit codes, connections their ports, in the order in which they began."""

    async def main() -> None:
        cluster = Cluster(kubelet=Kubelet(script=script))
        async with with_pod(cluster, "postgres:18") as client:
            await exec_command(client, DB, ["psql", "x"])
            await asyncio.sleep(5)
            with pytest.raises(ApiError):
                await exec_command(client, DB, ["psql", "broken"])
            async with attach(client, DB):
                await asyncio.sleep(1)
                first, failed, attached = cluster.pod_sessions(DB)
                assert (first.subresource, first.container, first.command) == ("exec", "a", ("psql", "x"))
                assert (first.exit_code, first.error, first.ended) == (3, "", first.began)
                assert (failed.began - first.began, failed.exit_code, failed.error) == (5, None, "no database")
                assert (attached.subresource, attached.ended) == ("attach", None)
            await client.delete(Pod, DB)
            await wait_until_gone(client, Pod, DB)
            assert attached.ended is not None
            assert cluster.pod_sessions(DB) == ()

    run_virtual(main())


def test_a_refused_connection_is_a_session() -> None:
    """A connection to a port at which nothing listens has its error."""

    async def main() -> None:
        cluster = Cluster(kubelet=Kubelet(script=script))
        async with with_pod(cluster, "postgres:18") as client, port_forward(client, DB) as forwarder:
            reader, _ = await forwarder.connect(5432)
            with pytest.raises(StreamBroken):
                await reader.read()
            (refused,) = cluster.pod_sessions(DB)
            assert (refused.subresource, refused.container, refused.port) == ("portforward", "", 5432)
            assert "connection refused" in refused.error

    run_virtual(main())
