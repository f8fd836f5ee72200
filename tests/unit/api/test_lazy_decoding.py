"""Lazily decoded objects behave like eagerly decoded ones, except for the time of errors."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pydantic import BaseModel, Field, SecretStr

from examples.podset.podset import PodSet
from pyctrl.api import Condition, CustomResource, KubernetesObject, Metadata, Model, decode, decode_known, set_condition
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.kinds.core.v1 import ConfigMap, Pod, Secret
from tests.unit.api.model.test_lossless import CASES, recorded

LONG = "x" * 600  # a part with it is long enough for lazy decoding


class Setting(Model):
    """One setting."""

    name: str
    value: str = ""


class GaugeSpec(Model):
    """Long enough for lazy decoding, with fields of many types."""

    image: str
    replicas: int = Field(default=1, ge=0)
    env: list[Setting] = Field(default_factory=list)
    by_name: dict[str, Setting] = Field(default_factory=dict)
    nested: Setting | None = None
    password: SecretStr | None = None


class GaugeStatus(Model):
    """The status."""

    phase: str = ""
    conditions: list[Condition] = Field(default_factory=list)


class Gauge(CustomResource[GaugeSpec, GaugeStatus], group="test.example.com", version="v1"):
    """A kind with extras, nulls and a secret."""


class Holder(BaseModel):
    """Another model with an object as a field."""

    held: Any
    typed: KubernetesObject


METADATA: dict[str, Any] = {
    "name": "a",
    "namespace": "default",
    "uid": "1-2",
    "resourceVersion": "7",
    "creationTimestamp": "2026-01-01T00:00:00Z",
    "labels": {"app": "web"},
    "annotations": {"example.com/note": LONG},
    "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "9", "controller": True}],
    "managedFields": [{"manager": "m", "operation": "Update", "fieldsV1": {"f:spec": {".": {}, "f:image": {}}}}],
    "unknown": {"kept": [1, 2.5, None]},
}
CONTAINER = {"name": "c", "image": "i", "env": [{"name": "A", "value": LONG}], "ports": [{"containerPort": 80}]}
GAUGE = {
    "image": LONG,
    "env": [{"name": "A", "odd": 1}, {"name": "B"}],
    "byName": {"k": {"name": "K"}},
    "odd": {"x": 1},
}
SAMPLES: dict[str, tuple[type[KubernetesObject], dict[str, Any]]] = {
    "podset": (PodSet, {"spec": {"size": 2}, "status": {"nodes": ["n1"]}}),
    "podset without status": (PodSet, {"spec": {"size": 2}}),
    "configmap": (ConfigMap, {"data": {"a": LONG}, "immutable": True}),
    "configmap with nulls": (ConfigMap, {"data": {"a": "1"}, "binaryData": None}),
    "configmap with a null in a map": (ConfigMap, {"data": {"a": "1", "b": None}}),
    "secret": (Secret, {"data": {"password": "c2VjcmV0"}, "type": "Opaque"}),
    "pod": (Pod, {"spec": {"containers": [CONTAINER]}, "status": {"phase": "Running", "startTime": None}}),
    "deployment": (
        Deployment,
        {
            "spec": {
                "replicas": 2,
                "selector": {"matchLabels": {"app": "web"}},
                "template": {"metadata": {"creationTimestamp": None}, "spec": {"containers": [CONTAINER]}},
            },
            "status": {"replicas": 2},
        },
    ),
    "gauge": (Gauge, {"spec": GAUGE, "status": {"phase": LONG, "conditions": [{"type": "Ready", "status": "True"}]}}),
    "gauge with nulls": (Gauge, {"spec": {**GAUGE, "nested": None, "env": None}, "status": None}),
    "gauge with a secret": (Gauge, {"spec": {**GAUGE, "password": "hidden"}, "extra": [None, {"a": 1}]}),
}


def written(name: str) -> tuple[type[Any], bytes]:
    """Return the class and the JSON of a sample."""
    cls, parts = SAMPLES[name]
    head = {"apiVersion": cls.gvk.api_version, "kind": cls.gvk.kind, "metadata": METADATA}
    return cls, json.dumps({**head, **parts}, separators=(",", ":")).encode()


Read = Callable[[Any, bytes], Any]


def lazily(cls: Any, data: bytes) -> Any:
    """Decode an object lazily, after finding its members."""
    return decode(cls, data, lazily=True)


def known(cls: Any, data: bytes) -> Any:
    """Decode an object as the cache does, with known names and without parsing its JSON."""
    metadata = json.loads(data)["metadata"]
    return decode_known(
        cls, data, metadata.get("name") or "", metadata.get("namespace") or "", metadata.get("uid") or ""
    )


@pytest.fixture(params=[lazily, known])
def read(request: pytest.FixtureRequest) -> Read:
    """Return all ways of lazy decoding."""
    found: Read = request.param
    return found


def both(name: str, read: Read) -> tuple[Any, Any]:
    """Return an eagerly decoded sample, and one that is not decoded yet."""
    cls, data = written(name)
    return cls.from_wire(data), read(cls, data)


def look(value: Any, random: Random, *, part: float = 0.5) -> None:
    """Access some of the fields and their parts, in any order."""
    if isinstance(value, Model):
        names = [name for name in type(value).model_fields if random.random() < part]
        random.shuffle(names)
        for name in names:
            look(getattr(value, name), random, part=part)
    elif isinstance(value, list):
        for item in value:
            look(item, random, part=part)


def relabel(obj: Any) -> None:
    obj.metadata.labels["new"] = "1"


def replace_metadata_field(obj: Any) -> None:
    obj.metadata.finalizers = ["example.com/hold"]


def forget_the_owner(obj: Any) -> None:
    obj.metadata.owner_references.clear()


def drop_managed_fields(obj: Any) -> None:
    obj.metadata.managed_fields = []


def remove_a_field(obj: Any) -> None:
    del obj.metadata


def set_an_extra(obj: Any) -> None:
    obj.something_new = {"a": [1]}


def extend_metadata(obj: Any) -> None:
    obj.metadata.model_extra["more"] = {"x": 1}


def clear_labels(obj: Any) -> None:
    obj.metadata.labels = None


CHANGES = [
    relabel,
    replace_metadata_field,
    forget_the_owner,
    drop_managed_fields,
    remove_a_field,
    set_an_extra,
    extend_metadata,
    clear_labels,
]

VIEWS: dict[str, Callable[[Any], Any]] = {
    "to_wire": lambda obj: obj.to_wire(),
    "to_json": lambda obj: obj.to_json(),
    "model_dump": lambda obj: obj.model_dump(),
    "model_dump of what is set": lambda obj: obj.model_dump(mode="json", by_alias=True, exclude_unset=True),
    "model_dump without defaults": lambda obj: obj.model_dump(exclude_defaults=True),
    "model_dump_json": lambda obj: obj.model_dump_json(),
    "repr": repr,
    "str": str,
    "iteration": list,
    "vars": lambda obj: list(vars(obj).items()),
    "fields set": lambda obj: obj.model_fields_set,
    "extras": lambda obj: obj.model_extra,
    "key": lambda obj: obj.key if "metadata" in vars(obj) else None,
    "pickled": lambda obj: pickle.loads(pickle.dumps(obj)),
    "copied": copy.copy,
    "copied deeply": copy.deepcopy,
    "deep_copy": lambda obj: obj.deep_copy(),
    "model_copy": lambda obj: obj.model_copy(update={"kind": "Other"}),
    "held by another": lambda obj: Holder(held=obj, typed=obj).model_dump_json(),
    "directory": lambda obj: sorted(dir(obj)),
    "known attribute": lambda obj: hasattr(obj, "metadata"),
    "unknown attribute": lambda obj: (hasattr(obj, "nothing"), getattr(obj, "extra", None)),
    "class": type,
}


@pytest.mark.parametrize("name", SAMPLES)
def test_every_view_of_an_object_is_the_same(name: str, read: Read) -> None:
    """After any accesses, a lazy object shows and encodes the same as an eager one."""
    random = Random(name)
    for view in VIEWS.values():
        for part in (0.0, 0.3, 1.0):
            eager, lazy = both(name, read)
            look(lazy, random, part=part)
            assert view(lazy) == view(eager)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_change_of_an_object_is_the_same(name: str, read: Read) -> None:
    """A change, before or after any accesses, gives the same object as with eager decoding."""
    random = Random(name)
    for change in CHANGES:
        for part in (0.0, 0.3, 1.0):
            eager, lazy = both(name, read)
            look(lazy, random, part=part)
            for obj in (eager, lazy):
                change(obj)
            if change is remove_a_field:
                assert not hasattr(lazy, "metadata")
                assert list(vars(lazy)) == list(vars(eager))
                continue
            assert lazy.to_json() == eager.to_json()
            assert lazy == eager
            assert eager == lazy


@pytest.mark.parametrize("name", SAMPLES)
def test_objects_are_equal_however_they_were_read(name: str, read: Read) -> None:
    """Equality does not depend on accesses or the side; mutable objects have no hash."""
    eager, lazy = both(name, read)
    assert lazy == eager
    eager, lazy = both(name, read)
    assert eager == lazy
    assert both(name, read)[1] == both(name, read)[1]
    changed = both(name, read)[1]
    changed.metadata.labels["app"] = "other"
    assert changed != eager
    with pytest.raises(TypeError, match="unhashable"):
        hash(both(name, read)[1])


@pytest.mark.parametrize("name", SAMPLES)
def test_an_untouched_object_is_written_as_it_came(name: str, read: Read) -> None:
    """An unchanged object is encoded as it was received, including nulls and unknown fields."""
    cls, data = written(name)
    wanted = json.loads(data)
    if name == "configmap with a null in a map":
        del wanted["data"]["b"]  # which read as absent
    obj = read(cls, data)
    assert json.loads(obj.to_json()) == wanted == obj.to_wire()
    obj = read(cls, data)
    assert obj.metadata.name == "a"
    assert json.loads(obj.deep_copy().to_json()) == wanted


@pytest.mark.parametrize("name", SAMPLES)
def test_a_copy_is_independent(name: str, read: Read) -> None:
    """Accesses and changes in a copy do not show in the original, or the reverse."""
    cls, data = written(name)
    for part in (0.0, 0.5, 1.0):
        first: Any = read(cls, data)
        look(first, Random(name), part=part)
        second = first.deep_copy()
        second.metadata.labels["app"] = "changed"
        second.metadata.managed_fields[0]["manager"] = "changed"
        assert first.metadata.labels == {"app": "web"}
        first.metadata.annotations.clear()
        assert second.metadata.annotations == {"example.com/note": LONG}
        assert first.metadata.managed_fields[0]["manager"] == "m"


def test_a_part_is_decoded_once(read: Read) -> None:
    """Repeated accesses return the same part, so changes to the part are kept."""
    _eager, obj = both("deployment", read)
    template = obj.spec.template
    template.metadata.labels["seen"] = "1"
    assert obj.spec.template is template
    assert "status" in obj.model_dump()
    assert obj.spec.template is template
    assert obj.to_wire()["spec"]["template"]["metadata"]["labels"] == {"seen": "1"}


def test_a_default_that_is_changed_in_place_is_written(read: Read) -> None:
    """A default changed in place is encoded, in an absent and in an existing part."""
    eager, lazy = both("podset without status", read)
    for obj in (eager, lazy):
        obj.status.nodes.append("n")
        obj.metadata.finalizers.append("example.com/hold")
    assert lazy.to_json() == eager.to_json()
    assert lazy.to_wire()["status"] == {"nodes": ["n"]}


def test_conditions_are_set_as_ever(read: Read) -> None:
    """A helper that changes a list of a lazy part in place changes the encoded object."""
    eager, lazy = both("gauge", read)
    for obj in (eager, lazy):
        condition = Condition(
            type="Ready", status="False", reason="No", last_transition_time=datetime(2026, 1, 1, tzinfo=UTC)
        )
        set_condition(obj.status.conditions, condition)
    assert lazy.to_json() == eager.to_json()


class WrapperSpec(Model):
    """An object of any kind within another one."""

    template: KubernetesObject


class Wrapper(CustomResource[WrapperSpec, Model], group="test.example.com", version="v1"):
    """A kind that makes others."""


def test_an_object_of_any_kind_can_be_a_part(read: Read) -> None:
    """A field for an object of any kind is decoded and encoded as any other field."""
    template = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "annotations": {"long": LONG}}}
    wrapper = {
        "apiVersion": "test.example.com/v1",
        "kind": "Wrapper",
        "metadata": {"name": "w", "namespace": "n", "uid": "u"},
        "spec": {"template": template},
    }
    found = read(Wrapper, json.dumps(wrapper, separators=(",", ":")).encode())
    assert found.spec.template.metadata.name == "a"
    assert found.to_wire()["spec"] == {"template": template}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_recorded_objects_are_the_same(case: Path, read: Read) -> None:
    """Every recorded object of a real server decodes the same lazily and eagerly, with any order of accesses."""
    random = Random(case.stem)
    for cls, wire in recorded(case):
        if cls is None:
            continue
        data = json.dumps(wire, separators=(",", ":")).encode()
        for kind in (cls, Metadata.of(cls.gvk)):
            eager, lazy = kind.from_wire(data), read(kind, data)
            assert isinstance(lazy, kind)
            look(lazy, random)
            assert lazy.model_fields_set == eager.model_fields_set
            assert lazy == eager
            assert lazy.to_json() == eager.to_json()
            assert read(kind, data).to_json() == eager.to_json()
