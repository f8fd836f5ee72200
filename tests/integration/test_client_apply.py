"""Server-side apply through the client, on any cluster."""

from __future__ import annotations

import asyncio

import pytest

from pyctrl.api import Key, ObjectMeta, Unstructured
from pyctrl.client import Client, MergePatch, with_field_owner
from pyctrl.errors import Conflict, Invalid, NotFound
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.kinds.core.v1 import ConfigMap
from tests.integration._objects import CONFIG_MAP, config_map, deployment, owners_of

pytestmark = pytest.mark.virtual_time  # where the cluster is embedded


async def test_apply_creates_and_changes(client: Client, namespace: str) -> None:
    """The first apply creates the object, later ones change it, and an identical one changes nothing."""
    made = await client.apply(config_map(namespace, k="1"), field_owner="me")
    changed = await client.apply(config_map(namespace, k="2"), field_owner="me")
    same = await client.apply(config_map(namespace, k="2"), field_owner="me")

    assert (made.data, changed.data) == ({"k": "1"}, {"k": "2"})
    assert made.metadata.uid == changed.metadata.uid
    assert same.metadata.resource_version == changed.metadata.resource_version
    assert owners_of(changed) == {("me", "Apply")}


async def test_an_apply_that_changes_nothing_later(client: Client, namespace: str) -> None:
    """An apply two seconds later, also by a second owner of the fields, changes neither the version nor a time."""
    me, you = with_field_owner(client, "me"), with_field_owner(client, "you")
    await me.apply(config_map(namespace, k="1"))
    await asyncio.sleep(1.1)  # times have no fractions
    await you.apply(config_map(namespace, k="1", l="1"))
    await asyncio.sleep(1.1)
    before = await client.get(ConfigMap, Key(namespace, "a"))

    for owner in (me, you, me):
        again = await owner.apply(config_map(namespace, k="1", **({"l": "1"} if owner is you else {})))
        assert again.metadata.resource_version == before.metadata.resource_version
        assert again.metadata.managed_fields == before.metadata.managed_fields
    assert (await you.apply(config_map(namespace, k="1"))).metadata.resource_version != before.metadata.resource_version


async def test_fields_that_are_gone_have_no_owner(client: Client, namespace: str) -> None:
    """Removed fields leave the managed fields of the owner that removed them, and an owner of nothing leaves too."""
    me, you = with_field_owner(client, "me"), with_field_owner(client, "you")
    await me.apply(config_map(namespace, a="1", b="1", c="1"))
    await you.patch(config_map(namespace), MergePatch({"data": {"c": None, "d": "1", "e": "1"}}))
    assert _owned(await me.get(ConfigMap, Key(namespace, "a"))) == {"me": ["f:a", "f:b"], "you": ["f:d", "f:e"]}

    assert _owned(await me.apply(config_map(namespace, a="1"))) == {"me": ["f:a"], "you": ["f:d", "f:e"]}
    shrunk = await you.patch(config_map(namespace), MergePatch({"data": {"e": None}}))
    assert _owned(shrunk) == {"me": ["f:a"], "you": ["f:d"]}
    await you.patch(config_map(namespace), MergePatch({"data": {"d": None}}))
    last = await me.apply(ConfigMap(metadata=ObjectMeta(name="a", namespace=namespace)))
    assert (last.data, last.metadata.managed_fields) == ({}, [])


def _owned(obj: ConfigMap) -> dict[str, list[str]]:
    """Return the data fields of each owner."""
    entries = obj.metadata.managed_fields
    return {each["manager"]: sorted(each["fieldsV1"]["f:data"].keys() - {"."}) for each in entries}


async def test_the_three_forms(client: Client, namespace: str) -> None:
    """A typed object, an untyped one and a dict apply the same; typed input returns typed output."""
    metadata = {"name": "a", "namespace": namespace}

    typed = await client.apply(config_map(namespace, k="v"))
    untyped = await client.apply(Unstructured.new(CONFIG_MAP, name="a", namespace=namespace, data={"k": "v"}))
    from_dict = await client.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"k": "v"}})

    assert isinstance(typed, ConfigMap)
    assert isinstance(untyped, Unstructured)
    assert isinstance(from_dict, Unstructured)
    versions = {obj.metadata.resource_version for obj in (typed, untyped, from_dict)}
    assert len(versions) == 1


async def test_what_is_no_longer_applied_goes(client: Client, namespace: str) -> None:
    """A field that its only owner omits is removed; the fields of others remain."""
    await client.apply(config_map(namespace, a="1", b="1"), field_owner="me")
    await client.patch(config_map(namespace), MergePatch({"data": {"c": "1"}}), field_owner="another-manager")

    changed = await client.apply(config_map(namespace, a="1"), field_owner="me")

    assert changed.data == {"a": "1", "c": "1"}


async def test_a_field_of_somebody_else(client: Client, namespace: str) -> None:
    """A field of another owner is a Conflict that names both; when forced, the field changes its owner."""
    me, you = with_field_owner(client, "me"), with_field_owner(client, "you")
    await you.apply(config_map(namespace, k="yours"))

    with pytest.raises(Conflict) as caught:
        await me.apply(config_map(namespace, k="mine"))
    (cause,) = caught.value.causes
    assert (cause.reason, cause.field) == ("FieldManagerConflict", ".data.k")
    assert '"you"' in cause.message
    forced = await me.apply(config_map(namespace, k="mine"), force=True)
    assert forced.data == {"k": "mine"}
    assert owners_of(forced) == {("me", "Apply")}


async def test_a_field_may_have_two_owners(client: Client, namespace: str) -> None:
    """Applying the same value shares a field, which is removed when its last owner omits it."""
    for owner in ("me", "you"):
        await client.apply(config_map(namespace, k="ours"), field_owner=owner)

    shared = await client.apply(config_map(namespace), field_owner="me")
    gone = await client.apply(config_map(namespace), field_owner="you")

    assert (shared.data, gone.data) == ({"k": "ours"}, {})


async def test_what_was_read_is_applied(client: Client, namespace: str) -> None:
    """An object read from the server can be applied, despite its managedFields."""
    read = await client.create(config_map(namespace, k="1"))
    read.data["l"] = "2"

    applied = await client.apply(read, field_owner="me", force=True)

    assert applied.data == {"k": "1", "l": "2"}
    assert ("me", "Apply") in owners_of(applied)


async def test_lists_are_merged_by_their_key(client: Client, namespace: str) -> None:
    """Two owners each have a container, and neither removes the other's."""
    await client.apply(deployment(namespace, 0, containers=("mine",)), field_owner="me")
    applied = await client.apply(deployment(namespace, 0, containers=("yours",)), field_owner="you")
    again = await client.apply(deployment(namespace, 0, containers=("mine",)), field_owner="me")

    for found in (applied, again):
        assert found.spec.template.spec is not None
        assert {container.name for container in found.spec.template.spec.containers} == {"mine", "yours"}


async def test_the_status_is_applied_apart(client: Client, namespace: str) -> None:
    """Applying the status changes nothing else, and does not own the spec."""
    made = await client.create(deployment(namespace, 0))
    condition = {"type": "Seen", "status": "True", "reason": "Test"}
    status = {"conditions": [condition]}

    applied = await client.status.apply(
        Unstructured.new(Deployment.gvk, name="a", namespace=namespace, status=status), field_owner="watcher"
    )

    assert "Seen" in [found["type"] for found in applied["status"]["conditions"]]
    assert applied["spec"]["replicas"] == 0
    assert applied.metadata.generation == made.metadata.generation
    (entry,) = [entry for entry in applied.metadata.managed_fields if entry["manager"] == "watcher"]
    assert (entry["subresource"], set(entry["fieldsV1"])) == ("status", {"f:status"})
    missing = Unstructured.new(Deployment.gvk, name="b", namespace=namespace, status=status)
    with pytest.raises(NotFound):
        await client.status.apply(missing, field_owner="watcher")


async def test_what_is_wrong_is_refused(client: Client, namespace: str) -> None:
    """Apply validates objects like create."""
    with pytest.raises(Invalid):
        await client.apply(ConfigMap(metadata=ObjectMeta(name="Not A Name", namespace=namespace)))
