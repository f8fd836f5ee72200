"""Revisions of a StatefulSet, in virtual time, compared with a kube-controller-manager 1.36."""

from __future__ import annotations

import msgspec

from pyctrl.client import Client, HttpRequest, wait_for_list
from pyctrl.kinds.apps.v1 import (
    ControllerRevision,
)
from tests.unit.cluster._statefulsets import new_image, settled, stateful_set


async def test_going_back_finds_the_old_revision_again(client: Client) -> None:
    """An old template reuses its revision with a new number."""
    await client.create(stateful_set(1))
    await settled(client, 1)
    for image in ("other", "busybox"):
        await new_image(client, image)
        await settled(client, 1)
    revisions = {found.metadata.name: found.revision for found in await client.list(ControllerRevision)}
    assert revisions == {"db-795968f978": 3, "db-77ccfb69b6": 2}


async def test_history_is_limited(client: Client) -> None:
    """Revisions beyond revisionHistoryLimit without pods are deleted."""
    await client.create(stateful_set(1, revision_history_limit=1))
    for image in ("busybox", "b", "c", "d"):
        await new_image(client, image)
        await settled(client, 1)
    await wait_for_list(client, ControllerRevision, lambda left: len(left) == 2)


async def test_a_revision_is_written_as_go_writes_maps(client: Client) -> None:
    """The keys of the data are sorted, so that its bytes are those of a patch that a client in Go makes."""
    await client.create(stateful_set(1))
    await settled(client, 1)
    path = "/apis/apps/v1/namespaces/default/controllerrevisions"
    response = await client.connection.rest.send(HttpRequest(method="GET", path=path))
    (found,) = msgspec.json.decode(response.body)["items"]
    data = found["data"]
    assert "$patch" in data["spec"]["template"]
    assert msgspec.json.encode(data) == msgspec.json.encode(data, order="sorted")
