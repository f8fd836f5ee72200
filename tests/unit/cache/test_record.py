"""Lazily decoded typed reads of cached objects."""

from __future__ import annotations

import pytest
from pydantic import Field

from pyctrl.api import CustomResource, GroupVersionKind, Key, KubernetesObject, Model
from pyctrl.errors import DecodeError
from pyctrl.kinds.core.v1 import ConfigMap
from tests.unit.cache._kit import CONFIGMAP, lab, record, until

DELETED = "2026-01-01T00:00:00Z"


class Numbers(Model):
    """Requires numbers, which data of a ConfigMap never contains."""

    color: int = 0


class Numbered(KubernetesObject, group="", version="v1", kind="ConfigMap"):
    """A ConfigMap with a wrong type for its data."""

    data: Numbers = Field(default_factory=Numbers)


async def test_a_field_that_does_not_fit_is_an_error_where_it_is_looked_at() -> None:
    """A field of the wrong type raises an error on access, not on read or list; the error names object and field."""
    async with lab() as it:
        await it.cache.wait_for_sync()
        await it.create("c", color="red")
        await until(lambda: it.cache.informer(CONFIGMAP).lister.find(Key("default", "c")) is not None)
        objects = {obj.metadata.name: obj for obj in await it.cache.list(Numbered)}
        assert sorted(objects) == ["a", "b", "c"]
        assert objects["a"].data.color == 0
        for bad in (objects["c"], await it.cache.get(Numbered, Key("default", "c"))):
            with pytest.raises(DecodeError, match=r"^Numbered default/c: .* integer.*, got 'red' - at data\.color$"):
                _ = bad.data


async def test_an_object_that_an_index_function_cannot_read_is_in_another_index(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """An index function that does not access a bad field indexes the object; one that does access it is logged."""
    async with lab(before=()) as it:
        it.cache.add_index(Numbered, "name", lambda obj: [obj.metadata.name[0]])
        it.cache.add_index(Numbered, "color", lambda obj: [str(obj.data.color)])
        await it.cache.wait_for_sync()
        await it.create("c", color="red")
        await until(lambda: it.cache.informer(CONFIGMAP).lister.find(Key("default", "c")) is not None)
        assert len(await it.cache.list(CONFIGMAP, index=("name", "c"))) == 1
        assert not await it.cache.list(CONFIGMAP, index=("color", "0"))
        assert "An index function failed" in caplog.text


async def test_an_object_stays_what_it_was_while_the_cache_goes_on() -> None:
    """A part accessed after an update still has the version that was read, and changes to it affect no other reader."""
    async with lab() as it:
        await it.cache.wait_for_sync()
        await it.update("a", color="red")
        key = Key("default", "a")
        await until(lambda: it.cache.informer(CONFIGMAP).lister.find(key).field("data.color") == "red")  # type: ignore[union-attr]
        before, other = await it.cache.get(ConfigMap, key), await it.cache.get(ConfigMap, key)
        await it.update("a", color="blue")
        await until(lambda: it.cache.informer(CONFIGMAP).lister.find(key).field("data.color") == "blue")  # type: ignore[union-attr]
        before.data["mine"] = "1"
        assert before.data == {"color": "red", "mine": "1"}
        assert other.data == {"color": "red"}
        assert (await it.cache.get(ConfigMap, key)).data == {"color": "blue"}


async def test_an_object_of_another_kind_is_an_error_of_the_read() -> None:
    """Reading an object of another kind raises an error without decoding it."""

    class Other(CustomResource[Model], group="", version="v1"):
        pass

    async with lab() as it:
        await it.cache.wait_for_sync()
        record = it.cache.informer(CONFIGMAP).find(Key("default", "a"))
        assert record is not None
        record.kept = b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}'
        with pytest.raises(DecodeError, match="expected v1, Kind=Other, got v1, Kind=ConfigMap"):
            record.decode(Other)
        assert record.decode(GroupVersionKind("", "v1", "ConfigMap")).kind == "ConfigMap"


@pytest.mark.parametrize(
    ("more", "is_gone"),
    [
        ({}, False),
        ({"deletionTimestamp": DELETED}, True),
        ({"deletionTimestamp": DELETED, "deletionGracePeriodSeconds": 0}, True),
        ({"deletionTimestamp": DELETED, "deletionGracePeriodSeconds": 30}, False),
        ({"deletionTimestamp": DELETED, "finalizers": ["example.com/hold"]}, False),
    ],
)
def test_a_deleted_object_is_gone_without_finalizers_and_grace(more: dict[str, object], is_gone: bool) -> None:
    """The answer of a write that removes the last finalizer says that the object is gone; a pod's grace keeps it."""
    assert record("a", 1, metadata=more).is_gone is is_gone


def test_a_namespace_is_not_gone_while_its_spec_has_finalizers() -> None:
    """A deleted namespace that the namespace controller has not emptied yet is still there."""
    deleted = {"deletionTimestamp": DELETED}
    assert not record("a", 1, metadata=deleted, spec={"finalizers": ["kubernetes"]}).is_gone
    assert record("a", 1, metadata=deleted, spec={"finalizers": []}).is_gone
