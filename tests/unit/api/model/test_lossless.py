"""Decoding and encoding any recorded object, typed or untyped, is lossless; one change changes one field."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pyctrl.api import GroupVersionKind, KubernetesObject, Metadata, Object, Unstructured
from pyctrl.kinds import builtin_scheme

CASES = sorted((Path(__file__).parents[3] / "conformance" / "cases").glob("*.json"))


def objects(value: Any) -> Iterator[dict[str, Any]]:
    """Yield every object that a server sent in a recording, at any depth; request bodies may be no objects."""
    if isinstance(value, dict):
        if isinstance(value.get("apiVersion"), str) and "kind" in value and isinstance(value.get("metadata"), dict):
            yield value
        for key, part in value.items():
            if key != "request":
                yield from objects(part)
    elif isinstance(value, list):
        for part in value:
            yield from objects(part)


def recorded(case: Path) -> Iterator[tuple[type[KubernetesObject] | None, dict[str, Any]]]:
    """Yield the objects of a case with their built-in class, if they have one."""
    scheme = builtin_scheme()
    for wire in objects(json.loads(case.read_text())):
        yield scheme.type_for(GroupVersionKind.parse(wire["apiVersion"], wire["kind"])), wire


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_every_recorded_object_survives(case: Path) -> None:
    """A recorded object is encoded with the same keys, values and types."""
    for cls, wire in recorded(case):
        untyped = Unstructured.from_wire(json.dumps(wire))
        assert untyped.metadata is untyped.metadata
        assert untyped.to_wire() == wire
        if cls is not None:
            obj = cls.from_wire(json.dumps(wire))
            assert obj.to_wire() == wire == json.loads(obj.to_json())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_one_change_changes_one_field(case: Path) -> None:
    """Setting a label changes only that label."""
    for cls, wire in recorded(case):
        check_label_changes(Unstructured.from_wire(json.dumps(wire)), wire)
        if cls is not None:
            check_label_changes(cls.from_wire(json.dumps(wire)), wire)
            partial = {key: wire[key] for key in ("apiVersion", "kind", "metadata")}
            check_label_changes(Metadata.of(cls.gvk).from_wire(json.dumps(wire)), partial)


def check_label_changes(obj: Object, wire: dict[str, Any]) -> None:
    """Set a label and check that nothing else has changed."""
    obj.metadata.labels["changed"] = "yes"
    labels = {**(wire["metadata"].get("labels") or {}), "changed": "yes"}
    assert obj.to_wire() == {**wire, "metadata": {**wire["metadata"], "labels": labels}}
