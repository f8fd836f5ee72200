"""The manager of a program whose webhooks are served as its user says, and not only as its author did."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from pyctrl.api import Key
from pyctrl.manager import Group, Manager, Restart, RunnableLike

if TYPE_CHECKING:
    from pyctrl.webhook import Service, Url, Webhooks, WebhookServer  # most programs have none

__all__ = ["ProgramManager", "WebhookOptions", "certificate_secret"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookOptions:
    """How the webhooks of a program are served.

    Attributes:
        enabled: whether they are at all; without, their servers and certificates are not run.
        port: where they listen; None: where the program says.
        certificates: the directory of tls.crt and tls.key; None: as the program says. With it the program's own
            `ManagedCertificates` are not run.
        service: where API servers find them. A program that makes no certificate itself then has one made for it, kept
            in the Secret ``SERVICE-cert`` beside the Service, and API servers trust it.
        configuration: the name of the webhook configurations, for these to be told whom to trust; "" is that of the
            service.
    """

    enabled: bool = True
    port: int | None = None
    certificates: Path | None = None
    service: Service | None = None
    configuration: str = ""


class ProgramManager(Manager):
    """A `Manager` that serves the webhooks it is given as `serving` says."""

    #: Set it before controllers are added.
    serving: WebhookOptions = WebhookOptions()

    async def __aenter__(self) -> Self:
        self._webhooks: list[Webhooks] = []
        self._targets: list[Service | Url] = []
        return await super().__aenter__()

    @property
    def webhooks(self) -> tuple[Webhooks, ...]:
        """The webhooks of all servers that were added, those that are not run included."""
        return tuple(self._webhooks)

    @property
    def webhook_target(self) -> Service | Url | None:
        """Where API servers find its webhooks: as `serving` says, or else its certificates; None: it is not known."""
        if not self.serving.enabled:
            return None
        return self.serving.service or next(iter(self._targets), None)

    def add(self, runnable: RunnableLike, *, group: Group | None = None, restart: Restart | None = None) -> None:
        """Run something with the manager, as `Manager.add`; of webhooks, what `serving` leaves."""
        if "pyctrl.webhook" in sys.modules and not self._takes(runnable):  # else it can be nothing of theirs
            return
        super().add(runnable, group=group, restart=restart)

    def _takes(self, runnable: RunnableLike) -> bool:
        """Say whether it is run; prepare it, if it is a server."""
        from pyctrl.webhook import CertificateRotation, ManagedCertificates, WebhookServer

        if isinstance(runnable, WebhookServer):
            self._webhooks.append(runnable.webhooks)
            runnable.listen_at(port=self.serving.port, certificates=self.serving.certificates)
            self._certify(runnable)
        if isinstance(runnable, ManagedCertificates):
            self._targets.append(runnable.target)
        is_certificate = isinstance(runnable, ManagedCertificates | CertificateRotation)
        is_webhook = is_certificate or isinstance(runnable, WebhookServer)
        if is_webhook and not self.serving.enabled:
            return False
        return not is_certificate or self.serving.certificates is None

    def _certify(self, server: WebhookServer) -> None:
        """Have a certificate made for a server that nobody gives one."""
        from pyctrl.webhook import ManagedCertificates

        service = self.serving.service
        if service is None or not self.serving.enabled or self.serving.certificates or server.has_provider:
            return
        conversions = (each.hub for each in server.webhooks.conversions)
        certificates = ManagedCertificates(
            self.live_client,
            secret=certificate_secret(service),
            target=service,
            configurations=[self.serving.configuration or service.name] if server.webhooks.registrations else (),
            definitions=[f"{hub.resource.plural}.{hub.gvk.group}" for hub in conversions],
        )
        server.listen_at(certificates=certificates)
        self.add(certificates)
        self.add(certificates.rotation)


def certificate_secret(service: Service) -> Key:
    """Return the Secret with the certificate of a Service: two programs in one namespace have one each."""
    return Key(service.namespace, f"{service.name}-cert")
