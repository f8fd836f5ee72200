"""Texts of the tabs of the details of an object."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from pyctrl.cli._dev.details_screen import error_tab, events_tab, owned_tab, pods_tab, reads_tab, title, yaml_tab
from pyctrl.controller import Request
from pyctrl.dev import (
    ContainerDetails,
    Detection,
    ErrorReport,
    EventRow,
    Frame,
    LastRun,
    ObjectDetails,
    OwnedObject,
    PodDetails,
    ReadRow,
    RunResult,
    SessionRow,
    SourceLine,
)

BOX = Request("default", "a")
SOURCE = (
    SourceLine(number=6, text="def open(box):", is_current=False),
    SourceLine(number=7, text="    raise OSError('a message that is longer than the line')", is_current=True),
)
FRAMES = (
    Frame(file="pyctrl/controller/_x.py", line=3, function="call", is_own=False, source=()),
    Frame(file="boxes.py", line=7, function="open", is_own=True, source=SOURCE),
)
CAUSE = ErrorReport(message="KeyError: 'a'", place="", text=("KeyError: 'a'", "a note"), frames=())
ERROR = ErrorReport(message="OSError: no", place="boxes.py, line 7", text=("OSError: no",), frames=FRAMES, cause=CAUSE)
FAILED = LastRun(at=0.0, took=timedelta(milliseconds=1), result=RunResult.FAILED, causes=(), error=ERROR, failures=2)
LOOP = Detection(
    at=0.0, controller="box", request=BOX, title="hot loop", message="each run writes", fix="stop", times=3
)


def details(**changes: Any) -> ObjectDetails:
    fields: dict[str, Any] = {
        "controller": "box",
        "kind": "Box",
        "request": BOX,
        "result": "done (1 ms)",
        "last": "3 s ago",
        "causes": (),
        "conditions": "",
        "run": None,
        "detections": (),
        "events": (),
        "yaml": "kind: Box\n",
        "owned": (),
    }
    return ObjectDetails(**fields | changes)


def test_a_traceback_shows_the_source_of_the_program() -> None:
    """The innermost frame is first, the program's frames have source lines cut at the width, and causes follow."""
    assert (
        error_tab(details(run=FAILED), 40).plain
        == """\
OSError: no

▸ boxes.py:7 in open
    6 │ def open(box):
  ▸ 7 │     raise OSError('a message th…
  pyctrl/controller/_x.py:3 in call

caused by
KeyError: 'a'
a note
"""
    )


def test_findings_are_above_the_error() -> None:
    """A detection has its count and its remedy."""
    text = error_tab(details(run=FAILED, detections=(LOOP,)), 80).plain
    assert text.startswith("! hot loop  ×3\n  each run writes\n  fix: stop\n\nOSError: no")


def test_an_object_without_an_error_says_so() -> None:
    """Without an error the tab says whether the object was reconciled."""
    assert error_tab(details(), 80).plain == "It was not reconciled yet."
    done = LastRun(at=0.0, took=timedelta(0), result=RunResult.DONE, causes=())
    assert error_tab(details(run=done), 80).plain == "The last reconcile succeeded."


def test_the_title_has_the_last_reconcile_and_the_conditions() -> None:
    """The title has the object, the result, the conditions and the newest causes."""
    shown = details(conditions="Ready", causes=("a", "b", "c", "d", "e"))
    assert title(shown).plain.split("\n") == [
        "Box default/a",
        "done (1 ms)  3 s ago",
        "conditions  Ready",
        "because  a, b, c, d and 1 more",
    ]
    assert title(details(yaml="")).plain.startswith("Box default/a  does not exist")


def test_events_have_their_reason_and_object() -> None:
    """Warnings are marked, and repeated Events are counted."""
    warning = EventRow(last="3 s ago", type="Warning", reason="Leaks", object="Box a", message="water", times=4)
    normal = EventRow(last="9 s ago", type="Normal", reason="Made", object="Pod b", message="a pod", times=1)
    assert events_tab(details(events=(warning, normal)), 80).plain.split("\n") == [
        *("! Leaks  Box a  3 s ago  ×4", "  water", "  Made  Pod b  9 s ago", "  a pod"),
    ]
    assert events_tab(details(), 80).plain == "There are no Events about it."


def test_owned_objects_are_a_tree() -> None:
    """Owned objects are a tree with their states."""
    pods = tuple(OwnedObject(uid=name, kind="Pod", name=name, state="Running", owned=()) for name in ("x", "y"))
    web = OwnedObject(uid="w", kind="ReplicaSet", name="w", state="2/2 ready", owned=pods)
    assert (
        owned_tab(details(owned=(web, *pods[:1])), 80).plain
        == """\
├─ ReplicaSet w  2/2 ready
│  ├─ Pod x  Running
│  └─ Pod y  Running
└─ Pod x  Running"""
    )
    assert owned_tab(details(), 80).plain == "It owns no objects."


def test_the_yaml_of_a_deleted_object_is_missing() -> None:
    """The tab has the object as YAML, or says that it does not exist."""
    assert yaml_tab(details(), 80).plain == "kind: Box"
    assert yaml_tab(details(yaml=""), 80).plain == "The object does not exist."


def test_pods_have_logs_and_what_clients_ran() -> None:
    """A pod shows the latest commands with their results, and the end of each log, cut at the width."""
    row = SessionRow(
        container="db",
        action="exec psql -c 'select 1'",
        last="3 s ago",
        result="exit code 1 after 20 ms",
        is_failed=True,
    )
    log = ("starting", "a line that is longer than the width of the screen allows")
    db = ContainerDetails(name="db", state="Running, 2 restarts", log=log)
    sidecar = ContainerDetails(name="proxy", state="Completed", log=())
    pod = PodDetails(name="web-1", phase="Running", containers=(db, sidecar), sessions=(row,))
    assert (
        pods_tab(details(pods=(pod,)), 44).plain
        == """\
web-1  Running
  $ db  exec psql -c 'select 1'  3 s ago
    exit code 1 after 20 ms
  db  Running, 2 restarts
    starting
    a line that is longer than the width of…
  proxy  Completed"""
    )
    assert pods_tab(details(), 40).plain == "It has no pods."


def test_reads_show_what_is_not_found_and_who_else_has_read_it() -> None:
    """The tab Reads has a line for each read, and the objects whose reconciles have read this object."""
    others = tuple(f"Box default/{name}" for name in "bcdefg")
    reads = (
        ReadRow(text="Secret default/db", others=others),
        ReadRow(text="Secret default/gone", is_missing=True),
        ReadRow(text="list of Pod in all namespaces"),
    )
    assert (
        reads_tab(details(reads=reads, readers=("Crate default/x",)), 80).plain
        == """\
The last reconcile read, of the kinds in its reads:
  Secret default/db  also read by Box default/b, Box default/c, Box default/d, Box default/e and 2 more
  Secret default/gone  not found
  list of Pod in all namespaces

It was read by the last reconcile of:
  Crate default/x"""
    )
    assert reads_tab(details(), 80).plain == "The last reconcile read nothing of the kinds in its reads."


def test_an_owned_object_names_its_readers() -> None:
    """The tree of owned objects shows whose reconciles have read an object."""
    owned = OwnedObject(uid="1", kind="Secret", name="key", state="", owned=(), readers=("Box default/b",))
    assert "Secret key    read by Box default/b" in owned_tab(details(owned=(owned,)), 80).plain
