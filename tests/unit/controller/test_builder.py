"""Controllers built in one expression, with a real cache and an in-process API server."""

from __future__ import annotations

from typing import Any, cast

import pytest

from pyctrl.api import GroupVersionKind, Key, KindLike, Metadata, ObjectMeta, Unstructured, set_controller_reference
from pyctrl.client import merge_from
from pyctrl.controller import (
    Builder,
    ChannelSource,
    ManagedCluster,
    ObjectChange,
    Predicate,
    Request,
    mapped,
)
from pyctrl.errors import BuilderError
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.kinds.core.v1 import ConfigMap, Namespace, Secret
from tests.unit.controller._hosts import Journal, config_map, make_host, running, settle


async def test_each_change_of_the_reconciled_kind_asks_for_its_object() -> None:
    """Creating, updating or deleting an object requests it with the matching cause."""
    host, journal = make_host(), Journal()
    controller = Builder(host).reconciles(ConfigMap).build(journal)
    async with running(host) as client:
        created = await client.create(config_map("a"))
        await settle()
        before = created.deep_copy()
        created.data["x"] = "1"
        await client.patch(created, merge_from(before))
        await settle()
        await client.delete(created)
        await settle()

    assert journal.take() == ["default/a"] * 3
    assert journal.causes == [f"ConfigMap default/a {what}" for what in ("created", "updated", "deleted")]
    assert journal.client is host.client
    assert (controller.name, host.controllers) == ("configmap", [controller])


async def test_what_is_there_at_the_beginning_is_reconciled_at_low_priority() -> None:
    """Initial objects are reconciled at priority -100, after changes."""
    host, journal = make_host(), Journal()
    for name in "ab":
        await host.live_client.create(config_map(name))
    controller = Builder(host).reconciles(ConfigMap).build(journal)
    priorities: list[int] = []
    add = controller.queue.add

    def spy(request: Request, **options: Any) -> None:
        priorities.append(options["priority"])
        add(request, **options)

    controller.queue.add = spy  # type: ignore[method-assign]
    async with running(host) as client:
        await client.create(config_map("c"))
        await settle()

    assert priorities == [-100, -100, 0]
    assert journal.causes[0] == "ConfigMap default/a listed"


async def test_changes_of_owned_objects_ask_for_their_owner() -> None:
    """A Secret requests the ConfigMap that controls it; a Secret without an owner requests nothing."""
    host, journal = make_host(), Journal()
    Builder(host).reconciles(ConfigMap, predicates=[~Predicate(lambda _: True)]).owns(Secret).build(journal)
    async with running(host) as client:
        owner = await client.create(config_map("owner"))
        owned = Secret(metadata=ObjectMeta(name="owned", namespace="default"))
        set_controller_reference(owner, owned)
        await client.create(owned)
        await client.create(Secret(metadata=ObjectMeta(name="other", namespace="default")))
        await settle()

    assert journal.take() == ["default/owner"]


@pytest.mark.parametrize("owner", [Namespace, Metadata[Namespace], GroupVersionKind("", "v1", "Namespace")])
async def test_owners_may_be_cluster_scoped(owner: KindLike) -> None:
    """The request for a cluster-scoped owner has no namespace; the class or the cluster defines the scope."""
    host, journal = make_host(), Journal()
    builder = Builder(host).reconciles(cast(type[Namespace], owner), predicates=[~Predicate(lambda _: True)])
    builder.owns(Secret).build(journal)
    async with running(host) as client:
        namespace = await client.get(Namespace, Key("", "default"))
        owned = Secret(metadata=ObjectMeta(name="owned", namespace="default"))
        set_controller_reference(namespace, owned)
        await client.create(owned)
        await settle()

    assert journal.take() == ["default"]


async def test_other_kinds_are_mapped_by_a_handler() -> None:
    """A handler that maps the object, or the change, determines the requests."""
    host, journal = make_host(), Journal()

    def requests(change: ObjectChange[Unstructured]) -> list[Request]:
        return [Request("", change.change)]

    (
        Builder(host)
        .watches(Secret, mapped(lambda secret: [Request("", secret.metadata.labels["for"])]))
        .watches(GroupVersionKind("apps", "v1", "Deployment"), requests)
        .options(name="mapper")
        .build(journal)
    )
    async with running(host) as client:
        await client.create(Secret(metadata=ObjectMeta(name="s", namespace="default", labels={"for": "you"})))
        deployment = {
            "metadata": {"name": "d", "namespace": "default"},
            "spec": {
                "selector": {"matchLabels": {"a": "b"}},
                "template": {
                    "metadata": {"labels": {"a": "b"}},
                    "spec": {"containers": [{"name": "c", "image": "busybox"}]},
                },
            },
        }
        await client.create(Deployment.from_wire({"apiVersion": "apps/v1", "kind": "Deployment"} | deployment))
        await settle()

    assert journal.take() == ["created", "you"]


async def test_other_sources_can_be_added() -> None:
    """A controller can have a channel as its only source."""
    host, journal = make_host(), Journal()
    source: ChannelSource = ChannelSource()
    Builder(host).watches_source(source).options(name="hook").build(journal)
    async with running(host):
        await source.send(Request("", "a"))
        await settle()

    assert journal.take() == ["a"]


def test_options_add_up() -> None:
    """A second call of `options` changes only the options it names."""
    host = make_host()
    controller = Builder(host).reconciles(ConfigMap).options(workers=4, name="maps").options(workers=2).build(Journal())
    assert (controller.name, controller.workers) == ("maps", 2)


def test_mistakes_in_wiring_are_told_with_the_way_out() -> None:
    """Each wiring mistake raises one error that names the fix, when it is made or when the controller is built."""
    host = cast(ManagedCluster, make_host())
    with pytest.raises(BuilderError, match=r"called twice, with v1, Kind=ConfigMap and v1, Kind=Secret; .*watches\(\)"):
        Builder(host).reconciles(ConfigMap).reconciles(Secret)
    with pytest.raises(BuilderError, match="watches nothing and would never run"):
        Builder(host).options(name="idle").build(Journal())
    with pytest.raises(BuilderError, match=r"needs a name: call reconciles\(kind\), or options\(name=...\)"):
        Builder(host).watches(ConfigMap, mapped(lambda _: [])).build(Journal())
    with pytest.raises(BuilderError, match=r"owns\(v1, Kind=Secret\) needs reconciles\(\)"):
        Builder(host).owns(Secret).options(name="x").build(Journal())
    with pytest.raises(BuilderError, match=r"owns\(\) takes a kind: a class with group= .*; got <class 'dict'>"):
        Builder(host).owns(cast(KindLike, dict))
    with pytest.raises(BuilderError, match=r"watches\(\) takes a handler"):
        Builder(host).watches(ConfigMap, cast(Any, "handler"))
    with pytest.raises(BuilderError, match=r"build\(\) takes an instance of a Reconciler, got <class"):
        Builder(host).reconciles(ConfigMap).build(cast(Any, Journal))
    with pytest.raises(BuilderError, match="workers=0"):
        Builder(host).options(workers=0)
