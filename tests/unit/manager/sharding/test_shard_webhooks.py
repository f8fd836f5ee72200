"""Webhooks that keep the label of slots: what other programs write has it from the start, and keeps it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from pyctrl.api import ObjectMeta, Unstructured, set_controller_reference
from pyctrl.apiserver import ApiServer
from pyctrl.cache import SHARD_LABEL, slot_of_uid
from pyctrl.client import MergePatch
from pyctrl.kinds.core.v1 import ConfigMap, Secret
from pyctrl.manager import add_shard_webhooks
from pyctrl.testing import Answered, Rule, webhook_caller
from pyctrl.webhook import Service, Webhooks, configurations
from tests.unit.manager.sharding._families import Family, families, key_of
from tests.unit.manager.sharding._rings import Replica, admin, create, divided

NAMES = [f"map-{number}" for number in range(4)]


@asynccontextmanager
async def labelled() -> AsyncIterator[tuple[ApiServer, Replica, Webhooks]]:
    """Run a replica whose webhooks an API server calls, with some families."""
    webhooks = Webhooks()
    server = ApiServer(webhooks=webhook_caller(webhooks))
    replica = Replica(
        server,
        "a",
        memory="label",
        recorder=Family,
        also=lambda manager: add_shard_webhooks(webhooks, manager.controllers),
    )
    async with replica.running():
        for configuration in configurations(webhooks, name="shards", target=Service("default", "webhooks")):
            await admin(server).create(Unstructured(configuration))
        await divided([replica])
        await create(admin(server), NAMES)
        await asyncio.sleep(2)
        # From here on nothing else writes labels.
        replica.network.add(Rule(Answered.unavailable(), method="PATCH", path="*map-*", times=None))
        yield server, replica, webhooks


def slot(obj: ConfigMap) -> str:
    """Return the slot of an object, as its label has it."""
    return str(slot_of_uid(obj.metadata.uid))


async def test_an_owned_object_is_created_with_its_label() -> None:
    """A new object gets the label of its owner instead of any other one; without an owner it belongs to all."""
    async with labelled() as (server, _replica, _webhooks):
        owner = await admin(server).get(ConfigMap, key_of(NAMES[0]))
        for name, label, is_owned in (("map-x", "", True), ("map-y", "17", True), ("map-z", "17", False)):
            meta = ObjectMeta(name=name, namespace="default", labels={SHARD_LABEL: label} if label else {})
            secret = Secret(metadata=meta)
            if is_owned:
                set_controller_reference(owner, secret)
            made = await admin(server).create(secret)
            assert made.metadata.labels[SHARD_LABEL] == (slot(owner) if is_owned else "all")


async def test_an_object_that_is_reconciled_has_no_label_before_it_has_a_uid() -> None:
    """A copied label is removed at the creation: the leader labels the object at once, as one without a label."""
    async with labelled() as (server, _replica, _webhooks):
        meta = ObjectMeta(name="map-copy", namespace="default", labels={SHARD_LABEL: "17", "app": "web"})
        made = await admin(server).create(ConfigMap(metadata=meta))
        assert made.metadata.labels == {"app": "web"}


@pytest.mark.parametrize("label", [None, "17", "none"])
async def test_a_change_of_the_label_is_taken_back(label: str | None) -> None:
    """Neither kind loses its label, so no cache loses an object, and nothing is created again."""
    async with labelled() as (server, _replica, _webhooks):
        before = await families(server)
        patch = MergePatch({"metadata": {"labels": {SHARD_LABEL: label}}})
        owner = await admin(server).patch(ConfigMap, key_of(NAMES[0]), patch)
        secret = await admin(server).patch(Secret, key_of(NAMES[0]), patch)
        assert owner.metadata.labels[SHARD_LABEL] == secret.metadata.labels[SHARD_LABEL] == slot(owner)
        await asyncio.sleep(2)
        assert await families(server) == before


async def test_another_owner_changes_the_label() -> None:
    """An object that is given to another owner gets that one's label in the same write."""
    async with labelled() as (server, _replica, _webhooks):
        taker = await admin(server).get(ConfigMap, key_of(NAMES[1]))
        secret = await admin(server).get(Secret, key_of(NAMES[0]))
        secret.metadata.owner_references.clear()
        set_controller_reference(taker, secret)
        assert (await admin(server).update(secret)).metadata.labels[SHARD_LABEL] == slot(taker)


async def test_writes_go_on_without_the_webhook() -> None:
    """Each kind has a webhook of its own beside a defaulter of the program, and a failure of it blocks no write."""
    async with labelled() as (_server, _replica, webhooks):
        registered = {each.kind.kind: each for each in webhooks.registrations}
        assert set(registered) == {"ConfigMap", "Secret"}
        assert {each.failure_policy for each in registered.values()} == {"Ignore"}
        assert {each.name for each in registered.values()} == {"shard.configmap.v1.core", "shard.secret.v1.core"}
