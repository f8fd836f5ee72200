"""The annotation of nodes by the size of the cluster."""

from __future__ import annotations

import pytest

from pyctrl.api import Key, ObjectMeta
from pyctrl.client import Client, MergePatch, wait_for
from pyctrl.cluster._controllers.ttl import TTL_ANNOTATION, next_step
from pyctrl.kinds.core.v1 import Node


async def test_a_node_has_the_ttl_of_a_small_cluster(client: Client) -> None:
    """A new node gets the annotation 0; a changed annotation is set to 0 again."""
    await client.create(Node(metadata=ObjectMeta(name="n")))
    key = Key("", "n")
    await wait_for(client, Node, key, lambda found: found.metadata.annotations.get(TTL_ANNOTATION) == "0")
    await client.patch(Node, key, MergePatch({"metadata": {"annotations": {TTL_ANNOTATION: "7"}}}))
    await wait_for(client, Node, key, lambda found: found.metadata.annotations[TTL_ANNOTATION] == "0")


@pytest.mark.parametrize(
    ("step", "nodes", "expected"),
    [(0, 100, 0), (0, 101, 1), (1, 95, 1), (1, 89, 0), (1, 501, 2), (0, 5000, 4), (4, 1799, 3), (4, 0, 0)],
)
def test_ranges_of_cluster_sizes_overlap(step: int, nodes: int, expected: int) -> None:
    """A cluster leaves its range only when it has fewer or more nodes than the whole range."""
    assert next_step(step, nodes) == expected
