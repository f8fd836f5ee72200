"""Discovery documents, aggregated and legacy."""

from __future__ import annotations

from typing import Any

from pyctrl.api import GroupVersionKind
from pyctrl.client import Client
from tests.unit.client._fake_server import FakeServer

WIDGET = GroupVersionKind("demo.test", "v1", "Widget")


POD = GroupVersionKind("", "v1", "Pod")


def resource(plural: str, kind: str, scope: str = "Namespaced") -> dict[str, Any]:
    return {
        "resource": plural,
        "responseKind": {"group": "", "version": "v1", "kind": kind},
        "scope": scope,
        "singularResource": kind.lower(),
        "verbs": ["get"],
        "shortNames": ["sn"],
        "subresources": [{"subresource": "status", "responseKind": {"kind": kind}, "verbs": ["get"]}],
    }


def aggregated(group: str, *resources: dict[str, Any], freshness: str = "Current") -> dict[str, Any]:
    version = {"version": "v1", "freshness": freshness, "resources": list(resources)}
    return {"kind": "APIGroupDiscoveryList", "items": [{"metadata": {"name": group}, "versions": [version]}]}


async def test_aggregated(client: Client, server: FakeServer) -> None:
    """Two requests return plural, scope, verbs, short names and subresources of every kind."""
    server.reply(aggregated("", resource("pods", "Pod"), resource("nodes", "Node", "Cluster")))
    server.reply(aggregated("demo.test", resource("widgets", "Widget")))

    pod = await client.discovery.mapping(POD)
    node = await client.discovery.mapping(GroupVersionKind("", "v1", "Node"))
    widget = await client.discovery.mapping_for_resource("demo.test", "v1", "widgets")

    assert (pod.plural, pod.namespaced, pod.short_names) == ("pods", True, ("sn",))
    assert (pod.verbs, pod.subresources) == (frozenset({"get"}), frozenset({"status"}))
    assert not node.namespaced
    assert widget.gvk == WIDGET
    assert [a.path for a in server.asked] == ["/api", "/apis"]
    assert "v=v2;as=APIGroupDiscoveryList" in server.asked[0].headers["Accept"]
    assert len(await client.discovery.mappings()) == 3


async def test_legacy(client: Client, server: FakeServer) -> None:
    """A server with only legacy documents is queried for each group version."""
    server.reply({"kind": "APIVersions", "versions": ["v1"]})
    server.reply(
        {"kind": "APIGroupList", "groups": [{"name": "demo.test", "versions": [{"groupVersion": "demo.test/v1"}]}]}
    )
    pods = {"name": "pods", "kind": "Pod", "namespaced": True, "verbs": ["get"], "shortNames": ["po"]}
    server.reply({"kind": "APIResourceList", "resources": [pods, {"name": "pods/status", "kind": "Pod"}]})
    server.reply({"kind": "APIResourceList", "resources": [{"name": "widgets", "kind": "Widget"}]})

    pod = await client.discovery.mapping(POD)

    assert (pod.plural, pod.subresources, pod.short_names) == ("pods", frozenset({"status"}), ("po",))
    assert not (await client.discovery.mapping(WIDGET)).namespaced
    assert [a.path for a in server.asked] == ["/api", "/apis", "/api/v1", "/apis/demo.test/v1"]
