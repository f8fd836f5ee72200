"""Flags of a program that runs, named as in operators written in Go."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Group, Parameter
from cyclopts.validators import Number

from pyctrl.cli._command_line import NEGATABLE
from pyctrl.cli._durations import duration, duration_or_none
from pyctrl.cli._shared_flags import WatchedNamespaces

__all__ = ["NO_RUN_FLAGS", "RunFlags"]

ELECTION = Group("Leader election", sort_key=2)
SHARDING = Group("Sharding", sort_key=3)
SERVERS = Group("Metrics and probes", sort_key=4)
WEBHOOKS = Group("Webhooks", sort_key=5)
APISERVER = Group("Extension API server", sort_key=6)
RESTARTS = Group("Restarts", sort_key=7)


def _check_shard_key(_type: object, value: str | None) -> None:
    """Raise ValueError, as cyclopts' validators do, if the value is not what divides requests."""
    if value is not None and value not in ("uid", "namespace", "cluster") and not re.fullmatch(r"label=\S+", value):
        raise ValueError("expected uid, namespace, cluster or label=NAME")


@Parameter(name="*")  # each field is a flag of the command
@dataclass(frozen=True, kw_only=True)
class RunFlags:
    """Flags for how a program runs: `pyctrl.program.RunOptions`.

    A command has one parameter of this type: ``flags: RunFlags = NO_RUN_FLAGS``.
    """

    watch_namespace: Annotated[
        WatchedNamespaces,
        Parameter(
            help="Watch only this namespace. May be repeated, or be a list: `NAME,NAME`. Defaults to WATCH_NAMESPACE, "
            "`watch-namespaces` of `[tool.pyctrl]` outside of a pod, or all.",
        ),
    ] = ()
    strict_rbac: Annotated[
        bool,
        Parameter(
            help="Exit if permissions are missing at start, instead of waiting for them.",
        ),
    ] = False
    install_crds: Annotated[
        bool,
        Parameter(
            help="Install the CRDs of the program's kinds first, generated from their classes.",
        ),
    ] = False
    allow_crd_loss: Annotated[
        bool,
        Parameter(
            help="Install a CRD even if the one in the cluster loses a version or its conversion.",
        ),
    ] = False
    graceful_shutdown_timeout: Annotated[
        timedelta,
        Parameter(
            metavar="DURATION",
            converter=duration_or_none,
            help="How long running reconciles may take to finish on shutdown; 0 cancels them immediately.",
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
    fingerprints_file: Annotated[
        Path | None,
        Parameter(
            group=RESTARTS,
            metavar="FILE",
            help="Keep in this file which objects have converged. The next start reconciles only the others.",
        ),
    ] = None
    fingerprints_config_map: Annotated[
        str | None,
        Parameter(
            group=RESTARTS,
            metavar="NAME",
            help="The same in a ConfigMap in the namespace of the login, and in more of them if it does not fit.",
        ),
    ] = None
    fingerprints_verify_within: Annotated[
        timedelta,
        Parameter(
            group=RESTARTS,
            metavar="DURATION",
            converter=duration,
            help="Reconcile what a start has left out before this time is over since its last reconcile.",
        ),
    ] = timedelta(hours=10)
    leader_elect: Annotated[
        bool,
        Parameter(
            group=ELECTION,
            negative_bool=NEGATABLE,
            help="Elect a leader with a Lease, so that one replica is active at a time.",
        ),
    ] = False
    leader_election_id: Annotated[
        str | None,
        Parameter(
            group=ELECTION,
            metavar="NAME",
            help="The name of the Lease, with which those of shards begin. Defaults to the name of the program.",
        ),
    ] = None
    leader_election_namespace: Annotated[
        str | None,
        Parameter(
            group=ELECTION, metavar="NAME", help="The namespace of the Lease. Defaults to the namespace of the login."
        ),
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
            help="How long to wait between attempts to acquire or renew the Lease.",
        ),
    ] = timedelta(seconds=2)
    shards: Annotated[
        Literal["auto", "off"],
        Parameter(
            group=SHARDING,
            metavar="MODE",
            help="With `auto`, all replicas are active and divide the objects among themselves. Each holds a Lease, "
            "whose name, namespace and times the flags for leader election set.",
        ),
    ] = "off"
    shard_by: Annotated[
        str | None,
        Parameter(
            group=SHARDING,
            metavar="KEY",
            validator=_check_shard_key,
            help="What divides the objects: `uid`, `namespace`, `cluster` or `label=NAME`. The same for all replicas. "
            "Defaults to `uid`.",
        ),
    ] = None
    shard_memory: Annotated[
        Literal["auto", "label", "off"] | None,
        Parameter(
            group=SHARDING,
            metavar="MODE",
            help="Cache only this replica's objects of the kinds that it reconciles and owns. With `label`, also keep "
            "the label by which servers select them that cannot select by hash. Only with the key `uid`. Defaults to "
            "`off`.",
        ),
    ] = None
    shard_weight: Annotated[
        float | None,
        Parameter(
            group=SHARDING,
            metavar="NUMBER",
            validator=Number(gt=0, lt=1_000_000),
            help="The share of this replica relative to others. Defaults to 1.",
        ),
    ] = None
    shard_version: Annotated[
        str | None,
        Parameter(group=SHARDING, metavar="VERSION", help="The version of the program, for `--shard-canary`."),
    ] = None
    shard_canary: Annotated[
        float | None,
        Parameter(
            group=SHARDING,
            metavar="SHARE",
            validator=Number(gte=0, lte=1),
            help="The share of all objects that this version gets beside another one, such as 0.1.",
        ),
    ] = None
    shard_promote_after: Annotated[
        timedelta | None,
        Parameter(
            group=SHARDING,
            metavar="DURATION",
            converter=duration,
            help="With `--shard-canary`: promote this version after this time, or roll it back if it fails more often "
            "than the other one.",
        ),
    ] = None
    shard_handover_timeout: Annotated[
        timedelta | None,
        Parameter(
            group=SHARDING,
            metavar="DURATION",
            converter=duration_or_none,
            help="How long running reconciles may take when their objects move to another replica; then they are "
            "cancelled. Defaults to 10s.",
        ),
    ] = None
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
            help="Serve /metrics over TLS, to users with permission to get it. Self-signed without a certificate.",
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
    apiserver_port: Annotated[
        int | None,
        Parameter(
            group=APISERVER,
            metavar="PORT",
            validator=Number(gte=0, lte=65535),
            help="The port of the extension API server. Defaults to the port that the program sets, or 6443.",
        ),
    ] = None
    apiserver_cert_dir: Annotated[
        Path | None,
        Parameter(
            group=APISERVER,
            metavar="DIR",
            help="The directory of its tls.crt and tls.key. Defaults to the one that the program sets.",
        ),
    ] = None
    apiserver_service: Annotated[
        str | None,
        Parameter(
            group=APISERVER,
            metavar="NAME",
            help="The Service in its APIServices. Issues a certificate for it and makes the cluster trust it.",
        ),
    ] = None
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
            help="The port of the webhooks. Defaults to the port that the program sets, or 9443.",
        ),
    ] = None
    webhook_cert_dir: Annotated[
        Path | None,
        Parameter(
            name=("--webhook-cert-dir", "--webhook-cert-path"),
            group=WEBHOOKS,
            metavar="DIR",
            help="The directory of tls.crt and tls.key for the webhooks. Defaults to the one that the program sets.",
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
            help="The webhook configurations to inject the CA into. Defaults to the name of the Service.",
        ),
    ] = None

    def with_project(self, program: str) -> RunFlags:
        """Return the flags with the namespaces of the program's pyproject.toml, if no others are named.

        In a pod, arguments and environment decide: an image is the same for all installations.
        """
        if self.watch_namespace or any(name in os.environ for name in ("WATCH_NAMESPACE", "KUBERNETES_SERVICE_HOST")):
            return self
        from pyctrl.cli._packaging_flags import NameFlags  # here: help needs none of it

        return replace(self, watch_namespace=NameFlags().settings(program).watch_namespaces)


NO_RUN_FLAGS = RunFlags()
