"""The subresource resize of pods; observed on kube-apiserver 1.36, as is the recording `own-pod-resize`."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.api import Key
from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, InProcessTransport, StrategicMergePatch
from pyctrl.errors import Invalid
from pyctrl.kinds.core.v1 import Pod

POD = Key("default", "p")
ONLY = "only cpu and memory resources"
RESTART = [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]
NOT_RESTARTED = (
    "[spec.initContainers[0].resizePolicy[0].restartPolicy: "
    "Invalid value: \"RestartContainer\": must not be set to 'RestartContainer' for non-sidecar initContainers, "
    f"spec.initContainers[0]: Forbidden: {ONLY} for init or sidecar containers are mutable, spec.initContainers[0]: "
    "Forbidden: non-sidecar init containers with a resize policy of RestartContainer cannot be resized]"
)


@pytest.fixture
async def client() -> Any:
    """Return a client of a server with a pod that has an init container, a sidecar and two containers."""
    async with Client(InProcessTransport(ApiServer()), field_owner="test") as client:
        inits = [container("i", restartPolicy=None), container("s", restartPolicy="Always")]
        spec = {"initContainers": inits, "containers": [container("a"), container("b")]}
        metadata = {"name": "p", "namespace": "default"}
        await client.create(Pod.from_wire({"metadata": metadata, "spec": spec}))
        yield client


def container(name: str, cpu: str = "1", **fields: Any) -> dict[str, Any]:
    """Return a container with a request."""
    return {"name": name, "image": "x", "resources": {"requests": {"cpu": cpu, "memory": "1Gi"}}, **fields}


async def resize(client: Client, spec: dict[str, Any], **beside: Any) -> Pod:
    """Patch the subresource; return the pod."""
    patch = StrategicMergePatch({"spec": spec, **beside})
    return Pod.from_wire((await client.subresource("resize").patch(Pod, POD, patch, answer=Pod)).to_wire())


async def test_only_resources_change(client: Client) -> None:
    """Requests of a container change and increment the generation; other fields are put back."""
    changed = {**container("a", cpu="2"), "image": "other"}
    resized = await resize(
        client, {"containers": [changed], "activeDeadlineSeconds": 5}, metadata={"labels": {"a": "b"}}
    )
    first, second = resized.spec.containers
    assert (str(first.resources.requests["cpu"]), first.image) == ("2", "x")
    assert str(second.resources.requests["cpu"]) == "1"
    assert (resized.metadata.generation, resized.metadata.labels) == (2, {})
    assert resized.spec.active_deadline_seconds is None
    sidecar = await resize(client, {"initContainers": [container("s", cpu="3")]})
    assert str(sidecar.spec.init_containers[1].resources.requests["cpu"]) == "3"
    assert (await client.subresource("resize").get(Pod, POD, answer=Pod)).spec == sidecar.spec


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            {"containers": [{"name": "a", "resources": {"requests": {"cpu": None}}}]},
            "spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed",
        ),
        (
            {"containers": [{"name": "a", "resources": {"requests": {"ephemeral-storage": "1Gi"}}}]},
            f"spec: Forbidden: {ONLY} are mutable",
        ),
        (
            {"initContainers": [{"name": "s", "resources": {"requests": {"ephemeral-storage": "1Gi"}}}]},
            f"spec.initContainers[1]: Forbidden: {ONLY} for init or sidecar containers are mutable",
        ),
        (
            {"initContainers": [container("i", cpu="2", resizePolicy=RESTART)]},
            NOT_RESTARTED,
        ),
        (
            {"containers": [container("c")]},
            "spec.containers: Forbidden: containers may not be added or removed on resize",
        ),
        (
            {"containers": [{"name": "a", "resources": {"limits": {"cpu": "0.5"}}}]},
            'spec.containers[0].resources.requests: Invalid value: "1": must be less than or equal to cpu limit of 500',
        ),
    ],
)
async def test_other_changes_are_refused(client: Client, spec: dict[str, Any], message: str) -> None:
    """The error names the container and what cannot change."""
    with pytest.raises(Invalid) as caught:
        await resize(client, spec)
    assert f'Pod "p" is invalid: {message}' in str(caught.value)


async def test_the_quality_of_service_stays(client: Client) -> None:
    """A resize cannot change the QoS class."""
    spec = {"containers": [{"name": "a", "image": "x"}]}
    await client.create(Pod.from_wire({"metadata": {"name": "q", "namespace": "default"}, "spec": spec}))
    patch = StrategicMergePatch({"spec": {"containers": [container("a")]}})
    with pytest.raises(Invalid, match='spec: Invalid value: "BestEffort": Pod QOS Class may not change as a result'):
        await client.subresource("resize").patch(Pod, Key("default", "q"), patch, answer=Pod)
