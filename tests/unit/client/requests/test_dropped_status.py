"""Warnings about status changes that an update of the object does not write."""

from __future__ import annotations

import pytest

from pyctrl.api import GroupVersionKind, Key, ObjectMeta, Unstructured
from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, InProcessTransport, JsonPatch, MergePatch, merge_from, reporting_dropped_status
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.kinds.core.v1 import ConfigMap, Namespace, NamespaceCondition

KEY = Key("", "a")


async def _client() -> Client:
    client = Client(InProcessTransport(ApiServer()))
    await client.create(Namespace(metadata=ObjectMeta.from_wire({"name": "a"})))
    return client


async def test_an_update_that_changes_the_status_warns() -> None:
    """The warning names the object, the field and the call to use instead, for typed and untyped objects."""
    client = await _client()
    for kind in (Namespace, GroupVersionKind("", "v1", "Namespace")):
        found = await client.get(kind, KEY)
        if isinstance(found, Namespace):
            found.status.phase = "Odd"
        else:
            assert isinstance(found, Unstructured)
            found["status"]["phase"] = "Odd"
        with pytest.warns(
            UserWarning, match=r"update of Namespace a does not write status.phase.*client.status.update"
        ):
            await client.update(found)


async def test_a_patch_that_changes_the_status_warns() -> None:
    """A merge patch warns as well, from a document or from merge_from."""
    client = await _client()
    with pytest.warns(UserWarning, match=r"patch of Namespace a does not write status.phase"):
        await client.patch(Namespace, KEY, MergePatch({"status": {"phase": "Odd"}}))
    found = await client.get(Namespace, KEY)
    patch = merge_from(found)
    found.status.phase = "Odd"
    with pytest.warns(UserWarning, match=r"client.status.patch"):
        await client.patch(found, patch)


async def test_what_is_written_does_not_warn() -> None:
    """An unchanged update, a status update, other fields, and kinds without a status subresource do not warn."""
    client = await _client()
    told: list[str] = []
    with reporting_dropped_status(told.append):
        found = await client.get(Namespace, KEY)
        found.metadata.labels["a"] = "b"
        found = await client.update(found)
        await client.patch(Namespace, KEY, JsonPatch([{"op": "add", "path": "/metadata/labels/c", "value": "d"}]))
        found = await client.get(Namespace, KEY)
        found.status.conditions = [NamespaceCondition(type="a", status="True")]
        await client.status.update(found)
        await client.create(ConfigMap(metadata=ObjectMeta.from_wire({"name": "a", "namespace": "default"})))
        await client.patch(ConfigMap, Key("default", "a"), MergePatch({"status": {"a": "b"}}))
    assert told == []
    assert Deployment.resource.subresources
