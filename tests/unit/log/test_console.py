"""The console format of log lines."""

from __future__ import annotations

import logging
from datetime import timedelta

from pyctrl._log import ConsoleFormatter, Lines, current_log_context, log_context
from pyctrl.api import ObjectMeta
from pyctrl.kinds.core.v1 import ConfigMap
from tests.unit.log._lines import console, make_record, raised


def test_a_line_shows_message_and_fields() -> None:
    """Extras are key=value; values of several words are quoted; empty values are omitted."""
    line = console("scaled", replicas=3, reason="asked to", empty="", none=None, nothing=(), some=["a", "b"])
    assert line == 'INFO    podset: scaled  replicas=3 reason="asked to" some=[a, b]'


def test_values_are_as_people_write_them() -> None:
    """Durations have Go's format, numbers few digits, objects kind and name, and long texts are cut."""
    web = ConfigMap(metadata=ObjectMeta(name="web", namespace="default"), data={"secret": "x"})
    line = console(
        "done", took=0.104283712, after=timedelta(seconds=90), soon=timedelta(milliseconds=5), ok=True, on=web
    )
    assert line.endswith('took=0.104 after=1m30s soon=5ms ok=true on="ConfigMap default/web"')
    assert len(console("done", body="x" * 5000)) < 250
    assert console("done", **{"worker count": 2}).endswith("worker_count=2")


def test_the_work_comes_last_and_says_each_thing_once() -> None:
    """The object is one field, ids are shortened, and group, kind and causes are not repeated."""
    fields = {"controller": "podset", "controllerGroup": "a.b", "controllerKind": "PodSet", "causes": ("created",)}
    with log_context(**fields, namespace="default", name="web", reconcileID="993fcadd-6046-4527-b9af-91ea5782a3ac"):
        line = console("scaled", replicas=3, object="default/web")
        causes = console("Reconciling", causes=("created",))
    work = "object=default/web controller=podset reconcileID=993fcadd"
    assert line == f"INFO    podset: scaled  replicas=3 {work}"
    assert causes == f"INFO    podset: Reconciling  causes=[created] {work}"
    assert console("Starting Controller", **fields) == (
        "INFO    podset: Starting Controller  controller=podset causes=[created]"
    )


def test_fields_of_the_context_are_on_every_line_of_the_block() -> None:
    """Fields of a context are on every line of its block, including nested blocks, and not afterwards."""
    with log_context(controller="podset", name="web"):
        with log_context(zone="a"):
            assert console("inside", x=1) == "INFO    podset: inside  x=1 object=web controller=podset zone=a"
        assert current_log_context() == {"controller": "podset", "name": "web"}
    assert console("outside") == "INFO    podset: outside"


def test_an_error_is_told_once() -> None:
    """Fields that repeat the message are dropped; without a traceback, the error is a field."""
    assert console("Reconciler error: ValueError: no", error="ValueError: no").endswith("error: ValueError: no")
    assert console("it waits", error="it is down").endswith('it waits  error="it is down"')
    text = console("failed", level=logging.ERROR, exc=raised(ValueError("no")))
    assert text.startswith("ERROR   podset: failed\n    Traceback")
    assert text.endswith("ValueError: no")
    quiet = ConsoleFormatter(stacktrace_level=logging.CRITICAL)
    line = quiet.format(make_record("failed", level=logging.ERROR, exc=raised(ValueError("no"))))
    assert line.endswith('failed  error="ValueError: no"')


def test_lines_after_the_first_can_be_copied() -> None:
    """In a message with several lines the fields follow the first line; other lines are below."""
    record = make_record("%s", x=1)
    record.args = (Lines("do this:\n  kubectl apply"),)
    text = ConsoleFormatter().format(record).split(" ", 1)[1]
    assert text == "INFO    podset: do this:  x=1\n      kubectl apply"


def test_levels_below_debug_say_so() -> None:
    """``--zap-log-level=3`` shows lines of levels without a name in logging."""
    assert console("detail", level=8).startswith("DEBUG-2 podset")
