"""Turn SIGINT and SIGTERM into calls while a manager runs."""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["signals_handled"]

log = logging.getLogger("pyctrl.manager")

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def signals_handled(callback: Callable[[signal.Signals], None]) -> Iterator[None]:
    """Call ``callback`` on the loop for each SIGINT and SIGTERM until the block ends, then put back what was there.

    Outside of the main thread, and on loops that cannot handle signals, it does nothing: somebody else has to stop
    the manager then. Handlers that the program gave to the loop itself are replaced and do not come back.
    """
    if threading.current_thread() is not threading.main_thread():
        log.debug("Not in the main thread, signals are left alone")
        yield
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}
    installed = [number for number in SIGNALS if _install(number, callback)]
    try:
        yield
    finally:
        for number in installed:
            asyncio.get_running_loop().remove_signal_handler(number)
            if before[number] is not None:  # None: set by something that is not Python
                signal.signal(number, before[number])


def _install(number: signal.Signals, callback: Callable[[signal.Signals], None]) -> bool:
    try:
        asyncio.get_running_loop().add_signal_handler(number, callback, number)
    except (NotImplementedError, RuntimeError, ValueError):
        log.debug("The event loop cannot handle signals", extra={"signal": number.name})
        return False
    return True
