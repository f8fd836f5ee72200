"""Warnings of kinds that a reconciler reads without following their changes."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from msgspec import Struct

from pyctrl._stack_frames import CodeLine, own_line, stack_of
from pyctrl.api import GroupVersionKind, Key
from pyctrl.cache import Informer, ListQuery

__all__ = ["UndeclaredRead", "UndeclaredReads", "reporting_undeclared_reads"]

log = logging.getLogger("pyctrl.controller")


class UndeclaredRead(Struct, frozen=True):
    """A read of a kind that the controller neither reconciles, owns, watches nor declares; ``line`` is the caller's."""

    controller: str
    kind: GroupVersionKind
    line: CodeLine

    @property
    def fix(self) -> str:
        """What to do."""
        kind = self.kind.kind
        return (
            f"declare reads = ({kind},), or owns = ({kind},) if it creates the objects; if changes do not matter, "
            f"reads = (reading({kind}, triggers=False),) or client.live"
        )

    def __str__(self) -> str:
        return (
            f"controller {self.controller} reads {self.kind.kind}, whose changes cause no reconcile "
            f"({self.line}: {self.line.source}): {self.fix}"
        )


_reports: list[Callable[[UndeclaredRead], object]] = []


@contextmanager
def reporting_undeclared_reads(report: Callable[[UndeclaredRead], object]) -> Iterator[None]:
    """Call ``report`` in this block, too, for each undeclared read that is logged.

    The block covers all controllers of the process. pyctrl's pytest plugin warns with it, and ``pyctrl dev`` shows it.
    """
    _reports.append(report)
    try:
        yield
    finally:
        _reports.remove(report)


class UndeclaredReads:
    """Logs one warning for each kind that a controller reads and neither reconciles, owns, watches nor declares.

    A change of such an object causes no reconcile, which is the most frequent mistake in operators. It is a
    `ReadObserver` for controllers that declare no ``reads``. Reads by code of pyctrl itself are not reported, nor are
    those of `CachedClient.live`.

    Args:
        controller: the name of the controller.
    """

    writer: object = None

    def __init__(self, controller: str) -> None:
        self._controller = controller
        self._known: set[GroupVersionKind] = set()
        self._known_informers: set[Informer] = set()  # compared by identity, faster than by kind

    def know(self, kinds: Iterable[GroupVersionKind]) -> None:
        """Add kinds that the controller follows."""
        self._known.update(kinds)

    def object_read(self, informer: Informer, key: Key) -> None:
        """Handle a read of an object."""
        if informer not in self._known_informers:
            self._check(informer.gvk, informer)

    def list_read(self, informer: Informer, query: ListQuery, index: tuple[str, str] | None) -> None:
        """Handle a read of a list."""
        if informer not in self._known_informers:
            self._check(informer.gvk, informer)

    def not_answered(self, kind: GroupVersionKind, informer: Informer | None) -> None:
        """Handle a read that the cache cannot answer."""
        self._check(kind, informer)

    def _check(self, kind: GroupVersionKind, informer: Informer | None) -> None:
        if kind not in self._known:
            line = own_line(_stack_of_task())
            if line is None:
                return  # of pyctrl, or of generated code
            self._known.add(kind)
            _report(UndeclaredRead(self._controller, kind, line))
        if informer is not None:
            self._known_informers.add(informer)


def _stack_of_task() -> list[CodeLine]:
    """Return the stack of the current task, without the event loop and the program's lines that run the loop."""
    stack = stack_of(sys._getframe(1))  # noqa: SLF001 - the documented way to get a frame
    loops = [number for number, line in enumerate(stack) if line.package in _LOOPS and line.function in _RUN]
    return stack[loops[-1] + 1 :] if loops else stack


_LOOPS = {"asyncio", "uvloop"}
_RUN = {"_run", "run", "run_forever", "run_until_complete"}


def _report(read: UndeclaredRead) -> None:
    log.warning(
        "Reading a kind whose changes cause no reconcile",
        extra={
            "controller": read.controller,
            "kind": read.kind.kind,
            "line": str(read.line),
            "source": read.line.source,
            "fix": read.fix,
        },
    )
    for report in _reports:
        report(read)
