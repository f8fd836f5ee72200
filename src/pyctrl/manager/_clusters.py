"""The clusters of a manager by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pyctrl.errors import UnknownCluster
from pyctrl.manager._connected_cluster import ConnectedCluster

__all__ = ["Clusters"]


class Clusters(Mapping[str, ConnectedCluster]):
    """Clusters by name, as requests name them; those of a fleet come and go. A manager's own one is ``""``."""

    def __init__(self, clusters: Mapping[str, ConnectedCluster]) -> None:
        self._clusters = clusters

    def __getitem__(self, name: str) -> ConnectedCluster:
        """Return a cluster.

        Raises:
            UnknownCluster: none of this name is connected, or not any more. A reconcile that fails of it for the
                cluster of its own request is not tried again.
        """
        if name not in self._clusters:
            raise UnknownCluster(name, filter(None, self._clusters))
        return self._clusters[name]

    def __contains__(self, name: object) -> bool:
        return name in self._clusters

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._clusters))

    def __len__(self) -> int:
        return len(self._clusters)

    def get(self, name: str, default: ConnectedCluster | None = None) -> ConnectedCluster | None:  # type: ignore[override]  # the overloads of Mapping.get, for one type of default
        """Return a cluster, or ``default`` if there is none of this name."""
        return self._clusters.get(name, default)
