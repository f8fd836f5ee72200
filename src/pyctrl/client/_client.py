"""Client: reads, writes, sub-resources and discovery of one API server, as one user."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from random import Random
from types import TracebackType
from typing import Any, Self

from typing_extensions import TypeVar

from pyctrl._metrics import MetricFamily
from pyctrl.api import ObjectLike, Unstructured, as_object
from pyctrl.client._client_connection import ClientConnection
from pyctrl.client._create_or_update import Written, create_or_apply, create_or_patch, create_or_update
from pyctrl.client._discovery.discovery import Discovery
from pyctrl.client._live_reader import LiveReader
from pyctrl.client._login.config import Config
from pyctrl.client._object_writer import ObjectWriter
from pyctrl.client._requests.options import ClientOptions
from pyctrl.client._requests.resource_client import ResourceClient
from pyctrl.client._requests.write_observers import WriteMutator, WriteObserver
from pyctrl.client._subresources import StatusResource, SubResource
from pyctrl.client._transport.connection import transport_for
from pyctrl.client._transport.rest_client import WarningHandler
from pyctrl.client._transport.retry import RetryPolicy
from pyctrl.client._transport.transport import Transport

__all__ = ["Client"]

O = TypeVar("O", bound=ObjectLike)  # noqa: E741 - an object, typed or not
A = TypeVar("A", bound=ObjectLike, default=Unstructured)


class Client(LiveReader, ObjectWriter):
    """Reads and writes objects of an API server, without any cache.

    A kind is a class, which returns typed objects, ``Metadata[...]`` of it, or a GroupVersionKind, which returns
    `Unstructured`. `get` raises `NotFound` where `find` returns None. Typed kinds need no discovery. A kind that the
    cluster does not serve raises `UnknownKind`. Requests that the server defers (429, 503 with Retry-After) are
    repeated, see `RetryPolicy`. Every request has a timeout.

    The client is an async context manager that closes the transport. Clients derived with `in_namespace`, `dry_run`,
    `with_field_owner`, `with_field_validation` and `impersonate` share the connection.

    Args:
        transport: reaches the server; `connect` is the usual constructor. A connection of another client is shared,
            and of the other arguments only ``options`` and ``field_owner`` count.
        options: defaults of every request; replaces ``field_owner``.
        field_owner: the owner of the fields that are written.
        server: the server's URL, for error messages, metrics and traces.
        retries: which requests are repeated, and how often.
        on_warning: called for each warning of the server; by default each text is logged once, as ``pyctrl.client``.
        random: draws the jitter of retries.
        cluster: the name of the cluster in error messages, in a program with several.
    """

    def __init__(
        self,
        transport: Transport | ClientConnection,
        *,
        options: ClientOptions | None = None,
        field_owner: str = "pyctrl",
        server: str = "",
        retries: RetryPolicy | None = None,
        on_warning: WarningHandler | None = None,
        random: Random | None = None,
        cluster: str = "",
    ) -> None:
        if isinstance(transport, ClientConnection):
            connection = transport
        else:
            connection = ClientConnection.over(
                transport, server=server, retries=retries, on_warning=on_warning, random=random, cluster=cluster
            )
        options = options or ClientOptions(field_owner=field_owner)
        parts = (connection.rest, connection.discovery, connection.observers, connection.mutators)
        super().__init__(ResourceClient(*parts, options))
        #: The connection to the server, which derived clients share.
        self.connection: ClientConnection = connection

    @classmethod
    def connect(cls, config: Config, *, field_owner: str = "pyctrl", on_warning: WarningHandler | None = None) -> Self:
        """Return a client for the server of a login. Sends nothing yet."""
        return cls(transport_for(config), field_owner=field_owner, server=config.server, on_warning=on_warning)

    @property
    def transport(self) -> Transport:
        """The transport, without retries."""
        return self.connection.transport

    @property
    def cluster(self) -> str:
        """The name of the cluster in a program with several; "" for a manager's own cluster, and with only one."""
        return self.connection.rest.cluster

    @property
    def discovery(self) -> Discovery:
        """Discovery of the kinds that the cluster serves."""
        return self.connection.discovery

    @property
    def options(self) -> ClientOptions:
        """The defaults of every request."""
        return self._requests.options

    @property
    def status(self) -> StatusResource:
        """The status sub-resource: ``await client.status.update(obj)``."""
        return StatusResource(self._requests)

    def subresource(self, name: str) -> SubResource:
        """Return any sub-resource by its name, such as ``scale`` or ``eviction``."""
        return SubResource(self._requests, name)

    async def create_or_update(
        self, obj: O, mutate: Callable[[O], None], *, field_owner: str | None = None
    ) -> Written[O]:
        """Create the object, or update it when ``mutate`` changes it (controllerutil.CreateOrUpdate).

        The object is read with `find`; a `CachedClient` reads its cache. ``mutate`` is called once: with the object
        that exists, or with a copy of ``obj`` when none exists. It changes its argument in place, and nothing else. Of
        ``obj`` only name, namespace and kind are used when the object exists. Where the status is a sub-resource it is
        neither compared nor written.

        Args:
            obj: the object to find; what is created starts as a copy of it. It is not changed.
            mutate: sets the desired fields on its argument.
            field_owner: the owner of the fields that are written; the client's by default.

        Raises:
            Conflict: another client changed the object since it was read; reconcile again.
            AlreadyExists: another client created the object since it was read; reconcile again.
            NotCovered: a `CachedClient` does not cache the kind; add ``.owns(...)`` to the controller's builder.
            ValueError: ``mutate`` changed the name or the namespace, or ``obj`` has no name.
        """
        return await create_or_update(self, self._requests, obj, mutate, field_owner=field_owner)

    async def create_or_patch(
        self, obj: O, mutate: Callable[[O], None], *, field_owner: str | None = None
    ) -> Written[O]:
        """Create the object, or patch what ``mutate`` changes, status included (controllerutil.CreateOrPatch).

        Arguments are those of `create_or_update`. Merge patches are sent: of the object, of its status, or of both.
        Changes that others make in the meantime are kept, except that lists are replaced as a whole; there is no
        `Conflict`. When the object is created its status is not written, since the server would drop it.

        Raises:
            AlreadyExists: another client created the object since it was read.
            NotFound: another client deleted the object since it was read; or the status was changed and the server
                has no such sub-resource.
            NotCovered: a `CachedClient` does not cache the kind; add ``.owns(...)`` to the controller's builder.
            ValueError: ``mutate`` changed the name or the namespace, or ``obj`` has no name.
        """
        return await create_or_patch(self, self._requests, obj, mutate, field_owner=field_owner)

    async def create_or_apply(
        self, obj: A | dict[str, Any], *, field_owner: str | None = None, force: bool = False, adopt: bool = False
    ) -> Written[A]:
        """Apply an object (server-side apply), unless the apply would change nothing.

        If ``obj`` has a controller reference, an object of its name that another owner controls, or no owner, is left
        alone: another user made it. Before one is created, the server is asked whether there is one.

        Nothing is sent when the object's managed fields show that this owner has exactly the fields of ``obj``, each
        with the value in ``obj``. Defaults of the server and fields of other owners are not compared. An apply that was
        sent and changed nothing is not sent again until the object or ``obj`` changes. A kind that is cached without
        managed fields (``KindOptions(strip_managed_fields=True)``) is applied once for each version of the object.

        Args:
            obj: the fields to apply; typed, Unstructured, or a dict, which returns Unstructured.
            field_owner: the owner of these fields; the client's by default.
            force: take over fields of other owners instead of raising `Conflict`.
            adopt: become the controller of an object that has none, instead of raising `NotOwned`.

        Raises:
            AlreadyOwned: the object exists, and has another controller than ``obj``.
            Conflict: another owner has set one of the fields to another value, and ``force`` is not set.
            NotOwned: the object exists without a controller, ``obj`` has one, and ``adopt`` is not set.
            NotCovered: a `CachedClient` does not cache the kind; add ``.owns(...)`` to the controller's builder.
            ValueError: ``obj`` has no name.
        """
        wanted: Any = as_object(obj) if isinstance(obj, Mapping) else obj
        memo = self.connection.apply_memo
        return await create_or_apply(
            self, self._requests, memo, wanted, field_owner=field_owner, force=force, adopt=adopt
        )

    def collect_metrics(self) -> Iterable[MetricFamily]:
        """Return the metrics of the requests of this client and all clients derived from it; see docs/metrics.md."""
        return self.connection.transport.collect_metrics()

    def with_options(self, options: ClientOptions) -> Self:
        """Return a client with other options on the same connection; close only one of them."""
        derived = copy(self)
        derived._requests = self._requests.with_options(options)  # noqa: SLF001 - of its own copy
        return derived

    def observe_writes(self, observer: WriteObserver) -> Callable[[], None]:
        """Notify ``observer`` of every write of this client and all derived from it; call the result to stop."""
        observers = self.connection.observers
        observers.append(observer)
        return lambda: observers.remove(observer)

    def mutate_writes(self, mutator: WriteMutator) -> Callable[[], None]:
        """Let ``mutator`` change the objects that this client and all derived from it write; call the result to stop.

        It changes creates, updates and applies. Patches and sub-resources stay as they are.
        """
        mutators = self.connection.mutators
        mutators.append(mutator)
        return lambda: mutators.remove(mutator)

    async def aclose(self) -> None:
        """Close the transport."""
        await self.connection.transport.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
