"""Turn SIGINT and SIGTERM into calls while managers run."""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from weakref import WeakKeyDictionary

__all__ = ["signals_handled"]

log = logging.getLogger("pyctrl.manager")

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class _Ears:
    """What listens to signals on one loop, for everybody there: a loop has one handler of each signal."""

    def __init__(self) -> None:
        self.callbacks: list[Callable[[signal.Signals], None]] = []
        before = {number: signal.getsignal(number) for number in SIGNALS}
        self._before = {number: before[number] for number in SIGNALS if self._install(number)}

    def close(self) -> None:
        """Put back what was there."""
        for number, handler in self._before.items():
            asyncio.get_running_loop().remove_signal_handler(number)
            if handler is not None:  # None: set by something that is not Python
                signal.signal(number, handler)

    def _hear(self, number: signal.Signals) -> None:
        for callback in tuple(self.callbacks):
            callback(number)

    def _install(self, number: signal.Signals) -> bool:
        try:
            asyncio.get_running_loop().add_signal_handler(number, self._hear, number)
        except (NotImplementedError, RuntimeError, ValueError):
            log.debug("The event loop cannot handle signals", extra={"signal": number.name})
            return False
        return True


_ears: WeakKeyDictionary[asyncio.AbstractEventLoop, _Ears] = WeakKeyDictionary()


@contextmanager
def signals_handled(callback: Callable[[signal.Signals], None]) -> Iterator[None]:
    """Call ``callback`` on the loop for each SIGINT and SIGTERM until the block ends, then put back what was there.

    Several such blocks may overlap, one for each manager: all are called. Outside of the main thread, and on loops that
    cannot handle signals, it does nothing: somebody else has to stop the manager then. Handlers that the program gave
    to the loop itself are replaced and do not come back.
    """
    if threading.current_thread() is not threading.main_thread():
        log.debug("Not in the main thread, signals are left alone")
        yield
        return
    loop = asyncio.get_running_loop()
    ears = _ears.get(loop) or _ears.setdefault(loop, _Ears())
    ears.callbacks.append(callback)
    try:
        yield
    finally:
        ears.callbacks.remove(callback)
        if not ears.callbacks:
            del _ears[loop]
            ears.close()
