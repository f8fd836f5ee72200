"""The client: one server, one user, everything that can be asked of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from random import Random
from types import TracebackType
from typing import Any, Self

from typing_extensions import TypeVar

from pyctrl._metrics import MetricFamily
from pyctrl.api import KubernetesObject, Unstructured
from pyctrl.client._client_connection import ClientConnection
from pyctrl.client._create_or_update import Written, create_or_apply, create_or_patch, create_or_update
from pyctrl.client._discovery.discovery import Discovery
from pyctrl.client._live_reader import LiveReader
from pyctrl.client._login.config import Config
from pyctrl.client._object_writer import ObjectWriter
from pyctrl.client._requests.options import ClientOptions
from pyctrl.client._requests.resource_client import ResourceClient
from pyctrl.client._requests.write_observers import WriteObserver
from pyctrl.client._requests.write_requests import as_object
from pyctrl.client._subresources import StatusResource, SubResource
from pyctrl.client._transport.connection import transport_for
from pyctrl.client._transport.rest_client import WarningHandler
from pyctrl.client._transport.retry import RetryPolicy
from pyctrl.client._transport.transport import Transport

__all__ = ["Client"]

O = TypeVar("O", bound=KubernetesObject | Unstructured)  # noqa: E741 - an object, typed or not
A = TypeVar("A", bound=KubernetesObject | Unstructured, default=Unstructured)


class Client(LiveReader, ObjectWriter):
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
            self.connection = transport
        else:
            self.connection = ClientConnection.over(
                transport, server=server, retries=retries, on_warning=on_warning, random=random, cluster=cluster
            )
        shared = self.connection
        options = options or ClientOptions(field_owner=field_owner)
        super().__init__(ResourceClient(shared.rest, shared.discovery, shared.observers, options))

    @classmethod
    def connect(cls, config: Config, *, field_owner: str = "pyctrl", on_warning: WarningHandler | None = None) -> Self:
        """Return a client for the server of a login. Nothing is sent yet."""
        return cls(transport_for(config), field_owner=field_owner, server=config.server, on_warning=on_warning)

    @property
    def transport(self) -> Transport:
        """The transport, without retries."""
        return self.connection.transport

    @property
    def cluster(self) -> str:
        """The name of its cluster where there are several; "" for a manager's own, and where there is one."""
        return self.connection.rest.cluster

    @property
    def discovery(self) -> Discovery:
        """What the cluster serves."""
        return self.connection.discovery

    @property
    def options(self) -> ClientOptions:
        """What holds for every request."""
        return self._requests.options

    @property
    def status(self) -> StatusResource:
        """The status of objects: ``await client.status.update(obj)``."""
        return StatusResource(self._requests)

    def subresource(self, name: str) -> SubResource:
        """Return any other sub-resource by its name, such as ``scale`` or ``eviction``."""
        return SubResource(self._requests, name)

    async def create_or_update(
        self, obj: O, mutate: Callable[[O], None], *, field_owner: str | None = None
    ) -> Written[O]:
        """Bring an object to what ``mutate`` makes of it; an update is sent only when that changes something.

        ``mutate`` is called once: with the object as it is, or, when there is none, with a copy of ``obj``. It changes
        what it is given, in place, and nothing else. Of an object that is there, only name, namespace and kind of
        ``obj`` count. The status is neither compared nor written where it is a sub-resource.

        Args:
            obj: which object; also what to begin with. It stays as it is.
            mutate: sets the fields that matter, on the object it is given.
            field_owner: who owns the fields that are written.

        Raises:
            Conflict: somebody has changed it since it was read; the next attempt reads it anew.
            AlreadyExists: somebody has created it since; likewise.
            ValueError: ``mutate`` has changed the name or the namespace.
        """
        return await create_or_update(self, self._requests, obj, mutate, field_owner=field_owner)

    async def create_or_patch(
        self, obj: O, mutate: Callable[[O], None], *, field_owner: str | None = None
    ) -> Written[O]:
        """Do as `create_or_update`, but send merge patches: of the object, of its status, or of both.

        What others change in the meantime is kept, except that lists are replaced whole; there is no `Conflict`. When
        the object is created its status is not written, as the server would leave it out.

        Raises:
            AlreadyExists: somebody has created it since it was read.
            NotFound: somebody has deleted it since; or the kind's status is no sub-resource and was changed.
            ValueError: ``mutate`` has changed the name or the namespace.
        """
        return await create_or_patch(self, self._requests, obj, mutate, field_owner=field_owner)

    async def create_or_apply(
        self, obj: A | dict[str, Any], *, field_owner: str | None = None, force: bool = False
    ) -> Written[A]:
        """Say how an object should be (server-side apply), and send that only when it may change something.

        Nothing is sent when the managed fields of the object show that this owner has exactly the fields that are
        stated, each with the value that is stated; what the server fills in, and what others own, is not looked at. An
        apply that changed nothing although it had to be sent, is not sent again until the object or what is stated
        changes. A kind that is cached without managed fields (``KindOptions(strip_managed_fields=True)``) is applied
        once for each version of the object.

        Args:
            obj: what is stated; typed, Unstructured, or a dict, which gives Unstructured.
            field_owner: whose fields these are; the client's by default.
            force: take over fields of other owners instead of raising `Conflict`.

        Raises:
            Conflict: another owner has one of the fields with another value, and ``force`` is not set.
        """
        wanted: Any = as_object(obj)
        memo = self.connection.apply_memo
        return await create_or_apply(self, self._requests, memo, wanted, field_owner=field_owner, force=force)

    def collect_metrics(self) -> Iterable[MetricFamily]:
        """Return what was asked of the server by this client and all derived from it; see docs/metrics.md."""
        return self.connection.transport.collect_metrics()

    def with_options(self, options: ClientOptions) -> Self:
        """Return a client with other options that shares the rest with this one; only one of them is to be closed."""
        derived = copy(self)
        derived._requests = self._requests.with_options(options)  # noqa: SLF001 - of its own copy
        return derived

    def observe_writes(self, observer: WriteObserver) -> Callable[[], None]:
        """Tell ``observer`` of every write of this client and of all derived from it; call the result to stop."""
        observers = self.connection.observers
        observers.append(observer)
        return lambda: observers.remove(observer)

    async def aclose(self) -> None:
        """Close the transport."""
        await self.connection.transport.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
