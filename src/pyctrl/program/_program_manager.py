"""Manager of a program, with the options of `pyctrl run`: those of the manager, and how webhooks are served."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from pyctrl.api import Key
from pyctrl.errors import CommandFailed
from pyctrl.manager import Group, Manager, Preflight, Restart, RunnableLike
from pyctrl.program._replicas import leader_election, sharding

if TYPE_CHECKING:
    from pyctrl.client import Config
    from pyctrl.extension_apiserver import ExtensionAPIServer  # most programs have none
    from pyctrl.manager import Fingerprints
    from pyctrl.program._run_options import RunOptions
    from pyctrl.webhook import Service, Url, Webhooks, WebhookServer  # most programs have none

__all__ = [
    "APIServerOptions",
    "ProgramManager",
    "WebhookOptions",
    "certificate_secret",
    "fingerprints",
    "program_manager",
    "watch_namespaces",
    "webhook_options",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookOptions:
    """How the webhooks of a program are served.

    Attributes:
        enabled: whether to serve them; if not, their servers and certificates do not run.
        port: the port to listen on; None: the one that the program sets.
        certificates: the directory of tls.crt and tls.key; None: as the program sets. With a directory, the program's
            own `ManagedCertificates` do not run.
        service: the Service at which API servers reach the webhooks. If the program manages no certificate itself, one
            is issued for the Service and kept in the Secret ``SERVICE-cert`` beside it, and API servers trust it.
        configuration: the name of the webhook configurations to put the CA into; "": the name of the Service.
    """

    enabled: bool = True
    port: int | None = None
    certificates: Path | None = None
    service: Service | None = None
    configuration: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class APIServerOptions:
    """How the extension API server of a program is served.

    Attributes:
        enabled: whether to listen; if not, only an API server in the same process calls it.
        port: the port to listen at; None: the one that the program sets.
        certificates: the directory of tls.crt and tls.key; None: as the program sets.
        service: the Service in the APIServices. If the program sets no certificates, one is issued for the Service and
            kept in the Secret ``SERVICE-cert`` beside it, and kube-apiserver trusts it.
    """

    enabled: bool = True
    port: int | None = None
    certificates: Path | None = None
    service: Service | None = None


class ProgramManager(Manager):
    """A `Manager` that serves the webhooks and the extension API server that are added to it according to options."""

    #: Set it before controllers are added.
    webhook_options: WebhookOptions = WebhookOptions()
    #: Likewise.
    apiserver_options: APIServerOptions = APIServerOptions()

    async def __aenter__(self) -> Self:
        self._webhooks: list[Webhooks] = []
        self._targets: list[Service | Url] = []
        self._api_servers: list[ExtensionAPIServer] = []
        return await super().__aenter__()

    @property
    def webhooks(self) -> tuple[Webhooks, ...]:
        """The webhooks of all servers that were added, including those that do not run."""
        return tuple(self._webhooks)

    @property
    def api_servers(self) -> tuple[ExtensionAPIServer, ...]:
        """The extension API servers that were added."""
        return tuple(self._api_servers)

    @property
    def webhook_target(self) -> Service | Url | None:
        """The address at which API servers reach the webhooks: of `webhook_options`, or of the certificates.

        None: unknown.
        """
        if not self.webhook_options.enabled:
            return None
        return self.webhook_options.service or next(iter(self._targets), None)

    def add(self, runnable: RunnableLike, *, group: Group | None = None, restart: Restart | None = None) -> None:
        """Add a runnable, as `Manager.add` does; of webhooks only those that `webhook_options` enables."""
        if "pyctrl.webhook" in sys.modules and not self._accepts(runnable):  # not imported: not a webhook server
            return
        if "pyctrl.extension_apiserver" in sys.modules:  # likewise
            self._serve(runnable)
        super().add(runnable, group=group, restart=restart)

    def _serve(self, runnable: RunnableLike) -> None:
        """Configure an extension API server, and add managed certificates for it if it has none."""
        from pyctrl.extension_apiserver import ExtensionAPIServer, api_service_names
        from pyctrl.webhook import ManagedCertificates

        if not isinstance(runnable, ExtensionAPIServer):
            return
        self._api_servers.append(runnable)
        options = self.apiserver_options
        if not options.enabled:
            runnable.serve_in_process()
            return
        runnable.listen_at(port=options.port, certificates=options.certificates)
        if options.service is None or runnable.has_certificates:
            return
        certificates = ManagedCertificates(
            self.live_client,
            secret=certificate_secret(options.service),
            target=options.service,
            api_services=api_service_names(runnable.kinds),
            name=f"{runnable.name}-certificates",
        )
        runnable.listen_at(certificates=certificates)
        super().add(certificates)
        super().add(certificates.rotation)

    def _accepts(self, runnable: RunnableLike) -> bool:
        """Return whether to run it; configure it if it is a webhook server."""
        from pyctrl.webhook import CertificateRotation, ManagedCertificates, WebhookServer

        options = self.webhook_options
        if isinstance(runnable, WebhookServer):
            self._webhooks.append(runnable.webhooks)
            runnable.listen_at(port=options.port, certificates=options.certificates)
            self._add_certificates(runnable)
        if isinstance(runnable, ManagedCertificates):
            self._targets.append(runnable.target)
        is_certificate = isinstance(runnable, ManagedCertificates | CertificateRotation)
        is_webhook = is_certificate or isinstance(runnable, WebhookServer)
        if is_webhook and not options.enabled:
            return False
        return not is_certificate or options.certificates is None

    def _add_certificates(self, server: WebhookServer) -> None:
        """Add managed certificates for a server that has none."""
        from pyctrl.webhook import ManagedCertificates

        options = self.webhook_options
        service = options.service
        if service is None or not options.enabled or options.certificates or server.has_provider:
            return
        conversions = (each.hub for each in server.webhooks.conversions)
        certificates = ManagedCertificates(
            self.live_client,
            secret=certificate_secret(service),
            target=service,
            configurations=[options.configuration or service.name] if server.webhooks.registrations else (),
            definitions=[f"{hub.resource.plural}.{hub.gvk.group}" for hub in conversions],
        )
        server.listen_at(certificates=certificates)
        self.add(certificates)
        self.add(certificates.rotation)


def certificate_secret(service: Service) -> Key:
    """Return the Secret with the certificate of a Service. Programs in one namespace have different ones."""
    return Key(service.namespace, f"{service.name}-cert")


def program_manager(
    options: RunOptions, config: Config, *, name: str, metrics: str | None, certificates: Path | None
) -> ProgramManager:
    """Return the manager of a program that runs with options.

    Args:
        options: how the program runs.
        config: the login.
        name: the name of the program.
        metrics: the address to serve metrics at; None: nowhere.
        certificates: the directory of the certificate of that server; None: HTTP.
    """
    manager = ProgramManager(
        config,
        namespaces=watch_namespaces(options),
        preflight=Preflight.STRICT if options.strict_rbac else Preflight.WARN,
        leader_election=leader_election(options, name),
        sharding=sharding(options, name),
        fingerprints=fingerprints(options),
        grace_period=options.graceful_shutdown_timeout,
        blocked_loop_warning=options.blocked_loop_warning or None,
        metrics_bind_address=metrics,
        metrics_certificates=certificates,
        health_bind_address=options.health_probe_bind_address,
    )
    manager.webhook_options = webhook_options(options, config.namespace)
    manager.apiserver_options = APIServerOptions(
        port=options.apiserver_port,
        certificates=options.apiserver_cert_dir,
        service=_service(config.namespace, options.apiserver_service) if options.apiserver_service else None,
    )
    return manager


def watch_namespaces(options: RunOptions) -> tuple[str, ...] | None:
    """Return the namespaces to watch: those of the option, or of WATCH_NAMESPACE; None: all."""
    lists = options.watch_namespace or (os.environ.get("WATCH_NAMESPACE", ""),)
    return tuple(name.strip() for text in lists for name in text.split(",") if name.strip()) or None


def fingerprints(options: RunOptions) -> Fingerprints | None:
    """Return where the fingerprints of converged requests are kept; None: nowhere.

    Raises:
        CommandFailed: there are two places.
    """
    file, config_map = options.fingerprints_file, options.fingerprints_config_map
    if file is not None and config_map is not None:
        raise CommandFailed("--fingerprints-file and --fingerprints-config-map contradict each other; leave one out")
    if file is None and config_map is None:
        return None
    from pyctrl.manager import ConfigMapFingerprints, FileFingerprints  # here: off by default

    if file is not None:
        return FileFingerprints(file, verify_within=options.fingerprints_verify_within)
    return ConfigMapFingerprints(str(config_map), verify_within=options.fingerprints_verify_within)


def webhook_options(options: RunOptions, namespace: str) -> WebhookOptions:
    """Return how webhooks are served. Without the option, ENABLE_WEBHOOKS may turn them off.

    Args:
        options: how the program runs.
        namespace: the namespace of the Service in front of the webhooks.
    """
    enabled = options.webhooks
    if enabled is None:
        enabled = os.environ.get("ENABLE_WEBHOOKS", "").strip().lower() not in ("false", "0", "f", "no", "off")
    return WebhookOptions(
        enabled=enabled,
        port=options.webhook_port,
        certificates=options.webhook_cert_dir,
        service=_service(namespace, options.webhook_service) if options.webhook_service else None,
        configuration=options.webhook_configuration or "",
    )


def _service(namespace: str, name: str) -> Service:
    from pyctrl.webhook import Service  # here: most programs have no webhooks

    return Service(namespace, name)
