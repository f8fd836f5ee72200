"""Lazily decoded objects: the time of errors, and classes that are decoded eagerly."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ConfigDict, PrivateAttr, field_validator, model_validator

from examples.podset.podset import PodSet
from pyctrl.api import CustomResource, KubernetesObject, Model, decode
from pyctrl.errors import DecodeError
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.kinds.core.v1 import ConfigMap
from tests.unit.api.test_lazy_decoding import CONTAINER, GAUGE, LONG, GaugeSpec, Holder


def bad(cls: type[KubernetesObject], **parts: Any) -> bytes:
    """Return the JSON of an object with invalid parts."""
    head = {"apiVersion": cls.gvk.api_version, "kind": cls.gvk.kind, "metadata": {"name": "a", "namespace": "default"}}
    return json.dumps({**head, **parts}).encode()


def errors_of(cls: type[Any], data: bytes, look_at: Callable[[Any], object]) -> tuple[str, str]:
    """Return the errors of eager decoding and of a later access to a part."""
    with pytest.raises(DecodeError) as at_once:
        cls.from_wire(data)
    obj = decode(cls, data, lazily=True)
    assert obj.metadata.name == "a"
    with pytest.raises(DecodeError) as later:
        look_at(obj)
    with pytest.raises(DecodeError):  # a second access fails as well
        look_at(obj)
    return str(at_once.value), str(later.value)


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ({"size": "many"}, "spec.size"),
        ({"size": -1}, "spec.size"),
        ({}, "spec.size"),
        ("text", "spec"),
    ],
)
def test_a_part_that_does_not_fit_is_an_error_where_it_is_looked_at(spec: object, path: str) -> None:
    """An invalid part raises on access, with the error of eager decoding, the field's path and the object's name."""
    at_once, later = errors_of(PodSet, bad(PodSet, spec=spec), lambda obj: obj.spec)
    assert later == at_once.replace("PodSet:", "PodSet default/a:")
    assert later.endswith(f"at {path}")


@pytest.mark.parametrize(
    "look_at",
    [
        lambda obj: obj.to_json(),
        lambda obj: obj.to_wire(),
        lambda obj: obj.model_dump(),
        lambda obj: obj == obj.deep_copy(),
        copy.copy,
        pickle.dumps,
        repr,
        lambda obj: Holder(held=obj, typed=obj).model_dump(),
        lambda obj: hasattr(obj, "spec"),
    ],
)
def test_whoever_needs_the_part_gets_the_error(look_at: Callable[[Any], object]) -> None:
    """Encoding, comparing, copying or printing an object with an invalid part raises the decoding error."""
    _at_once, later = errors_of(PodSet, bad(PodSet, spec={"size": "many"}), look_at)
    assert later.startswith("PodSet default/a: Input should be a valid integer")
    assert later.endswith("at spec.size")


def test_paths_of_errors_go_all_the_way_down() -> None:
    """The error for an invalid field in nested lazy parts has the full path."""
    container = {**CONTAINER, "ports": [{"containerPort": "eighty"}]}
    template = {"metadata": {"annotations": {"a": LONG}}, "spec": {"containers": [container]}}
    data = bad(Deployment, spec={"replicas": 2, "selector": {}, "template": template})
    at_once, later = errors_of(Deployment, data, lambda obj: obj.spec.template.spec.containers)
    assert later == at_once.replace("Deployment:", "Deployment default/a:")
    assert later.endswith("at spec.template.spec.containers.0.ports.0.containerPort")
    at_once, later = errors_of(Deployment, data, lambda obj: obj.spec.template.model_dump())
    assert later == at_once.replace("Deployment:", "Deployment default/a:")


def test_the_rest_of_an_object_that_does_not_fit_can_be_read() -> None:
    """An invalid status does not prevent reading the metadata and the spec."""
    obj = decode(PodSet, bad(PodSet, spec={"size": 1}, status={"nodes": 7}), lazily=True)
    assert isinstance(obj, PodSet)
    assert (str(obj.key), obj.spec.size) == ("default/a", 1)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b'{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"size": 1}}', "got v1, Kind=Pod"),
        (b'{"metadata": {"name": "a"}', "PodSet:"),
        (b"[1]", "PodSet:"),
        (bad(PodSet), "PodSet: Field required"),
    ],
)
def test_what_can_be_known_at_once_is_an_error_at_once(data: bytes, words: str) -> None:
    """Another kind, invalid JSON or a missing part raises an error on decoding."""
    with pytest.raises(DecodeError, match="PodSet") as error:
        decode(PodSet, data, lazily=True)
    assert words in str(error.value)


def test_an_item_of_a_list_gets_its_kind() -> None:
    """An item of a built-in list gets its kind."""
    obj = decode(ConfigMap, b'{"metadata": {"name": "a"}, "data": {"k": "v"}}', lazily=True)
    assert isinstance(obj, ConfigMap)
    assert (obj.kind, obj.api_version, obj.data) == ("ConfigMap", "v1", {"k": "v"})
    assert obj == ConfigMap.from_wire(b'{"metadata": {"name": "a"}, "data": {"k": "v"}}')


# --- classes that are decoded eagerly ---------------------------------------------------------------------------------


class Mixin:
    """A plain class, whose instances have a dict of their own."""


class Watching:
    """Runs code on construction, in many ways."""

    class Validated(CustomResource[GaugeSpec], group="test.example.com", version="v1"):
        @model_validator(mode="after")
        def _check(self) -> Watching.Validated:
            self.metadata.labels["checked"] = "1"
            return self

    class FieldValidated(CustomResource[GaugeSpec], group="test.example.com", version="v1"):
        @field_validator("spec", mode="before")
        @classmethod
        def _check(cls, value: Any) -> Any:
            return {**value, "image": "checked"}

    class PostInit(CustomResource[GaugeSpec], group="test.example.com", version="v1"):
        def model_post_init(self, _context: Any, /) -> None:
            self.metadata.labels["checked"] = "1"

    class Private(CustomResource[GaugeSpec], group="test.example.com", version="v1"):
        _seen: list[str] = PrivateAttr(default_factory=lambda: ["x"])

    class Strict(CustomResource[GaugeSpec], group="test.example.com", version="v1"):
        model_config = ConfigDict(strict=True)

    class OwnInit(CustomResource[GaugeSpec], group="test.example.com", version="v1"):
        def __init__(self, **data: Any) -> None:
            super().__init__(**data)
            self.metadata.labels["checked"] = "1"

    class OwnAttributes(CustomResource[GaugeSpec], group="test.example.com", version="v1"):
        if True:  # otherwise mypy takes it as a definition of every attribute

            def __getattr__(self, name: str) -> Any:
                return f"no {name}"

    class Mixed(Mixin, CustomResource[GaugeSpec], group="test.example.com", version="v1"):
        pass


OWN_WAYS = [cls for cls in vars(Watching).values() if isinstance(cls, type) and issubclass(cls, KubernetesObject)]


@pytest.mark.parametrize("cls", OWN_WAYS, ids=lambda cls: cls.__name__)
def test_a_class_that_could_tell_is_decoded_at_once(cls: Any) -> None:
    """A class with validators or private attributes is decoded eagerly and raises errors on decoding."""
    data = bad(cls, spec=GAUGE)
    eager, lazy = cls.from_wire(data), decode(cls, data, lazily=True)
    assert lazy == eager
    assert lazy.to_json() == eager.to_json()
    assert vars(lazy) == vars(eager)
    with pytest.raises(DecodeError):
        decode(cls, bad(cls, spec={**GAUGE, "replicas": -1}), lazily=True)


def test_a_part_that_could_tell_is_decoded_at_once_with_its_object_put_off() -> None:
    """A validator of a lazy part runs on access to the part, with all of its fields."""

    class Checked(Model):
        image: str
        upper: str = ""

        @model_validator(mode="after")
        def _fill(self) -> Checked:
            self.upper = self.image.upper()
            return self

    class Checking(CustomResource[Checked], group="test.example.com", version="v1"):
        pass

    data = bad(Checking, spec={"image": LONG})
    assert decode(Checking, data, lazily=True) == Checking.from_wire(data)
    obj = decode(Checking, data, lazily=True)
    assert isinstance(obj, Checking)
    assert obj.spec.upper == LONG.upper()
