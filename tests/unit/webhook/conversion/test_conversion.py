"""Conversion between versions: through the hub, with the metadata, and with round-trip checks."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from pyctrl.api import CustomResource, Int32, Model, ObjectMeta
from pyctrl.errors import BadRequest, BuilderError, ConversionFailed
from pyctrl.webhook import Conversion, Spoke, check_round_trip, review_conversion, same_fields
from tests.unit.webhook._kinds import GROUP, PodSet, PodSetSpec

NOTE = f"{GROUP}/owner"


class OldSpec(Model):
    replicas: Int32 = 0


class Old(CustomResource[OldSpec], group=GROUP, version="v1", kind="Set"):
    """The version that users have."""


class Size(Model):
    min: Int32 = 0
    max: Int32 = 0


class NewSpec(Model):
    size: Size = Size()
    owner: str | None = None


class New(CustomResource[NewSpec], group=GROUP, version="v2", kind="Set"):
    """The version that is stored."""


class Plain(CustomResource[OldSpec], group=GROUP, version="v1beta1", kind="Set"):
    """Another name of what users have."""


def old_to_new(old: Old) -> New:
    owner = old.metadata.annotations.pop(NOTE, None)
    size = Size(min=old.spec.replicas, max=old.spec.replicas)
    return New(metadata=old.metadata, spec=NewSpec(size=size, owner=owner))


def new_to_old(new: New) -> Old:
    if new.spec.owner:
        new.metadata.annotations[NOTE] = new.spec.owner
    return Old(metadata=new.metadata, spec=OldSpec(replicas=new.spec.size.max))


def plain_to_new(plain: Plain) -> New:
    return New(spec=NewSpec(size=Size(min=plain.spec.replicas, max=plain.spec.replicas)))


def new_to_plain(new: New) -> Plain:
    return Plain(spec=OldSpec(replicas=new.spec.size.max))


CONVERSION = Conversion(New, Spoke(Old, old_to_new, new_to_old), Spoke(Plain, plain_to_new, new_to_plain))
METADATA = {"name": "a", "uid": "u", "resourceVersion": "3", "labels": {"x": "y"}, "managedFields": [{"manager": "m"}]}


def wire(version: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": f"{GROUP}/{version}", "kind": "Set", "metadata": METADATA, "spec": spec}


def ask(desired: str, *objects: dict[str, Any]) -> dict[str, Any]:
    asked = {"uid": "7", "desiredAPIVersion": f"{GROUP}/{desired}", "objects": list(objects)}
    document = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "request": asked}
    answer = review_conversion([CONVERSION], document)
    assert (answer["apiVersion"], answer["kind"], answer["response"]["uid"]) == (
        "apiextensions.k8s.io/v1",
        "ConversionReview",
        "7",
    )
    response: dict[str, Any] = answer["response"]
    return response


def test_all_objects_of_a_review_are_converted() -> None:
    """Each object of a review is converted to the desired version, in order, with unchanged metadata."""
    response = ask("v2", wire("v1", replicas=3), wire("v1beta1", replicas=4), wire("v2", size={"min": 1, "max": 1}))

    assert response["result"]["status"] == "Success"
    assert [each["spec"]["size"]["max"] for each in response["convertedObjects"]] == [3, 4, 1]
    assert {each["apiVersion"] for each in response["convertedObjects"]} == {f"{GROUP}/v2"}
    assert all(each["metadata"] == METADATA for each in response["convertedObjects"])


def test_a_spoke_becomes_another_spoke_through_the_hub() -> None:
    """Two spoke versions are converted in two steps, through the hub."""
    (converted,) = ask("v1beta1", wire("v1", replicas=3))["convertedObjects"]

    assert (converted["apiVersion"], converted["spec"]) == (f"{GROUP}/v1beta1", {"replicas": 3})


def test_what_the_old_version_cannot_say_is_kept_in_an_annotation() -> None:
    """A conversion function may keep data in annotations; other metadata does not change."""
    (old,) = ask("v1", wire("v2", size={"min": 2, "max": 2}, owner="jane"))["convertedObjects"]
    (new,) = ask("v2", old)["convertedObjects"]

    assert old["metadata"] == {**METADATA, "annotations": {NOTE: "jane"}}
    assert (new["metadata"], new["spec"]["owner"]) == (METADATA, "jane")


@pytest.mark.parametrize(
    ("version", "obj", "complaint"),
    [
        ("v3", wire("v1", replicas=1), "Set.apps.jicki.cn has no version 'v3' here; its versions are v2, v1, v1beta1"),
        ("v2", wire("v0", replicas=1), "has no version 'v0' here"),
        ("v2", wire("v1", replicas="x"), "spec.replicas"),
        ("v2", {"apiVersion": "v1", "kind": "Pod"}, "no conversion for Pod is registered here"),
    ],
)
def test_what_cannot_be_converted_is_told(version: str, obj: dict[str, Any], complaint: str) -> None:
    """One failing object fails the review with a message that names the versions and the reason."""
    response = ask(version, obj)

    assert (response["result"]["status"], response["convertedObjects"]) == ("Failure", [])
    assert complaint in response["result"]["message"]


def test_a_bug_in_a_function_is_a_failure_and_no_traceback() -> None:
    """An unexpected exception is a failure with one sentence that names the versions."""

    def broken(old: Old) -> New:
        raise KeyError("replicas")

    conversion = Conversion(New, Spoke(Old, broken, new_to_old))

    with pytest.raises(
        ConversionFailed, match=r"cannot convert apps.jicki.cn/v1, Kind=Set to v2: KeyError: 'replicas'"
    ):
        conversion.convert(wire("v1", replicas=1), "v2")


def test_what_is_no_review_gets_no_answer() -> None:
    """A document that is not a ConversionReview of v1 is a bad request."""
    with pytest.raises(BadRequest, match="expected apiextensions.k8s.io/v1, Kind=ConversionReview, got v1, Kind=Pod"):
        review_conversion([CONVERSION], {"apiVersion": "v1", "kind": "Pod"})


def test_conversions_are_between_versions_of_one_kind() -> None:
    """Converting from another kind, from the hub itself, or without versions is an error at construction."""
    with pytest.raises(BuilderError, match="is not another version of"):
        Conversion(PodSet, Spoke(Old, lambda _: PodSet(spec=PodSetSpec()), new_to_old))
    with pytest.raises(BuilderError, match="needs other versions than the hub's"):
        Conversion(New)
    with pytest.raises(BuilderError, match="each once; got v2"):
        Conversion(New, Spoke(New, lambda new: new, lambda new: new))


@given(replicas=st.integers(0, 2**31 - 1), labels=st.dictionaries(st.sampled_from("ab"), st.sampled_from("xy")))
def test_nothing_is_lost_from_old_to_new_and_back(replicas: int, labels: dict[str, str]) -> None:
    """The round-trip check passes for random objects if no data is lost."""
    check_round_trip(CONVERSION, Old(metadata=ObjectMeta(name="a", labels=labels), spec=OldSpec(replicas=replicas)))


def test_a_loss_is_told_by_its_field() -> None:
    """The round-trip check names the lost field and the direction."""
    new = New(metadata=ObjectMeta(name="a"), spec=NewSpec(size=Size(min=1, max=3)))

    with pytest.raises(
        AssertionError, match=r"v2 → v1 → v2 is not what it was:\n  /spec/size/min was 1, came back as 3"
    ):
        check_round_trip(CONVERSION, new)


class Colour(StrEnum):
    RED = "red"


class Paint(Model):
    colour: Colour = Colour.RED
    layers: Int32 | None = Field(default=None, ge=1)


class OldPaintSpec(Model):
    paint: Paint = Paint()
    code: str = Field(min_length=2)
    shine: Int32 | None = Field(default=None, le=9)
    tags: list[Colour] = Field(default=[], max_length=1)


class NewPaintSpec(Model):
    paint: Paint = Paint()
    code: str = Field(min_length=2)
    tags: list[Colour] = Field(default=[], max_length=1)


class OldWall(CustomResource[OldPaintSpec], group=GROUP, version="v1", kind="Wall"):
    """A wall."""


class NewWall(CustomResource[NewPaintSpec], group=GROUP, version="v2", kind="Wall"):
    """A wall."""


WALLS = Conversion(
    NewWall, Spoke(OldWall, lambda old: same_fields(old, NewWall), lambda new: same_fields(new, OldWall))
)


def wall(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": f"{GROUP}/v1", "kind": "Wall", "metadata": {"name": "a"}, "spec": {"code": "ab"} | spec}


@pytest.mark.parametrize(
    "spec",
    [
        {"paint": {"colour": "green", "layers": 3}},
        {"paint": {"colour": "green", "layers": 0}},
        {"tags": ["red", "red"]},
    ],
)
def test_what_breaks_a_rule_of_the_schema_is_left_to_the_server(spec: dict[str, Any]) -> None:
    """A value that breaks only a schema rule is converted unchanged, because the API server validates afterwards."""
    before = wall(**spec)

    made = WALLS.convert(before, "v2")

    assert made["spec"] == {"code": "ab"} | spec
    assert WALLS.convert(made, "v1")["spec"] == before["spec"]


@pytest.mark.parametrize(
    "spec",
    [
        {"code": "a"},  # required: no default for the functions
        {"shine": 10},  # the other version has no such field
        {"tags": ["green"]},  # no field of an object
        {"paint": {"colour": "green", "layers": []}},  # more than a broken rule
    ],
)
def test_other_mistakes_fail_a_conversion_with_the_field(spec: dict[str, Any]) -> None:
    """Other invalid objects fail the conversion with an error that names the field."""
    with pytest.raises(ConversionFailed, match=r"- at spec\."):
        WALLS.convert(wall(**spec), "v2")
