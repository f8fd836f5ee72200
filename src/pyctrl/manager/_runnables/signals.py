"""Turn SIGINT and SIGTERM into calls while managers run."""

from __future__ import annotations

import asyncio
import logging
import math
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from weakref import WeakKeyDictionary

__all__ = ["signals_handled"]

log = logging.getLogger("pyctrl.manager")

SIGNALS = (signal.SIGINT, signal.SIGTERM)
REPEAT = 0.1  # seconds: more than one sender takes to send a signal twice, less than a person takes to ask again


class _SignalHandler:
    """What listens to signals on one loop, for everybody there: a loop has one handler of each signal."""

    def __init__(self) -> None:
        self.callbacks: list[Callable[[signal.Signals], None]] = []
        self._heard: dict[signal.Signals, float] = {}
        before = {number: signal.getsignal(number) for number in SIGNALS}
        self._before = {number: before[number] for number in SIGNALS if self._install(number)}

    def close(self) -> None:
        """Put back what was there."""
        for number, handler in self._before.items():
            asyncio.get_running_loop().remove_signal_handler(number)
            if handler is not None:  # None: set by something that is not Python
                signal.signal(number, handler)

    def _hear(self, number: signal.Signals) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._heard.get(number, -math.inf) < REPEAT:
            log.debug("Signal received twice at once, counted as one", extra={"signal": number.name})
            return
        self._heard[number] = now
        for callback in tuple(self.callbacks):
            callback(number)

    def _install(self, number: signal.Signals) -> bool:
        try:
            asyncio.get_running_loop().add_signal_handler(number, self._hear, number)
        except (NotImplementedError, RuntimeError, ValueError):
            log.debug("The event loop cannot handle signals", extra={"signal": number.name})
            return False
        return True


_handler: WeakKeyDictionary[asyncio.AbstractEventLoop, _SignalHandler] = WeakKeyDictionary()


@contextmanager
def signals_handled(callback: Callable[[signal.Signals], None]) -> Iterator[None]:
    """Call ``callback`` on the loop for each SIGINT and SIGTERM until the block ends, then put back what was there.

    The same signal within 0.1 s of the loop's time counts as one: `timeout -s TERM` signals the process and its group,
    Ctrl-C reaches a process from the terminal and from a wrapper that forwards it, and neither asks to give up the
    grace period. controller-runtime does not tell these from a second signal, and exits. A second signal while the
    loop is blocked counts as one, too; send it again.

    Several such blocks may overlap, one for each manager: all are called. Outside of the main thread, and on loops that
    cannot handle signals, it does nothing: somebody else has to stop the manager then. Handlers that the program gave
    to the loop itself are replaced and do not come back.
    """
    if threading.current_thread() is not threading.main_thread():
        log.debug("Not in the main thread, signals are left alone")
        yield
        return
    loop = asyncio.get_running_loop()
    ears = _handler.get(loop) or _handler.setdefault(loop, _SignalHandler())
    ears.callbacks.append(callback)
    try:
        yield
    finally:
        ears.callbacks.remove(callback)
        if not ears.callbacks:
            del _handler[loop]
            ears.close()
