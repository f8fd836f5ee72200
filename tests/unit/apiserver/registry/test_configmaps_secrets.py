"""ConfigMaps and Secrets: `stringData`, immutable data."""

from __future__ import annotations

import pytest

from pyctrl.apiserver import ResourceRegistry
from pyctrl.apiserver._errors import StatusError
from tests.unit.apiserver._objects import complaints, create, update


def test_string_data_becomes_data_of_a_secret() -> None:
    """`stringData` is encoded into `data` and removed; the type of a Secret is immutable."""
    registry = ResourceRegistry()
    obj = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"k": "v"}}
    created, _ = create(registry, obj)
    assert (created["data"], created["type"]) == ({"k": "dg=="}, "Opaque")
    assert "stringData" not in created
    with pytest.raises(StatusError, match="type: Invalid value"):
        update(registry, {**created, "type": "other"}, created)


def test_an_immutable_config_map_does_not_change() -> None:
    """Changes of immutable `data` and of `immutable` are errors."""
    registry = ResourceRegistry()
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "immutable": True, "data": {"k": "1"}}
    old, _ = create(registry, obj)
    with pytest.raises(StatusError) as refused:
        update(registry, {**obj, "immutable": False, "data": {"k": "2"}}, old)
    assert [told.partition(":")[0] for told in complaints(refused.value)] == ["immutable", "data"]
