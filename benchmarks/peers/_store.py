"""The store of a client without a cache: a dictionary of objects, copied for each reader."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any

__all__ = ["GROUP", "Store"]

GROUP = ("benchmarks.example.com", "v1", "widgets")

Key = tuple[str, str]


class Store:
    """Objects by namespace and name, as dictionaries or as models, and one index."""

    def __init__(self) -> None:
        self.objects: dict[Key, Any] = {}
        self.pools: dict[str, set[Key]] = {}
        #: The last received version.
        self.version = 0

    def replace(self, objects: Iterable[Any]) -> None:
        """Replace the whole list."""
        self.objects = {}
        for item in objects:
            self.put(item)

    def put(self, item: Any) -> None:
        """Store one object."""
        if isinstance(item, dict):
            metadata = item["metadata"]
            key, version = (metadata["namespace"], metadata["name"]), metadata["resourceVersion"]
            self.pools.setdefault(item["spec"]["pool"], set()).add(key)
        else:
            metadata = item.metadata
            key, version = (metadata.namespace, metadata.name), metadata.resource_version
        self.objects[key] = item
        self.version = max(self.version, int(version))

    def readers(self) -> dict[str, Callable[[int], int]]:
        """Return a function that reads: it takes the number of the read and returns the number of objects."""
        keys = list(self.objects)

        def get(number: int) -> int:
            return len([deepcopy(self.objects[keys[number % len(keys)]])])

        def label(_number: int) -> int:
            found = (o for o in self.objects.values() if o["metadata"].get("labels", {}).get("batch") == "b-0")
            return len([deepcopy(item) for item in found])

        def index(_number: int) -> int:
            return len([deepcopy(self.objects[key]) for key in self.pools["p-0"]])

        return {"get": get, "label": label, "index": index}
