"""Creating, replacing and patching through the client, on any cluster."""

from __future__ import annotations

import pytest

from pyctrl.api import GroupVersionKind, Key, Metadata, ObjectMeta, Unstructured
from pyctrl.client import (
    Client,
    JsonPatch,
    MergePatch,
    ServerWarning,
    StrategicMergePatch,
    merge_from,
    with_field_owner,
)
from pyctrl.errors import AlreadyExists, BadRequest, Conflict, Invalid, NotFound
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.kinds.core.v1 import ConfigMap, Namespace
from pyctrl.testing import ClusterUnderTest
from tests.integration._objects import CONFIG_MAP, config_map, deployment, owners_of

pytestmark = pytest.mark.virtual_time  # where the cluster is embedded


# --- create ---------------------------------------------------------------------------------------------------------


async def test_create_returns_what_the_server_made(client: Client, namespace: str) -> None:
    """The result has the server's uid, version and time; the passed object is unchanged."""
    wanted = config_map(namespace, k="v")

    made = await client.create(wanted)

    assert made.metadata.uid
    assert int(made.metadata.resource_version) > 0
    assert made.metadata.creation_timestamp is not None
    assert made.data == {"k": "v"}
    assert wanted == config_map(namespace, k="v")


async def test_create_without_a_type(client: Client, namespace: str) -> None:
    """An untyped object is created by its apiVersion and kind."""
    made = await client.create(Unstructured.new(CONFIG_MAP, name="a", namespace=namespace, data={"k": "v"}))

    assert isinstance(made, Unstructured)
    assert (await client.get(ConfigMap, made.key)).data == {"k": "v"}


async def test_create_with_a_generated_name(client: Client, namespace: str) -> None:
    """The server generates a new name from the prefix each time."""
    wanted = ConfigMap(metadata=ObjectMeta(generate_name="made-", namespace=namespace))

    names = {(await client.create(wanted)).metadata.name for _ in range(3)}

    assert len(names) == 3
    assert all(name.startswith("made-") and len(name) > len("made-") for name in names)


async def test_create_what_is_there(client: Client, namespace: str) -> None:
    """A taken name raises AlreadyExists, which names the object; the object is unchanged."""
    await client.create(config_map(namespace, k="first"))

    with pytest.raises(AlreadyExists) as caught:
        await client.create(config_map(namespace, k="second"))

    assert (caught.value.code, caught.value.details["name"]) == (409, "a")
    assert (await client.get(ConfigMap, Key(namespace, "a"))).data == {"k": "first"}


async def test_create_what_is_wrong(client: Client, namespace: str) -> None:
    """An invalid object raises Invalid, with each field and reason."""
    wrong = deployment(namespace, 1, name="Not A Name")
    wrong.spec.template.metadata.labels = {"app": "another"}

    with pytest.raises(Invalid) as caught:
        await client.create(wrong)

    fields = {cause.field: cause.reason for cause in caught.value.causes}
    assert fields["metadata.name"] == "FieldValueInvalid"
    assert fields["spec.template.metadata.labels"] == "FieldValueInvalid"


async def test_create_in_a_namespace_that_is_not_there(client: Client, namespace: str) -> None:
    """A missing namespace raises NotFound for it; without a namespace no request is sent."""
    with pytest.raises(NotFound, match=f'namespaces "{namespace}-no" not found'):
        await client.create(config_map(f"{namespace}-no"))
    with pytest.raises(ValueError, match="pass its namespace"):
        await client.create(config_map(""))


# --- update ---------------------------------------------------------------------------------------------------------


async def test_update(client: Client, namespace: str) -> None:
    """An update replaces the object, and removes omitted fields."""
    made = await client.create(config_map(namespace, k="1", l="1"))
    made.data = {"k": "2"}

    changed = await client.update(made)

    assert changed.data == {"k": "2"} == (await client.get(ConfigMap, made.key)).data
    assert int(changed.metadata.resource_version) > int(made.metadata.resource_version)
    assert changed.metadata.uid == made.metadata.uid


async def test_update_of_something_older(client: Client, namespace: str) -> None:
    """An update of an outdated version is a Conflict; without a version it is unconditional."""
    mine = await client.create(config_map(namespace, k="1"))
    await client.patch(mine, MergePatch({"data": {"k": "theirs"}}))
    mine.data["k"] = "mine"

    with pytest.raises(Conflict, match="the object has been modified"):
        await client.update(mine)
    assert (await client.get(ConfigMap, mine.key)).data == {"k": "theirs"}
    mine.metadata.resource_version = ""
    assert (await client.update(mine)).data == {"k": "mine"}


async def test_update_that_changes_nothing(client: Client, namespace: str) -> None:
    """An update without changes keeps the version, so watchers get no event."""
    made = await client.create(config_map(namespace, k="1"))

    assert (await client.update(made)).metadata.resource_version == made.metadata.resource_version


async def test_update_that_is_refused(client: Client, namespace: str) -> None:
    """Updating a missing object is NotFound; changing an immutable field is Invalid."""
    with pytest.raises(NotFound):
        await client.update(config_map(namespace))
    made = await client.create(deployment(namespace, 0))
    made.metadata.resource_version = ""  # its controller may have written already
    made.spec.selector.match_labels = {"app": "another"}
    made.spec.template.metadata.labels = {"app": "another"}
    with pytest.raises(Invalid, match="field is immutable") as caught:
        await client.update(made)
    assert [cause.field for cause in caught.value.causes] == ["spec.selector"]


async def test_generation_counts_the_spec(client: Client, namespace: str) -> None:
    """A change of the spec raises the generation; a change of labels does not."""
    made = await client.create(deployment(namespace, 0))

    labelled = await client.patch(made, MergePatch({"metadata": {"labels": {"x": "y"}}}))
    paused = await client.patch(made, MergePatch({"spec": {"paused": True}}))

    generations = [obj.metadata.generation for obj in (made, labelled, paused)]
    assert generations == [1, 1, 2]


# --- patch ----------------------------------------------------------------------------------------------------------


async def test_merge_patch(client: Client, namespace: str) -> None:
    """A merge patch replaces members, removes those that are null, and keeps the rest."""
    made = await client.create(config_map(namespace, a="1", b="1", c="1"))

    changed = await client.patch(ConfigMap, made.key, MergePatch({"data": {"a": "2", "b": None, "d": "2"}}))
    untyped = await client.patch(CONFIG_MAP, made.key, MergePatch({"data": None}))

    assert changed.data == {"a": "2", "c": "1", "d": "2"}
    assert "data" not in untyped


async def test_json_patch(client: Client, namespace: str) -> None:
    """Operations apply in order, all or none: a failed test rejects the patch."""
    made = await client.create(config_map(namespace, a="1", b="1"))
    remove = {"op": "remove", "path": "/data/a"}

    with pytest.raises(Invalid):
        await client.patch(made, JsonPatch([remove, {"op": "test", "path": "/data/b", "value": "2"}]))
    assert (await client.get(ConfigMap, made.key)).data == {"a": "1", "b": "1"}
    annotate = {"op": "add", "path": "/metadata/annotations", "value": {}}
    note = {"op": "add", "path": "/metadata/annotations/example.com~1note", "value": "x"}
    changed = await client.patch(made, JsonPatch([remove, annotate, note]))
    assert (changed.data, changed.metadata.annotations) == ({"b": "1"}, {"example.com/note": "x"})


async def test_strategic_merge_patch(client: Client, namespace: str) -> None:
    """A strategic patch changes, removes and adds containers by name."""
    made = await client.create(deployment(namespace, 0, containers=("a", "b")))
    containers = [{"name": "a", "image": "busybox:2"}, {"name": "b", "$patch": "delete"}, {"name": "c", "image": "x"}]

    changed = await client.patch(
        made, StrategicMergePatch({"spec": {"template": {"spec": {"containers": containers}}}})
    )

    found = {container.name: container.image for container in changed.spec.template.spec.containers}
    assert found == {"a": "busybox:2", "c": "x"}


async def test_strategic_merge_patch_that_retains_keys(client: Client, namespace: str) -> None:
    """A patch that lists the retained keys can change a strategy's type, as kubectl apply does."""
    made = await client.create(deployment(namespace, 0, containers=("a",)))
    assert made.spec.strategy is not None
    assert made.spec.strategy.rolling_update is not None

    strategy = {"$retainKeys": ["type"], "type": "Recreate"}
    changed = await client.patch(made, StrategicMergePatch({"spec": {"strategy": strategy}}))
    assert changed.spec.strategy is not None
    assert (changed.spec.strategy.type, changed.spec.strategy.rolling_update) == ("Recreate", None)

    strategy = {"$retainKeys": [], "type": "RollingUpdate"}
    with pytest.raises(BadRequest, match="invalid patch format of retainKeys"):
        await client.patch(made, StrategicMergePatch({"spec": {"strategy": strategy}}))


async def test_merge_from_sends_the_difference(client: Client, namespace: str) -> None:
    """Only local changes are sent, so concurrent changes of other fields remain."""
    mine = await client.create(config_map(namespace, a="1", b="1"))
    patch = merge_from(mine)
    mine.data["a"] = "mine"
    await client.patch(ConfigMap, mine.key, MergePatch({"data": {"b": "theirs"}}))

    assert (await client.patch(mine, patch)).data == {"a": "mine", "b": "theirs"}


async def test_merge_from_with_a_lock(client: Client, namespace: str) -> None:
    """With a lock a concurrent change is a Conflict, typed or not."""
    mine = await client.create(config_map(namespace, a="1"))
    untyped = await client.get(CONFIG_MAP, mine.key)
    first, second = merge_from(mine, optimistic_lock=True), merge_from(untyped, optimistic_lock=True)
    mine.data["a"] = "mine"
    untyped["data"]["a"] = "late"

    assert (await client.patch(mine, first)).data == {"a": "mine"}
    with pytest.raises(Conflict):
        await client.patch(untyped, second)
    assert (await client.get(ConfigMap, mine.key)).data == {"a": "mine"}


async def test_metadata_alone_is_patched(client: Client, namespace: str) -> None:
    """The metadata of an object known only by metadata can be patched, without changing the rest."""
    made = await client.create(config_map(namespace, k="v"))
    view = await client.get(Metadata[ConfigMap], made.key)
    patch = merge_from(view)
    view.metadata.labels["seen"] = "yes"

    answer = await client.patch(view, patch)

    assert answer.metadata.labels == {"seen": "yes"}
    found = await client.get(ConfigMap, made.key)
    assert (found.metadata.labels, found.data) == ({"seen": "yes"}, {"k": "v"})
    with pytest.raises(TypeError, match="patch it instead"):
        await client.update(view)


async def test_a_patch_of_nothing(client: Client, namespace: str) -> None:
    """A patch of a missing object is NotFound; a malformed patch is rejected."""
    with pytest.raises(NotFound):
        await client.patch(ConfigMap, Key(namespace, "a"), MergePatch({"data": {}}))
    made = await client.create(config_map(namespace))
    with pytest.raises((BadRequest, Invalid)):
        await client.patch(made, MergePatch({"data": {"k": {"not": "a text"}}}))


# --- all verbs ------------------------------------------------------------------------------------------------------


async def test_dry_run(client: Client, namespace: str) -> None:
    """A dry run of each verb validates and returns the result, but stores nothing."""
    made = await client.create(config_map(namespace, k="1"))

    other = await client.create(config_map(namespace, "b"), dry_run=True)
    patched = await client.patch(made, MergePatch({"data": {"k": "2"}}), dry_run=True)
    applied = await client.apply(config_map(namespace, k="3"), force=True, dry_run=True)
    await client.delete(made, dry_run=True)
    with pytest.raises(Invalid):
        await client.create(config_map(namespace, "Not A Name"), dry_run=True)

    assert other.metadata.uid
    assert (patched.data, applied.data) == ({"k": "2"}, {"k": "3"})
    assert await client.get(ConfigMap, made.key) == made
    assert await client.find(ConfigMap, Key(namespace, "b")) is None


async def test_field_owner(client: Client, namespace: str) -> None:
    """Written fields belong to the client's name, unless the client or request sets another."""
    made = await client.create(config_map(namespace, k="1"))
    await client.patch(made, MergePatch({"data": {"l": "1"}}), field_owner="patcher")
    await with_field_owner(client, "derived").patch(made, MergePatch({"data": {"m": "1"}}))

    found = await client.get(ConfigMap, made.key)

    assert owners_of(found) == {("pyctrl", "Update"), ("patcher", "Update"), ("derived", "Update")}


async def test_field_validation(cluster: ClusterUnderTest, namespace: str) -> None:
    """An unknown field is a warning by default, an error when strict, or ignored."""
    warnings: list[ServerWarning] = []
    wrong = deployment(namespace, 0)
    wrong.spec.__pydantic_extra__ = {"replica": 1}

    async with Client.connect(cluster.config, on_warning=warnings.append) as client:
        with pytest.raises(BadRequest, match='unknown field "spec.replica"'):
            await client.create(wrong, field_validation="Strict")
        assert warnings == []
        await client.create(wrong, field_validation="Ignore", dry_run=True)
        assert warnings == []
        made = await client.create(wrong)
        await client.patch(made, MergePatch({"spec": {"replica": 2}}), field_validation="Warn")

    assert [warning.text for warning in warnings] == ['unknown field "spec.replica"'] * 2
    assert warnings[0].request.startswith(f"POST /apis/apps/v1/namespaces/{namespace}/deployments")
    assert "replica" not in made.to_wire()["spec"]


async def test_a_kind_of_the_cluster_scope(client: Client, namespace: str) -> None:
    """Cluster-scoped objects are written by name alone."""
    labels = {"metadata": {"labels": {"seen": "yes"}}}

    typed = await client.patch(Namespace, Key("", namespace), MergePatch(labels))
    untyped = await client.patch(GroupVersionKind("", "v1", "Namespace"), Key("", namespace), MergePatch(labels))

    assert typed.metadata.labels["seen"] == untyped.metadata.labels["seen"] == "yes"


async def test_unknown_fields_come_back(client: Client, namespace: str) -> None:
    """A read object can be written back without losing or changing unknown fields."""
    made = await client.create(deployment(namespace, 0))

    read = await client.get(Deployment, made.key)
    read.metadata.resource_version = ""  # its controller may write to it meanwhile
    again = await client.update(read)

    assert again.to_wire()["spec"] == made.to_wire()["spec"]
