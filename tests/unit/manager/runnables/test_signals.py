"""Signals to a real process, on the real event loop."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import threading
from datetime import timedelta

import pytest

from pyctrl.manager import Group, Lifecycle
from pyctrl.manager._runnables.signals import signals_handled

PROGRAM = """
import asyncio, signal
from datetime import timedelta
from pyctrl.errors import GracePeriodExceeded
from pyctrl.manager import Group, Lifecycle

class Work:
    name = "work"

    async def run(self):
        print("working", flush=True)
        try:
            await asyncio.Event().wait()
        finally:
            print("cleaning", flush=True)

class Slow(Work):
    def ask_to_stop(self):
        print("asked", flush=True)

async def main():
    lifecycle = Lifecycle(grace_period=timedelta(seconds=30))
    lifecycle.add(WORK(), Group.OTHERS)
    before = signal.getsignal(signal.SIGINT)
    try:
        await lifecycle.run(handle_signals=True)
    except GracePeriodExceeded as error:
        print(error, flush=True)
    print("restored", signal.getsignal(signal.SIGINT) is before, len(asyncio.all_tasks()), flush=True)

asyncio.run(main())
"""


def start(work: str) -> subprocess.Popen[str]:
    program = PROGRAM.replace("WORK", work)
    return subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.slow(reason="starts an interpreter")
def test_a_signal_stops_in_order_and_handlers_are_put_back(number: signal.Signals) -> None:
    """SIGTERM and SIGINT let runnables clean up; the program continues after `run` with its previous handlers."""
    with start("Work") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "working\n"
        process.send_signal(number)
        assert process.stdout.read() == "cleaning\nrestored True 1\n"
    assert process.returncode == 0


@pytest.mark.slow(reason="starts an interpreter")
def test_a_second_signal_ends_at_once() -> None:
    """A second signal, here the other one of the two, stops at once; no task is left."""
    with start("Slow") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "working\n"
        process.send_signal(signal.SIGTERM)
        assert process.stdout.readline() == "asked\n"
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
    error = "cancelled runnables that had not stopped when asked a second time: others/work"
    assert rest == f"cleaning\n{error}\nrestored True 1\n"


def test_off_the_main_thread_signals_are_left_alone() -> None:
    """A manager in a thread of its own runs and stops, but does not handle signals."""
    ended: list[bool] = []

    async def live() -> None:
        lifecycle = Lifecycle(grace_period=timedelta(seconds=1))
        lifecycle.add(asyncio.Event().wait, Group.OTHERS)  # type: ignore[arg-type]  # it returns True, and never does
        asyncio.get_running_loop().call_soon(lifecycle.ask_to_stop)
        await lifecycle.run(handle_signals=True)
        ended.append(True)

    thread = threading.Thread(target=lambda: asyncio.run(live()), daemon=True)
    thread.start()
    thread.join()
    assert ended == [True]


async def test_a_loop_that_cannot_handle_signals_is_fine(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a platform without signal handlers in the loop the manager runs, and is stopped by other means."""

    def refuse(*_: object) -> None:
        raise NotImplementedError

    monkeypatch.setattr(asyncio.get_running_loop(), "add_signal_handler", refuse)
    with signals_handled(lambda _: None):
        pass
