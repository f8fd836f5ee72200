"""Values of log fields, on the console and in JSON."""

from __future__ import annotations

import enum
from datetime import UTC, datetime, timedelta

import pytest

from pyctrl._log.fields import context_of, error_of, extra_of, in_json, in_words
from pyctrl.api import Key, ObjectMeta
from pyctrl.kinds.core.v1 import ConfigMap
from tests.unit.log._lines import make_record, raised

OBJECT = ConfigMap(metadata=ObjectMeta(name="a", namespace="web"))


class Colour(enum.Enum):
    """An enum as a field."""

    RED = "red"


@pytest.mark.parametrize(
    ("value", "words", "wire"),
    [
        ("one", "one", "one"),
        ("two words", '"two words"', "two words"),
        ("a=b", '"a=b"', "a=b"),
        (7, "7", 7),
        (True, "true", True),
        (1.23456, "1.23", 1.23456),
        (12345.6, "12346", 12345.6),
        (float("inf"), "inf", "inf"),
        (timedelta(milliseconds=250), "250ms", 0.25),
        (timedelta(seconds=90), "1m30s", 90.0),
        (timedelta(hours=2), "2h0m0s", 7200.0),
        (timedelta(0), "0s", 0.0),
        (Colour.RED, "red", "red"),
        (["a", 1], "[a, 1]", ["a", 1]),
        (Key("web", "a"), "web/a", "web/a"),
        (OBJECT, '"ConfigMap web/a"', {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "web", "name": "a"}),
        (datetime(2026, 11, 21, 18, tzinfo=UTC), '"2026-11-21 18:00:00+00:00"', "2026-11-21T18:00:00+00:00"),
        ({"a": {"b": timedelta(seconds=1)}}, None, {"a": {"b": 1.0}}),
    ],
)
def test_a_value_is_shown_for_people_and_for_programs(value: object, words: str | None, wire: object) -> None:
    """Durations have Go's format on the console and are seconds in JSON; objects are kind and name, without content."""
    assert in_json(value) == wire
    if words is not None:
        assert in_words(value) == words


def test_long_values_are_cut_on_the_console_only() -> None:
    """Long values are cut on the console, and complete in JSON."""
    assert in_words("x" * 1000) == "x" * 199 + "…"
    assert in_json("x" * 1000) == "x" * 1000


def test_a_recursive_value_has_an_end() -> None:
    """A recursive value becomes text after six levels."""
    value: dict[str, object] = {}
    value["self"] = value
    found: object = in_json(value)
    for _ in range(6):
        assert isinstance(found, dict)
        found = found["self"]
    assert isinstance(found, str)


def test_fields_of_a_record_are_those_of_its_call() -> None:
    """Standard attributes of a record are not fields."""
    record = make_record("hello", object="web/a", count=3)
    assert extra_of(record) == {"object": "web/a", "count": 3}
    assert context_of(record) == {}


def test_an_error_is_one_line() -> None:
    """The field `error` wins over the exception of the record."""
    failed = raised(ValueError("no\n  such   thing"))
    assert error_of(make_record("hello", exc=failed)) == "ValueError: no such thing"
    assert error_of(make_record("hello", exc=raised(KeyError()))) == "KeyError"
    assert error_of(make_record("hello", exc=failed, error="refused")) == "refused"
    assert error_of(make_record("hello")) == ""
