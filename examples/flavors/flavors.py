"""Flavors: the sizes of the cluster's nodes, computed when they are read.

An extension API server: `kubectl get flavors` counts the nodes of each size. No object is stored anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyctrl.api import KubernetesObject, ObjectMeta, PrinterColumn
from pyctrl.client import Reader
from pyctrl.extension_apiserver import APIResource, ExtensionAPIServer, StorageRequest
from pyctrl.kinds.core.v1 import Node
from pyctrl.manager import Manager
from pyctrl.rbac import Permission, allow


class Flavor(
    KubernetesObject,
    group="flavors.example.com",
    version="v1",
    scope="Cluster",
    columns=(
        PrinterColumn("CPU", ".cpu"),
        PrinterColumn("Memory", ".memory"),
        PrinterColumn("Nodes", ".nodes", type="integer"),
    ),
):
    """A size of nodes."""

    cpu: str = ""
    """CPUs of each node."""
    memory: str = ""
    """Memory of each node."""
    nodes: int = 0
    """Number of nodes that have this size."""


class NodeFlavors:
    """The storage of Flavors. It has `get` and `list`, so that these are the verbs of the kind."""

    rbac: Sequence[Permission] = (allow(Node, "list"),)

    def __init__(self, client: Reader) -> None:
        self._client = client

    async def get(self, request: StorageRequest, name: str) -> Flavor | None:
        """Return one flavor."""
        return next((each for each in await self.list(request) if each.metadata.name == name), None)

    async def list(self, request: StorageRequest) -> Iterable[Flavor]:
        """Return the flavors of all nodes."""
        return flavors_of(await self._client.list(Node))


def flavors_of(nodes: Iterable[Node]) -> list[Flavor]:
    """Count the nodes of each size."""
    found: dict[str, Flavor] = {}
    for node in nodes:
        capacity = node.status.capacity
        cpu, memory = str(capacity.get("cpu", "0")), str(capacity.get("memory", "0"))
        name = f"{cpu}cpu-{memory}".lower()
        flavor = found.setdefault(name, Flavor(metadata=ObjectMeta(name=name), cpu=cpu, memory=memory))
        flavor.nodes += 1
    return sorted(found.values(), key=lambda each: each.metadata.name)


def add_flavors(manager: Manager) -> None:
    """Serve the flavors; `pyctrl run` calls this."""
    storage = NodeFlavors(manager.live_client)
    manager.add(ExtensionAPIServer(APIResource(Flavor, storage), client=manager.live_client))
