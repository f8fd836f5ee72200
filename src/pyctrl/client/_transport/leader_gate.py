"""The gate for writes: work that only a leader may do is marked, and what it sends is asked for its right to.

The mark is a context variable, so it holds for all that a marked task calls and for every task that it begins,
whichever client they use: a reconciler may hold a client that knows nothing of elections, or one of another cluster.
"""

from __future__ import annotations

from contextvars import Context, ContextVar
from typing import Protocol

from pyctrl.client._transport.transport import HttpRequest

__all__ = ["WriteGate", "check_gates", "gated_context", "write_gates"]

_READS = frozenset({"GET", "HEAD", "OPTIONS"})


class WriteGate(Protocol):
    """Decides whether marked work may write now."""

    def check(self, request: HttpRequest) -> None:
        """Return at once if this write may be sent.

        Raises:
            NotLeading: it may not.
        """
        ...


#: The gates that the writes of this task must pass; empty outside marked work.
write_gates: ContextVar[tuple[WriteGate, ...]] = ContextVar("pyctrl write gates", default=())


def gated_context(gate: WriteGate, context: Context) -> Context:
    """Return a copy of a context for tasks whose writes pass ``gate`` too."""
    marked = context.copy()
    marked.run(lambda: write_gates.set((*write_gates.get(), gate)))
    return marked


def check_gates(request: HttpRequest) -> None:
    """Refuse a write of marked work whose time is over. Reads pass always.

    Raises:
        NotLeading: the gate is closed.
    """
    if request.method not in _READS:
        for gate in write_gates.get():
            gate.check(request)
