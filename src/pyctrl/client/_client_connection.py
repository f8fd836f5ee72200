"""The connection of a client to one API server, shared by all clients that are derived from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Self

from pyctrl.client._comparison.apply_memo import ApplyMemo
from pyctrl.client._discovery.discovery import Discovery
from pyctrl.client._requests.write_observers import WriteMutator, WriteObserver
from pyctrl.client._transport.instrumented import InstrumentedTransport
from pyctrl.client._transport.rest_client import RESTClient, WarningHandler
from pyctrl.client._transport.retry import RetryPolicy
from pyctrl.client._transport.transport import Transport

__all__ = ["ClientConnection"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientConnection:
    """Everything about one API server that does not depend on the options of a client.

    Attributes:
        transport: measured and traced, without retries.
        rest: sends requests over it, with retries; failures are raised as errors.
        discovery: which kinds the server serves.
        observers: are notified of every write.
        mutators: change the objects that are written.
        apply_memo: remembers applies that changed nothing.
    """

    transport: InstrumentedTransport
    rest: RESTClient
    discovery: Discovery
    observers: list[WriteObserver] = field(default_factory=list)
    mutators: list[WriteMutator] = field(default_factory=list)
    apply_memo: ApplyMemo = field(default_factory=ApplyMemo)

    @classmethod
    def over(
        cls,
        transport: Transport,
        *,
        server: str = "",
        retries: RetryPolicy | None = None,
        on_warning: WarningHandler | None = None,
        random: Random | None = None,
        cluster: str = "",
    ) -> Self:
        """Return a connection over a transport; the arguments are those of `Client`."""
        instrumented = InstrumentedTransport(transport, server=server)
        rest = RESTClient(instrumented, retries=retries, random=random, on_warning=on_warning, cluster=cluster)
        return cls(transport=instrumented, rest=rest, discovery=Discovery(rest, server=server))
