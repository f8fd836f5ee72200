"""Event loop with a virtual clock: time jumps to the next timer as soon as no callback is ready.

Everything in pyctrl takes durations from ``loop.time()`` and wall-clock time from ``pyctrl._clock``. This loop
implements the first and replaces the second while it runs. So a manager, its controllers, leader election and an API
server run through hours in milliseconds, in the same order each time.

Sockets, threads and subprocesses cannot be simulated; using them raises `OutsideWorld`. A program that would hang in
real time raises `Deadlock`, `Runaway` or `Spinning`.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, NoReturn, TypeVar, TypeVarTuple

from pyctrl import _clock
from pyctrl.testing._loop.describe_tasks import describe_tasks

__all__ = ["Deadlock", "OutsideWorld", "Runaway", "Spinning", "VirtualTimeError", "VirtualTimeLoop", "run_virtual"]

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)  # the initial wall-clock time: fixed, so that printed times are repeatable
# Of virtual time: more than any lease or backoff. A leftover one-second ticker gets there in a third of a second.
LIMIT = timedelta(days=1)
# Iterations of the loop within one virtual second, 0.5 to a few seconds of CPU. Tests of pyctrl need up to 200 at one
# instant, thousands of objects need more. Timers of microseconds would take days to reach LIMIT.
SPINS = 500_000
# Reconciles of one object within one virtual second that its controller's own writes have caused; some 5 ms each.
HOT_RUNS = 500


class VirtualTimeError(AssertionError):  # not a PyctrlError: no code under test may handle it
    """Base of the errors of programs in virtual time. It fails the test."""


class Deadlock(VirtualTimeError):
    """Raised when every task waits and no timer is set, so the program can never continue."""

    def __init__(self, tasks: str) -> None:
        super().__init__(f"deadlock: nothing is ready to run and no timer is set; these tasks wait:\n{tasks}")


class Runaway(VirtualTimeError):
    """Raised when virtual time passes its limit: timers keep firing but the program does not end."""

    def __init__(self, limit: timedelta, tasks: str) -> None:
        super().__init__(
            f"virtual time passed {limit} and the program still runs; if that is intended, mark the test "
            f"virtual_time(limit=timedelta(...)) or pass limit= to run_virtual; these tasks wait:\n{tasks}"
        )


class Spinning(VirtualTimeError):
    """Raised when a program loops while virtual time hardly advances.

    A task retries without a pause, timers of microseconds fire for ever, or a controller's own writes cause its next
    reconciles. In the last case the message names the controller, the object and the fields that each run writes.
    """

    def __init__(self, message: str, tasks: str) -> None:
        super().__init__(f"{message}; the tasks:\n{tasks}" if tasks else message)


class OutsideWorld(VirtualTimeError):
    """Raised when a program in virtual time uses a socket, a thread or a process."""

    def __init__(self, call: str) -> None:
        super().__init__(
            f"{call} needs the outside world, which does not run on virtual time; use the in-process transport, "
            "or mark the test real_time"
        )


class VirtualTimeLoop(asyncio.BaseEventLoop):
    """An asyncio event loop whose clock jumps instead of waiting.

    It is deterministic: it reads no clock and no socket, so the same program takes the same steps. ``time()`` starts at
    zero, wall-clock time at ``start``, and both advance together. Signal handlers work; send signals with
    `send_signal`.
    """

    def __init__(self, *, start: datetime = EPOCH, limit: timedelta = LIMIT) -> None:
        super().__init__()
        self._start = start
        self._limit = self._allowance = limit.total_seconds()
        self._now = 0.0
        self._spins, self._second_began = 0, 0.0
        self._hot_runs: dict[object, int] = {}  # of the current second
        self._hot_loop = ""
        #: Whether it has stopped with a `VirtualTimeError`.
        self.has_failed: bool = False
        self._clock_resolution = 1e-6  # timers this close fire together; floats are finer than that for 200 years
        self._signal_handlers: dict[int, Callable[[], object]] = {}
        self._selector = self  # BaseEventLoop waits with `self._selector.select(timeout)`, which is replaced below

    def time(self) -> float:
        """Return the seconds of virtual time since the loop was made."""
        return self._now

    def wall_time(self) -> datetime:
        """Return the wall-clock time at `time`."""
        return self._start + timedelta(seconds=self._now)

    def run_forever(self) -> None:
        """Run until stopped; meanwhile this loop is pyctrl's wall clock."""
        try:
            with _clock.use(self.wall_time):
                super().run_forever()
        except VirtualTimeError:
            self.has_failed = True
            raise

    def select(self, timeout: float | None) -> list[Any]:
        """Advance time by ``timeout`` instead of waiting; it is zero while a callback is ready."""
        if timeout is None:
            raise Deadlock(describe_tasks(self))
        self._now += timeout
        self._catch_up()
        if self._now > self._limit:
            self._limit += self._allowance  # so that the tasks that are now cancelled can clean up
            raise Runaway(timedelta(seconds=self._allowance), describe_tasks(self))
        self._spins += 1
        if self._now - self._second_began >= 1.0:
            self._begin_second()
        if self._spins > SPINS or self._hot_loop:
            raise self._spinning()
        return []

    def _catch_up(self) -> None:
        """Advance to the next timer if it fires in this iteration, less than one clock resolution early.

        Otherwise two tasks that wait for a time and check the clock would wake each other for ever: an iteration with
        ready callbacks takes no time.
        """
        timers: list[asyncio.TimerHandle] = getattr(self, "_scheduled", [])  # not in the stubs
        if timers and self._now < timers[0].when() < self._now + self._clock_resolution:
            self._now = timers[0].when()

    def _begin_second(self) -> None:
        self._second_began, self._spins, self._hot_loop = self._now, 0, ""
        self._hot_runs.clear()

    def _spinning(self) -> Spinning:
        found = self._hot_loop
        self._begin_second()  # so that the tasks that are now cancelled can clean up
        if found:
            return Spinning(found, "")  # it names the cause, which hundreds of tasks of a cluster would hide
        message = f"the loop ran {SPINS:,} iterations within one second of virtual time: a task spins"
        return Spinning(message, describe_tasks(self))

    def notice_hot_loop(self, key: object, text: str, runs: int, *, factor: int = 1) -> None:
        """Count reconciles of one object that its own reconciles have caused.

        ``factor`` times `HOT_RUNS` of them within one second of virtual time are an error.
        """
        self._hot_runs[key] = self._hot_runs.get(key, 0) + runs
        if self._hot_runs[key] >= HOT_RUNS * factor:
            self._hot_loop = f"{self._hot_runs[key]} reconciles within one second of virtual time: {text}"

    def add_signal_handler(self, sig: int, callback: Callable[[*Ts], object], *args: *Ts) -> None:
        """Call ``callback`` when `send_signal` sends ``sig``. The process's own signal handlers are not changed."""
        self._signal_handlers[sig] = partial(callback, *args)

    def remove_signal_handler(self, sig: int) -> bool:
        """Remove the handler of ``sig``. Return True if there was one."""
        return self._signal_handlers.pop(sig, None) is not None

    def send_signal(self, sig: int) -> None:
        """Deliver ``sig`` to the program in this loop as the operating system would. Without a handler, raise."""
        if sig not in self._signal_handlers:
            raise VirtualTimeError(f"signal {sig} would have ended the program: it has no handler for it")
        self.call_soon(self._signal_handlers[sig])

    def _process_events(self, event_list: list[Any]) -> None:
        """Do nothing: there are only timers."""

    def _write_to_self(self) -> None:
        """Raise `OutsideWorld` if another thread wakes the loop: the result would depend on real time."""
        owner: int | None = getattr(self, "_thread_id", None)
        if owner not in (None, threading.get_ident()):
            raise OutsideWorld("call_soon_threadsafe() from another thread")


def _refuse(name: str) -> Callable[..., NoReturn]:
    def refuse(*_args: object, **_kwargs: object) -> NoReturn:
        raise OutsideWorld(f"loop.{name}()")

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "Raise OutsideWorld."
    return refuse


for _name in (
    *("add_reader", "add_writer", "connect_accepted_socket", "connect_read_pipe", "connect_write_pipe"),
    *("create_connection", "create_datagram_endpoint", "create_server", "create_unix_connection", "create_unix_server"),
    *("getaddrinfo", "getnameinfo", "run_in_executor", "sendfile", "start_tls", "subprocess_exec", "subprocess_shell"),
    *("sock_accept", "sock_connect", "sock_recv", "sock_recv_into", "sock_recvfrom", "sock_recvfrom_into"),
    *("sock_sendall", "sock_sendfile", "sock_sendto"),
):
    setattr(VirtualTimeLoop, _name, _refuse(_name))


def run_virtual(main: Coroutine[Any, Any, T], *, start: datetime = EPOCH, limit: timedelta = LIMIT) -> T:
    """Run ``main`` to its end in virtual time and return its result, as `asyncio.run` does in real time.

    Args:
        main: the coroutine to run.
        start: the wall-clock time at its start.
        limit: the virtual time after which `Runaway` is raised.

    Raises:
        Deadlock: every task waits and no timer is set.
        Runaway: ``limit`` has passed.
        Spinning: a task or a controller loops without a pause.
    """
    with asyncio.Runner(loop_factory=lambda: VirtualTimeLoop(start=start, limit=limit)) as runner:
        return runner.run(main)
