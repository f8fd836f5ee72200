"""The client: one server, one user, everything that can be asked of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random
from types import TracebackType
from typing import Self

from pyctrl._metrics import MetricFamily
from pyctrl.client._create_or_update import CreateOrUpdate
from pyctrl.client._discovery.discovery import Discovery
from pyctrl.client._live_reader import LiveReader
from pyctrl.client._live_writer import LiveWriter
from pyctrl.client._login.config import Config
from pyctrl.client._requests.options import ClientOptions
from pyctrl.client._requests.resource_client import ResourceClient
from pyctrl.client._requests.write_observers import WriteObserver, WriteObservers
from pyctrl.client._subresources import StatusResource, SubResource
from pyctrl.client._transport.connection import transport_for
from pyctrl.client._transport.metered import MeteredTransport
from pyctrl.client._transport.rest_client import RESTClient, WarningHandler
from pyctrl.client._transport.retry import RetryingTransport, RetryPolicy
from pyctrl.client._transport.traced import TracedTransport
from pyctrl.client._transport.transport import Transport

__all__ = ["Client"]


class Client(CreateOrUpdate):
    """Reads and writes objects of an API server, without any cache.

    Kinds are asked for by their class, which gives typed objects, by ``Metadata[...]`` of it, or by a
    GroupVersionKind, which gives `Unstructured`. `get` raises `NotFound` where `find` returns None. Typed kinds need
    no discovery; a kind that the cluster does not serve is `UnknownKind`. Requests that the server puts off (429, 503
    with Retry-After) are repeated, see `RetryPolicy`; everything has a timeout.

    It is an async context manager that closes the transport; clients derived by `in_namespace`, `dry_run`,
    `with_field_owner` and `impersonate` share it.

    Args:
        transport: how to reach the server; see `connect` for the usual way.
        field_owner: who owns the fields that are written.
        server: how errors name the cluster.
        retries: what is repeated, and how often.
        on_warning: is told what the server warns of; by default each text is logged once, as ``pyctrl.client``.
        random: spreads the waits of retries.
        cluster: what errors call the cluster, in a program that has several.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        field_owner: str = "pyctrl",
        server: str = "",
        retries: RetryPolicy | None = None,
        on_warning: WarningHandler | None = None,
        random: Random | None = None,
        cluster: str = "",
    ) -> None:
        metered = MeteredTransport(TracedTransport(transport, server=server), server=server)
        retrying = RetryingTransport(metered, policy=retries, random=random, on_retry=metered.retried)
        exchange = RESTClient(retrying, on_warning=on_warning, cluster=cluster)
        discovery = Discovery(exchange, server=server)
        self._transport = metered
        self._take(ResourceClient(exchange, discovery, ClientOptions(field_owner=field_owner), WriteObservers()))

    @classmethod
    def connect(cls, config: Config, *, field_owner: str = "pyctrl", on_warning: WarningHandler | None = None) -> Self:
        """Return a client for the server of a login. Nothing is sent yet."""
        return cls(transport_for(config), field_owner=field_owner, server=config.server, on_warning=on_warning)

    @property
    def transport(self) -> Transport:
        """The transport, without retries."""
        return self._transport

    @property
    def cluster(self) -> str:
        """The name of its cluster where there are several; "" for a manager's own, and where there is one."""
        return self._calls.exchange.cluster

    @property
    def discovery(self) -> Discovery:
        """What the cluster serves."""
        return self._calls.discovery

    @property
    def options(self) -> ClientOptions:
        """What holds for every request."""
        return self._calls.options

    @property
    def status(self) -> StatusResource:
        """The status of objects: ``await client.status.update(obj)``."""
        return StatusResource(self._calls)

    def subresource(self, name: str) -> SubResource:
        """Return any other sub-resource by its name, such as ``scale`` or ``eviction``."""
        return SubResource(self._calls, name)

    def collect_metrics(self) -> Iterable[MetricFamily]:
        """Return what was asked of the server by this client and all derived from it; see docs/metrics.md."""
        return self._transport.collect_metrics()

    def with_options(self, options: ClientOptions) -> Self:
        """Return a client with other options that shares the rest with this one; only one of them is to be closed."""
        derived = object.__new__(type(self))
        derived._transport = self._transport
        derived._take(self._calls.with_options(options))
        return derived

    def observe_writes(self, observer: WriteObserver) -> Callable[[], None]:
        """Tell ``observer`` of every write of this client and of all derived from it; call the result to stop."""
        return self._calls.observers.add(observer)

    async def aclose(self) -> None:
        """Close the transport."""
        await self._transport.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def _take(self, calls: ResourceClient) -> None:
        LiveReader.__init__(self, calls)
        LiveWriter.__init__(self, calls)
