"""Decoding, fields and encoding of models and objects."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from pydantic import Field, SecretBytes, SecretStr

from pyctrl.api import (
    CustomResource,
    GroupVersionKind,
    Int32,
    Key,
    Metadata,
    MicroTime,
    Model,
    ObjectMeta,
    OwnerReference,
    Time,
)
from pyctrl.errors import DecodeError


class Part(Model):
    ports: list[int] = Field(default_factory=lambda: [80])
    is_public: bool = False


class BoxSpec(Model):
    size: Int32 = Field(ge=0)
    host_name: str | None = None
    parts: list[Part] = Field(default_factory=list)
    front: Part = Field(default_factory=Part)


class BoxStatus(Model):
    names: list[str] = Field(default_factory=list)
    at: Time | None = None
    exactly_at: MicroTime | None = None


class Box(CustomResource[BoxSpec, BoxStatus], group="example.com", version="v1", short_names=("bx",)):
    """A box."""


class Policy(CustomResource[Part], group="example.com", version="v1beta1", scope="Cluster", subresources=()):
    """A kind whose spec has only defaults."""


def test_class_keywords_name_the_kind() -> None:
    """Class keywords set kind, plural and scope; without them the CRD defaults apply."""
    assert Box.gvk == GroupVersionKind("example.com", "v1", "Box")
    assert (Box.resource.plural, Box.resource.singular, Box.resource.namespaced) == ("boxes", "box", True)
    assert Box.resource.short_names == ("bx",)
    assert Box.resource.subresources == {"status"}
    assert (Policy.resource.plural, Policy.resource.namespaced) == ("policies", False)
    assert Policy.resource.subresources == frozenset()


def test_group_without_version_is_refused() -> None:
    """A kind without a version cannot be declared."""
    with pytest.raises(TypeError, match="both group= and version="):

        class Half(CustomResource[BoxSpec, BoxStatus], group="example.com"):
            """Has no version."""


def test_new_object_writes_only_what_was_set() -> None:
    """Unchanged defaults are not encoded; apiVersion and kind always are."""
    box = Box(metadata=ObjectMeta(name="a"), spec=BoxSpec(size=3))
    assert box.to_wire() == {
        "apiVersion": "example.com/v1",
        "kind": "Box",
        "metadata": {"name": "a"},
        "spec": {"size": 3},
    }


def test_default_changed_in_place_is_written() -> None:
    """A default list, map or part changed in place is encoded."""
    box = Box(spec=BoxSpec(size=1))
    box.metadata.labels["app"] = "x"
    box.status.names.append("n")
    box.spec.front.ports.append(81)
    assert box.to_wire()["metadata"] == {"labels": {"app": "x"}}
    assert box.to_wire()["status"] == {"names": ["n"]}
    assert box.to_wire()["spec"] == {"size": 1, "front": {"ports": [80, 81]}}


def test_default_set_to_its_own_value_is_written() -> None:
    """An assigned field is encoded, even if the value is the default."""
    box = Box(spec=BoxSpec(size=1))
    box.spec.front.is_public = False
    assert box.to_wire()["spec"] == {"size": 1, "front": {"isPublic": False}}


def test_none_removes_a_field() -> None:
    """A field set to None is not encoded, whether set in the constructor or later."""
    box = Box.from_wire(b'{"spec":{"size":1,"hostName":"h"}}')
    box.spec.host_name = None
    assert box.to_wire()["spec"] == {"size": 1}
    assert BoxSpec(size=1, host_name=None).to_wire() == {"size": 1}


def test_unknown_fields_survive_read_modify_write() -> None:
    """Unknown fields are kept at every depth."""
    wire = b'{"metadata":{"name":"a","zone":"z"},"spec":{"size":1,"parts":[{"ports":[1],"x":{"y":null}}]},"extra":[1]}'
    box = Box.from_wire(wire)
    box.spec.size = 2
    assert box.to_wire() == {
        "apiVersion": "example.com/v1",
        "kind": "Box",
        "metadata": {"name": "a", "zone": "z"},
        "spec": {"size": 2, "parts": [{"ports": [1], "x": {"y": None}}]},
        "extra": [1],
    }


@pytest.mark.parametrize("form", ["bytes", "dict"])
def test_null_reads_as_empty_and_is_written_back(form: str) -> None:
    """A null list, map or defaulted field reads as empty, and stays null on encoding until the field is set."""
    text = b'{"metadata":{"name":"a","labels":null,"creationTimestamp":null},"spec":{"size":1,"parts":null}}'
    wire = {"metadata": {"name": "a", "labels": None, "creationTimestamp": None}, "spec": {"size": 1, "parts": None}}
    box = Box.from_wire(text if form == "bytes" else wire)
    assert (box.metadata.labels, box.metadata.creation_timestamp, box.spec.parts) == ({}, None, [])
    assert box.to_wire()["metadata"] == {"name": "a", "labels": None, "creationTimestamp": None}
    box.metadata.labels["a"] = "b"
    box.metadata.creation_timestamp = datetime(2026, 1, 2, tzinfo=UTC)
    box.spec.parts.append(Part())
    assert box.to_wire()["metadata"] == {
        "name": "a",
        "labels": {"a": "b"},
        "creationTimestamp": "2026-01-02T00:00:00Z",
    }
    assert box.to_wire()["spec"] == {"size": 1, "parts": [{}]}


def test_json_and_wire_agree() -> None:
    """JSON bytes and wire dicts have the same content."""
    box = Box.from_wire(b'{"metadata":{"labels":null},"spec":{"size":1},"status":{"at":"2026-01-02T03:04:05Z"}}')
    assert Box.from_wire(box.to_json()).to_wire() == box.to_wire()


def test_status_and_empty_spec_read_as_defaults() -> None:
    """Without a status an object has the default status; an optional spec has defaults as well."""
    assert Box.from_wire(b'{"spec":{"size":1}}').status.names == []
    assert Policy.from_wire(b"{}").spec.ports == [80]


def test_missing_and_wrong_fields_are_named() -> None:
    """The error for a missing or invalid field has its path and the actual value."""
    with pytest.raises(DecodeError, match=r"Box: Field required.* at spec\.size"):
        Box.from_wire(b'{"spec":{}}')
    with pytest.raises(DecodeError, match=r"got 'big' - at spec\.size"):
        Box.from_wire(b'{"spec":{"size":"big"}}')
    with pytest.raises(DecodeError, match=r"at spec\.size"):
        Box.from_wire({"spec": {"size": None}})


def test_object_of_another_kind_is_refused() -> None:
    """Decoding an object as another kind raises an error that names both kinds."""
    with pytest.raises(DecodeError, match=r"expected example.com/v1, Kind=Box, got apps/v1, Kind=Deployment"):
        Box.from_wire(b'{"apiVersion":"apps/v1","kind":"Deployment","spec":{"size":1}}')


def test_not_json_is_refused() -> None:
    """Bytes that are not JSON raise DecodeError."""
    with pytest.raises(DecodeError):
        Box.from_wire(b"{null")


def test_metadata_view_has_the_kind_and_nothing_else() -> None:
    """Metadata[Box] has the kind Box and only the metadata of an object."""
    view = Metadata[Box].from_wire(b'{"kind":"PartialObjectMetadata","metadata":{"name":"a"},"spec":{"size":1}}')
    assert (Metadata[Box].gvk, Metadata[Box].resource) == (Box.gvk, Box.resource)
    assert view.to_wire() == {"apiVersion": "example.com/v1", "kind": "Box", "metadata": {"name": "a"}}
    assert Metadata.of(GroupVersionKind("x", "v1", "Y")).gvk.kind == "Y"


def test_times_are_written_as_kubernetes_does() -> None:
    """Time is written in whole seconds, MicroTime with six digits, both in UTC; naive values count as UTC."""
    moment = datetime(2026, 1, 2, 3, 4, 5, 600, tzinfo=UTC)
    assert BoxStatus(at=moment, exactly_at=moment).to_wire() == {
        "at": "2026-01-02T03:04:05Z",
        "exactlyAt": "2026-01-02T03:04:05.000600Z",
    }
    assert BoxStatus(at=datetime(2026, 1, 2)).to_wire() == {"at": "2026-01-02T00:00:00Z"}  # noqa: DTZ001  # naive on purpose


def test_deep_copy_is_independent() -> None:
    """A deep copy shares no part with the original."""
    box = Box(metadata=ObjectMeta(name="a", labels={"x": "y"}), spec=BoxSpec(size=1))
    copy = box.deep_copy()
    copy.metadata.labels["x"] = "z"
    assert box.metadata.labels == {"x": "y"}


def test_repr_shows_what_was_set() -> None:
    """The repr shows only set or changed fields."""
    assert repr(Box(metadata=ObjectMeta(name="a"), spec=BoxSpec(size=1))) == (
        "Box(metadata=ObjectMeta(name='a'), spec=BoxSpec(size=1))"
    )


def test_key_of_an_object() -> None:
    """An object's key has its namespace and name and prints as in kubectl."""
    box = Box(metadata=ObjectMeta(name="a", namespace="n"), spec=BoxSpec(size=1))
    assert box.key == Key("n", "a") == Key.parse("n/a")
    assert (str(box.key), str(Key("", "a")), Key.parse("a")) == ("n/a", "a", Key("", "a"))
    for text in ("", "a/", "/a", "a/b/c"):
        with pytest.raises(ValueError, match="expected 'namespace/name'"):
            Key.parse(text)


def test_owner_reference_is_lossless() -> None:
    """Absent flags of an owner reference stay absent."""
    wire = {"apiVersion": "v1", "kind": "A", "name": "a", "uid": "u"}
    assert OwnerReference.from_wire(wire).to_wire() == wire


class Login(Model):
    user: str
    word: SecretStr | None = None
    more: list[SecretStr] = []
    by_name: dict[str, SecretBytes] = {}


class Logins(Model):
    first: Login
    others: list[Login] = []


def test_secrets_are_written_as_they_were_read() -> None:
    """An unchanged Secret is encoded with its values; its repr hides them."""
    login = {"user": "a", "word": "b", "more": ["c"], "byName": {"d": "e"}}
    wire = {"first": login, "others": [login]}
    read = Logins.from_wire(wire)
    assert read.to_wire() == wire
    assert json.loads(read.to_json()) == wire
    assert "'b'" not in repr(read)
