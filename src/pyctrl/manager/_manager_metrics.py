"""Metrics of a manager: readiness, event loop, restarts, leader election and certificates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from pyctrl._metrics import MetricFamily, counter, gauge
from pyctrl.manager._servers.health import Heartbeat

if TYPE_CHECKING:
    from pyctrl.manager._election.leader_elector import ElectionStatistics
    from pyctrl.manager._watchdog import LoopWatchdog

__all__ = ["Certificate", "Certified", "certificate_metrics", "leader_election_metrics", "manager_metrics"]


class Certificate(Protocol):
    """A certificate that counts how often its files were read."""

    reads: int
    failed_reads: int


@runtime_checkable
class Certified(Protocol):
    """A runnable that serves with a certificate."""

    @property
    def certificate(self) -> Certificate | None:
        """The serving certificate; None while there is none."""
        ...


def manager_metrics(
    findings: Mapping[str, str],
    heartbeat: Heartbeat,
    restarts: Iterable[tuple[str, int]],
    watchdog: LoopWatchdog | None = None,
) -> Iterable[MetricFamily]:
    """Return the metrics of a manager: the findings of `readiness`, the lag of the event loop, and restarts."""
    yield gauge("pyctrl_ready", "1 while /readyz passes", ({}, float(not any(findings.values()))))
    checks = [({"check": name}, float(not problem)) for name, problem in findings.items()]
    yield gauge("pyctrl_ready_check", "0 while a built-in check of /readyz fails, else 1", *checks)
    yield gauge("pyctrl_event_loop_lag_seconds", "Delay of the last heartbeat", ({}, heartbeat.lag))
    yield gauge("pyctrl_event_loop_lag_max_seconds", "Longest delay of a heartbeat so far", ({}, heartbeat.worst_lag))
    if watchdog is not None:
        yield counter("pyctrl_event_loop_blocked_total", "Times it was blocked for a second", ({}, watchdog.count))
        seconds = watchdog.total.total_seconds()
        yield counter("pyctrl_event_loop_blocked_seconds_total", "Total time for which it was blocked", ({}, seconds))
    samples = [({"runnable": name}, count) for name, count in restarts]
    yield counter("pyctrl_runnable_restarts_total", "Restarts of runnables added with restart=", *samples)


def leader_election_metrics(name: str, election: ElectionStatistics) -> Iterable[MetricFamily]:
    """Return client-go's leader election metrics, and pyctrl's own."""
    labels = {"name": name}
    yield gauge("leader_election_master_status", "1 while this replica leads", (labels, float(election.is_leader)))
    yield counter(
        "leader_election_slowpath_total", "Renewals that had to read the Lease first", (labels, election.slow_paths)
    )
    yield counter("pyctrl_leader_election_terms_total", "Times this replica became leader", (labels, election.terms))
    yield counter("pyctrl_leader_election_losses_total", "Times this replica lost the Lease", (labels, election.losses))
    yield counter("pyctrl_leader_election_failures_total", "Failed requests for the Lease", (labels, election.failures))
    since = [(labels, election.since_renewal.total_seconds())] if election.since_renewal is not None else []
    yield gauge("pyctrl_leader_election_renewal_age_seconds", "Time since the leader's last renewal", *since)


def certificate_metrics(certificates: Sequence[Certificate]) -> Iterable[MetricFamily]:
    """Return controller-runtime's certwatcher metrics, summed over all certificates; none without a certificate."""
    if certificates:
        reads, failures = (sum(each.reads for each in certificates), sum(each.failed_reads for each in certificates))
        yield counter("certwatcher_read_certificate_total", "Reads of the serving certificates", ({}, reads))
        yield counter(
            "certwatcher_read_certificate_errors_total", "Failed reads of the serving certificates", ({}, failures)
        )
