"""Live view of `pyctrl dev` on a terminal."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from rich.console import Console

from pyctrl.api import Key
from pyctrl.cli._dev.screen import LogLines, Screen, render
from pyctrl.controller import (
    ChangeCause,
    RetryCause,
)
from pyctrl.dev import Journal, Snapshot, View, view_of
from tests.unit.dev._views import BOX, KIND, box, item, numbers, table


def drawn(view: View, *, lines: list[str] | None = None, height: int = 40) -> str:
    console = Console(width=140, height=height, record=True, file=None, force_terminal=False)
    with console.capture() as captured:
        console.print(render(view, header=["export KUBECONFIG=x"], lines=lines or [], height=height))
    return captured.get()


def test_a_terminal_shows_it_all() -> None:
    """The screen shows title, kubeconfig, problem, objects, log and keys, and counts rows that do not fit."""
    many = table(*(box(f"n{number}", "5s") for number in range(50)))
    look = Snapshot(
        now=0,
        name="boxes",
        reloads=2,
        problem="SyntaxError: no",
        controllers={"box": ("runs", "", numbers(success=3))},
        tables=[("box", "Box", many)],
    )
    text = drawn(view_of(look, Journal()), lines=["a line"])
    for part in (
        "boxes  reloaded 2 times  previous version",
        "export KUBECONFIG=x",
        "SyntaxError: no",
        "BOX",
        "a line",
    ):
        assert part in text
    assert "default/n0" in text
    assert "and 27 more" in text
    assert "q quit" in text


async def test_a_long_reason_takes_no_room_from_the_columns() -> None:
    """The columns of an object are shown whole, and its causes are cut off at the width of the terminal."""
    journal, loop = Journal(), asyncio.get_running_loop()
    failed = item(
        BOX, ChangeCause(KIND, Key("default", "x" * 200), "created", "7"), RetryCause(3, "ValueError: no disk")
    )
    failed.fail(ValueError("no disk"))
    journal.reconcile_recorder("box")(failed, timedelta(milliseconds=12))
    shown = table(box("a", 3, "5s"), columns=("Name", "Size", "Age"))
    seen = {"box": ("runs", "", numbers(error=1, causes={"c" * 200: 1}))}
    text = drawn(
        view_of(Snapshot(now=loop.time(), name="boxes", tables=[("box", "Box", shown)], controllers=seen), journal)
    )
    assert "BOX        SIZE  AGE  LAST RUN  RESULT                    CAUSES" in text
    assert "default/a  3     5s   0s ago    failed, retrying (12 ms)  retry 3, Box default/xxx" in text
    assert "CONTROLLER  STATE  RECONCILES  PER SECOND  MEAN" in text


async def test_keys() -> None:
    """p pauses and resumes, l shows and hides the log, q quits."""
    screen = Screen(None, [], LogLines())  # type: ignore[arg-type]  # keys do not use the session
    for key in "pllq":
        screen.press(key)
    assert (screen._is_paused, screen._shows_log, screen._is_quit) == (True, False, True)
