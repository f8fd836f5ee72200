"""Values that are equal for a server."""

from __future__ import annotations

import pytest

from pyctrl.api import GroupVersionKind, Key
from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, InProcessTransport, OperationResult
from pyctrl.kinds.core.v1 import Pod, Volume

NONE, CREATED, UPDATED = OperationResult.NONE, OperationResult.CREATED, OperationResult.UPDATED


class Sent:
    """Records the verbs of a client's writes."""

    def __init__(self, client: Client) -> None:
        self.verbs: list[str] = []
        client.observe_writes(self)

    def before(self, gvk: GroupVersionKind, key: Key) -> None: ...

    def after(
        self, gvk: GroupVersionKind, key: Key, verb: str, body: bytes | None, error: BaseException | None
    ) -> None:
        self.verbs.append(verb)


@pytest.fixture
def live() -> Client:
    """A client of an embedded API server, in process."""
    return Client(InProcessTransport(ApiServer()))


async def test_an_empty_structure_is_something(live: Client) -> None:
    """Empty lists and labels equal missing ones, but a volume that becomes an emptyDir is a change."""
    pod = Pod.from_wire(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "a", "namespace": "default"},
            "spec": {"containers": [{"name": "c", "image": "i"}]},
        }
    )

    def empty(found: Pod) -> None:
        found.metadata.labels = {}
        found.spec.host_aliases = []

    def volume(found: Pod) -> None:
        found.spec.volumes = [Volume.from_wire({"name": "v", "emptyDir": {}})]

    sent = Sent(live)
    results = [(await live.create_or_update(pod, empty)).result for _ in range(2)]
    with pytest.raises(Exception, match="pod updates may not change fields"):
        await live.create_or_update(pod, volume)

    assert results == [CREATED, NONE]
    assert sent.verbs == ["create", "update"]
