"""Content deletion of namespaces, in virtual time."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from random import Random

import pytest_asyncio

from pyctrl.api import (
    CustomResource,
    Key,
    Model,
    ObjectMeta,
)
from pyctrl.client import Client, MergePatch, wait_for, wait_until_gone
from pyctrl.cluster import Cluster
from pyctrl.cluster._controllers.namespace import Remaining, namespace_conditions
from pyctrl.kinds.core.v1 import (
    ConfigMap,
    Container,
    Namespace,
    NamespaceSpec,
    Pod,
    PodSpec,
    ServiceAccount,
)
from pyctrl.manifests import definition
from pyctrl.program import install_definition


@pytest_asyncio.fixture
async def client() -> AsyncIterator[Client]:
    """A client of a new cluster."""
    async with Cluster(random=Random(1)) as cluster, cluster.client() as client:
        yield client


async def test_a_namespace_gets_its_default_objects(client: Client) -> None:
    """A namespace gets its service account and root certificate, also after their deletion."""
    await client.create(Namespace(metadata=ObjectMeta(name="new")))
    account = await wait_for(client, ServiceAccount, Key("new", "default"))
    await wait_for(client, ConfigMap, Key("new", "kube-root-ca.crt"))
    await client.delete(account)
    await wait_for(
        client,
        ServiceAccount,
        account.key,
        lambda found: found.metadata.uid != account.metadata.uid,
    )


async def test_a_deleted_namespace_is_emptied_first(client: Client) -> None:
    """A deleted namespace stays until its objects are deleted and have no finalizers."""
    await client.create(Namespace(metadata=ObjectMeta(name="going")))
    held = await client.create(ConfigMap(metadata=ObjectMeta(name="held", namespace="going", finalizers=["x.io/f"])))
    await client.create(ConfigMap(metadata=ObjectMeta(name="free", namespace="going")))
    await client.delete(Namespace, Key("", "going"))
    await wait_until_gone(client, ConfigMap, Key("going", "free"))
    await asyncio.sleep(60)
    assert (await client.get(Namespace, Key("", "going"))).status.phase == "Terminating"
    namespace = await client.get(Namespace, Key("", "going"))
    conditions = {each.type: (each.status, each.reason, each.message) for each in namespace.status.conditions}
    assert conditions == {
        "NamespaceDeletionDiscoveryFailure": (
            "False",
            "ResourcesDiscovered",
            "All resources successfully discovered",
        ),
        "NamespaceDeletionGroupVersionParsingFailure": (
            "False",
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed",
        ),
        "NamespaceDeletionContentFailure": (
            "False",
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization",
        ),
        "NamespaceContentRemaining": (
            "True",
            "SomeResourcesRemain",
            "Some resources are remaining: configmaps. has 1 resource instances",
        ),
        "NamespaceFinalizersRemaining": (
            "True",
            "SomeFinalizersRemain",
            "Some content in the namespace has finalizers remaining: x.io/f in 1 resource instances",
        ),
    }
    await client.patch(held, MergePatch({"metadata": {"finalizers": None}}))
    await wait_until_gone(client, Namespace, Key("", "going"))


async def test_the_conditions_tell_no_content_while_pods_remain(client: Client) -> None:
    """The conditions of a deleted namespace whose pods remain report no remaining content, as upstream's."""
    await client.create(Namespace(metadata=ObjectMeta(name="going")))
    held = await client.create(
        Pod(
            metadata=ObjectMeta(name="held", namespace="going", finalizers=["x.io/f"]),
            spec=PodSpec(containers=[Container(name="c", image="i")]),
        )
    )
    kept = await client.create(ConfigMap(metadata=ObjectMeta(name="kept", namespace="going")))
    await client.delete(Namespace, Key("", "going"))
    await asyncio.sleep(60)
    namespace = await client.get(Namespace, Key("", "going"))
    assert len(namespace.status.conditions) == 5
    assert {each.status for each in namespace.status.conditions} == {"False"}
    assert await client.find(ConfigMap, kept.key) is not None
    await client.patch(held, MergePatch({"metadata": {"finalizers": None}}))
    await wait_until_gone(client, Namespace, Key("", "going"))


async def test_the_conditions_tell_pods_that_outlive_their_grace_period(client: Client) -> None:
    """A pod that nothing stops is a failure once its grace period has passed since the namespace was deleted."""
    await client.create(Namespace(metadata=ObjectMeta(name="going")))
    spec = PodSpec(node_name="n", termination_grace_period_seconds=20, containers=[Container(name="c", image="i")])
    await client.create(Pod(metadata=ObjectMeta(name="held", namespace="going"), spec=spec))
    await client.delete(Namespace, Key("", "going"))
    seen = []
    for _ in range(2):
        await asyncio.sleep(15)
        conditions = (await client.get(Namespace, Key("", "going"))).status.conditions
        seen.append({each.type: each.message for each in conditions if each.status == "True"})
    why = "unexpected items still remain in namespace: going for gvr: /v1, Resource=pods"
    text = f"Failed to delete all resource types, 1 remaining: {why}"
    assert seen == [{}, {"NamespaceDeletionContentFailure": text}]


async def test_writes_in_flight_have_time_before_a_namespace_is_emptied(client: Client) -> None:
    """The objects of a deleted namespace stay for five seconds."""
    await client.create(Namespace(metadata=ObjectMeta(name="going")))
    made = await client.create(ConfigMap(metadata=ObjectMeta(name="free", namespace="going")))
    await client.delete(Namespace, Key("", "going"))
    await asyncio.sleep(4)
    assert await client.find(ConfigMap, made.key) is not None
    await wait_until_gone(client, Namespace, Key("", "going"))


async def test_a_namespace_waits_for_the_finalizers_of_others(client: Client) -> None:
    """The namespace controller removes its own finalizer only; another component still has work to do."""
    held = Namespace(metadata=ObjectMeta(name="going"), spec=NamespaceSpec(finalizers=["example.com/backup"]))
    await client.create(held)
    await client.delete(Namespace, Key("", "going"))
    await asyncio.sleep(60)
    assert (await client.get(Namespace, Key("", "going"))).spec.finalizers == ["example.com/backup"]


class Widget(CustomResource[Model], group="example.com", version="v1"):
    """A kind that is defined later."""


async def test_objects_of_kinds_that_were_defined_later_are_deleted(client: Client) -> None:
    """A deleted namespace is emptied of kinds that did not exist when another one was deleted before."""
    for name in ("first", "second"):
        await client.create(Namespace(metadata=ObjectMeta(name=name)))
    await client.delete(Namespace, Key("", "first"))
    await wait_until_gone(client, Namespace, Key("", "first"))
    await install_definition(client, definition(Widget))
    await client.create(Widget(metadata=ObjectMeta(name="w", namespace="second"), spec=Model()))
    await client.delete(Namespace, Key("", "second"))
    await wait_until_gone(client, Namespace, Key("", "second"))
    assert await client.list(Widget) == []


def test_a_server_that_does_not_answer_holds_a_namespace() -> None:
    """While an extension API server is down, a namespace is not known to be empty, and a condition tells why."""
    remaining = Remaining(Counter(), Counter(), ("wardle.example.com/v1alpha1",), [])
    assert not remaining.is_nothing
    found = {each.type: each for each in namespace_conditions([], remaining)}["NamespaceDeletionDiscoveryFailure"]
    assert (found.status, found.reason) == ("True", "DiscoveryFailed")
    assert found.message == (
        "Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: "
        "wardle.example.com/v1alpha1: stale GroupVersion discovery: wardle.example.com/v1alpha1"
    )


def test_transition_times_change_with_the_status() -> None:
    """A condition whose text changes keeps the time of its last transition."""
    remaining = Remaining(Counter(), Counter({"x.io/f": 1}), (), [])
    earlier = datetime(2026, 1, 1, tzinfo=UTC)
    before = [each.model_copy(update={"last_transition_time": earlier}) for each in namespace_conditions([], remaining)]
    remaining.finalizers["x.io/f"] += 1
    after = {each.type: each for each in namespace_conditions(before, remaining)}["NamespaceFinalizersRemaining"]
    assert "x.io/f in 2" in (after.message or "")
    assert after.last_transition_time == earlier
    ended = namespace_conditions(before, Remaining(Counter(), Counter(), (), []))
    assert {each.type: each for each in ended}["NamespaceFinalizersRemaining"].last_transition_time != earlier
