"""The flags of a program that runs, named as Go's operators name them, and the manager that they come to."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Group, Parameter
from cyclopts.validators import Number

from ._durations import duration, duration_or_none

if TYPE_CHECKING:
    from pyctrl.client import Config
    from pyctrl.manager import LeaderElection
    from pyctrl.program import ProgramManager, Serving

WHAT = Group("What it does", sort_key=1)
ELECTION = Group("Leader election", sort_key=2)
SERVERS = Group("Metrics and probes", sort_key=3)
WEBHOOKS = Group("Webhooks", sort_key=4)

METRICS = ":8080"  # as in controller-runtime


@Parameter(name="*")  # each field is a flag of the command
@dataclass(frozen=True, kw_only=True)
class RunFlags:
    """How a program runs. A command has one parameter of this type: ``flags: RunFlags = NO_RUN_FLAGS``."""

    namespace: Annotated[
        tuple[str, ...],
        Parameter(
            name=("--namespace", "-n"),
            group=WHAT,
            metavar="NAME",
            negative="",
            show_default=False,
            help="Look at these namespaces only: NAME or NAME,NAME; may be repeated. Else WATCH_NAMESPACE, else all.",
        ),
    ] = ()
    strict_rbac: Annotated[
        bool,
        Parameter(
            group=WHAT,
            negative="",
            show_default=False,
            help="End when rights are missing at start; else wait for them.",
        ),
    ] = False
    install_crds: Annotated[
        bool,
        Parameter(
            group=WHAT,
            negative="",
            show_default=False,
            help="First apply the definitions of its kinds, made from their classes, and wait until they are served.",
        ),
    ] = False
    graceful_shutdown_timeout: Annotated[
        timedelta,
        Parameter(
            group=WHAT,
            metavar="DURATION",
            converter=duration_or_none,
            show_default=False,
            help="How long reconciles may take to end when it stops; 0: no time at all. 30s unless said otherwise.",
        ),
    ] = timedelta(seconds=30)
    leader_elect: Annotated[
        bool, Parameter(group=ELECTION, show_default=False, help="Let one of several replicas work, by a Lease.")
    ] = False
    leader_election_id: Annotated[
        str | None, Parameter(group=ELECTION, metavar="NAME", help="The Lease; else the name of the program.")
    ] = None
    leader_election_namespace: Annotated[
        str | None, Parameter(group=ELECTION, metavar="NAME", help="Where the Lease is; else that of the login.")
    ] = None
    leader_elect_lease_duration: Annotated[
        timedelta,
        Parameter(
            group=ELECTION,
            metavar="DURATION",
            converter=duration,
            help="How long the others wait without a renewal.",
            show_default=lambda _: "15s",
        ),
    ] = timedelta(seconds=15)
    leader_elect_renew_deadline: Annotated[
        timedelta,
        Parameter(
            group=ELECTION,
            metavar="DURATION",
            converter=duration,
            help="How long it tries to renew.",
            show_default=lambda _: "10s",
        ),
    ] = timedelta(seconds=10)
    leader_elect_retry_period: Annotated[
        timedelta,
        Parameter(
            group=ELECTION,
            metavar="DURATION",
            converter=duration,
            help="How long between two tries.",
            show_default=lambda _: "2s",
        ),
    ] = timedelta(seconds=2)
    metrics_bind_address: Annotated[
        str | None,
        Parameter(
            group=SERVERS,
            metavar="ADDRESS",
            help="Where /metrics is, 0: nowhere. Else :8080, if the extra pyctrl[metrics] is installed.",
        ),
    ] = None
    metrics_secure: Annotated[
        bool | None,
        Parameter(
            group=SERVERS,
            show_default=False,
            help="Serve /metrics over TLS, to those who may get it. Without a certificate it signs one itself.",
        ),
    ] = None
    metrics_cert_dir: Annotated[
        Path | None,
        Parameter(
            name=("--metrics-cert-dir", "--metrics-cert-path"),
            group=SERVERS,
            metavar="DIR",
            help="The tls.crt and tls.key of /metrics; means --metrics-secure.",
        ),
    ] = None
    health_probe_bind_address: Annotated[
        str, Parameter(group=SERVERS, metavar="ADDRESS", help="Where /healthz and /readyz are; 0: nowhere.")
    ] = ":8081"
    webhooks: Annotated[
        bool | None,
        Parameter(
            group=WEBHOOKS,
            show_default=False,
            help="Serve the program's webhooks. Else ENABLE_WEBHOOKS says so, which is true unless it is false.",
        ),
    ] = None
    webhook_port: Annotated[
        int | None,
        Parameter(
            group=WEBHOOKS,
            validator=Number(gte=0, lte=65535),
            help="Where they listen; else where the program says, 9443.",
        ),
    ] = None
    webhook_cert_dir: Annotated[
        Path | None,
        Parameter(
            name=("--webhook-cert-dir", "--webhook-cert-path"),
            group=WEBHOOKS,
            metavar="DIR",
            help="The tls.crt and tls.key of the webhooks; else as the program says.",
        ),
    ] = None
    webhook_service: Annotated[
        str | None,
        Parameter(
            group=WEBHOOKS,
            metavar="NAME",
            help="The Service in front of them: make its certificate and have it trusted, unless the program does.",
        ),
    ] = None
    webhook_configuration: Annotated[
        str | None,
        Parameter(
            group=WEBHOOKS, metavar="NAME", help="Their configurations, which are told of it; else the Service's name."
        ),
    ] = None

    @property
    def namespaces(self) -> tuple[str, ...] | None:
        """The namespaces to look at; None: all."""
        said = self.namespace or (os.environ.get("WATCH_NAMESPACE", ""),)
        return tuple(name.strip() for text in said for name in text.split(",") if name.strip()) or None

    def serving(self, namespace: str) -> Serving:
        """Return how webhooks are served, by a program that runs in a namespace."""
        from pyctrl.program import Serving  # here and below: help and completion need none of it
        from pyctrl.webhook import Service

        enabled = self.webhooks
        if enabled is None:
            enabled = os.environ.get("ENABLE_WEBHOOKS", "").strip().lower() not in ("false", "0", "f", "no", "off")
        return Serving(
            enabled=enabled,
            port=self.webhook_port,
            certificates=self.webhook_cert_dir,
            service=Service(namespace, self.webhook_service) if self.webhook_service else None,
            configuration=self.webhook_configuration or "",
        )

    def election(self, name: str) -> LeaderElection | None:
        """Return how a leader is elected; None without an election."""
        if not self.leader_elect:
            return None
        from pyctrl.manager import LeaderElection

        return LeaderElection(
            name=self.leader_election_id or name,
            namespace=self.leader_election_namespace,
            lease_duration=self.leader_elect_lease_duration,
            renew_deadline=self.leader_elect_renew_deadline,
            retry_period=self.leader_elect_retry_period,
        )

    def manager(self, config: Config, *, name: str, metrics: str | None, certificates: Path | None) -> ProgramManager:
        """Make the manager.

        Args:
            config: the login.
            name: of the program.
            metrics: where to serve them.
            certificates: the directory of the certificate for that.
        """
        from pyctrl.manager import Preflight
        from pyctrl.program import ProgramManager

        manager = ProgramManager(
            config,
            namespaces=self.namespaces,
            preflight=Preflight.STRICT if self.strict_rbac else Preflight.WARN,
            leader_election=self.election(name),
            grace_period=self.graceful_shutdown_timeout,
            metrics_bind_address=metrics,
            metrics_certificates=certificates,
            health_bind_address=self.health_probe_bind_address,
        )
        manager.serving = self.serving(config.namespace)
        return manager


NO_RUN_FLAGS = RunFlags()
