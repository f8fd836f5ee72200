"""The status of a pod on a pretend node, as a kubelet reports it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from pyctrl import _clock
from pyctrl.api import format_time
from pyctrl.cluster._container_life import ContainerLife
from pyctrl.cluster._pod_life import PodLife, is_sidecar, lets_pass
from pyctrl.kinds.core.v1 import Pod

__all__ = ["Addresses", "pod_status", "status_patch"]


class Addresses(NamedTuple):
    """Where a pod is reached."""

    node: str
    pod: str


class _Claim(NamedTuple):
    """What a condition shall say."""

    kind: str
    holds: bool
    reason: str = ""
    message: str = ""


def pod_status(pod: Pod, life: PodLife, addresses: Addresses, now: float) -> dict[str, Any]:
    """Return the PodStatus, but for the conditions that others keep."""
    status: dict[str, Any] = {
        "phase": life.phase(),
        "observedGeneration": pod.metadata.generation,
        "hostIP": addresses.node,
        "hostIPs": [{"ip": addresses.node}],
        "startTime": format_time(pod.status.start_time or _clock.now()),
        "conditions": [_condition(pod, claim) for claim in _claims(pod, life, now)],
        "containerStatuses": _statuses(life.mains, now),
    }
    if life.has_begun:
        status |= {"podIP": addresses.pod, "podIPs": [{"ip": addresses.pod}]}
    if life.inits:
        status["initContainerStatuses"] = _statuses(life.inits, now)
    if life.ephemeral:
        status["ephemeralContainerStatuses"] = _statuses(life.ephemeral, now)
    if life.failure is not None:
        status |= {"reason": life.failure[0], "message": life.failure[1]}
    return status


def status_patch(pod: Pod, status: dict[str, Any]) -> dict[str, Any]:
    """Return what of a status is news, as a strategic merge patch; empty when nothing is."""
    present = pod.status.to_wire()
    news = {key: value for key, value in status.items() if key != "conditions" and present.get(key) != value}
    known = {condition["type"]: condition for condition in present.get("conditions") or ()}
    conditions = [each for each in status["conditions"] if not _is_said(each, known.get(each["type"]))]
    if conditions:
        news["conditions"] = conditions
    return {"status": news} if news else {}


def _is_said(condition: dict[str, Any], present: dict[str, Any] | None) -> bool:
    return present is not None and all(present.get(key) == value for key, value in condition.items())


def _statuses(lives: Iterable[ContainerLife], now: float) -> list[dict[str, Any]]:
    return [life.status(now) for life in lives]


# -- conditions ------------------------------------------------------------------------------------------------


def _condition(pod: Pod, claim: _Claim) -> dict[str, Any]:
    """Return a condition, with the time at which it came to hold."""
    status = "True" if claim.holds else "False"
    before = next((each for each in pod.status.conditions if each.type == claim.kind), None)
    since = before.last_transition_time if before is not None and before.status == status else None
    return {
        "type": claim.kind,
        "status": status,
        "observedGeneration": pod.metadata.generation,
        "lastTransitionTime": format_time(since or _clock.now()),
        "reason": claim.reason or None,
        "message": claim.message or None,
    }


def _claims(pod: Pod, life: PodLife, now: float) -> list[_Claim]:
    claims = [
        _Claim("PodReadyToStartContainers", life.has_begun and not life.is_over),
        _initialized(life),
        _ready(pod, life, now),
        _containers_ready("ContainersReady", life, now),
        _Claim("PodScheduled", holds=True),
    ]
    if life.failure is not None and life.failure[0] == "Evicted":
        claims.append(_Claim("DisruptionTarget", True, "TerminationByKubelet", life.failure[1]))
    return claims


def _initialized(life: PodLife) -> _Claim:
    if life.phase() == "Succeeded":
        return _Claim("Initialized", True, "PodCompleted")
    waiting = [each.spec.name for each in life.inits if not lets_pass(each)]
    if waiting and not life.is_stopping:
        said = f"containers with incomplete status: [{' '.join(waiting)}]"
        return _Claim("Initialized", False, "ContainersNotInitialized", said)
    return _Claim("Initialized", holds=True)


def _containers_ready(kind: str, life: PodLife, now: float) -> _Claim:
    if life.is_over:
        return _Claim(kind, False, "PodCompleted" if life.phase() == "Succeeded" else "PodFailed")
    unready = [each.spec.name for each in (*filter(is_sidecar, life.inits), *life.mains) if not each.is_ready(now)]
    if unready:
        return _Claim(kind, False, "ContainersNotReady", f"containers with unready status: [{' '.join(unready)}]")
    return _Claim(kind, holds=True)


def _ready(pod: Pod, life: PodLife, now: float) -> _Claim:
    containers = _containers_ready("Ready", life, now)
    if not containers.holds:
        return containers
    said = {condition.type: condition.status for condition in pod.status.conditions}
    gates = [gate.condition_type for gate in pod.spec.readiness_gates if said.get(gate.condition_type) != "True"]
    if gates:
        missing = [_gate_message(gate, is_there=gate in said) for gate in gates]
        return _Claim("Ready", False, "ReadinessGatesNotReady", ", ".join(missing))
    return containers


def _gate_message(gate: str, *, is_there: bool) -> str:
    if is_there:
        return f'the status of pod readiness gate "{gate}" is not "True", but False'
    return f'corresponding condition of pod readiness gate "{gate}" does not exist.'
