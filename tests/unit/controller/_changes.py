"""Changes of objects for tests of predicates."""

from __future__ import annotations

from typing import Any

from pyctrl.api import CustomResource, Model, ObjectMeta
from pyctrl.cache import Created, Deleted, Record, Updated
from pyctrl.cache._record import RecordReader
from pyctrl.controller import (
    ObjectChange,
)
from pyctrl.controller._sources.kind import to_object_change


class ThingSpec(Model):
    size: int = 1


class Thing(CustomResource[ThingSpec], group="example.com", version="v1"):
    """A thing."""


def record(size: int = 1, **changes: Any) -> Record:
    meta: dict[str, Any] = {"name": "web", "namespace": "default", "uid": "u", "resource_version": "1", "generation": 1}
    return RecordReader()(Thing(metadata=ObjectMeta(**(meta | changes)), spec=ThingSpec(size=size)).to_json())


def created(thing: Record) -> ObjectChange[Thing]:
    return to_object_change(Created(thing), Thing)


def deleted(thing: Record) -> ObjectChange[Thing]:
    return to_object_change(Deleted(thing), Thing)


def updated(old: Record, new: Record) -> ObjectChange[Thing]:
    return to_object_change(Updated(old, new), Thing)
