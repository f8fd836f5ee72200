"""Reading through the client on any cluster: one object, lists, pages."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import aclosing

import pytest

from pyctrl.api import GroupVersionKind, Key, LabelSelector, Metadata, ObjectMeta, Unstructured
from pyctrl.client import Client
from pyctrl.errors import BadRequest, NotFound, SelectorError, UnknownKind
from pyctrl.kinds.core.v1 import ConfigMap, Namespace, Secret

pytestmark = pytest.mark.virtual_time  # where the cluster is embedded

# Secrets wherever all objects of a namespace are listed: a cluster creates a ConfigMap in each namespace.
SECRET = GroupVersionKind("", "v1", "Secret")


def secret(namespace: str, name: str, **labels: str) -> Secret:
    return Secret(metadata=ObjectMeta(name=name, namespace=namespace, labels=labels), string_data={"name": name})


async def make(client: Client, namespace: str, *names: str) -> list[Secret]:
    return [await client.create(secret(namespace, name)) for name in names]


def names(objects: Iterable[Secret]) -> list[str]:
    return [obj.metadata.name for obj in objects]


async def test_get_and_find(client: Client, namespace: str) -> None:
    """An existing object is returned unchanged; for a missing one, get raises NotFound and find returns None."""
    made = await client.create(ConfigMap(metadata=ObjectMeta(name="a", namespace=namespace), data={"k": "v"}))

    assert await client.get(ConfigMap, made.key) == made
    assert await client.find(ConfigMap, made.key) == made
    assert await client.find(ConfigMap, Key(namespace, "b")) is None
    with pytest.raises(NotFound) as caught:
        await client.get(ConfigMap, Key(namespace, "b"))
    assert (caught.value.code, caught.value.reason) == (404, "NotFound")
    assert (caught.value.details["name"], caught.value.details["kind"]) == ("b", "configmaps")
    assert caught.value.message == 'configmaps "b" not found'


async def test_an_object_of_the_cluster_scope(client: Client, namespace: str) -> None:
    """A cluster-scoped object is read by its name alone."""
    found = await client.get(Namespace, Key("", namespace))

    assert found.metadata.name == namespace
    assert found.status is not None
    assert found.status.phase == "Active"


async def test_one_object_seen_in_three_ways(client: Client, namespace: str) -> None:
    """A class gives a typed object, a GroupVersionKind an untyped one, Metadata only the metadata."""
    made = await client.create(secret(namespace, "a", tier="web"))

    untyped = await client.get(SECRET, made.key)
    views = [
        await client.get(Metadata[Secret], made.key),
        await client.get(Metadata.of(SECRET), made.key),
        *await client.list(Metadata[Secret], namespace=namespace),
        *await client.list(Metadata.of(SECRET), namespace=namespace),
    ]

    assert isinstance(untyped, Unstructured)
    assert untyped["data"] == {"name": "YQ=="}
    assert untyped.metadata == made.metadata
    for view in views:
        assert (view.metadata, view.gvk) == (made.metadata, SECRET)
        assert "data" not in view.to_wire()


async def test_a_read_from_the_servers_own_cache(client: Client, namespace: str) -> None:
    """Version "0" accepts any cached state; a specific version means "not older than"."""
    made = await client.create(secret(namespace, "a"))

    at_least = await client.get(Secret, made.key, resource_version=made.metadata.resource_version)
    listed = await client.list(
        Secret,
        namespace=namespace,
        resource_version=made.metadata.resource_version,
        resource_version_match="NotOlderThan",
    )

    assert at_least == made == (await client.get(Secret, made.key, resource_version="0"))
    assert list(listed) == [made]


async def test_a_list_of_an_earlier_state(client: Client, namespace: str) -> None:
    """A list at an exact version shows the objects as they were then, even if changed or deleted since."""
    (made,) = await make(client, namespace, "a")
    then = await client.list(Secret, namespace=namespace)
    await client.delete(made)
    await make(client, namespace, "b")

    again = await client.list(
        Secret, namespace=namespace, resource_version=then.resource_version, resource_version_match="Exact"
    )

    assert list(again) == list(then) == [made]
    assert again.resource_version == then.resource_version
    assert names(await client.list(Secret, namespace=namespace)) == ["b"]


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("tier=web", ["a", "b"]),
        ("tier==web,track!=beta", ["a"]),
        ("tier in (web,db),track", ["a", "b"]),
        ("tier notin (web)", ["c", "d"]),
        ("!tier", ["d"]),
        ("weight>5", ["b"]),
        ("weight<6", ["a"]),
        ({"tier": "web", "track": "beta"}, ["b"]),
        (LabelSelector.from_wire({"matchExpressions": [{"key": "tier", "operator": "Exists"}]}), ["a", "b", "c"]),
    ],
    ids=str,
)
async def test_labels_select(
    client: Client, namespace: str, selector: LabelSelector | str | dict[str, str], expected: list[str]
) -> None:
    """Every form of label selector selects the same objects on the server as in pyctrl."""
    for made in (
        secret(namespace, "a", tier="web", track="stable", weight="5"),
        secret(namespace, "b", tier="web", track="beta", weight="6"),
        secret(namespace, "c", tier="db"),
        secret(namespace, "d"),
    ):
        await client.create(made)

    assert names(await client.list(Secret, namespace=namespace, labels=selector)) == expected


async def test_fields_select(client: Client, namespace: str) -> None:
    """A selectable field selects on the server; any other field is a BadRequest."""
    await make(client, namespace, "a", "b")
    typed = Secret(metadata=ObjectMeta(name="c", namespace=namespace), type="example.com/own")
    await client.create(typed)

    assert names(await client.list(Secret, namespace=namespace, fields="metadata.name=a")) == ["a"]
    assert names(await client.list(Secret, namespace=namespace, fields="metadata.name!=a,type=Opaque")) == ["b"]
    assert names(await client.list(Secret, namespace=namespace, fields={"type": "example.com/own"})) == ["c"]
    with pytest.raises(BadRequest, match="field label not supported"):
        await client.list(Secret, namespace=namespace, fields="data.name=a")


async def test_all_namespaces(client: Client, namespace: str) -> None:
    """A list without a namespace returns the objects of all namespaces."""
    other = await client.create(Namespace(metadata=ObjectMeta(generate_name="test-")))
    for where in (namespace, other.metadata.name):
        await client.create(secret(where, "a", test=namespace))

    found = await client.list(Secret, labels={"test": namespace})
    await client.delete(other)

    assert {obj.key for obj in found} == {Key(namespace, "a"), Key(other.metadata.name, "a")}


async def test_a_list_in_parts(client: Client, namespace: str) -> None:
    """A limited list returns a continue token and the remaining count; all parts show the state of the first."""
    await make(client, namespace, "a", "b", "c", "d", "e")

    first = await client.list(Secret, namespace=namespace, limit=2)
    await client.delete(Secret, Key(namespace, "d"))
    await make(client, namespace, "f")
    second = await client.list(Secret, namespace=namespace, limit=2, continue_token=first.continue_token)
    third = await client.list(Secret, namespace=namespace, limit=2, continue_token=second.continue_token)

    assert [names(page) for page in (first, second, third)] == [["a", "b"], ["c", "d"], ["e"]]
    assert [page.metadata.remaining_item_count for page in (first, second, third)] == [3, 1, None]
    assert third.continue_token == ""
    assert {page.resource_version for page in (first, second, third)} == {first.resource_version}


async def test_a_continue_token_that_is_none(client: Client, namespace: str) -> None:
    """An invalid continue token is a BadRequest, not a list from the start."""
    with pytest.raises(BadRequest, match="continue key is not valid"):
        await client.list(Secret, namespace=namespace, limit=2, continue_token="nonsense")


async def test_pages_and_each(client: Client, namespace: str) -> None:
    """Iteration yields pages in order and each object once; leaving early sends no further request."""
    await make(client, namespace, "a", "b", "c", "d", "e")

    pages = [names(page) async for page in client.pages(Secret, namespace=namespace, page_size=2)]
    each = [obj.metadata.name async for obj in client.each(SECRET, namespace=namespace, page_size=2)]
    views = [obj.metadata.name async for obj in client.each(Metadata[Secret], namespace=namespace, page_size=3)]
    chosen = [obj.metadata.name async for obj in client.each(Secret, namespace=namespace, fields="metadata.name=c")]
    async with aclosing(client.pages(Secret, namespace=namespace, page_size=2)) as left_early:
        first = await anext(left_early)

    assert pages == [["a", "b"], ["c", "d"], ["e"]]
    assert each == views == ["a", "b", "c", "d", "e"]
    assert chosen == ["c"]
    assert names(first) == ["a", "b"]


async def test_no_objects(client: Client, namespace: str) -> None:
    """An empty list still has the version to watch from."""
    found = await client.list(Secret, namespace=namespace)

    assert list(found) == []
    assert int(found.resource_version) > 0
    assert [page async for page in client.pages(Secret, namespace=namespace) if len(page)] == []


@pytest.mark.parametrize(
    ("selection", "place"),
    [({"labels": "tier in web"}, "tier in web"), ({"labels": "=x"}, "=x"), ({"fields": "metadata.name"}, "metadata.n")],
)
async def test_a_selector_that_does_not_parse(
    client: Client, namespace: str, selection: dict[str, str], place: str
) -> None:
    """A malformed selector raises SelectorError with its text, and no request is sent."""
    with pytest.raises(SelectorError, match=place):
        await client.list(Secret, namespace=namespace, **selection)  # type: ignore[arg-type]


@pytest.mark.parametrize("verb", ["get", "find", "list"])
async def test_a_kind_that_is_not_served(client: Client, verb: str) -> None:
    """Every verb raises UnknownKind, which names the kind and similar ones."""
    unknown = GroupVersionKind("apps", "v1", "Deploymnt")
    asked = client.list(unknown) if verb == "list" else getattr(client, verb)(unknown, Key("default", "a"))

    with pytest.raises(UnknownKind, match=r"not serve apps/v1, Kind=Deploymnt.*apps/v1 .*definition installed"):
        await asked
