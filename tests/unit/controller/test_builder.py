"""Controllers wired in one sentence, on a real cache and an API server in this process."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any, cast

import pytest

from pyctrl.api import GroupVersionKind, Key, KindLike, Metadata, ObjectMeta, Unstructured, set_controller_reference
from pyctrl.apiserver import ApiServer
from pyctrl.cache import Cache, CachedClient
from pyctrl.client import Client, Config, EventRecorder, EventWriter, merge_from
from pyctrl.controller import (
    Builder,
    ChannelSource,
    Controller,
    ManagedCluster,
    ObjectChange,
    OnSyncFailure,
    Predicate,
    Reconciler,
    Request,
    Result,
    changed,
    generation_changed,
    labels_changed,
    mapped,
    on_delete,
    reconcile_causes,
)
from pyctrl.errors import BuilderError, DuplicateName
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.kinds.core.v1 import ConfigMap, Namespace, Secret


class PlainHost:
    """The least that a builder needs."""

    def __init__(self, client: Client) -> None:
        self.live_client = client
        self.random = Random(1)
        self.cache = Cache(client, random=self.random)
        self.client = CachedClient(self.cache, client)
        self.controller_names: set[str] = set()
        self.controllers: list[Controller] = []
        self.events = EventWriter(client)

    def add(self, runnable: Controller, /) -> None:
        self.controllers.append(runnable)
        self.controller_names.add(runnable.name)

    def event_recorder(self, name: str, /) -> EventRecorder:
        return self.events.recorder(name)


class Journal(Reconciler):
    """Writes down what it is asked for, and why."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.causes: list[str] = []

    async def reconcile(self, request: Request) -> Result | None:
        self.requests.append(request)
        self.causes += [str(cause).split(" (")[0] for cause in reconcile_causes()]
        return None

    def take(self) -> list[str]:
        """Return what came since the last time, sorted."""
        names = sorted(str(request) for request in self.requests)
        self.requests.clear()
        return names


def make_host() -> PlainHost:
    return PlainHost(Client.connect(Config.in_process(ApiServer())))


@asynccontextmanager
async def running(host: PlainHost) -> AsyncIterator[Client]:
    """Run the host's cache and controllers for the length of a block."""
    async with asyncio.TaskGroup() as group:
        caching = group.create_task(host.cache.run())
        for controller in host.controllers:
            group.create_task(controller.run())
        await settle()
        yield host.live_client
        for controller in host.controllers:
            controller.ask_to_stop()
        await settle()
        caching.cancel()


async def settle() -> None:
    """Let everything happen that can."""
    await asyncio.sleep(2)


def config_map(name: str, **data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default"), data=data)


async def test_each_change_of_the_reconciled_kind_asks_for_its_object() -> None:
    """Created, updated, deleted: the object is asked for, and the causes tell which it was."""
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
    """The first list goes in line at -100, so that what happens meanwhile goes first."""
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
    """A Secret that the ConfigMap controls asks for the ConfigMap, one that nobody owns asks for nothing."""
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
    """The request for an owner without namespace has none, whether a class says so or the cluster has to be asked."""
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
    """Any function of the object, or of the change itself, says what to reconcile."""
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


async def test_predicates_of_a_watch_and_filters_of_all_must_both_accept() -> None:
    """A filter holds for every kind, the predicates of one kind for that one."""
    host, journal = make_host(), Journal()
    (
        Builder(host)
        .filter(generation_changed | labels_changed | on_delete)
        .reconciles(ConfigMap, predicates=[changed(lambda old, new: old.data != new.data)])
        .build(journal)
    )
    async with running(host) as client:
        created = await client.create(config_map("a"))
        await settle()
        assert journal.take() == ["default/a"]
        for change in ({"data": {"x": "1"}}, {"metadata": {"labels": {"x": "1"}}}):
            before = created.deep_copy()
            created = await client.patch(
                ConfigMap.from_wire(created.to_wire() | merged(created, change)), merge_from(before)
            )
            await settle()
            assert journal.take() == []


def merged(obj: ConfigMap, change: dict[str, Any]) -> dict[str, Any]:
    wire = obj.to_wire()
    return {key: {**wire.get(key, {}), **value} for key, value in change.items()}


async def test_a_predicate_that_fails_lets_through_and_a_handler_that_fails_loses_one_change(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Both are logged with the object's name, and neither ends the source."""
    host, journal = make_host(), Journal()

    def broken(change: ObjectChange[ConfigMap]) -> bool:
        raise ValueError("predicate")

    def requests(config_map: ConfigMap) -> list[Request]:
        if config_map.metadata.name == "bad":
            raise ValueError("handler")
        return [Request("default", config_map.metadata.name)]

    Builder(host).watches(ConfigMap, mapped(requests), predicates=[Predicate(broken)]).options(name="x").build(journal)
    async with running(host) as client:
        for name in ("bad", "good"):
            await client.create(config_map(name))
        await settle()

    assert journal.take() == ["default/good"]
    messages = caplog.messages
    assert messages.count("A predicate failed, the change is let through") == 2
    assert messages.count("A handler failed, the change is lost") == 1
    assert [vars(record)["object"] for record in caplog.records if record.levelname == "ERROR"] == [
        "default/bad",
        "default/bad",
        "default/good",
    ]


async def test_other_sources_can_be_added() -> None:
    """A channel is enough for a controller of its own."""
    host, journal = make_host(), Journal()
    source: ChannelSource = ChannelSource()
    Builder(host).watches_source(source).options(name="hook").build(journal)
    async with running(host):
        await source.send(Request("", "a"))
        await settle()

    assert journal.take() == ["a"]


async def test_a_kind_that_is_not_served_is_named_when_the_controller_gives_up(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The error says which source, and asks for the definition."""
    caplog.set_level(logging.CRITICAL, "pyctrl.cache")
    host = make_host()
    kind = GroupVersionKind("example.com", "v1", "Missing")
    Builder(host).reconciles(kind).build(Journal())
    [controller] = host.controllers
    controller.on_sync_failure = OnSyncFailure.END
    caching = asyncio.create_task(host.cache.run())
    with pytest.raises(Exception, match=r"missing caches .*kind source: example.com/v1, Kind=Missing: .*definition"):
        await controller.run()
    caching.cancel()
    await asyncio.wait([caching])


def test_options_add_up() -> None:
    """A second call changes what it names, and leaves the rest as it was."""
    host = make_host()
    controller = Builder(host).reconciles(ConfigMap).options(workers=4, name="maps").options(workers=2).build(Journal())
    assert (controller.name, controller.workers) == ("maps", 2)


def test_a_name_is_taken_once_in_one_host() -> None:
    """The error says how to give another; in another host the name is free."""
    host = make_host()
    Builder(host).reconciles(ConfigMap).build(Journal())
    with pytest.raises(DuplicateName, match=r"'configmap' already exists .*options\(name=...\)"):
        Builder(host).reconciles(ConfigMap).build(Journal())
    Builder(host).reconciles(ConfigMap).options(name="other").build(Journal())
    Builder(make_host()).reconciles(ConfigMap).build(Journal())

    assert [controller.name for controller in host.controllers] == ["configmap", "other"]


def test_mistakes_in_wiring_are_told_with_the_way_out() -> None:
    """Each is one clear error, where it is made or when all is known."""
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
