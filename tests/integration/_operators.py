"""What several integration tests need: the operators of the examples, running beside a test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import yaml

from examples.evc.evc import EphemeralVolumeClaim, EvcSpec, add_evc
from examples.podset.podset import PodSet, PodSetSpec, add_podset
from pyctrl.api import Key, ObjectMeta, find_condition
from pyctrl.client import Client, wait_for
from pyctrl.cluster import add_kubelet
from pyctrl.errors import AlreadyExists
from pyctrl.kinds.apiextensions.v1 import CustomResourceDefinition
from pyctrl.kinds.core.v1 import Node
from pyctrl.manager import Manager
from pyctrl.testing import ClusterUnderTest

EXAMPLES = Path(__file__).parents[2] / "examples"
DEFINITION = EXAMPLES / "podset" / "config" / "crd" / "bases" / "apps.jicki.cn_podsets.yaml"
EVC_DEFINITION = EXAMPLES / "evc" / "config" / "crd" / "bases" / "kopf.dev_ephemeralvolumeclaims.yaml"


async def install(client: Client, definition: Path = DEFINITION) -> CustomResourceDefinition:
    """Install a definition, if it is not there, and wait until it is served."""
    wanted = CustomResourceDefinition.from_wire(yaml.safe_load(definition.read_text()))
    with suppress(AlreadyExists):  # another test of this session was here, or the cluster has it
        await client.create(wanted)
    return await established(client, wanted.metadata.name)


async def established(client: Client, name: str) -> CustomResourceDefinition:
    """Wait until a definition is served."""

    def is_established(found: CustomResourceDefinition) -> bool:
        return any(c.type == "Established" and c.status == "True" for c in found.status.conditions)

    return await wait_for(client, CustomResourceDefinition, Key("", name), is_established)


@asynccontextmanager
async def podset_operator(cluster: ClusterUnderTest, namespace: str) -> AsyncIterator[Manager]:
    """Run the PodSet operator in one namespace, with a pretend kubelet where the cluster has none."""
    async with Manager(cluster.config, namespaces=[namespace]) as manager:
        add_podset(manager)
        if not cluster.is_embedded and not await manager.live_client.list(Node):
            add_kubelet(manager)  # nobody else runs pods there
        async with manager.running():
            yield manager


def podset(namespace: str, size: int, name: str = "web") -> PodSet:
    """Make a PodSet."""
    return PodSet(metadata=ObjectMeta(name=name, namespace=namespace), spec=PodSetSpec(size=size))


async def has_nodes(client: Client, key: Key, size: int, *, without: str = "", timeout: float = 30.0) -> list[str]:
    """Wait until the status names so many pods; returns them."""

    def fits(found: PodSet) -> bool:
        return len(found.status.nodes) == size and without not in found.status.nodes

    found = await wait_for(client, PodSet, key, fits, timeout=timeout)
    return found.status.nodes


@asynccontextmanager
async def evc_operator(
    cluster: ClusterUnderTest, namespace: str, storage_class: str, *, finalizer: bool = False
) -> AsyncIterator[Manager]:
    """Run the EphemeralVolumeClaim operator in one namespace, for volumes of a class."""
    async with Manager(cluster.config, namespaces=[namespace]) as manager:
        add_evc(manager, storage_class=storage_class, finalizer=finalizer)
        async with manager.running():
            yield manager


def evc(namespace: str, size: object = "2G", name: str = "my-claim") -> EphemeralVolumeClaim:
    """Make an EphemeralVolumeClaim; without a size when that is None."""
    spec = EvcSpec() if size is None else EvcSpec(size=size)
    return EphemeralVolumeClaim(metadata=ObjectMeta(name=name, namespace=namespace), spec=spec)


async def has_come_to(client: Client, key: Key, reason: str, *, timeout: float = 30.0) -> EphemeralVolumeClaim:
    """Wait until the condition of an EphemeralVolumeClaim has a reason, and is of now."""

    def is_so(found: EphemeralVolumeClaim) -> bool:
        condition = find_condition(found.status.conditions, "Ready")
        is_current = found.status.observed_generation == found.metadata.generation
        return is_current and condition is not None and condition.reason == reason

    return await wait_for(client, EphemeralVolumeClaim, key, is_so, timeout=timeout)
