"""What a manager tells Prometheus about itself, its election and its event loop."""

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
    """A certificate in files, which counts how often it has read them."""

    reads: int
    failed_reads: int


@runtime_checkable
class Certified(Protocol):
    """A runnable that shows a certificate, at least later on."""

    @property
    def certificate(self) -> Certificate | None:
        """What it shows, if it does by now."""
        ...


def manager_metrics(
    findings: Mapping[str, str],
    heartbeat: Heartbeat,
    restarts: Iterable[tuple[str, int]],
    watchdog: LoopWatchdog | None = None,
) -> Iterable[MetricFamily]:
    """Return the families of a manager: what `readiness` has found, how late the loop is, who was run again."""
    yield gauge("pyctrl_ready", "1 while /readyz has nothing to complain of", ({}, float(not any(findings.values()))))
    checks = [({"check": name}, float(not problem)) for name, problem in findings.items()]
    yield gauge("pyctrl_ready_check", "0 for each of its checks that fails; without your own", *checks)
    yield gauge("pyctrl_event_loop_lag_seconds", "How late the last heartbeat was", ({}, heartbeat.lag))
    yield gauge("pyctrl_event_loop_lag_max_seconds", "How late one ever was", ({}, heartbeat.worst_lag))
    if watchdog is not None:
        yield counter("pyctrl_event_loop_blocked_total", "Turns that blocked it for a second", ({}, watchdog.count))
        seconds = watchdog.total.total_seconds()
        yield counter("pyctrl_event_loop_blocked_seconds_total", "How long these took", ({}, seconds))
    again = [({"runnable": name}, count) for name, count in restarts]
    yield counter("pyctrl_runnable_restarts_total", "How often what has a Restart was run again", *again)


def leader_election_metrics(name: str, election: ElectionStatistics) -> Iterable[MetricFamily]:
    """Return client-go's families of an election, and how it goes."""
    labels = {"name": name}
    yield gauge("leader_election_master_status", "1 while this replica leads", (labels, float(election.is_leader)))
    yield counter(
        "leader_election_slowpath_total", "Renewals that had to read the Lease first", (labels, election.slow_paths)
    )
    yield counter(
        "pyctrl_leader_election_terms_total", "How often this replica began to lead", (labels, election.terms)
    )
    yield counter("pyctrl_leader_election_losses_total", "How often it lost the Lease", (labels, election.losses))
    yield counter("pyctrl_leader_election_failures_total", "Requests that failed", (labels, election.failures))
    since = [(labels, election.since_renewal.total_seconds())] if election.since_renewal is not None else []
    yield gauge("pyctrl_leader_election_renewal_age_seconds", "Since this leader's last renewal", *since)


def certificate_metrics(certificates: Sequence[Certificate]) -> Iterable[MetricFamily]:
    """Return controller-runtime's families of certificates: one number for all of them, as there; none without any."""
    if certificates:
        reads, failures = (sum(each.reads for each in certificates), sum(each.failed_reads for each in certificates))
        yield counter("certwatcher_read_certificate_total", "Reads of certificates", ({}, reads))
        yield counter("certwatcher_read_certificate_errors_total", "Of these, failed", ({}, failures))
