"""Options of a program's run and login, as the flags of `pyctrl run` hold them.

Protocols, so that the flags are their only implementation and no field is copied. Imported for type checking only.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Literal, Protocol

__all__ = ["LoginOptions", "RunOptions"]


class LoginOptions(Protocol):
    """Where the cluster is, and the user to impersonate."""

    @property
    def kubeconfig(self) -> Path | None:
        """The kubeconfig; None: found as `pyctrl.client.Config.load` does."""

    @property
    def context(self) -> str | None:
        """The context of the kubeconfig; None: the current one."""

    @property
    def as_user(self) -> str | None:
        """The user to impersonate; None: the one of the kubeconfig, if any."""

    @property
    def as_groups(self) -> tuple[str, ...]:
        """The groups to impersonate; empty: those of the kubeconfig, if any."""


class RunOptions(Protocol):
    """How a program runs. The flags of `pyctrl run` document each option and have the defaults."""

    @property
    def watch_namespace(self) -> tuple[str, ...]:
        """Lists of namespaces to watch, separated by commas; see `watch_namespaces`."""

    @property
    def strict_rbac(self) -> bool:
        """Whether missing rights at start are an error."""

    @property
    def install_crds(self) -> bool:
        """Whether the definitions of the program's kinds are installed first."""

    @property
    def allow_crd_loss(self) -> bool:
        """Whether a definition is installed even if a version or its conversion is lost."""

    @property
    def graceful_shutdown_timeout(self) -> timedelta:
        """How long running reconciles may take to finish when the manager stops."""

    @property
    def blocked_loop_warning(self) -> timedelta:
        """How long one call may block the event loop before a warning; zero: no warning."""

    @property
    def fingerprints_file(self) -> Path | None:
        """The file with the fingerprints of converged requests."""

    @property
    def fingerprints_config_map(self) -> str | None:
        """The ConfigMap with them, instead of a file."""

    @property
    def fingerprints_verify_within(self) -> timedelta:
        """The time within which a request that a start has left out runs."""

    @property
    def leader_elect(self) -> bool:
        """Whether to elect a leader."""

    @property
    def leader_election_id(self) -> str | None:
        """The name of the Lease; None: that of the program."""

    @property
    def leader_election_namespace(self) -> str | None:
        """The namespace of the Lease; None: that of the login."""

    @property
    def leader_elect_lease_duration(self) -> timedelta:
        """How long other replicas wait for a renewal."""

    @property
    def leader_elect_renew_deadline(self) -> timedelta:
        """How long the leader tries to renew."""

    @property
    def leader_elect_retry_period(self) -> timedelta:
        """The wait between two attempts."""

    @property
    def shards(self) -> Literal["auto", "off"]:
        """Whether replicas divide the requests of controllers."""

    @property
    def shard_by(self) -> str | None:
        """What divides them: ``uid`` (None), ``namespace``, ``cluster`` or ``label=NAME``."""

    @property
    def shard_memory(self) -> Literal["auto", "label", "off"] | None:
        """Whether a replica caches its own objects only, and keeps their label; with the key ``uid``. None: off."""

    @property
    def shard_weight(self) -> float | None:
        """The share of this replica relative to others; None: that of `Sharding`, as for the following ones."""

    @property
    def shard_version(self) -> str | None:
        """The version of the program, for a canary."""

    @property
    def shard_canary(self) -> float | None:
        """The share of all requests that this version gets beside another one."""

    @property
    def shard_promote_after(self) -> timedelta | None:
        """When a canary is promoted, unless it fails more often than the other version."""

    @property
    def shard_handover_timeout(self) -> timedelta | None:
        """How long running reconciles may take when their requests move."""

    @property
    def metrics_bind_address(self) -> str | None:
        """Where to serve metrics; None: on port 8080 if prometheus_client is installed."""

    @property
    def metrics_secure(self) -> bool | None:
        """Whether to serve metrics over TLS; None: if there is a certificate."""

    @property
    def metrics_cert_dir(self) -> Path | None:
        """The directory of tls.crt and tls.key for metrics."""

    @property
    def health_probe_bind_address(self) -> str:
        """Where to serve probes."""

    @property
    def apiserver_port(self) -> int | None:
        """The port of the extension API server; None: the one that the program sets."""

    @property
    def apiserver_cert_dir(self) -> Path | None:
        """The directory of tls.crt and tls.key for the extension API server; None: the one that the program sets."""

    @property
    def apiserver_service(self) -> str | None:
        """The Service in front of the extension API server."""

    @property
    def webhooks(self) -> bool | None:
        """Whether to serve webhooks; None: see `webhook_options`."""

    @property
    def webhook_port(self) -> int | None:
        """The port of the webhooks; None: the one that the program sets."""

    @property
    def webhook_cert_dir(self) -> Path | None:
        """The directory of tls.crt and tls.key for webhooks; None: the one that the program sets."""

    @property
    def webhook_service(self) -> str | None:
        """The Service in front of the webhooks."""

    @property
    def webhook_configuration(self) -> str | None:
        """The webhook configurations to put the CA into; None: those with the name of the Service."""
