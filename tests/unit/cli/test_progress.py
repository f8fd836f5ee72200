"""Tests of progress reports on stderr, in virtual time."""

from __future__ import annotations

import asyncio
import io
import sys

import pytest

from pyctrl.cli._progress import Progress, progress_line


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


def looked_at(monkeypatch: pytest.MonkeyPatch, term: str = "xterm") -> Terminal:
    """Make stderr a terminal. Not a fixture, because pytest replaces stderr in each phase of a test."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", term)
    return terminal


async def test_two_seconds_are_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wait of less than two seconds is not reported."""
    terminal = looked_at(monkeypatch)
    with Progress("the API server"):
        await asyncio.sleep(1.9)
    await asyncio.sleep(10)
    assert terminal.getvalue() == ""


async def test_elsewhere_it_is_a_line_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a terminal, a line is printed to stderr every 30 seconds."""
    with Progress("pods") as progress:
        await asyncio.sleep(3)
        progress.what = "Deployment a/b to become available"
        await asyncio.sleep(62)
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.splitlines() == [
        "waiting for pods (2s)",
        "waiting for Deployment a/b to become available (32s)",
        "waiting for Deployment a/b to become available (62s)",
    ]


async def test_on_a_terminal_it_turns_and_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal the spinner redraws one line, and erases it at the end."""
    terminal = looked_at(monkeypatch)
    with Progress("pods") as progress:
        await asyncio.sleep(2.15)
        assert terminal.getvalue() == "\r\x1b[K/ waiting for pods (2s)\r\x1b[K- waiting for pods (2s)"
        progress.clear()
        terminal.write("applied a\n")
        await asyncio.sleep(0.1)
    assert terminal.getvalue().endswith("\r\x1b[Kapplied a\n\r\x1b[K/ waiting for pods (2s)\r\x1b[K")


@pytest.mark.parametrize("dumb", ["dumb", ""])
async def test_a_terminal_that_cannot_redraw_gets_lines(monkeypatch: pytest.MonkeyPatch, dumb: str) -> None:
    """A terminal that cannot redraw gets lines, as a log file does."""
    terminal = looked_at(monkeypatch, dumb)
    with Progress("pods"):
        await asyncio.sleep(3)
    assert terminal.getvalue() == "waiting for pods (2s)\n"


async def test_a_program_that_reads_is_told_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """Quiet progress, as with ``-o json``, prints nothing."""
    with Progress("pods", quiet=True):
        await asyncio.sleep(100)
    assert capsys.readouterr() == ("", "")


async def test_logs_may_tell_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a log function there is no spinner, even on a terminal."""
    terminal = looked_at(monkeypatch)
    with Progress("definitions", tell=progress_line):
        await asyncio.sleep(3)
    assert terminal.getvalue() == "waiting for definitions (2s)\n"


async def test_an_error_takes_it_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error removes the spinner, so that later output starts on an empty line."""
    terminal = looked_at(monkeypatch)
    with pytest.raises(ValueError, match="no"):
        async with asyncio.timeout(10):
            with Progress("pods"):
                await asyncio.sleep(2.05)
                raise ValueError("no")
    assert terminal.getvalue().endswith("\r\x1b[K")
