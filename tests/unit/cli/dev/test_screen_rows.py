"""Rows of the screen."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.cli._dev.screen_rows import filtered, header, rows_of
from pyctrl.controller import Request
from pyctrl.dev import Problem, SessionState, View
from tests.unit.cli.dev._views import controller_row, error_row, object_row, table, view

PROBLEM = Problem(
    message="importing a.py failed: NameError: no x", place="a.py:4:8", excerpt=("  4 | y = x", "    |     ^")
)


def drawn(shown: View, width: int = 100) -> str:
    """Return the rows as text."""
    lines = [line.rstrip() for row in rows_of(shown, width) for line in row.content.plain.split("\n")]
    assert all(len(line) <= width for line in lines)
    return "\n".join(lines)


def test_errors_are_above_controllers_and_objects() -> None:
    """Problems of files come first, then errors, controllers and objects."""
    failed = object_row("a", "5s", is_failed=True, result="failed after 1 ms, retry in 3 s", causes="retry 2")
    shown = view(
        table(failed, object_row("b", "9s"), columns=("Age",), more=7),
        problems=(PROBLEM,),
        errors=(error_row("a", "c", times=4),),
        controllers=(controller_row(errors=3),),
    )
    assert (
        drawn(shown)
        == """\
✗ importing a.py failed: NameError: no x
  at a.py:4:8
    4 | y = x
      |     ^

  ERRORS
✗ Box default/a and 1 more  3 s ago  ×4
  OSError: no disk (boxes.py, line 7)
  failed after 1 ms, retry in 3 s

  CONTROLLER  STATE  RECONCILES  PER SECOND  MEAN   ERRORS  QUEUED  DELAYED  CAUSES
  box         runs   7           0.9         12 ms  3       1       2        4 updated, 3 created

  BOX  AGE  LAST RUN  RESULT                           CAUSES
✗ a    5s   3 s ago   failed after 1 ms, retry in 3 s  retry 2
  b    9s   3 s ago   done (1 ms)                      Box default/b updated
  and 7 more"""
    )


def test_a_narrow_row_has_its_result_below() -> None:
    """On a narrow terminal messages are wrapped, and the result of an object is below its shortened name."""
    name = "a-very-long-name-of-a-box-in-eu-west-1"
    failed = object_row(name, is_failed=True, result="failed after 1 ms, retry in 3 s")
    shown = view(table(failed), errors=(error_row(name),), controllers=(controller_row(),))
    assert (
        drawn(shown, 28)
        == """\
  ERRORS
✗ Box defa…u-west-1  3 s ago
  OSError: no disk
  boxes.py, line 7
  failed after 1 ms, retry
  in 3 s

  CONTROLLER  STATE  ERRORS
  box         runs   0

  BOX
✗ a-very…-in-eu-west-1
    failed after 1 ms, retry
    in 3 s"""
    )


def test_findings_are_marked() -> None:
    """A detection marks its error, its controller and its object with !, and has a remedy."""
    found: dict[str, Any] = {"title": "hot loop", "message": "each run writes spec", "result": "", "place": ""}
    shown = view(
        table(object_row("a", detections=("hot loop",))),
        errors=(error_row("a", **found, fix="write less"),),
        controllers=(controller_row(detections=("hot loop",)),),
    )
    text = drawn(shown)
    assert "! Box default/a  3 s ago\n  hot loop: each run writes spec\n  write less\n" in text
    assert "! box         runs, hot loop" in text
    assert "! a    3 s ago   hot loop, done (1 ms)" in text


def test_names_have_a_namespace_if_it_is_not_the_default() -> None:
    """The namespace is left out if all objects of a kind are in the default one."""
    assert "\n  a    3 s ago" in drawn(view(table(object_row("a"))))
    both = drawn(view(table(object_row("a"), object_row("b", namespace="shop"))))
    assert "\n  default/a  3 s ago" in both
    assert "\n  shop/b     3 s ago" in both


def test_many_errors_leave_space_for_the_objects() -> None:
    """Eight errors are shown, and the others are counted; their objects are marked in the tables."""
    errors = tuple(error_row(f"n{number}", message=f"OSError: {number}") for number in range(12))
    text = drawn(view(table(), errors=errors))
    assert text.count("✗ Box") == 8
    assert "and 4 more errors" in text
    assert text.endswith("none")


def test_rows_keep_their_ids() -> None:
    """A row keeps its id while its numbers change, so that the cursor stays; a title has no target."""
    before = rows_of(view(table(object_row("a")), controllers=(controller_row(),)), 100)
    after = rows_of(view(table(object_row("a", last="9 s ago")), controllers=(controller_row(reconciles=9),)), 100)
    assert [row.id for row in before] == [row.id for row in after]
    assert len({row.id for row in before}) == len(before)
    assert [row.target.request for row in after if row.target is not None] == [Request("default", "a")]


def test_the_filter_has_no_case() -> None:
    """A filter selects errors and objects by name, kind, message or result."""
    shown = view(
        table(object_row("shop"), object_row("blog", result="failed after 1 ms, retrying")),
        errors=(error_row("blog"), error_row("shop", message="KeyError: 'x'")),
    )
    assert [row.request.name for row in filtered(shown, "FAILED").tables[0].rows] == ["blog"]
    assert [row.message for row in filtered(shown, "keyerror").errors] == ["KeyError: 'x'"]
    assert filtered(shown, "nothing").tables == ()
    assert filtered(shown, "") is shown


@pytest.mark.parametrize(
    ("state", "line"),
    [
        (SessionState.RUNNING, "boxes  ● running, reloaded 2 times"),
        (SessionState.RELOADING, "boxes  ◌ reloading, reloaded 2 times"),
        (SessionState.OUTDATED, "boxes  ▲ running the previous version, reloaded 2 times"),
        (SessionState.STOPPED, "boxes  ■ stopped, reloaded 2 times"),
    ],
)
def test_the_header_has_the_state(state: SessionState, line: str) -> None:
    """The header has the state in words, the reloads, and how to reach the cluster."""
    shown = header(view(state=state, reloads=2), ["export KUBECONFIG=x"], 80, is_paused=False, query="")
    assert shown.plain.split("\n") == [line, "export KUBECONFIG=x"]


def test_the_header_says_that_the_screen_is_paused_or_filtered() -> None:
    """A paused screen and a filter are shown plainly."""
    shown = header(view(), [], 80, is_paused=True, query="blog")
    assert shown.plain.split("\n") == [
        "boxes  ● running   PAUSED   the screen is frozen, the program runs",
        "filter blog  escape clears it",
    ]
