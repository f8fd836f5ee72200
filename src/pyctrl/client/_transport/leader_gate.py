"""Gates for the writes of work that needs leader election.

A context variable holds the gates. So they apply to everything that a gated task calls and to every task that it
starts, with any client: a reconciler may use a client that has no election, or one of another cluster.
"""

from __future__ import annotations

from contextvars import Context, ContextVar
from typing import Protocol

from pyctrl.client._transport.transport import HttpRequest

__all__ = ["WriteGate", "check_gates", "gated_context", "write_gates"]

_READS = frozenset({"GET", "HEAD", "OPTIONS"})


class WriteGate(Protocol):
    """Check whether gated work may write now."""

    def check(self, request: HttpRequest) -> None:
        """Return if this write may be sent.

        Raises:
            NotLeading: it may not.
        """
        ...


#: The gates that the writes of this task must pass; empty outside of gated work.
write_gates: ContextVar[tuple[WriteGate, ...]] = ContextVar("pyctrl write gates", default=())


def gated_context(gate: WriteGate, context: Context) -> Context:
    """Return a copy of a context for tasks whose writes must pass ``gate`` too."""
    gated = context.copy()
    gated.run(lambda: write_gates.set((*write_gates.get(), gate)))
    return gated


def check_gates(request: HttpRequest) -> None:
    """Check the gates for a write. Reads always pass.

    Raises:
        NotLeading: a gate does not let it pass.
    """
    if request.method not in _READS:
        for gate in write_gates.get():
            gate.check(request)
