"""Transforms of objects before they are stored."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from pyctrl.cache import KindOptions
from pyctrl.cache._transform import strip_managed_fields
from pyctrl.kinds.core.v1 import ConfigMap
from tests.unit.cache._kit import CONFIGMAP, key, lab, until


async def test_a_transform_changes_what_is_kept_and_not_what_it_is() -> None:
    """A transform may drop all but name and version; if it fails, the object is stored whole."""

    def cut(obj: dict[str, object]) -> dict[str, object]:
        if obj.get("data") == {"keep": "me"}:
            raise RuntimeError("no")
        return {"metadata": {"name": "other"}}

    async with lab(options=KindOptions(transform=cut)) as it:
        await it.create("whole", keep="me")
        await it.cache.wait_for_sync()
        await until(lambda: len(it.cache.informer(CONFIGMAP).lister.store) == 3)
        record = it.cache.informer(CONFIGMAP).find(key("a"))
        assert record is not None
        assert (record.name, record.data) == ("a", b'{"metadata":{"name":"other"}}')
        assert (await it.cache.get(ConfigMap, key("a"))).to_wire()["metadata"] == {"name": "other"}
        assert (await it.cache.get(ConfigMap, key("a"))).metadata.name == "other"
        assert (await it.cache.get(CONFIGMAP, key("whole")))["data"] == {"keep": "me"}


MANAGED = [{"manager": "me", "fieldsV1": {"f:spec": {"f:x": {}}}}]


NAMED = {"name": "a", "resourceVersion": "1"}


@pytest.mark.parametrize(
    "document",
    [
        {"metadata": {**NAMED, "managedFields": MANAGED}, "spec": {}},
        {"metadata": {"labels": {}, "managedFields": MANAGED, **NAMED}, "spec": {}},
        {"metadata": {"managedFields": MANAGED, **NAMED}},
        {"metadata": {"managedFields": MANAGED}},
        {"metadata": NAMED, "spec": {"template": {"metadata": {"managedFields": MANAGED}}}},
        {"metadata": {"annotations": {"managedFields": "[]"}, **NAMED, "managedFields": MANAGED}},
        {"data": {"managedFields": MANAGED, "x": 1}, "metadata": {**NAMED, "managedFields": MANAGED}},
        {"metadata": NAMED, "spec": {"x": 1, "managedFields": []}},
        {"metadata": {**NAMED, "managedFields": []}, "spec": {"metadata": {"managedFields": MANAGED}}},
        {"metadata": {**NAMED, "managedFields": None}},
    ],
)
@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")], ids=["tight", "spaced"])
def test_only_the_managed_fields_of_the_object_itself_are_left_out(
    document: dict[str, Any], separators: tuple[str, str]
) -> None:
    """Only the object's own managed fields are dropped, wherever they are, not other fields of that name."""
    expected = copy.deepcopy(document)
    expected["metadata"].pop("managedFields", None)
    data = json.dumps(document, separators=separators).encode()
    assert json.loads(strip_managed_fields(data)) == expected
