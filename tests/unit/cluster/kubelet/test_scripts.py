"""Scripts of containers on simulated nodes."""

from __future__ import annotations

import asyncio

import pytest

from pyctrl.api import ObjectMeta
from pyctrl.client import Client
from pyctrl.cluster import Cluster, Kubelet, Script
from pyctrl.cluster._kubelet.scripts import script_of
from pyctrl.kinds.batch.v1 import Job
from pyctrl.kinds.core.v1 import Container, Event, Pod, PodSpec
from tests.unit.cluster._pods import pod, scripted, until_phase


async def test_a_function_scripts_containers() -> None:
    """A Python function scripts containers; annotations take precedence."""

    def script(found: Pod, container: object) -> Script | None:
        return Script(exit_code=1) if found.metadata.labels["app"].startswith("p") else None

    async with Cluster(kubelet=Kubelet(script=script)) as cluster, cluster.client() as client:
        for name, said in (("p", {}), ("other", {}), ("p2", scripted(exit_code="0"))):
            await client.create(pod(name, annotations=said, restartPolicy="Never"))
        await until_phase(client, "p", "Failed")
        await until_phase(client, "other", "Running")
        await until_phase(client, "p2", "Succeeded")


async def test_an_invalid_annotation_is_reported(client: Client) -> None:
    """An invalid annotation is ignored, and an event names the expected value."""
    await client.create(pod(annotations=scripted(exit_code="one")))
    await until_phase(client, "p", "Running")
    await asyncio.sleep(1)
    (event,) = [each for each in await client.list(Event) if each.reason == "InvalidScript"]
    assert event.message == (
        "annotation pyctrl.dev/exit-code is ignored: expected whole numbers, such as 1 or 1,1,0, got 'one'"
    )


def test_a_long_command_is_read_in_linear_time() -> None:
    """A shell command with many spaces is parsed in linear time."""
    container = Container(name="c", image="i", command=["sh", "-c", " " * 100_000 + "!"])
    long = Pod(metadata=ObjectMeta(name="a"), spec=PodSpec(containers=[container]))
    assert script_of(long, lambda _container: Script(), None).containers["c"] == Script()


@pytest.mark.parametrize(
    ("image", "command", "runs"),
    [
        ("pause", [], True),
        ("registry.k8s.io/pause:3.10.1", [], True),
        ("localhost:5000/a/pause@sha256:0123", [], True),
        ("registry.k8s.io/e2e-test-images/agnhost:2.55", ["pause"], True),
        ("registry.k8s.io/pause:3.10.1", ["true"], False),
        ("example.com/mypause", [], False),
    ],
)
async def test_a_container_that_pauses_runs_until_it_is_stopped(image: str, command: list[str], runs: bool) -> None:
    """The image and the command pause do not end, also in a Job, whose other containers end after a moment."""
    container = {"name": "c", "image": image, "args": command}
    template = {"spec": {"containers": [container], "restartPolicy": "Never"}}
    meta = {"name": "j", "namespace": "default"}
    async with Cluster() as cluster, cluster.client() as client:
        await client.create(Job.from_wire({"metadata": meta, "spec": {"template": template}}))
        await asyncio.sleep(60)
        (found,) = await client.list(Pod)
        assert found.status.phase == ("Running" if runs else "Succeeded")
