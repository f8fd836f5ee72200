"""Differences that a round trip may have: none that an API server or a program could notice."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import Field

from pyctrl.api import CustomResource, Model, PreserveUnknownFields, Quantity, Time
from pyctrl.webhook import Conversion, Spoke, check_round_trip
from tests.unit.webhook._kinds import GROUP


class Mood(enum.StrEnum):
    CALM = "calm"
    WILD = "wild"


class Open(Model, marks=(PreserveUnknownFields(),)):
    known: int = 0


class Part(Model):
    name: str = ""


class Spec(Model):
    size: int = 3
    note: str | None = None
    mood: Mood = Mood.CALM
    memory: Quantity | None = None
    since: Time | None = None
    tags: set[str] = set()
    parts: list[Part] = []
    labels: dict[str, str] | None = None
    open: Open | None = None
    kept: Annotated[Part | None, PreserveUnknownFields()] = None
    other_name: str = Field(default="", alias="theirName")


class Old(CustomResource[Spec], group=GROUP, version="v1", kind="Trip"):
    """One version."""


class New(CustomResource[Spec], group=GROUP, version="v2", kind="Trip"):
    """The other, with the same fields."""


def conversion(change: Callable[[dict[str, Any]], object]) -> Conversion[New]:
    """Return a conversion whose way back applies a change."""

    def back(new: New) -> Old:
        wire = new.to_wire()
        change(wire.setdefault("spec", {}))
        return Old.from_wire({**wire, "apiVersion": f"{GROUP}/v1"})

    return Conversion(New, Spoke(Old, lambda old: New.from_wire({**old.to_wire(), "apiVersion": f"{GROUP}/v2"}), back))


def trip(spec: dict[str, Any], change: Callable[[dict[str, Any]], object]) -> None:
    """Convert an object to the other version and back."""
    wire = {"apiVersion": f"{GROUP}/v1", "kind": "Trip", "metadata": {"name": "a"}, "spec": spec}
    check_round_trip(conversion(change), Old.from_wire(wire))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {"size": 3, "note": None, "mood": "calm", "theirName": ""}),
        ({"size": 3}, {}),
        ({"note": None}, {}),
        ({"parts": [], "labels": {}, "tags": []}, {}),
        ({"labels": None}, {"labels": {}}),
        ({"memory": "1Gi"}, {"memory": "1024Mi"}),
        ({"memory": 1}, {"memory": "1000m"}),
        ({"since": "2026-01-02T03:04:05Z"}, {"since": "2026-01-02T04:04:05+01:00"}),
        ({"tags": ["b", "a"]}, {"tags": ["a", "b"]}),
        ({"parts": [{"name": "a", "pruned": 1}], "pruned": 2}, {"parts": [{"name": "a"}]}),
        ({"open": {}}, {"open": {"known": 0}}),
    ],
)
def test_what_means_the_same_is_equal(before: dict[str, Any], after: dict[str, Any]) -> None:
    """A round trip may change the form of defaults, nulls, empty lists, quantities, times, sets and pruned fields."""

    def change(spec: dict[str, Any]) -> None:
        spec.clear()
        spec.update(after)

    trip(before, change)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ({"size": 4}, {}, "/spec/size was 4, came back as 3"),
        ({"note": ""}, {}, "/spec/note was '', is gone"),
        ({"memory": "1Gi"}, {"memory": "1G"}, "/spec/memory was "),
        ({"since": "2026-01-02T03:04:05Z"}, {"since": "2026-01-02T03:04:06Z"}, "/spec/since was "),
        (
            {"parts": [{"name": "a"}, {"name": "b"}]},
            {"parts": [{"name": "b"}, {"name": "a"}]},
            "/spec/parts/0/name was",
        ),
        ({"labels": {"a": "b"}}, {"labels": {}}, "/spec/labels was {'a': 'b'}, is gone"),
        ({"open": {"extra": 1}}, {"open": {}}, "/spec/open/extra was 1, is gone"),
        ({"kept": {"extra": 1}}, {"kept": {}}, "/spec/kept/extra was 1, is gone"),
        ({"theirName": "x"}, {}, "/spec/theirName was 'x', came back as ''"),
        ({}, {"parts": [{}]}, "/spec/parts was not there, came back as "),
    ],
)
def test_what_means_something_else_is_a_loss(before: dict[str, Any], after: dict[str, Any], said: str) -> None:
    """A lost or changed value fails the check with its old and new form."""

    def change(spec: dict[str, Any]) -> None:
        spec.clear()
        spec.update(after)

    with pytest.raises(AssertionError) as failed:
        trip(before, change)
    assert said in str(failed.value)
