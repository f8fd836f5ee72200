"""Reads the state of the server from its storage, without requests."""

from __future__ import annotations

from typing import Any, NamedTuple

from pyctrl.apiserver import ApiServer
from pyctrl.simulation._history import ObjectId

__all__ = ["ResourceName", "StateReader"]

Json = dict[str, Any]

#: What no operator is judged by: records, votes, and what the nodes of the simulated cluster say of themselves.
LEFT_OUT = frozenset({("", "events"), ("events.k8s.io", "events"), ("coordination.k8s.io", "leases"), ("", "nodes")})


class ResourceName(NamedTuple):
    """A resource by group and plural."""

    group: str
    plural: str

    def __str__(self) -> str:
        return f"{self.plural}.{self.group}" if self.group else self.plural


class StateReader:
    """Reads objects of the resources in which something changed since `begin`."""

    def __init__(self, server: ApiServer) -> None:
        self._storage = server.storage
        self._touched: set[ResourceName] = set()

    def begin(self) -> None:
        """Forget what has changed so far: the furniture of a new cluster."""
        self._touched.clear()

    def touch(self, group: str, plural: str) -> None:
        """Note that an object of a resource changed."""
        if (group, plural) not in LEFT_OUT:
            self._touched.add(ResourceName(group, plural))

    def read(self) -> dict[ObjectId, Json]:
        """Return the objects of the touched resources, as they are stored."""
        found: dict[ObjectId, Json] = {}
        for resource in sorted(self._touched):
            name = str(resource)
            for stored in self._storage.collection(*resource).current(""):
                found[ObjectId(name, stored.namespace, stored.name)] = stored.decode()
        return found

    def wire_objects(self, group: str, plural: str, namespace: str) -> list[Json]:
        """Return the objects of a resource, sorted by namespace and name."""
        return [stored.decode() for stored in self._storage.collection(group, plural).current(namespace)]
