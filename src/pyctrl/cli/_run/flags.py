"""The flags of a program that runs, named as Go's operators name them, and the manager that they come to."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Group, Parameter
from cyclopts.validators import Number

from pyctrl.cli._command_line import NEGATABLE
from pyctrl.cli._durations import duration, duration_or_none

if TYPE_CHECKING:
    from pyctrl.client import Config
    from pyctrl.manager import LeaderElection
    from pyctrl.program import ProgramManager, WebhookOptions
    from pyctrl.webhook import Service

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
            metavar="NAME",
            help="Watch only these namespaces: `NAME[,NAME]`. May be repeated. Defaults to WATCH_NAMESPACE, or all.",
        ),
    ] = ()
    strict_rbac: Annotated[
        bool,
        Parameter(
            help="Exit if rights are missing at start, instead of waiting for them.",
        ),
    ] = False
    install_crds: Annotated[
        bool,
        Parameter(
            help="First install the definitions of its kinds, generated from their classes.",
        ),
    ] = False
    allow_crd_loss: Annotated[
        bool,
        Parameter(
            help="Install a definition even if the one in the cluster loses a version or its conversion.",
        ),
    ] = False
    graceful_shutdown_timeout: Annotated[
        timedelta,
        Parameter(
            metavar="DURATION",
            converter=duration_or_none,
            help="How long running reconciles may take to finish when it stops; 0 cancels them at once.",
        ),
    ] = timedelta(seconds=30)
    blocked_loop_warning: Annotated[
        timedelta,
        Parameter(
            metavar="DURATION",
            converter=duration_or_none,
            help="How long one call may block the event loop before a warning names it; 0 turns it off.",
        ),
    ] = timedelta(seconds=1)
    leader_elect: Annotated[
        bool,
        Parameter(
            group=ELECTION,
            negative_bool=NEGATABLE,
            help="Work only while holding a Lease, so that one replica works at a time.",
        ),
    ] = False
    leader_election_id: Annotated[
        str | None,
        Parameter(group=ELECTION, metavar="NAME", help="The name of the Lease. Defaults to that of the program."),
    ] = None
    leader_election_namespace: Annotated[
        str | None,
        Parameter(group=ELECTION, metavar="NAME", help="The namespace of the Lease. Defaults to that of the login."),
    ] = None
    leader_elect_lease_duration: Annotated[
        timedelta,
        Parameter(
            group=ELECTION,
            metavar="DURATION",
            converter=duration,
            help="How long other replicas wait for a renewal before they take over.",
        ),
    ] = timedelta(seconds=15)
    leader_elect_renew_deadline: Annotated[
        timedelta,
        Parameter(
            group=ELECTION,
            metavar="DURATION",
            converter=duration,
            help="How long the leader tries to renew before it gives up.",
        ),
    ] = timedelta(seconds=10)
    leader_elect_retry_period: Annotated[
        timedelta,
        Parameter(
            group=ELECTION,
            metavar="DURATION",
            converter=duration,
            help="How long to wait between attempts.",
        ),
    ] = timedelta(seconds=2)
    metrics_bind_address: Annotated[
        str | None,
        Parameter(
            group=SERVERS,
            metavar="ADDRESS",
            help="Where to serve /metrics; 0 turns it off. Defaults to :8080 with `pyctrl-runtime[metrics]`.",
        ),
    ] = None
    metrics_secure: Annotated[
        bool | None,
        Parameter(
            group=SERVERS,
            negative_bool=NEGATABLE,
            help="Serve /metrics over TLS, to users with the right to get it. Self-signed without a certificate.",
        ),
    ] = None
    metrics_cert_dir: Annotated[
        Path | None,
        Parameter(
            name=("--metrics-cert-dir", "--metrics-cert-path"),
            group=SERVERS,
            metavar="DIR",
            help="The directory of tls.crt and tls.key for /metrics. Implies `--metrics-secure`.",
        ),
    ] = None
    health_probe_bind_address: Annotated[
        str, Parameter(group=SERVERS, metavar="ADDRESS", help="Where to serve /healthz and /readyz; 0 turns it off.")
    ] = ":8081"
    webhooks: Annotated[
        bool | None,
        Parameter(
            group=WEBHOOKS,
            negative_bool=NEGATABLE,
            help="Serve the program's webhooks. Defaults to ENABLE_WEBHOOKS, or true.",
        ),
    ] = None
    webhook_port: Annotated[
        int | None,
        Parameter(
            group=WEBHOOKS,
            metavar="PORT",
            validator=Number(gte=0, lte=65535),
            help="The port of the webhooks. Defaults to what the program says, or 9443.",
        ),
    ] = None
    webhook_cert_dir: Annotated[
        Path | None,
        Parameter(
            name=("--webhook-cert-dir", "--webhook-cert-path"),
            group=WEBHOOKS,
            metavar="DIR",
            help="The directory of tls.crt and tls.key for the webhooks. Defaults to what the program says.",
        ),
    ] = None
    webhook_service: Annotated[
        str | None,
        Parameter(
            group=WEBHOOKS,
            metavar="NAME",
            help="The Service in front of the webhooks. Issues a certificate for it and makes the cluster trust it.",
        ),
    ] = None
    webhook_configuration: Annotated[
        str | None,
        Parameter(
            group=WEBHOOKS,
            metavar="NAME",
            help="The webhook configurations to put that certificate's CA into. Defaults to the Service's name.",
        ),
    ] = None

    @property
    def namespaces(self) -> tuple[str, ...] | None:
        """The namespaces to look at; None: all."""
        said = self.namespace or (os.environ.get("WATCH_NAMESPACE", ""),)
        return tuple(name.strip() for text in said for name in text.split(",") if name.strip()) or None

    def serving(self, namespace: str) -> WebhookOptions:
        """Return how webhooks are served, by a program that runs in a namespace."""
        from pyctrl.program import WebhookOptions  # here and below: help and completion need none of it

        enabled = self.webhooks
        if enabled is None:
            enabled = os.environ.get("ENABLE_WEBHOOKS", "").strip().lower() not in ("false", "0", "f", "no", "off")
        return WebhookOptions(
            enabled=enabled,
            port=self.webhook_port,
            certificates=self.webhook_cert_dir,
            service=_service(namespace, self.webhook_service) if self.webhook_service else None,
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
            blocked_loop_warning=self.blocked_loop_warning or None,
            metrics_bind_address=metrics,
            metrics_certificates=certificates,
            health_bind_address=self.health_probe_bind_address,
        )
        manager.serving = self.serving(config.namespace)
        return manager


def _service(namespace: str, name: str) -> Service:
    from pyctrl.webhook import Service  # here: a program without webhooks does without

    return Service(namespace, name)


NO_RUN_FLAGS = RunFlags()
