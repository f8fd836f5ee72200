"""Conversion of equal fields between two versions of a kind."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pyctrl.api import CustomResource, Duration, Model, ObjectMeta, Quantity
from pyctrl.errors import DecodeError
from pyctrl.webhook import Conversion, Spoke, check_round_trip, same_fields
from tests.unit.webhook._kinds import GROUP


class OldPart(Model):
    name: str
    weight: int = 0


class OldSpec(Model):
    cron_spec: str = ""
    image: str = ""
    parts: list[OldPart] = []
    by_name: dict[str, OldPart] = {}


class Old(CustomResource[OldSpec], group=GROUP, version="v1", kind="Tab"):
    """The version that users have."""


class NewPart(Model):
    name: str


class NewSpec(Model):
    schedule: str = ""
    image: str = ""
    parts: list[NewPart] = []
    by_name: dict[str, NewPart] = {}


class New(CustomResource[NewSpec], group=GROUP, version="v2", kind="Tab"):
    """The version that is stored."""


class StrictSpec(Model):
    schedule: str


class MeasuredSpec(Model):
    size: Quantity
    timeout: Duration


class Measured(CustomResource[MeasuredSpec], group=GROUP, version="v4", kind="Tab"):
    """A version with values that are text on the wire."""


class Strict(CustomResource[StrictSpec], group=GROUP, version="v3", kind="Tab"):
    """A version with an additional required field."""


def old() -> Old:
    """Return an object with an unknown field and parts."""
    part = OldPart(name="a", weight=3)
    spec = OldSpec(cron_spec="* * * * *", image="i", parts=[part], by_name={"a": part})
    spec = OldSpec.from_wire({**spec.to_wire(), "elsewhere": 1})
    return Old(metadata=ObjectMeta(name="a"), spec=spec)


def test_fields_of_the_same_names_are_carried_over() -> None:
    """Equal fields are copied at every level; fields of the old version only are dropped, unknown fields kept."""
    new = same_fields(old(), New)
    assert new.to_wire() == {
        "apiVersion": f"{GROUP}/v2",
        "kind": "Tab",
        "spec": {"image": "i", "parts": [{"name": "a"}], "byName": {"a": {"name": "a"}}, "elsewhere": 1},
    }


def test_what_is_lost_is_told() -> None:
    """A field that an API server would prune is reported as lost in a round trip."""
    conversion = Conversion(
        New, Spoke(Old, to_hub=lambda obj: same_fields(obj, New), from_hub=lambda obj: same_fields(obj, Old))
    )
    with pytest.raises(AssertionError, match=r"/spec/cronSpec was '\* \* \* \* \*', came back as ''"):
        check_round_trip(conversion, old())


def test_what_the_other_version_wants_is_named() -> None:
    """A field that only the other version requires is named in an error."""
    with pytest.raises(DecodeError, match=r"Field required.*at spec\.schedule.*values={PATH: VALUE}"):
        same_fields(old(), Strict)


class Schedule(Model):
    minute: str = "*"
    hour_of_day: str = "*"


class Weight(Model):
    grams: int


class ParsedPart(Model):
    name: str
    weight: Weight | None = None


class ParsedSpec(Model):
    cron_spec: Schedule
    image: str = ""
    parts: list[ParsedPart] = []
    by_name: dict[str, ParsedPart] = {}


class Parsed(CustomResource[ParsedSpec], group=GROUP, version="v4", kind="Tab"):
    """A version with other types for fields of the same names."""


@pytest.mark.parametrize("spec", ["spec.cronSpec", "spec.cron_spec"])
def test_a_field_that_changes_its_type_is_left_out_or_given(spec: str) -> None:
    """A field with another type is left out or computed; its path may lead through lists and maps."""
    with pytest.raises(DecodeError, match=r"spec\.cronSpec.*without=\[PATH\]"):
        same_fields(old(), Parsed)
    away = ["spec.parts.weight", "spec.by_name.weight"]
    new = same_fields(old(), Parsed, without=away, values={spec: Schedule(hour_of_day="1")})
    assert new.to_wire()["spec"] == {
        "cronSpec": {"hourOfDay": "1"},
        "image": "i",
        "parts": [{"name": "a"}],
        "byName": {"a": {"name": "a"}},
        "elsewhere": 1,
    }
    back = same_fields(new, Old, without=[spec])
    back.spec.cron_spec = "* 1 * * *"
    assert back.to_wire()["spec"]["cronSpec"] == "* 1 * * *"
    nested = same_fields(old(), Parsed, without=away, values={f"{spec}.minute": "5", f"{spec}.hourOfDay": "6"})
    assert nested.spec.cron_spec == Schedule(minute="5", hour_of_day="6")


def test_a_value_may_be_of_any_type_of_a_field() -> None:
    """Quantities and durations are given as in Python."""
    values = {"spec.size": Quantity("20G"), "spec.timeout": timedelta(minutes=5)}
    made = same_fields(old(), Measured, values=values)
    assert (made.spec.size, made.spec.timeout) == (Quantity("20G"), timedelta(minutes=5))
    assert made.to_wire()["spec"]["timeout"] == "5m0s"


@pytest.mark.parametrize("name", ["without", "values"])
def test_a_path_that_leads_nowhere_is_refused(name: str) -> None:
    """A path that matches no field is refused."""
    given = {"without": ["spec.imag"]} if name == "without" else {"values": {"spec.imag": 1}}
    with pytest.raises(ValueError, match=r"'spec\.imag': (Old|New)Spec has no field 'imag'; it has .*image"):
        same_fields(old(), New, **given)
