"""The label of slots: who writes it, when, and that caches which select by it miss nothing of their replica."""

from __future__ import annotations

import asyncio

import pytest

from pyctrl.api import ObjectMeta, set_controller_reference
from pyctrl.apiserver import ApiServer
from pyctrl.cache import SHARD_LABEL, KindOptions, ShardMemory
from pyctrl.client import HttpRequest, HttpResponse, InProcessTransport, MergePatch
from pyctrl.controller._sharding.shard_key import slot_of_uid
from pyctrl.errors import ManagerError
from pyctrl.kinds.core.v1 import ConfigMap, Secret
from pyctrl.manager import Sharding
from pyctrl.manager._sharding.shard_labels import SWEEP_SECONDS
from pyctrl.testing import Answered, Rule
from tests.unit.manager.sharding._families import Family, cached_secrets, families, key_of
from tests.unit.manager.sharding._rings import Replica, admin, config_map, create, divided, forget, ring

NAMES = [f"map-{number}" for number in range(24)]


class Recording(InProcessTransport):
    """A transport that keeps the requests."""

    def __init__(self, server: ApiServer) -> None:
        super().__init__(server)
        self.requests: list[HttpRequest] = []

    async def request(self, request: HttpRequest) -> HttpResponse:
        """Keep the request, and send it."""
        self.requests.append(request)
        return await super().request(request)


async def wrong_labels(server: ApiServer) -> dict[str, str | None]:
    """Return the labels that are not those of the slot, by the name of the object."""
    wrong: dict[str, str | None] = {}
    objects: list[ConfigMap | Secret] = [
        *await admin(server).list(ConfigMap, namespace="default"),
        *await admin(server).list(Secret, namespace="default"),
    ]
    for obj in objects:
        owners = obj.metadata.owner_references
        uid = obj.metadata.uid if isinstance(obj, ConfigMap) else (owners[0].uid if len(owners) == 1 else "")
        if (label := obj.metadata.labels.get(SHARD_LABEL)) != (str(slot_of_uid(uid)) if uid else "all"):
            wrong[obj.metadata.name] = label
    return wrong


async def test_replicas_select_their_objects_by_label() -> None:
    """Objects are labelled with the slot of their own uid or their owner's; servers send each replica only its own."""
    server = ApiServer()
    free = Secret(metadata=ObjectMeta(name="free", namespace="default"))
    await admin(server).create(free)
    async with ring(server, "a", "b", memory="label", recorder=Family) as (one, two):
        await create(admin(server), NAMES)
        await asyncio.sleep(2)
        made = await families(server)
        assert {name: len(found) for name, found in made.items()} == dict.fromkeys(NAMES, 3)
        assert await wrong_labels(server) == {}
        assert cached_secrets(one) & cached_secrets(two) == {"free"}
        assert cached_secrets(one) | cached_secrets(two) == {"free"}.union(*made.values())
        assert {*one.recorder.seen} | {*two.recorder.seen} == {*NAMES}


@pytest.mark.parametrize("memory", [ShardMemory.AUTO, ShardMemory.LABEL, ShardMemory.FILTER])
@pytest.mark.parametrize("by_hash", [True, False])
async def test_each_kind_is_selected_in_the_best_way(memory: ShardMemory, by_hash: bool) -> None:
    """By hash if the server can, else by label, or as the option of the kind says; else nothing is labelled."""
    server = ApiServer(feature_gates={"ShardedListAndWatch": by_hash})
    await create(admin(server), NAMES)
    wire = Recording(server)
    replica = Replica(server, "a", memory="label", kinds={ConfigMap: KindOptions(shard_memory=memory)}, transport=wire)
    async with replica.running():
        await divided([replica])
        await asyncio.sleep(1)
        asked = [dict(each.query) for each in wire.requests if each.path.endswith("/configmaps")]
        labels = {query.get("labelSelector") for query in asked if query.get("limit") == "500"}
        expects_label = memory is ShardMemory.LABEL or (memory is ShardMemory.AUTO and not by_hash)
        assert (SHARD_LABEL in labels) is expects_label
        stored = await admin(server).list(ConfigMap, namespace="default", labels=SHARD_LABEL)
        assert bool(stored) is expects_label


async def test_an_object_of_others_is_labelled_at_once() -> None:
    """A Secret that someone else creates for an owner is in the cache of the owner's replica within a second."""
    server = ApiServer()
    async with ring(server, "a", "b", memory="label", recorder=Family) as (one, two):
        await create(admin(server), NAMES)
        await asyncio.sleep(2)
        name = one.recorder.seen[0]
        forget([one, two])
        late = Secret(metadata=ObjectMeta(name="late", namespace="default"))
        set_controller_reference(await admin(server).get(ConfigMap, key_of(name)), late)
        await admin(server).create(late)
        await asyncio.sleep(1)
        assert "late" in cached_secrets(one)
        assert set(one.recorder.seen) == {name}
        assert two.recorder.seen == []


@pytest.mark.parametrize("label", [None, "17", "all"])
async def test_a_label_that_is_changed_is_repaired_at_once(label: str | None) -> None:
    """A label that is removed, or has the value of another slot, is right again within a second."""
    server = ApiServer()
    async with ring(server, "a", "b", memory="label", recorder=Family):
        await create(admin(server), NAMES)
        await asyncio.sleep(2)
        before = await families(server)
        for key, kind in ((key_of(NAMES[0]), ConfigMap), (key_of(NAMES[0]), Secret)):
            await admin(server).patch(kind, key, MergePatch({"metadata": {"labels": {SHARD_LABEL: label}}}))
        await asyncio.sleep(1)
        assert await wrong_labels(server) == {}
        assert await families(server) == before


async def test_a_label_that_is_no_slot_is_repaired_in_time() -> None:
    """A value that no cache selects is found when all metadata is read, every ten minutes."""
    server = ApiServer()
    async with ring(server, "a", "b", "c", memory="label"):  # each selects the fewer slots: its own
        await create(admin(server), NAMES[:3])
        await asyncio.sleep(2)
        broken = MergePatch({"metadata": {"labels": {SHARD_LABEL: "none"}}})
        await admin(server).patch(ConfigMap, key_of(NAMES[0]), broken)
        await asyncio.sleep(1)
        assert await wrong_labels(server) == {NAMES[0]: "none"}
        await asyncio.sleep(SWEEP_SECONDS + 60)
        assert await wrong_labels(server) == {}


async def test_what_a_reconciler_creates_has_the_label_from_the_start() -> None:
    """A Secret is created with its label, so that the cache never loses it, although nothing else labels it."""
    server = ApiServer()
    wire = Recording(server)
    replica = Replica(server, "a", memory="label", recorder=Family, transport=wire)
    async with replica.running():
        await divided([replica])
        await create(admin(server), NAMES[:2])
        await asyncio.sleep(2)
        sent = [each.body for each in wire.requests if (each.method, each.path[-8:]) == ("POST", "/secrets")]
        assert len(sent) == 6
        assert all(body is not None and SHARD_LABEL.encode() in body for body in sent)
        client = replica.manager.client
        applied = Secret(metadata=ObjectMeta(name="map-0", namespace="default", labels={"a": "b"}))
        await client.apply(applied, force=True)  # without owners: the label stays
        assert await wrong_labels(server) == {}
        fresh = config_map("fresh")
        fresh.metadata.uid = "00000000-0000-0000-0000-000000000000"  # as in a copy; the server gives it another one
        assert SHARD_LABEL not in (await client.create(fresh)).metadata.labels


async def test_a_missing_key_is_not_reported_as_missing() -> None:
    """A replica that has all slots asks the server nevertheless: an object may have no label yet."""
    server = ApiServer()
    replica = Replica(server, "a", memory="label", recorder=Family)
    async with replica.running():
        await divided([replica])
        replica.network.add(Rule(Answered.unavailable(), method="PATCH", path="*/secrets/*", times=None))
        await admin(server).create(Secret(metadata=ObjectMeta(name="hidden", namespace="default")))
        await asyncio.sleep(1)
        assert "hidden" not in cached_secrets(replica)
        assert (await replica.manager.client.get(Secret, key_of("hidden"))).metadata.name == "hidden"


async def test_replicas_need_permission_to_label() -> None:
    """The kinds are patched, and objects read that have no label yet."""
    replica = Replica(ApiServer(), "a", memory="label", recorder=Family)
    async with replica.running():
        verbs = {(each.rule.resources[0], verb) for each in replica.controller.rbac for verb in each.rule.verbs}
        assert {(kind, verb) for kind in ("configmaps", "secrets") for verb in ("get", "patch")} <= verbs


def test_other_values_are_refused() -> None:
    """A mistyped way raises one clear error."""
    with pytest.raises(ManagerError, match="memory is True, False or \"label\", got 'labels'"):
        Sharding(name="op", memory="labels")  # type: ignore[arg-type]  # the mistake
