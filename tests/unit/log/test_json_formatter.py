"""The JSON format of log lines."""

from __future__ import annotations

import json
import logging
from datetime import timedelta
from typing import Any

import pytest

from pyctrl._log import JsonFormatter, log_context
from pyctrl._log.timestamps import TimeEncoding
from pyctrl.api import Key, ObjectMeta
from pyctrl.kinds.core.v1 import ConfigMap
from tests.unit.log._lines import make_record, raised


def line(message: str, *, formatter: JsonFormatter | None = None, **fields: Any) -> dict[str, Any]:
    text = (formatter or JsonFormatter()).format(make_record(message, **fields))
    assert "\n" not in text
    found: dict[str, Any] = json.loads(text)
    return found


def test_the_keys_are_controller_runtimes() -> None:
    """level, ts, logger, msg come first, then the object under its kind, the reconcile, and the line's fields."""
    fields = {"controller": "podset", "controllerGroup": "a.b", "controllerKind": "PodSet"}
    with log_context(**fields, namespace="default", name="web", reconcileID="993fcadd-6046"):
        found = line("scaled", replicas=3)
    assert list(found.items()) == [
        ("level", "info"),
        ("ts", "2026-11-21T18:02:31Z"),
        ("logger", "podset"),
        ("msg", "scaled"),
        ("PodSet", {"name": "web", "namespace": "default"}),
        ("controller", "podset"),
        ("controllerGroup", "a.b"),
        ("controllerKind", "PodSet"),
        ("namespace", "default"),
        ("name", "web"),
        ("reconcileID", "993fcadd-6046"),
        ("replicas", 3),
    ]


def test_an_error_has_its_own_keys_and_leaves_the_message_alone() -> None:
    """The message of an error is constant, such as "Reconciler error", so that it can be searched for."""
    found = line("Reconciler error: ValueError: no", level=logging.ERROR, error="ValueError: no")
    assert (found["level"], found["msg"], found["error"]) == ("error", "Reconciler error", "ValueError: no")
    record = make_record("failed", level=logging.ERROR)
    error = raised(ValueError("no"))
    record.exc_info = (type(error), error, error.__traceback__)
    found = json.loads(JsonFormatter().format(record))
    assert found["error"] == "ValueError: no"
    assert found["stacktrace"].startswith("Traceback")
    assert "stacktrace" not in json.loads(JsonFormatter(stacktrace_level=logging.CRITICAL).format(record))


def test_values_are_json() -> None:
    """Durations are seconds, objects are kind and name, and values without a JSON type are text."""
    web = ConfigMap(metadata=ObjectMeta(name="web", namespace="default"), data={"secret": "x"})
    endless: dict[str, object] = {}
    endless["again"] = endless
    found = line(
        "x", after=timedelta(seconds=90), on=web, key=Key("a", "b"), many=({1: {2}},), nan=float("nan"), e=endless
    )
    assert found["after"] == 90
    assert found["on"] == {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "default", "name": "web"}
    assert (found["key"], found["many"], found["nan"]) == ("a/b", [{"1": [2]}], "nan")
    assert "..." in json.dumps(found["e"])


def test_no_field_hides_the_head_of_a_line() -> None:
    """A field with the name of one of the first four keys is renamed."""
    with log_context(level="high"):
        found = line("x", ts="now")
    assert (found["level"], found["level_"], found["ts_"]) == ("info", "high", "now")


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [
        ("epoch", 1795284151.6923),
        ("millis", 1795284151692.3),
        ("nano", 1795284151692300000),
        ("iso8601", "2026-11-21T18:02:31.692Z"),
        ("rfc3339", "2026-11-21T18:02:31Z"),
        ("rfc3339nano", "2026-11-21T18:02:31.6923Z"),
    ],
)
def test_times_are_in_zaps_forms(encoding: TimeEncoding, expected: float | str) -> None:
    """Times have each format of ``--zap-time-encoding``, in UTC."""
    assert line("x", formatter=JsonFormatter(time_encoding=encoding))["ts"] == expected


@pytest.mark.parametrize(
    ("level", "name"),
    [(3, "debug"), (10, "debug"), (20, "info"), (30, "warn"), (40, "error"), (50, "panic")],
)
def test_levels_have_zaps_names(level: int, name: str) -> None:
    """Levels have zap's names, so that existing log filters work."""
    assert line("x", level=level)["level"] == name
