"""The container of served resources."""

from __future__ import annotations

from pyctrl.apiserver import ResourceRegistry
from tests.unit.apiserver._objects import GROUP


def test_versions_are_ordered_by_how_stable_they_are() -> None:
    """The preferred version of a group is the most stable one, then the newest."""
    registry = ResourceRegistry()
    from tests.unit.apiserver._objects import create, definition

    obj = definition({"type": "object"})
    names = ("v1alpha1", "v2beta1", "v1", "v10", "v2")
    schema = {"openAPIV3Schema": {"type": "object"}}
    obj["spec"]["versions"] = [
        {"name": name, "served": True, "storage": name == "v1", "schema": schema} for name in names
    ]
    registry.install(create(registry, obj)[0])
    assert registry.group_versions[GROUP] == ["v10", "v2", "v1", "v2beta1", "v1alpha1"]
