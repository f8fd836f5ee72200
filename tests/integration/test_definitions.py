"""Custom kinds from the installation of their definition to its removal, on any cluster."""

from __future__ import annotations

import asyncio

import pytest

from pyctrl.api import CustomResource, GroupVersionKind, Int32, Key, Metadata, Model, ObjectMeta, Unstructured
from pyctrl.client import Client, JsonPatch, MergePatch, ServerWarning, StrategicMergePatch, wait_for, wait_until_gone
from pyctrl.errors import BadRequest, Conflict, Invalid, NotFound, UnknownKind, UnsupportedMediaType
from pyctrl.kinds.apiextensions.v1 import CustomResourceDefinition
from pyctrl.testing import ClusterUnderTest
from tests.integration._definitions import definition_of, install_kind, installed, widget_kind

pytestmark = [
    pytest.mark.virtual_time,  # where the cluster is embedded
    pytest.mark.slow("a real API server lets the first creation of a new kind wait for two seconds"),
]


class WidgetSpec(Model):
    """What the user wants."""

    size: Int32
    colour: str = "red"


class WidgetStatus(Model):
    """What there is."""

    ready: bool = False


def widget(kind: GroupVersionKind, namespace: str, name: str = "a", **spec: object) -> Unstructured:
    return Unstructured.new(kind, name=name, namespace=namespace, spec=spec)


def causes(error: Invalid) -> set[tuple[str, str]]:
    return {(cause.field, cause.reason) for cause in error.causes}


async def test_from_installation_to_removal(client: Client, namespace: str) -> None:
    """A kind is UnknownKind until its definition is installed, then served, then UnknownKind again."""
    kind = widget_kind(namespace)
    with pytest.raises(UnknownKind, match="is its definition installed"):
        await client.create(widget(kind, namespace, size=1))

    async with installed(client, kind):
        made = await client.create(widget(kind, namespace, size=1))
        assert (await client.get(kind, made.key))["spec"]["size"] == 1
        assert [obj.key for obj in await client.list(kind)] == [made.key]

    with pytest.raises(UnknownKind):
        await client.find(kind, made.key)


async def test_a_class_needs_no_discovery(client: Client, namespace: str) -> None:
    """A class raises UnknownKind unless its definition is installed, and otherwise has typed objects."""
    group = widget_kind(namespace).group

    class Widget(CustomResource[WidgetSpec, WidgetStatus], group=group, version="v1"):
        """A widget of this test."""

    wanted = Widget(metadata=ObjectMeta(name="a", namespace=namespace), spec=WidgetSpec(size=1))
    for ask in (client.create(wanted), client.find(Widget, wanted.key), client.get(Metadata[Widget], wanted.key)):
        with pytest.raises(UnknownKind):
            await ask

    async with installed(client, Widget.gvk):
        made = await client.create(wanted)
        made.status.ready = True
        told = await client.status.update(made)
        read = await client.get(Widget, made.key)
        view = await client.get(Metadata[Widget], made.key)

    assert (read.spec.size, read.spec.colour, read.status.ready) == (1, "red", True)
    assert told == read
    assert view.metadata == read.metadata
    with pytest.raises(UnknownKind):
        await client.list(Widget)


async def test_objects_are_validated(client: Client, namespace: str) -> None:
    """An object that violates its schema is Invalid for every verb, with each field and reason."""
    async with installed(client, widget_kind(namespace)) as kind:
        with pytest.raises(Invalid) as created:
            await client.create(widget(kind, namespace, size=11, colour="green", parts=[{"weight": 1}]))
        with pytest.raises(Invalid) as missing:
            await client.create(widget(kind, namespace))
        made = await client.create(widget(kind, namespace, size=1))
        with pytest.raises(Invalid) as patched:
            await client.patch(made, MergePatch({"spec": {"size": -1}}))
        with pytest.raises(Invalid) as applied:
            await client.apply(widget(kind, namespace, size=1, colour="green"), field_owner="me", force=True)
        with pytest.raises(Invalid) as status:
            await client.status.patch(made, MergePatch({"status": {"ready": "yes"}}))

    assert causes(created.value) == {
        ("spec.size", "FieldValueInvalid"),
        ("spec.colour", "FieldValueNotSupported"),
        ("spec.parts[0].name", "FieldValueRequired"),
    }
    assert causes(missing.value) == {("spec.size", "FieldValueRequired")}
    assert causes(patched.value) == {("spec.size", "FieldValueInvalid")}
    assert causes(applied.value) == {("spec.colour", "FieldValueNotSupported")}
    assert causes(status.value) == {("status.ready", "FieldValueTypeInvalid")}


async def test_objects_get_defaults_and_lose_what_is_unknown(cluster: ClusterUnderTest, namespace: str) -> None:
    """Defaults are set, also in lists; unknown fields are pruned with a warning, unless preserved."""
    warnings: list[ServerWarning] = []
    async with (
        Client.connect(cluster.config, on_warning=warnings.append) as client,
        installed(client, widget_kind(namespace)) as kind,
    ):
        warnings.clear()
        parts = [{"name": "wheel"}, {"name": "axle", "weight": 2, "unknown": 1}]
        wanted = widget(kind, namespace, size=1, parts=parts, free={"kept": 1}, unknown=2)
        with pytest.raises(BadRequest, match=r"spec\.unknown"):
            await client.create(wanted, field_validation="Strict")
        made = await client.create(wanted)

    assert made["spec"] == {
        "size": 1,
        "colour": "red",
        "parts": [{"name": "wheel", "weight": 1}, {"name": "axle", "weight": 2}],
        "free": {"kept": 1},
    }
    assert {warning.text for warning in warnings} == {
        'unknown field "spec.parts[1].unknown"',
        'unknown field "spec.unknown"',
    }


async def test_spec_and_status_are_apart(client: Client, namespace: str) -> None:
    """Object writes keep the status and raise the generation; status writes do neither."""
    async with installed(client, widget_kind(namespace)) as kind:
        made = await client.create(
            Unstructured.new(kind, name="a", namespace=namespace, spec={"size": 1}, status={"ready": True})
        )
        told = await client.status.patch(made, MergePatch({"status": {"ready": True}, "spec": {"size": 5}}))
        with pytest.warns(UserWarning, match=r"does not write status\.ready"):
            resized = await client.patch(made, MergePatch({"spec": {"size": 2}, "status": {"ready": False}}))
        labelled = await client.patch(made, JsonPatch([{"op": "add", "path": "/metadata/labels", "value": {"a": "b"}}]))
        applied = await client.status.apply(
            Unstructured.new(kind, name="a", namespace=namespace, status={"seen": 2}), field_owner="watcher"
        )
        with pytest.raises(Conflict):
            await client.status.update(made)

    assert "status" not in made
    assert (told["status"], told["spec"]["size"]) == ({"ready": True}, 1)
    assert (resized["status"], resized["spec"]["size"]) == ({"ready": True}, 2)
    assert applied["status"] == {"ready": True, "seen": 2}
    generations = [obj.metadata.generation for obj in (made, told, resized, labelled, applied)]
    assert generations == [1, 1, 2, 2, 2]


async def test_what_custom_kinds_do_not_take(client: Client, namespace: str) -> None:
    """A strategic merge patch of a custom kind is an error that says so; a missing object is NotFound."""
    async with installed(client, widget_kind(namespace)) as kind:
        made = await client.create(widget(kind, namespace, size=1))
        with pytest.raises(UnsupportedMediaType):
            await client.patch(made, StrategicMergePatch({"spec": {"size": 2}}))
        with pytest.raises(NotFound, match='"b" not found'):
            await client.get(kind, Key(namespace, "b"))


async def test_a_definition_that_is_wrong(client: Client, namespace: str) -> None:
    """A definition with a non-structural schema or wrong names is Invalid."""
    kind = widget_kind(namespace)
    wrong = definition_of(kind, {"type": "object", "properties": {"spec": {"properties": {}}}})
    misnamed = definition_of(kind)
    misnamed.metadata.name = f"gadgets.{kind.group}"

    with pytest.raises(Invalid) as untyped:
        await client.create(wrong)
    with pytest.raises(Invalid) as unfit:
        await client.create(misnamed)

    (cause,) = untyped.value.causes
    assert cause.field == "spec.validation.openAPIV3Schema.properties[spec].type"
    assert [cause.field for cause in unfit.value.causes] == ["metadata.name"]


async def test_a_schema_that_changes(client: Client, namespace: str) -> None:
    """After a schema changes, existing objects are validated at their next write."""
    async with installed(client, widget_kind(namespace)) as kind:
        made = await client.create(widget(kind, namespace, size=9))
        name = definition_of(kind).metadata.name
        path = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/size/maximum"
        changed = await client.patch(
            CustomResourceDefinition, Key("", name), JsonPatch([{"op": "replace", "path": path, "value": 5}])
        )

        assert changed.metadata.generation == 2
        assert (await client.get(kind, made.key))["spec"]["size"] == 9
        with pytest.raises(Invalid, match=r"spec\.size"):
            async with asyncio.timeout(10):
                while await client.create(widget(kind, namespace, "b", size=8), dry_run=True):
                    await asyncio.sleep(0.02)  # a server applies a schema after a while, without an event


async def test_finalizers_outlive_no_definition(client: Client, namespace: str) -> None:
    """A deleted definition remains until its objects are gone, finalizers included."""
    kind = widget_kind(namespace)
    definition = await install_kind(client, kind)
    held = widget(kind, namespace, size=1)
    held.metadata.finalizers = ["pyctrl.test/hold"]
    made = await client.create(held)

    await client.delete(definition)
    await wait_for(client, kind, made.key, lambda found: found.metadata.deletion_timestamp is not None)
    await client.patch(made, MergePatch({"metadata": {"finalizers": None}}))
    await wait_until_gone(client, CustomResourceDefinition, definition.key)

    with pytest.raises(NotFound):
        await client.delete(definition)


async def test_any_key_is_taken_where_none_is_declared(client: Client, namespace: str) -> None:
    """Objects without properties lose their keys, items of a list that preserves unknown fields keep them.

    The creator owns the keyed list itself, too.
    """
    kind, item = widget_kind(namespace), {"type": "object", "properties": {"name": {"type": "string"}}}
    keyed = {**item, "required": ["name"]}
    lists = {
        "plain": {"type": "array", "items": {"type": "object"}},
        "kept": {"type": "array", "items": item, "x-kubernetes-preserve-unknown-fields": True},
        "keyed": {
            "type": "array",
            "items": keyed,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
        },
    }
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": lists}}}
    async with installed(client, kind, schema):
        spec = {"plain": [{"a": 1}], "kept": [{"name": "b", "any": {"c": 1}}], "keyed": [{"name": "d"}]}
        made = await client.create(Unstructured.new(kind, name="a", namespace=namespace, spec=spec))
        assert made["spec"] == {**spec, "plain": [{}]}
        (entry,) = made.metadata.managed_fields
        assert entry["fieldsV1"]["f:spec"]["f:keyed"] == {".": {}, 'k:{"name":"d"}': {".": {}, "f:name": {}}}


async def test_a_group_of_kubernetes_needs_an_approval(client: Client, namespace: str) -> None:
    """The definition is refused without the annotation; with it, a condition says that the API is approved."""
    definition = definition_of(GroupVersionKind(f"{namespace}.k8s.io", "v1", "Widget"))
    with pytest.raises(Invalid, match="protected groups must have approval annotation"):
        await client.create(definition)
    definition.metadata.annotations = {"api-approved.kubernetes.io": "https://example.com/pull/1"}
    await client.create(definition)

    def approval(found: CustomResourceDefinition) -> list[str]:
        wanted = "KubernetesAPIApprovalPolicyConformant"
        return [each.message or "" for each in found.status.conditions if each.type == wanted]

    try:
        found = await wait_for(client, CustomResourceDefinition, definition.key, lambda crd: bool(approval(crd)))
        assert approval(found) == ["approved in https://example.com/pull/1"]
    finally:
        await client.delete(CustomResourceDefinition, definition.key)
