"""Resources with a storage of their own behave like all others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from pyctrl.api import Key, ObjectMeta, Unstructured
from pyctrl.client import Client, MergePatch, get_scale, set_scale
from pyctrl.errors import (
    AlreadyExists,
    BadRequest,
    Conflict,
    Gone,
    Invalid,
    MethodNotAllowed,
    NotFound,
    ServiceUnavailable,
)
from pyctrl.extension_apiserver import APIResource, StorageRequest
from tests.unit.extension_apiserver._flavors import DictStorage, Fischer, FischerSpec, Flavor, client_of

KEY = Key("default", "vanilla")


def flavor(name: str = "vanilla", **fields: Any) -> Flavor:
    """Return a Flavor."""
    return Flavor(metadata=ObjectMeta(name=name, namespace="default"), **fields)


@pytest_asyncio.fixture
async def storage() -> DictStorage:
    """The storage of the Flavors."""
    return DictStorage()


@pytest_asyncio.fixture
async def client(storage: DictStorage) -> AsyncIterator[Client]:
    """A client of the server."""
    async with client_of(APIResource(Flavor, storage)) as client:
        yield client


async def test_an_object_is_created_read_changed_and_deleted(client: Client, storage: DictStorage) -> None:
    """The verbs reach the storage, with defaults, system fields and the storage's versions."""
    created = await client.create(flavor())
    assert (created.sweetness, created.metadata.resource_version, created.metadata.generation) == (5, "101", 1)
    assert created.metadata.uid
    created.sweetness = 7
    updated = await client.update(created)
    assert (updated.metadata.resource_version, updated.metadata.generation) == ("102", 2)
    assert storage.objects[KEY].sweetness == 7
    assert [each.sweetness for each in await client.list(Flavor)] == [7]
    assert (await client.list(Flavor)).resource_version == "102"
    await client.delete(updated)
    assert storage.objects == {}
    with pytest.raises(NotFound, match='flavors.wardle.example.com "vanilla" not found'):
        await client.get(Flavor, KEY)


async def test_invalid_objects_do_not_reach_the_storage(client: Client, storage: DictStorage) -> None:
    """The server validates against the schema of the types before it calls the storage."""
    too_sweet = Unstructured.new(Flavor.gvk, name="vanilla", namespace="default", sweetness=11)
    with pytest.raises(Invalid, match="sweetness in body should be less than or equal to 10"):
        await client.create(too_sweet)
    assert storage.objects == {}


async def test_a_name_is_taken_once(client: Client) -> None:
    """AlreadyExists of the storage has the message of kube-apiserver."""
    await client.create(flavor())
    with pytest.raises(AlreadyExists, match='flavors.wardle.example.com "vanilla" already exists'):
        await client.create(flavor())


async def test_an_update_of_an_old_version_conflicts(client: Client) -> None:
    """An update of an object that has changed since it was read gets 409."""
    old = await client.create(flavor())
    await client.patch(old, MergePatch({"label": "a"}))
    old.metadata.resource_version = "101"
    with pytest.raises(Conflict, match="the object has been modified"):
        await client.update(old)


async def test_a_patch_is_tried_again_after_a_faster_write(client: Client, storage: DictStorage) -> None:
    """A patch without a version does not fail because another write came between its read and its write."""
    created = await client.create(flavor())
    read = storage.get

    async def slow_get(request: StorageRequest, name: str) -> Any:
        found = (await read(request, name)).model_copy(deep=True)
        if found.metadata.resource_version == "101":
            await storage.update(request, flavor(sweetness=9, label="first"), found)
        return found

    storage.get = slow_get  # type: ignore[method-assign]
    patched = await client.patch(created, MergePatch({"label": "second"}))
    assert (patched.label, patched.sweetness) == ("second", 9)


async def test_apply_creates_merges_and_conflicts(client: Client) -> None:
    """Server-side apply tracks the owners of fields in the objects of the storage."""
    applied = await client.apply(flavor(label="a"), field_owner="one")
    assert [each["manager"] for each in applied.metadata.managed_fields] == ["one"]
    with pytest.raises(Conflict, match='conflict with "one": .label'):
        await client.apply(flavor(label="b"), field_owner="two")


async def test_finalizers_hold_an_object(client: Client, storage: DictStorage) -> None:
    """A delete of an object with finalizers marks it, and the write that removes the last one deletes it."""
    obj = flavor()
    obj.metadata.finalizers = ["example.com/eat"]
    created = await client.create(obj)
    await client.delete(created)
    marked = await client.get(Flavor, KEY)
    assert marked.metadata.deletion_timestamp is not None
    marked.metadata.finalizers = []
    await client.update(marked)
    assert storage.objects == {}


async def test_a_dry_run_changes_nothing(client: Client, storage: DictStorage) -> None:
    """A dry run is validated and does not reach the storage."""
    await client.create(flavor(), dry_run=True)
    assert storage.objects == {}


async def test_a_collection_is_deleted_by_labels(client: Client, storage: DictStorage) -> None:
    """deletecollection deletes the selected objects only."""
    for name in ("a", "b"):
        obj = flavor(name)
        obj.metadata.labels = {"name": name}
        await client.create(obj)
    await client.delete_all_of(Flavor, namespace="default", labels={"name": "a"})
    assert [key.name for key in storage.objects] == ["b"]


async def test_lists_are_selected(client: Client, storage: DictStorage) -> None:
    """Label and field selectors work although the storage ignores them; it gets them and the user, too."""
    await client.create(flavor("a"))
    await client.create(flavor("b"))
    found = await client.list(Flavor, namespace="default", fields="metadata.name=b")
    assert [each.metadata.name for each in found] == ["b"]
    request = storage.requests[-1]
    assert (request.user.name, request.namespace, str(request.fields)) == ("admin", "default", "metadata.name=b")


async def test_a_watch_follows_the_storage(client: Client) -> None:
    """A watch after a list has every change once, with a selector those that it matches."""
    await client.create(flavor("a"))
    listed = await client.list(Flavor)
    seen: list[tuple[str, str]] = []
    async with asyncio.timeout(10), asyncio.TaskGroup() as group:

        async def watch() -> None:
            async for event in client.watch(
                Flavor, resource_version=listed.resource_version, fields="metadata.name!=c"
            ):
                seen.append((event.type, event.object.metadata.name))
                if len(seen) == 2:
                    return

        watching = group.create_task(watch())
        await client.create(flavor("c"))
        created = await client.create(flavor("b"))
        await client.delete(created)
        await watching
    assert seen == [("ADDED", "b"), ("DELETED", "b")]


async def test_a_watch_begins_with_a_streamed_list(client: Client) -> None:
    """sendInitialEvents gives the objects and a bookmark that ends them."""
    await client.create(flavor("a"))
    seen = []
    async with asyncio.timeout(10):
        async for event in client.watch(Flavor, send_initial_events=True):
            seen.append(event.type)
            if event.type == "BOOKMARK":
                assert (event.is_initial_events_end, event.resource_version) == (True, "101")
                break
    assert seen == ["ADDED", "BOOKMARK"]


async def test_a_watch_ends_with_its_timeout(client: Client) -> None:
    """A watch with timeoutSeconds ends then, although nothing happens."""
    async with asyncio.timeout(10):
        assert [event.type async for event in client.watch(Flavor, timeout_seconds=1)] == ["BOOKMARK"]


async def test_the_status_has_an_endpoint_of_its_own() -> None:
    """A write to status changes only that, and scale changes the replicas, through the storage."""
    storage = DictStorage()
    async with client_of(APIResource(Fischer, storage)) as client:
        made = Fischer(metadata=ObjectMeta(name="f", namespace="default"), spec=FischerSpec(replicas=2))
        created = await client.create(made)
        created.status.replicas = 2
        created.spec.replicas = 9
        updated = await client.status.update(created)
        assert (updated.status.replicas, updated.spec.replicas) == (2, 2)
        assert (await get_scale(client, Fischer, created.key)).replicas == 2
        await set_scale(client, Fischer, created.key, 4)
        assert storage.objects[Key("default", "f")].spec.replicas == 4


class Computed:
    """A storage that can only be read."""

    async def get(self, request: StorageRequest, name: str) -> Flavor | None:
        """Compute one object."""
        if name == "down":
            raise ServiceUnavailable("the metrics are not available")
        return flavor(name, sweetness=len(name)) if len(name) < 9 else None

    async def list(self, request: StorageRequest) -> list[Flavor]:
        """Compute all objects."""
        return [flavor("a"), flavor("bb")]


async def test_computed_objects_can_only_be_read() -> None:
    """Objects that are computed on read have the verbs get and list; errors of the storage reach the client."""
    async with client_of(APIResource(Flavor, Computed())) as client:
        assert (await client.get(Flavor, Key("default", "lime"))).sweetness == 4
        assert (await client.list(Flavor)).resource_version == ""
        mapping = await client.discovery.mapping(Flavor.gvk)
        assert mapping.verbs == {"get", "list"}
        for call in (client.create(flavor()), client.delete(flavor())):
            with pytest.raises(MethodNotAllowed):
                await call
        with pytest.raises(ServiceUnavailable, match="the metrics are not available"):
            await client.get(Flavor, Key("default", "down"))
        with pytest.raises(MethodNotAllowed):
            await anext(client.watch(Flavor))


async def test_a_storage_can_expire_versions(client: Client, storage: DictStorage) -> None:
    """A storage without the history of a version answers 410, as an event of the watch."""

    def watch(request: StorageRequest) -> AsyncIterator[Any]:
        raise Gone("too old")

    storage.watch = watch  # type: ignore[method-assign]
    with pytest.raises(Gone, match="too old"):
        await anext(client.watch(Flavor, resource_version="1"))


async def test_selectors_must_be_known(client: Client) -> None:
    """A field selector that the kind does not declare gets 400."""
    with pytest.raises(BadRequest, match="field label not supported"):
        await client.list(Flavor, fields="spec.nothing=1")


async def test_a_storage_may_have_get_alone() -> None:
    """A kind that can be read by name only has the verb get, and no list."""

    class Echo:
        """Computes a flavor from its name."""

        async def get(self, request: StorageRequest, name: str) -> Flavor | None:
            return flavor(name, label=request.namespace)

    async with client_of(APIResource(Flavor, Echo())) as client:
        assert (await client.get(Flavor, KEY)).label == "default"
        with pytest.raises(MethodNotAllowed):
            await client.list(Flavor, namespace="default")
