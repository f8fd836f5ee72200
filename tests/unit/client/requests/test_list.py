"""Lists: sequence, metadata and comparison."""

from __future__ import annotations

from pyctrl.api import CustomResource, Model, ObjectMeta
from pyctrl.apiserver import ApiServer
from pyctrl.client import (
    Client,
    InProcessTransport,
)
from pyctrl.kinds.core.v1 import ConfigMap, Namespace
from tests.unit.client._fake_server import FakeServer


class WidgetSpec(Model):
    size: int


class Widget(CustomResource[WidgetSpec], group="demo.test", version="v1"):
    """A namespaced kind with a required field."""


def widget(name: str = "a", size: int = 1, **metadata: object) -> dict[str, object]:
    return {
        "apiVersion": "demo.test/v1",
        "kind": "Widget",
        "metadata": {"name": name, "namespace": "default", "resourceVersion": "5", **metadata},
        "spec": {"size": size},
    }


async def _client() -> Client:
    client = Client(InProcessTransport(ApiServer()))
    await client.create(Namespace(metadata=ObjectMeta.from_wire({"name": "a"})))
    return client


async def test_list_answer(client: Client, server: FakeServer) -> None:
    """A list is a sequence with version and token; items without a kind get the list's, null items mean none."""
    item = widget()
    del item["kind"], item["apiVersion"]
    server.reply({"metadata": {"resourceVersion": "7", "continue": "next"}, "items": [item]})
    server.reply({"metadata": {}, "items": None})

    found = await client.list(Widget)

    assert [w.spec.size for w in found] == [1]
    assert (found[0].kind, found.resource_version, found.continue_token) == ("Widget", "7", "next")
    assert server.asked[0].path == "/apis/demo.test/v1/widgets"
    assert len(await client.list(Widget)) == 0


async def test_lists_compare_as_sequences() -> None:
    """A list equals any sequence of equal objects, and no string."""
    client = await _client()
    assert await client.list(ConfigMap) == []
    namespaces = await client.list(Namespace, labels="a!=b")
    assert namespaces == list(namespaces)
    assert namespaces == tuple(namespaces)
    assert namespaces == await client.list(Namespace)
    assert namespaces != list(namespaces)[1:]
    assert namespaces != "none"
    assert (await client.list(ConfigMap)) != ""
