"""The addresses of pods on pretend nodes."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

from pyctrl.cluster._pod_status import Addresses
from pyctrl.kinds.core.v1 import Node, Pod

__all__ = ["PodAddresses"]


class PodAddresses:
    """Gives each pod an address of its node's range: the next one that no other pod has."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = {
            node.metadata.name: next((each.address for each in node.status.addresses if each.type == "InternalIP"), "")
            for node in nodes
        }
        self._ranges = {
            node.metadata.name: ipaddress.IPv4Network(node.spec.pod_cidr or "10.244.0.0/24") for node in nodes
        }
        self._next = dict.fromkeys(self._nodes, 1)
        self._given: dict[str, str] = {}
        self._taken: set[str] = set()

    def of(self, pod: Pod) -> Addresses:
        """Return where a pod is reached: at the address it has, or at a new one."""
        node = pod.spec.node_name or ""
        if pod.spec.host_network:
            return Addresses(self._nodes[node], self._nodes[node])
        uid = pod.metadata.uid
        address = pod.status.pod_ip or self._given.get(uid)
        if address is None:
            address = self._free(node)
        self._given[uid] = address
        self._taken.add(address)
        return Addresses(self._nodes[node], address)

    def _free(self, node: str) -> str:
        network = self._ranges[node]
        usable = network.num_addresses - 2
        for _ in range(usable):
            number = self._next[node]
            self._next[node] = number % usable + 1
            if str(network[number]) not in self._taken:
                break
        return str(network[self._next[node] - 1 or usable])  # all taken: pods that nobody counts share

    def release(self, uid: str) -> None:
        """Take the address of a pod back."""
        self._taken.discard(self._given.pop(uid, ""))
