"""Handling of SIGINT and SIGTERM while managers run."""

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
REPEAT = 0.1  # seconds: longer than one sender takes to send a signal twice, shorter than a person's second Ctrl-C


class _SignalHandler:
    """The signal handlers of one loop, shared by its managers: a loop has one handler for each signal."""

    def __init__(self) -> None:
        self.callbacks: list[Callable[[signal.Signals], None]] = []
        self._received_at: dict[signal.Signals, float] = {}
        before = {number: signal.getsignal(number) for number in SIGNALS}
        self._before = {number: before[number] for number in SIGNALS if self._install(number)}

    def close(self) -> None:
        """Restore the previous handlers."""
        for number, handler in self._before.items():
            asyncio.get_running_loop().remove_signal_handler(number)
            if handler is not None:  # None: not installed from Python
                signal.signal(number, handler)

    def _receive(self, number: signal.Signals) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._received_at.get(number, -math.inf) < REPEAT:
            log.debug("Ignoring duplicate signal", extra={"signal": number.name})
            return
        self._received_at[number] = now
        for callback in tuple(self.callbacks):
            callback(number)

    def _install(self, number: signal.Signals) -> bool:
        try:
            asyncio.get_running_loop().add_signal_handler(number, self._receive, number)
        except (NotImplementedError, RuntimeError, ValueError):
            log.debug("Event loop does not support signal handlers", extra={"signal": number.name})
            return False
        return True


_handlers: WeakKeyDictionary[asyncio.AbstractEventLoop, _SignalHandler] = WeakKeyDictionary()


@contextmanager
def signals_handled(callback: Callable[[signal.Signals], None]) -> Iterator[None]:
    """Call ``callback`` on the loop for each SIGINT and SIGTERM until the block ends, then restore the old handlers.

    The same signal twice within 0.1 s, by the loop's clock, counts once: `timeout -s TERM` signals the process and its
    group, and Ctrl-C reaches a process both from the terminal and from a wrapper that forwards it. Neither is a request
    to skip the grace period. controller-runtime counts such a pair as two signals and exits. Two signals while the loop
    is blocked count as one, too; send another one.

    Several such blocks may overlap, one for each manager; all callbacks are called. Outside of the main thread, and on
    loops without signal handlers, the block does nothing: the program has to stop the manager itself. Handlers that the
    program added to the loop are replaced and not restored.
    """
    if threading.current_thread() is not threading.main_thread():
        log.debug("Not in the main thread, not handling signals")
        yield
        return
    loop = asyncio.get_running_loop()
    handler = _handlers.get(loop) or _handlers.setdefault(loop, _SignalHandler())
    handler.callbacks.append(callback)
    try:
        yield
    finally:
        handler.callbacks.remove(callback)
        if not handler.callbacks:
            del _handlers[loop]
            handler.close()
