"""Helpers of the tests of failing nodes."""

from __future__ import annotations

from pyctrl.api import Key
from pyctrl.client import Client, MergePatch
from pyctrl.kinds.core.v1 import Node, Pod
from tests.unit.cluster._pods import pod

ONE = Key("", "node-1")


async def tell(client: Client, state: str | None, node: Key = ONE) -> None:
    """Set or remove the annotation that makes a node fail."""
    await client.patch(Node, node, MergePatch({"metadata": {"annotations": {"pyctrl.dev/node": state}}}))


def taints(node: Node) -> set[tuple[str, str]]:
    """Return the taints of a node, without their common prefix."""
    return {(taint.key.removeprefix("node.kubernetes.io/"), taint.effect) for taint in node.spec.taints}


def on(node: str, name: str = "p") -> Pod:
    """Make a pod for a node."""
    return pod(name, nodeSelector={"kubernetes.io/hostname": node})
