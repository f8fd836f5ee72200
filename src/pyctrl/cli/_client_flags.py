"""Login flags of commands that connect to a cluster, named as in kubectl, and their client."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

from cyclopts import Group, Parameter

from pyctrl.cli._durations import duration
from pyctrl.errors import CommandFailed, TransportError, Unauthorized

if TYPE_CHECKING:
    from pyctrl.client import Client, Config, HttpRequest, HttpResponse, HttpStream, Transport

__all__ = ["NO_CLIENT_FLAGS", "NO_CONFIG_FLAGS", "ClientFlags", "ConfigFlags", "login_error"]

T = TypeVar("T")

LOGIN = Group("Login", sort_key=9)


@Parameter(name="*")  # each field is a flag of the command
@dataclass(frozen=True, kw_only=True)
class ConfigFlags:
    """Flags for the cluster and the user, of commands that have namespace flags of their own; see `ClientFlags`."""

    kubeconfig: Annotated[
        Path | None,
        Parameter(
            group=LOGIN,
            metavar="FILE",
            help="The kubeconfig. Defaults to KUBECONFIG, the pod's service account, or `~/.kube/config`.",
        ),
    ] = None
    context: Annotated[
        str | None, Parameter(group=LOGIN, metavar="NAME", help="The kubeconfig context. Defaults to the current one.")
    ] = None
    as_user: Annotated[
        str | None,
        Parameter(
            name="--as",
            group=LOGIN,
            metavar="USER",
            help="Impersonate this user, such as `system:serviceaccount:NAMESPACE:NAME`.",
        ),
    ] = None
    as_groups: Annotated[
        tuple[str, ...],
        Parameter(
            name="--as-group",
            group=LOGIN,
            metavar="GROUP",
            help="Impersonate this group, with `--as`. May be repeated.",
        ),
    ] = ()

    def config(self) -> Config:
        """Find the login, with the user that the flags name.

        Raises:
            CommandFailed: no source of a login is available; the message lists each one and why it was skipped.
            ConfigError: a source is available and cannot be used, or a group is named without a user.
        """
        from pyctrl.program import load_config  # here and below: help and completion need none of it

        return load_config(self)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ClientFlags(ConfigFlags):
    """Flags for the cluster and the user.

    A command has one parameter of this type: ``login: ClientFlags = NO_CLIENT_FLAGS``. Without flags the login is
    found as `pyctrl.client.Config.load` does.
    """

    namespace: Annotated[
        str | None,
        Parameter(
            name=("--namespace", "-n"),
            group=LOGIN,
            metavar="NAME",
            help="The namespace. Defaults to the namespace of the login.",
        ),
    ] = None
    request_timeout: Annotated[
        timedelta | None,
        Parameter(
            group=LOGIN,
            metavar="DURATION",
            converter=duration,
            help="How long to wait for each response, such as `5s` or `1m`. Defaults to 30s.",
        ),
    ] = None

    def config(self) -> Config:
        """Find the login, as `ConfigFlags.config` does, with the namespace that the flags name."""
        config = super().config()
        return replace(config, namespace=self.namespace or config.namespace)

    def client(self, config: Config) -> Client:
        """Return a client for a login, as a context manager."""
        from pyctrl.client import Client

        client = Client.connect(config)
        if self.request_timeout is None:
            return client
        transport = _TimeoutTransport(client.transport, self.request_timeout.total_seconds())
        return Client(transport, server=config.server)

    def run(self, work: Callable[[Client, Config], Awaitable[T]], *, quiet: bool = False) -> T:
        """Find the login, and run ``work`` with a client on a new event loop; return its result.

        Args:
            work: sends requests to the cluster.
            quiet: report no progress on stderr, because another program reads the output.

        Raises:
            CommandFailed: no login was found, the server did not answer, or it rejected the login. The message names
                the login, the credentials without their secrets, and what to do.
        """
        import asyncio  # here: help and completion need no loop

        return asyncio.run(self._run(work, quiet=quiet))

    async def _run(self, work: Callable[[Client, Config], Awaitable[T]], *, quiet: bool) -> T:
        from pyctrl.cli._progress import Progress  # here: it imports asyncio

        config = self.config()
        async with self.client(config) as client:
            try:
                with Progress(f"the API server at {config.server}", quiet=quiet):
                    return await work(client, config)
            except (TransportError, Unauthorized) as error:
                raise await login_error(error, config) from error


NO_CLIENT_FLAGS = ClientFlags()
NO_CONFIG_FLAGS = ConfigFlags()


class _TimeoutTransport:
    """A transport with a timeout for each response."""

    def __init__(self, transport: Transport, seconds: float) -> None:
        self._transport = transport
        self._seconds = seconds

    async def request(self, request: HttpRequest) -> HttpResponse:
        return await self._transport.request(replace(request, timeout=self._seconds))

    def stream(
        self, request: HttpRequest, *, idle_timeout: float | None = None
    ) -> AbstractAsyncContextManager[HttpStream]:
        return self._transport.stream(request, idle_timeout=idle_timeout)

    async def aclose(self) -> None:
        await self._transport.aclose()


async def login_error(error: TransportError | Unauthorized, config: Config) -> CommandFailed:
    """Return the error for users when the cluster cannot be reached or rejects the login."""
    from pyctrl.cli._login_errors import explain_login_error  # here: needed for errors only

    return await explain_login_error(error, config)
