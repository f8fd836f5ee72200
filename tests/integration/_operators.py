"""The example operators, running beside integration tests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import yaml

from examples.evc.evc import EphemeralVolumeClaim, EvcSpec, add_evc
from examples.podset.podset import PodSet, PodSetSpec, add_podset
from pyctrl.api import Key, ObjectMeta, OwnerReference, find_condition
from pyctrl.client import Client, impersonate, wait_for
from pyctrl.cluster import add_kubelet
from pyctrl.errors import AlreadyExists, Forbidden
from pyctrl.kinds.apiextensions.v1 import CustomResourceDefinition
from pyctrl.kinds.core.v1 import ConfigMap, Node
from pyctrl.kinds.rbac.v1 import RoleBinding, RoleRef, Subject
from pyctrl.manager import Manager
from pyctrl.testing import ClusterUnderTest

RBAC = "rbac.authorization.k8s.io"
EXAMPLES = Path(__file__).parents[2] / "examples"
DEFINITION = EXAMPLES / "podset" / "config" / "crd" / "bases" / "apps.jicki.cn_podsets.yaml"
EVC_DEFINITION = EXAMPLES / "evc" / "config" / "crd" / "bases" / "kopf.dev_ephemeralvolumeclaims.yaml"


async def install(client: Client, definition: Path = DEFINITION) -> CustomResourceDefinition:
    """Install a definition if missing, and wait until it is served and its objects may be owners."""
    wanted = CustomResourceDefinition.from_wire(yaml.safe_load(definition.read_text()))
    with suppress(AlreadyExists):  # installed by another test of this session, or by the cluster
        await client.create(wanted)
    found = await established(client, wanted.metadata.name)
    await may_own(client, found)
    return found


async def may_own(client: Client, definition: CustomResourceDefinition) -> None:
    """Wait until the API server accepts objects of a new kind as owners that block deletion.

    The admission plugin OwnerReferencesPermissionEnforcement refreshes discovery periodically, and until then forbids
    such owners to all users except administrators.
    """
    spec = definition.spec
    user = Subject(kind="User", api_group=RBAC, name=f"tries.{definition.metadata.name}")
    binding = await client.create(
        RoleBinding(
            metadata=ObjectMeta(generate_name="may-own-", namespace="default"),
            role_ref=RoleRef(api_group=RBAC, kind="ClusterRole", name="edit"),
            subjects=[user],
        )
    )
    owner = OwnerReference(
        api_version=f"{spec.group}/{spec.versions[0].name}",
        kind=spec.names.kind,
        name="owner",
        uid="owner",
        block_owner_deletion=True,
    )
    owned = ConfigMap(metadata=ObjectMeta(generate_name="may-own-", namespace="default", owner_references=[owner]))
    try:
        async with asyncio.timeout(45):
            while await _is_unknown(impersonate(client, user.name), owned):
                await asyncio.sleep(0.5)  # no event signals this
    finally:
        await client.delete(binding)


async def _is_unknown(client: Client, owned: ConfigMap) -> bool:
    """Return whether the server does not know the owner's kind yet; any other Forbidden means that it does."""
    try:
        await client.create(owned.deep_copy(), dry_run=True)
    except Forbidden as error:
        return "RESTMapping" in error.message or error.verb == "create"  # the binding also takes a moment
    return False


async def established(client: Client, name: str) -> CustomResourceDefinition:
    """Wait until a definition is served."""

    def is_established(found: CustomResourceDefinition) -> bool:
        return any(c.type == "Established" and c.status == "True" for c in found.status.conditions)

    return await wait_for(client, CustomResourceDefinition, Key("", name), is_established)


@asynccontextmanager
async def podset_operator(cluster: ClusterUnderTest, namespace: str) -> AsyncIterator[Manager]:
    """Run the PodSet operator in one namespace, with a simulated kubelet if the cluster has none."""
    async with Manager(cluster.config, namespaces=[namespace]) as manager:
        add_podset(manager)
        if not cluster.is_embedded and not await manager.live_client.list(Node):
            add_kubelet(manager)  # no other kubelet runs pods there
        async with manager.running():
            yield manager


def podset(namespace: str, size: int, name: str = "web") -> PodSet:
    """Make a PodSet."""
    return PodSet(metadata=ObjectMeta(name=name, namespace=namespace), spec=PodSetSpec(size=size))


async def has_nodes(client: Client, key: Key, size: int, *, without: str = "", timeout: float = 30.0) -> list[str]:
    """Wait until the status names this many pods, and return them."""

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
    """Make an EphemeralVolumeClaim, without a size if that is None."""
    spec = EvcSpec() if size is None else EvcSpec(size=size)
    return EphemeralVolumeClaim(metadata=ObjectMeta(name=name, namespace=namespace), spec=spec)


async def has_come_to(client: Client, key: Key, reason: str, *, timeout: float = 30.0) -> EphemeralVolumeClaim:
    """Wait until the condition of an EphemeralVolumeClaim has a reason and the current generation."""

    def is_so(found: EphemeralVolumeClaim) -> bool:
        condition = find_condition(found.status.conditions, "Ready")
        is_current = found.status.observed_generation == found.metadata.generation
        return is_current and condition is not None and condition.reason == reason

    return await wait_for(client, EphemeralVolumeClaim, key, is_so, timeout=timeout)
