"""Create or update, create or patch, create or apply: requests and results."""

from __future__ import annotations

from typing import Any, cast

import pytest

from pyctrl.api import GroupVersionKind, Key, ObjectMeta, Unstructured, is_controlled_by, set_controller_reference
from pyctrl.apiserver import ApiServer
from pyctrl.cache import Cache, CachedClient
from pyctrl.client import Client, InProcessTransport, MergePatch, OperationResult, dry_run, in_namespace
from pyctrl.errors import AlreadyExists, AlreadyOwned, Conflict, NotOwned
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.kinds.core.v1 import ConfigMap

KEY = Key("default", "a")
DEPLOYMENT: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "a", "namespace": "default"},
    "spec": {
        "strategy": {},
        "selector": {"matchLabels": {"app": "a"}},
        "template": {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
    },
}
NONE, CREATED, UPDATED = OperationResult.NONE, OperationResult.CREATED, OperationResult.UPDATED


class Sent:
    """Records the verbs of a client's writes."""

    def __init__(self, client: Client) -> None:
        self.verbs: list[str] = []
        client.observe_writes(self)

    def before(self, gvk: GroupVersionKind, key: Key) -> None: ...

    def after(
        self, gvk: GroupVersionKind, key: Key, verb: str, body: bytes | None, error: BaseException | None
    ) -> None:
        self.verbs.append(verb)


@pytest.fixture
def live() -> Client:
    """A client of an embedded API server, in process."""
    return Client(InProcessTransport(ApiServer()))


def config_map(**data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name="a", namespace="default"), data=data)


def nothing(found: object) -> None:
    """Change nothing."""


async def test_the_client_s_namespace(live: Client) -> None:
    """A client for one namespace sets it on objects without one; a dry run is not remembered."""
    here = in_namespace(live, "default")
    wanted = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "v"}}

    tried = await dry_run(here).create_or_apply(wanted)
    made = await here.create_or_apply(wanted)
    again = await here.create_or_apply(wanted)

    assert (tried.result, made.result, again.result) == (CREATED, CREATED, NONE)
    assert made.object.key == KEY


async def test_an_object_of_another_version_is_refused(live: Client) -> None:
    """An apply with an outdated resource version is sent, and refused by the server."""
    made = (await live.create_or_apply(config_map(k="1"))).object
    await live.patch(ConfigMap, KEY, MergePatch({"data": {"l": "1"}}))
    wanted = config_map(k="1")
    wanted.metadata.resource_version = made.metadata.resource_version

    with pytest.raises(Conflict):
        await live.create_or_apply(wanted)


async def test_what_was_read_too_early_is_a_conflict(live: Client) -> None:
    """Updating a stale object is a Conflict, and creating an existing object AlreadyExists."""
    made = await live.create(config_map())
    await live.patch(ConfigMap, KEY, MergePatch({"data": {"l": "1"}}))

    def outdated(found: ConfigMap) -> None:
        found.metadata.resource_version = made.metadata.resource_version
        found.data["k"] = "1"

    with pytest.raises(Conflict):
        await live.create_or_update(config_map(), outdated)
    with pytest.raises(AlreadyExists):
        await live.create(config_map())


async def test_the_status_is_somebody_else_s(live: Client) -> None:
    """create_or_update ignores the status; create_or_patch patches only the status if nothing else changed."""

    def status(found: Deployment) -> None:
        found.status.replicas = 3

    wanted = Deployment.from_wire(DEPLOYMENT)
    await live.create(wanted)
    sent = Sent(live)

    updated = await live.create_or_update(wanted, status)
    patched = await live.create_or_patch(wanted, status)
    again = await live.create_or_patch(wanted, status)

    assert [each.result for each in (updated, patched, again)] == [NONE, OperationResult.UPDATED_STATUS_ONLY, NONE]
    assert sent.verbs == ["patch"]
    assert (await live.get(Deployment, KEY)).status.replicas == 3


async def test_a_patch_removes_what_was_taken_away(live: Client) -> None:
    """A patch removes the members that were removed from maps, and keeps other clients' changes."""

    def change(found: Unstructured) -> None:
        found["data"] = {"k": "2"}

    wanted = Unstructured.new(GroupVersionKind("", "v1", "ConfigMap"), name="a", namespace="default")
    await live.create(config_map(k="1", l="1"))

    patched = await live.create_or_patch(wanted, change)

    assert (patched.result, patched.object["data"]) == (UPDATED, {"k": "2"})
    assert not wanted.get("data")


async def test_another_name_is_refused(live: Client) -> None:
    """A changed name or namespace, which would write another object, is refused."""

    def rename(found: ConfigMap) -> None:
        found.metadata.name = "b"

    sent = Sent(live)
    with pytest.raises(ValueError, match="it changed default/a to default/b"):
        await live.create_or_update(config_map(), rename)
    with pytest.raises(ValueError, match="ConfigMap has no name"):
        await live.create_or_patch(ConfigMap(), nothing)
    assert sent.verbs == []


async def test_a_coroutine_function_is_refused(live: Client) -> None:
    """A coroutine function, which would never run, is refused."""

    async def change(found: ConfigMap) -> None: ...

    with pytest.raises(TypeError, match="mutate must be a plain function"):
        await live.create_or_update(config_map(), cast(Any, change))


async def test_a_change_deep_in_an_untyped_object_is_sent(live: Client) -> None:
    """An untyped object that `mutate` changes in place is compared with what it was before."""
    await live.create(Unstructured.from_wire(config_map(k="1").to_wire()))

    def change(found: Unstructured) -> None:
        found["data"]["k"] = "2"

    for write in (live.create_or_update, live.create_or_patch):
        await live.patch(ConfigMap, KEY, MergePatch({"data": {"k": "1"}}))
        written = await write(Unstructured.from_wire(config_map().to_wire()), change)
        assert (written.result, written.object["data"]) == (UPDATED, {"k": "2"})


def owned(uid: str) -> ConfigMap:
    """Return the ConfigMap that an owner with a uid wants."""
    owner = ConfigMap(metadata=ObjectMeta(name="owner", namespace="default", uid=uid))
    wanted = config_map(k="wanted")
    set_controller_reference(owner, wanted)
    return wanted


async def test_an_object_of_somebody_else_is_not_adopted(live: Client) -> None:
    """An apply with a controller reference leaves an object alone that has no controller, unless it is to adopt it."""
    theirs = await live.create(config_map(k="theirs"))

    with pytest.raises(NotOwned, match="ConfigMap default/a exists and is not controlled by ConfigMap owner"):
        await live.create_or_apply(owned("1"), force=True)
    assert await live.get(ConfigMap, KEY) == theirs

    adopted = await live.create_or_apply(owned("1"), force=True, adopt=True)
    assert (adopted.result, is_controlled_by(adopted.object, ConfigMap(metadata=ObjectMeta(uid="1")))) == (
        UPDATED,
        True,
    )
    with pytest.raises(AlreadyOwned, match="already controlled by ConfigMap owner"):
        await live.create_or_apply(owned("2"), force=True, adopt=True)


async def test_an_object_that_the_cache_does_not_have_yet_is_not_adopted(live: Client) -> None:
    """Before it creates an object, an apply with a controller reference asks the server, with the right to list."""
    cached = CachedClient(cast(Cache, EmptyCache()), live)
    await live.create(config_map(k="theirs"))

    with pytest.raises(NotOwned):
        await cached.create_or_apply(owned("1"), force=True)
    await live.delete(ConfigMap, KEY)

    assert (await cached.create_or_apply(owned("1"), force=True)).result is CREATED


class EmptyCache:
    """A cache that has seen nothing yet."""

    async def find(self, kind: object, key: Key) -> None: ...
