"""Table rows of pods: each status here was printed by kube-apiserver 1.36."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from pyctrl import _clock
from pyctrl.apiserver._registry._pods.table import pod_cells, pod_row_conditions

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
DONE = {"terminated": {"exitCode": 0, "reason": "Completed"}}
RUNNING: dict[str, Any] = {"running": {}}


def _pod(*containers: dict[str, Any], initial: tuple[dict[str, Any], ...] = (), **status: Any) -> dict[str, Any]:
    """Return a pod of two containers, and of those initial ones that have a status; a sidecar is named `s`."""
    declared = [
        {"name": each["name"], **({"restartPolicy": "Always"} if each["name"] == "s" else {})} for each in initial
    ]
    return {
        "metadata": {"name": "a"},
        "spec": {"containers": [{"name": "a"}, {"name": "b"}], "initContainers": declared},
        "status": {"initContainerStatuses": [*initial], "containerStatuses": [*containers], **status},
    }


def _status(name: str, state: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"name": name, "state": state, "ready": "running" in state, **fields}


GATED = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}
READY = {"type": "Ready", "status": "True"}
ENDED, SIGNAL = {"terminated": {"exitCode": 0}}, {"terminated": {"exitCode": 137, "signal": 9}}
CRASHED = {"waiting": {"reason": "CrashLoopBackOff"}}
ROWS: list[tuple[dict[str, Any], tuple[str, str, str]]] = [
    (_pod(phase="Pending", conditions=[GATED]), ("0/2", "SchedulingGated", "0")),
    (
        _pod(initial=(_status("i", ENDED), _status("j", {"waiting": {"reason": "PodInitializing"}})), phase="Pending"),
        ("0/2", "Init:1/2", "0"),
    ),
    (_pod(initial=(_status("i", CRASHED, restartCount=3),), phase="Pending"), ("0/2", "Init:CrashLoopBackOff", "3")),
    (_pod(initial=(_status("i", {"terminated": {"exitCode": 7}}),)), ("0/2", "Init:ExitCode:7", "0")),
    (_pod(initial=(_status("i", SIGNAL),)), ("0/2", "Init:Signal:9", "0")),
    (
        _pod(
            _status("a", RUNNING),
            _status("b", RUNNING),
            initial=(_status("s", RUNNING, started=True, restartCount=2),),
            phase="Running",
        ),
        ("3/3", "Running", "2"),
    ),
    (_pod(_status("a", DONE), _status("b", RUNNING), conditions=[READY]), ("1/2", "Running", "0")),
    (_pod(_status("a", DONE), _status("b", RUNNING)), ("1/2", "NotReady", "0")),
    (
        _pod(_status("a", DONE), _status("b", {"terminated": {"exitCode": 1, "reason": "Error"}})),
        ("0/2", "Error", "0"),
    ),
    (_pod(_status("a", SIGNAL)), ("0/2", "Signal:9", "0")),
    (_pod(phase="Failed", reason="Evicted"), ("0/2", "Evicted", "0")),
]


@pytest.mark.parametrize(("pod", "cells"), ROWS, ids=[cells[1] for _, cells in ROWS])
def test_status_and_counts_follow_from_the_containers(pod: dict[str, Any], cells: tuple[str, str, str]) -> None:
    """Ready, status and restarts count sidecars, and name what holds up the pod."""
    found = pod_cells(pod)
    assert (found["Ready"], found["Status"], found["Restarts"]) == cells


def test_a_deleted_pod_is_terminating_until_it_has_ended() -> None:
    """A pod that is being deleted is Terminating, unless it has ended, or its node is lost."""
    for phase, reason, shown in (
        ("Running", "", "Terminating"),
        ("Succeeded", "", "Succeeded"),
        ("Running", "NodeLost", "Unknown"),
    ):
        pod = _pod(phase=phase, reason=reason)
        pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        assert pod_cells(pod)["Status"] == shown


def test_restarts_tell_when_the_last_one_was() -> None:
    """The age of the last restart is that of the container that ended last."""
    states = [{"terminated": {"exitCode": 1, "finishedAt": f"2026-01-01T{hour}:00:00Z"}} for hour in ("07", "09")]
    pod = _pod(
        *(_status(name, RUNNING, restartCount=1, lastState=state) for name, state in zip("ab", states, strict=True))
    )
    with _clock.use(lambda: NOON):
        assert pod_cells(pod)["Restarts"] == "2 (3h ago)"


def test_the_row_of_a_pod_that_has_ended_is_completed() -> None:
    """Rows of ended pods have a condition, which clients use to hide them."""
    done = "The pod has completed successfully."
    assert pod_row_conditions(_pod(phase="Running")) == []
    assert pod_row_conditions(_pod(phase="Succeeded")) == [
        {"type": "Completed", "status": "True", "reason": "Succeeded", "message": done}
    ]
