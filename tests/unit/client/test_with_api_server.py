"""The client against the embedded API server."""

from __future__ import annotations

import asyncio
import copy
from contextlib import aclosing

import pytest

from pyctrl.api import GroupVersionKind, Key, Metadata, ObjectMeta, Unstructured
from pyctrl.apiserver import ApiServer, serve
from pyctrl.client import (
    Client,
    Config,
    InProcessTransport,
    JsonPatch,
    MergePatch,
    Preconditions,
    StrategicMergePatch,
    bind,
    create_token,
    dry_run,
    evict,
    get_scale,
    in_namespace,
    merge_from,
    set_scale,
    with_field_owner,
)
from pyctrl.errors import (
    AlreadyExists,
    BadRequest,
    Conflict,
    Expired,
    Invalid,
    NotFound,
    UnknownKind,
)
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.kinds.core.v1 import ConfigMap, Pod, ServiceAccount

KEY = Key("default", "a")
CONFIG_MAP = GroupVersionKind("", "v1", "ConfigMap")
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "a", "namespace": "default"},
    "spec": {"containers": [{"name": "c", "image": "busybox"}]},
}
DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "a", "namespace": "default"},
    "spec": {
        "replicas": 3,
        "selector": {"matchLabels": {"app": "a"}},
        "template": {
            "metadata": {"labels": {"app": "a"}},
            "spec": {"containers": [{"name": "c", "image": "busybox"}]},
        },
    },
}
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.demo.test"},
    "spec": {
        "group": "demo.test",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
            }
        ],
    },
}


@pytest.fixture
def live() -> Client:
    """A client of an embedded API server, in process."""
    return Client(InProcessTransport(ApiServer()))


def config_map(name: str = "a", **data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default"), data=data)


async def test_life_of_an_object(live: Client) -> None:
    """An object is created, read, changed in three ways, and deleted."""
    made = await live.create(config_map(k="1"))
    with pytest.raises(AlreadyExists):
        await live.create(config_map())

    made.data["k"] = "2"
    changed = await live.update(made)
    patched = await live.patch(ConfigMap, KEY, MergePatch({"data": {"l": "3"}}))
    again = await live.patch(ConfigMap, KEY, JsonPatch([{"op": "remove", "path": "/data/k"}]))

    assert changed.metadata.resource_version != made.metadata.resource_version
    assert patched.data == {"k": "2", "l": "3"}
    assert again.data == {"l": "3"} == (await live.get(ConfigMap, KEY)).data
    with pytest.raises(Conflict):
        await live.update(made)
    await live.delete(again)
    assert await live.find(ConfigMap, KEY) is None
    with pytest.raises(NotFound):
        await live.delete(again)


async def test_views_of_one_object(live: Client) -> None:
    """Typed, untyped and metadata readers see the same object."""
    made = await live.create(config_map(k="1"))

    untyped = await live.get(CONFIG_MAP, KEY)
    metadata = await live.get(Metadata[ConfigMap], KEY)
    (listed,) = await live.list(Metadata[ConfigMap], namespace="default", labels=None)

    assert untyped["data"] == {"k": "1"}
    assert metadata.metadata.uid == untyped.metadata.uid == made.metadata.uid == listed.metadata.uid


async def test_optimistic_lock(live: Client) -> None:
    """Of two changes to the same version, an optimistic lock admits only the first."""
    made = await live.create(config_map(k="1"))
    mine, theirs = made, copy.deepcopy(made)
    my_patch = merge_from(mine, optimistic_lock=True)
    their_patch = merge_from(theirs, optimistic_lock=True)
    mine.data["k"], theirs.data["k"] = "mine", "theirs"

    await live.patch(mine, my_patch)
    with pytest.raises(Conflict):
        await live.patch(theirs, their_patch)
    assert (await live.get(ConfigMap, KEY)).data == {"k": "mine"}


async def test_strategic_patch(live: Client) -> None:
    """A strategic patch changes one container by its name and leaves the rest."""
    await live.create(Deployment.from_wire(DEPLOYMENT))
    containers = [{"name": "c", "image": "busybox:2"}]

    changed = await live.patch(
        Deployment, KEY, StrategicMergePatch({"spec": {"template": {"spec": {"containers": containers}}}})
    )

    assert changed.spec is not None
    assert [c.image for c in changed.spec.template.spec.containers] == ["busybox:2"]


async def test_apply(live: Client) -> None:
    """An apply creates, changes only owned fields, is refused for fields of others, and takes them over with force."""
    document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}}
    mine = with_field_owner(live, "me")

    made = await mine.apply({**document, "data": {"k": "1"}})
    with pytest.raises(Conflict) as caught:
        await live.apply({**document, "data": {"k": "2"}}, field_owner="you")
    await live.apply({**document, "data": {"k": "2"}}, field_owner="you", force=True)
    read = await live.get(ConfigMap, KEY)
    await live.apply(read, field_owner="third", force=True)  # its managedFields do not prevent the apply

    assert isinstance(made, Unstructured)
    assert made["data"] == {"k": "1"}
    assert caught.value.causes[0].field == ".data.k"
    assert read.data == {"k": "2"}


async def test_pages(live: Client) -> None:
    """A list in pages returns every object once, and an expired token raises Expired."""
    server = ApiServer()
    client = in_namespace(Client(InProcessTransport(server)), "default")
    for n in range(5):
        await client.create(config_map(f"m{n}"))

    names = [m.metadata.name async for m in client.each(ConfigMap, page_size=2)]
    page = await client.list(ConfigMap, limit=2)
    await client.delete_all_of(ConfigMap)
    server.compact()

    assert names == [f"m{n}" for n in range(5)]
    assert len(page) == 2
    with pytest.raises(Expired):
        await client.list(ConfigMap, limit=2, continue_token=page.continue_token)
    assert len(await client.list(ConfigMap)) == 0


async def test_selectors(live: Client) -> None:
    """Labels and fields select on the server."""
    for name, tier in (("a", "web"), ("b", "db")):
        obj = config_map(name)
        obj.metadata.labels["tier"] = tier
        await live.create(obj)

    by_label = await live.list(ConfigMap, labels="tier in (web,cache)")
    by_field = await live.list(ConfigMap, fields={"metadata.name": "b", "metadata.namespace": "default"})

    assert [o.metadata.name for o in by_label] == ["a"]
    assert [o.metadata.name for o in by_field] == ["b"]


async def test_watch(live: Client) -> None:
    """A watch from a list's version returns all later changes, until the server ends it."""
    await live.create(config_map("before"))
    version = (await live.list(ConfigMap, namespace="default")).resource_version
    made = await live.create(config_map(k="1"))
    made.data["k"] = "2"
    await live.update(made)
    await live.delete(made)

    events = [
        (event.type, event.object.metadata.name)
        async for event in live.watch(
            ConfigMap, namespace="default", resource_version=version, bookmarks=False, timeout_seconds=5
        )
    ]

    assert events == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")]


async def test_streamed_list(live: Client) -> None:
    """A streamed list ends with an annotated bookmark, and continues as a watch."""
    await live.create(config_map())
    seen = []

    async with aclosing(live.watch(ConfigMap, namespace="default", send_initial_events=True)) as events:
        async for event in events:
            seen.append((event.type, event.is_initial_events_end))
            if event.is_initial_events_end:
                break

    assert seen == [("ADDED", False), ("BOOKMARK", True)]


async def test_status(live: Client) -> None:
    """Object and status are written separately: neither write changes the other."""
    made = await live.create(Deployment.from_wire(DEPLOYMENT))
    assert made.spec is not None
    made.spec.replicas = 9

    changed = await live.status.patch(made, MergePatch({"status": {"replicas": 1, "readyReplicas": 1}}))

    assert changed.status is not None
    assert changed.spec is not None
    assert (changed.status.ready_replicas, changed.spec.replicas) == (1, 3)


async def test_scale(live: Client) -> None:
    """The scale reads and sets the replicas, and has the selector of the pods."""
    await live.create(Deployment.from_wire(DEPLOYMENT))

    before = await get_scale(live, Deployment, KEY)
    after = await set_scale(live, Deployment, KEY, 5)

    assert (before.replicas, after.replicas, str(before.selector)) == (3, 5, "app=a")
    assert (await live.get(Deployment, KEY)).spec.replicas == 5


async def test_pod_actions(live: Client) -> None:
    """A pod is bound to a node once, and evicted."""
    await live.create(ServiceAccount(metadata=ObjectMeta(name="default", namespace="default")))
    await live.create(Pod.from_wire(POD))

    await bind(live, KEY, "node-1")
    with pytest.raises(Conflict):
        await bind(live, KEY, "node-2")
    assert (await live.get(Pod, KEY)).spec.node_name == "node-1"
    await evict(live, KEY, grace_period_seconds=0)
    assert await live.find(Pod, KEY) is None


async def test_token(live: Client) -> None:
    """A token is created for a service account."""
    await live.create(ServiceAccount(metadata=ObjectMeta(name="robot", namespace="default")))

    token = await create_token(live, Key("default", "robot"), expiration_seconds=3600)

    assert token.token.count(".") == 2


async def test_dry_run(live: Client) -> None:
    """A dry run has the response of a write, but stores nothing."""
    made = await dry_run(live).create(config_map(k="1"))

    assert made.metadata.uid
    assert await live.find(ConfigMap, KEY) is None
    await live.create(config_map())
    await dry_run(live).delete(ConfigMap, KEY)
    assert await live.find(ConfigMap, KEY) is not None


async def test_field_validation() -> None:
    """An unknown field is a warning by default, and refused with strict field validation."""
    seen: list[str] = []
    live = Client(InProcessTransport(ApiServer()), on_warning=lambda warning: seen.append(warning.text))
    wrong = Deployment.from_wire({**DEPLOYMENT, "spec": {**DEPLOYMENT["spec"], "replica": 1}})  # type: ignore[dict-item]

    with pytest.raises(BadRequest, match="replica"):
        await live.create(wrong, field_validation="Strict")
    await live.create(wrong)

    assert seen == ['unknown field "spec.replica"']


async def test_preconditions(live: Client) -> None:
    """A delete with another UID as precondition is a Conflict."""
    made = await live.create(config_map())

    with pytest.raises(Conflict):
        await live.delete(made, preconditions=Preconditions(uid="another"))
    await live.delete(made, preconditions=Preconditions(uid=made.metadata.uid))


async def test_invalid(live: Client) -> None:
    """An invalid object raises Invalid with the field."""
    with pytest.raises(Invalid) as caught:
        await live.create(config_map("No Such Name"))
    assert caught.value.causes[0].field == "metadata.name"


async def test_definition_comes_and_goes(live: Client) -> None:
    """A kind is unknown, then served once its definition is installed, then unknown again."""
    widget = Unstructured.from_wire(
        {"apiVersion": "demo.test/v1", "kind": "Widget", "metadata": {"name": "a", "namespace": "default"}, "spec": {}}
    )
    with pytest.raises(UnknownKind, match=r"demo.test/v1, Kind=Widget.*is its definition installed"):
        await live.create(widget)
    definition = await live.create(Unstructured.from_wire(DEFINITION))
    await asyncio.sleep(5)  # until it is established

    await live.create(widget)
    await live.delete(definition)
    await asyncio.sleep(5)

    with pytest.raises(UnknownKind):
        await live.find(widget.gvk, KEY)


@pytest.mark.real_time
async def test_over_http() -> None:
    """The client works the same over HTTP."""
    async with serve(ApiServer()) as url, Client.connect(Config(server=url)) as client:
        made = await client.create(config_map(k="1"))
        assert (await client.get(CONFIG_MAP, KEY)).metadata.uid == made.metadata.uid
        async with aclosing(client.watch(ConfigMap, namespace="default")) as events:
            assert (await anext(events)).object.data == {"k": "1"}
        with pytest.raises(NotFound):
            await client.get(ConfigMap, Key("default", "b"))
