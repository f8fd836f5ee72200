"""Results of probes: how often in a row a result has to come until it counts."""

from __future__ import annotations

from typing import Any

from pyctrl.cluster._kubelet.probe_results import ProbeKind, ProbeResults
from pyctrl.kinds.core.v1 import Container


def results(**probes: dict[str, Any]) -> ProbeResults:
    """Return the results of a container with these probes."""
    found = {f"{kind}Probe": {"tcpSocket": {"port": 80}, **probe} for kind, probe in probes.items()}
    return ProbeResults(Container.from_wire({"name": "c", "image": "i", **found}))


def record(found: ProbeResults, kind: ProbeKind, *each: bool) -> None:
    """Record results of a probe in their order."""
    for succeeded in each:
        found.record(kind, succeeded=succeeded)


def test_a_container_without_probes_is_started_and_ready() -> None:
    """Without probes a container that runs is ready."""
    found = results()
    assert (found.is_started, found.is_ready, found.failed) == (True, True, None)


def test_readiness_changes_at_its_thresholds() -> None:
    """A container is ready after successThreshold successes in a row, and unready after failureThreshold failures."""
    found = results(readiness={"successThreshold": 2, "failureThreshold": 3})
    record(found, ProbeKind.READINESS, True)
    states = [found.is_ready]
    for results_in_a_row in ((False, True, True), (False, False, True, False, False), (False,)):
        record(found, ProbeKind.READINESS, *results_in_a_row)
        states.append(found.is_ready)
    assert states == [False, True, True, False]
    assert not found.is_settled(ProbeKind.READINESS)


def test_liveness_fails_after_three_failures() -> None:
    """The default failureThreshold of 3 failures in a row ends a liveness probe."""
    found = results(liveness={})
    record(found, ProbeKind.LIVENESS, False, False, True, False, False)
    before = found.failed
    record(found, ProbeKind.LIVENESS, False)
    assert (before, found.failed) == (None, ProbeKind.LIVENESS)
    assert found.is_settled(ProbeKind.LIVENESS)


def test_a_container_is_neither_started_nor_ready_before_its_startup_probe_succeeds() -> None:
    """A startup probe holds back readiness, and ends with its first success."""
    found = results(startup={}, readiness={})
    record(found, ProbeKind.READINESS, True)
    assert (found.is_started, found.is_ready) == (False, False)
    record(found, ProbeKind.STARTUP, True)
    assert (found.is_started, found.is_ready, found.is_settled(ProbeKind.STARTUP)) == (True, True, True)


def test_a_startup_probe_that_fails_restarts_the_container() -> None:
    """A startup probe that fails failureThreshold times is a reason to restart."""
    found = results(startup={"failureThreshold": 1})
    record(found, ProbeKind.STARTUP, False)
    assert found.failed is ProbeKind.STARTUP
