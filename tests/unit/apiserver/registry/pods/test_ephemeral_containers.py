"""The subresource ephemeralcontainers of pods; observed on kube-apiserver 1.36."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.api import Key
from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, InProcessTransport, MergePatch, StrategicMergePatch
from pyctrl.errors import Invalid
from pyctrl.kinds.core.v1 import Pod

POD = Key("default", "p")
LABEL = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-'"


@pytest.fixture
async def client() -> Any:
    """Return a client of a server with a pod."""
    async with Client(InProcessTransport(ApiServer()), field_owner="test") as client:
        await client.create(pod())
        yield client


def pod(**spec: Any) -> Pod:
    """Return a pod with an init container and a container."""
    spec = {"initContainers": [{"name": "i", "image": "x"}], "containers": [{"name": "c", "image": "x"}], **spec}
    return Pod.from_wire({"metadata": {"name": "p", "namespace": "default"}, "spec": spec})


async def add(client: Client, *containers: dict[str, Any], **beside: Any) -> Pod:
    """Add containers with a strategic merge patch, which merges them by name."""
    patch = StrategicMergePatch({"spec": {"ephemeralContainers": list(containers)}, **beside})
    return Pod.from_wire((await client.subresource("ephemeralcontainers").patch(Pod, POD, patch, answer=Pod)).to_wire())


async def test_one_is_added_and_nothing_else(client: Client) -> None:
    """An ephemeral container gets defaults and increments the generation; changes of other fields are reverted."""
    before = await client.get(Pod, POD)
    added = await add(client, {"name": "e", "image": "y"}, metadata={"labels": {"a": "b"}})
    (container,) = added.spec.ephemeral_containers
    assert (container.image_pull_policy, container.termination_message_policy) == ("Always", "File")
    assert added.metadata.labels == {}
    assert added.metadata.generation == before.metadata.generation + 1
    again = await add(client, {"name": "f", "image": "z", "targetContainerName": "c"})
    assert sorted(each.name for each in again.spec.ephemeral_containers) == ["e", "f"]
    assert (await client.subresource("ephemeralcontainers").get(Pod, POD, answer=Pod)).spec == again.spec
    assert (await client.status.patch(again, MergePatch({"status": {"message": "well"}}))).status.message == "well"


@pytest.mark.parametrize(
    ("container", "message"),
    [
        ({"name": "c", "image": "y"}, '[0].name: Duplicate value: "c"'),
        ({"name": "i", "image": "y"}, '[0].name: Duplicate value: "i"'),
        ({"name": "E", "image": "y"}, f'[0].name: Invalid value: "E": {LABEL}'),
        ({"name": "e"}, "[0].image: Required value"),
        ({"name": "e", "image": "y", "targetContainerName": "x"}, '[0].targetContainerName: Not found: "x"'),
        (
            {"name": "e", "image": "y", "resources": {"requests": {"cpu": "1"}}},
            "[0].resources: Forbidden: cannot be set for an Ephemeral Container",
        ),
        (
            {"name": "e", "image": "y", "restartPolicy": "Always"},
            "[0].restartPolicy: Forbidden: cannot be set for an Ephemeral Container",
        ),
    ],
)
async def test_invalid_containers_are_refused(client: Client, container: dict[str, Any], message: str) -> None:
    """A duplicate name, and fields that ephemeral containers do not have, are errors."""
    with pytest.raises(Invalid) as refused:
        await add(client, container)
    assert f"spec.ephemeralContainers{message}" in str(refused.value)


async def test_existing_ones_do_not_change(client: Client) -> None:
    """An existing ephemeral container is neither changed nor removed."""
    await add(client, {"name": "e", "image": "y"})
    with pytest.raises(Invalid, match='existing ephemeral containers "e" may not be changed'):
        await add(client, {"name": "e", "image": "z"})
    empty = MergePatch({"spec": {"ephemeralContainers": []}})
    with pytest.raises(Invalid, match='existing ephemeral containers "e" may not be removed'):
        await client.subresource("ephemeralcontainers").patch(Pod, POD, empty)


async def test_only_the_subresource_adds_them(client: Client) -> None:
    """A create or an update of the pod adds no ephemeral container."""
    with pytest.raises(Invalid, match="pod updates may not change fields other than"):
        await client.patch(Pod, POD, MergePatch({"spec": {"ephemeralContainers": [{"name": "e", "image": "y"}]}}))
    await client.delete(Pod, POD)
    with pytest.raises(Invalid, match="spec.ephemeralContainers: Forbidden: cannot be set on create"):
        await client.create(pod(ephemeralContainers=[{"name": "e", "image": "y"}]))


async def test_the_writer_owns_fields_that_are_put_back(client: Client) -> None:
    """As upstream, the writer owns every field of its request, also those that the subresource ignores."""
    added = await add(client, {"name": "e", "image": "y"}, metadata={"labels": {"a": "b"}}, status={"message": "m"})
    (entry,) = (each for each in added.metadata.managed_fields if each.get("subresource"))
    assert {"f:metadata", "f:status"} <= entry["fieldsV1"].keys()
