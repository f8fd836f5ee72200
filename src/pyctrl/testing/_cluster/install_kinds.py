"""Installer of a program's kinds in a test's cluster: their definitions and their conversion webhooks."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from urllib.parse import urlsplit

from pyctrl.apiserver import CertificateAuthority, WebhookCaller, WebhookRequest, WebhookResponse
from pyctrl.client import Client
from pyctrl.program import SetupFunction, declared_kinds, install_definitions
from pyctrl.testing._cluster.choice import ClusterChoice
from pyctrl.testing._cluster.cluster_under_test import ClusterUnderTest
from pyctrl.testing._webhook_caller import webhook_caller
from pyctrl.webhook import Url, Webhooks, WebhookServer

__all__ = ["InProcessWebhooks", "InstallKinds"]


class InProcessWebhooks:
    """Caller of webhooks that an embedded server calls in process, each under its own host name."""

    def __init__(self) -> None:
        self._callers: dict[str, WebhookCaller] = {}
        #: The caller of the webhooks of other hosts.
        self.elsewhere: WebhookCaller | None = None

    def serve(self, webhooks: Webhooks) -> Url:
        """Make these webhooks callable in process, and return their URL."""
        host = f"webhooks-{len(self._callers)}.pyctrl.invalid"
        self._callers[host] = webhook_caller(webhooks)
        return Url(f"https://{host}")

    async def __call__(self, request: WebhookRequest, /) -> WebhookResponse:
        """Call one webhook."""
        caller = self._callers.get(urlsplit(request.url).hostname or "", self.elsewhere)
        if caller is None:
            raise OSError(f"there is no webhook at {request.url}")
        return await caller(request)


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallKinds:
    """Installer of a program's kinds in a test, as ``pyctrl deploy`` does: all versions, and their conversion.

        async def test_shop(under_role: UnderRole, install_kinds: InstallKinds) -> None:
            await install_kinds(shop)

    The fixture ``install_kinds`` provides one. The program's own conversion is used: the embedded server calls it in
    process, a control plane from binaries over HTTPS on this machine. An existing cluster cannot reach a test, so it
    keeps its conversion.

    Attributes:
        cluster: the cluster.
        client: a client with every permission.
        stack: stops the conversion webhooks at the end of the test.
    """

    cluster: ClusterUnderTest
    client: Client
    stack: AsyncExitStack

    async def __call__(self, program: SetupFunction | ModuleType) -> None:
        """Install the definitions of all kinds that a program reconciles, and wait until they are served.

        Args:
            program: its package or module, or a function that adds controllers to a manager.

        Raises:
            CommandFailed: the program cannot be set up; or a definition of the cluster would lose a version or its
                conversion, or has no conversion for versions that need one.
            DefinitionError: no definition can be generated from a type.
        """
        found = await declared_kinds(program)
        target, authority = None, b""
        if found.is_converted:
            target, authority = await self._serve(found.conversions())
        await install_definitions(self.client, found.definitions(target=target, ca_bundle=authority))

    async def _serve(self, webhooks: Webhooks) -> tuple[Url | None, bytes]:
        """Return the URL and the CA bundle of the webhooks for the API server, None if it cannot reach them."""
        if self.cluster.webhooks is not None:
            return self.cluster.webhooks.serve(webhooks), b""
        if self.cluster.choice is ClusterChoice.EXISTING:
            return None, b""
        return await self.stack.enter_async_context(_served(webhooks))


@asynccontextmanager
async def _served(webhooks: Webhooks) -> AsyncIterator[tuple[Url, bytes]]:
    """Serve webhooks on this machine."""
    with tempfile.TemporaryDirectory(prefix="pyctrl-webhooks-") as directory:
        authority = await asyncio.to_thread(_sign, Path(directory))
        server = WebhookServer(webhooks, certificates=Path(directory), host="127.0.0.1", port=0)
        async with asyncio.TaskGroup() as group:
            group.create_task(server.run(), name="webhooks")
            await server.wait_until_ready()
            yield Url(f"https://127.0.0.1:{server.port}"), authority
            server.ask_to_stop()


def _sign(directory: Path) -> bytes:
    """Write a certificate for this machine, and return its CA certificate."""
    authority = CertificateAuthority.new("pyctrl test authority")
    serving = authority.server()
    (directory / "tls.crt").write_bytes(serving.certificate)
    (directory / "tls.key").write_bytes(serving.key)
    return authority.certificate
