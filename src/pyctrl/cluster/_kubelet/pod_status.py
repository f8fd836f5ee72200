"""The status of a pod on a pretend node, as a kubelet reports it."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from pyctrl import _clock
from pyctrl.api import format_time
from pyctrl.cluster._kubelet.container_lifecycle import ContainerLifecycle
from pyctrl.cluster._kubelet.pod_lifecycle import PodLifecycle, is_init_done, is_sidecar
from pyctrl.kinds.core.v1 import Node, Pod

__all__ = ["PodIPAllocator", "PodIPs", "pod_status", "status_patch"]


class PodIPs(NamedTuple):
    """Where a pod is reached."""

    node: str
    pod: str


class _ConditionState(NamedTuple):
    """What a condition shall say."""

    kind: str
    holds: bool
    reason: str = ""
    message: str = ""


def pod_status(pod: Pod, life: PodLifecycle, addresses: PodIPs, now: float) -> dict[str, Any]:
    """Return the PodStatus, but for the conditions that others keep."""
    status: dict[str, Any] = {
        "phase": life.phase(),
        "observedGeneration": pod.metadata.generation,
        "hostIP": addresses.node,
        "hostIPs": [{"ip": addresses.node}],
        "startTime": format_time(pod.status.start_time or _clock.now()),
        "conditions": [_condition(pod, claim) for claim in _condition_states(pod, life, now)],
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
    conditions = [each for each in status["conditions"] if not _is_reported(each, known.get(each["type"]))]
    if conditions:
        news["conditions"] = conditions
    return {"status": news} if news else {}


def _is_reported(condition: dict[str, Any], present: dict[str, Any] | None) -> bool:
    return present is not None and all(present.get(key) == value for key, value in condition.items())


def _statuses(lives: Iterable[ContainerLifecycle], now: float) -> list[dict[str, Any]]:
    return [life.status(now) for life in lives]


# -- conditions ------------------------------------------------------------------------------------------------


def _condition(pod: Pod, claim: _ConditionState) -> dict[str, Any]:
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


def _condition_states(pod: Pod, life: PodLifecycle, now: float) -> list[_ConditionState]:
    claims = [
        _ConditionState("PodReadyToStartContainers", life.has_begun and not life.is_over),
        _initialized(life),
        _ready(pod, life, now),
        _containers_ready("ContainersReady", life, now),
        _ConditionState("PodScheduled", holds=True),
    ]
    if life.failure is not None and life.failure[0] == "Evicted":
        claims.append(_ConditionState("DisruptionTarget", True, "TerminationByKubelet", life.failure[1]))
    return claims


def _initialized(life: PodLifecycle) -> _ConditionState:
    if life.phase() == "Succeeded":
        return _ConditionState("Initialized", True, "PodCompleted")
    waiting = [each.spec.name for each in life.inits if not is_init_done(each)]
    if waiting and not life.is_stopping:
        said = f"containers with incomplete status: [{' '.join(waiting)}]"
        return _ConditionState("Initialized", False, "ContainersNotInitialized", said)
    return _ConditionState("Initialized", holds=True)


def _containers_ready(kind: str, life: PodLifecycle, now: float) -> _ConditionState:
    if life.is_over:
        return _ConditionState(kind, False, "PodCompleted" if life.phase() == "Succeeded" else "PodFailed")
    unready = [each.spec.name for each in (*filter(is_sidecar, life.inits), *life.mains) if not each.is_ready(now)]
    if unready:
        return _ConditionState(
            kind, False, "ContainersNotReady", f"containers with unready status: [{' '.join(unready)}]"
        )
    return _ConditionState(kind, holds=True)


def _ready(pod: Pod, life: PodLifecycle, now: float) -> _ConditionState:
    containers = _containers_ready("Ready", life, now)
    if not containers.holds:
        return containers
    said = {condition.type: condition.status for condition in pod.status.conditions}
    gates = [gate.condition_type for gate in pod.spec.readiness_gates if said.get(gate.condition_type) != "True"]
    if gates:
        missing = [_gate_message(gate, is_there=gate in said) for gate in gates]
        return _ConditionState("Ready", False, "ReadinessGatesNotReady", ", ".join(missing))
    return containers


def _gate_message(gate: str, *, is_there: bool) -> str:
    if is_there:
        return f'the status of pod readiness gate "{gate}" is not "True", but False'
    return f'corresponding condition of pod readiness gate "{gate}" does not exist.'


class PodIPAllocator:
    """Gives each pod an address of its node's range: the next one that no other pod has."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = {
            node.metadata.name: next((each.address for each in node.status.addresses if each.type == "InternalIP"), "")
            for node in nodes
        }
        self._ranges = {
            node.metadata.name: ipaddress.IPv4Network(node.spec.pod_cidr or "10.244.0.0/24") for node in nodes
        }
        self._next = dict.fromkeys(self._nodes, 1)
        self._given: dict[str, str] = {}
        self._taken: set[str] = set()

    def of(self, pod: Pod) -> PodIPs:
        """Return where a pod is reached: at the address it has, or at a new one."""
        node = pod.spec.node_name or ""
        if pod.spec.host_network:
            return PodIPs(self._nodes[node], self._nodes[node])
        uid = pod.metadata.uid
        address = pod.status.pod_ip or self._given.get(uid)
        if address is None:
            address = self._free(node)
        self._given[uid] = address
        self._taken.add(address)
        return PodIPs(self._nodes[node], address)

    def _free(self, node: str) -> str:
        network = self._ranges[node]
        usable = network.num_addresses - 2
        for _ in range(usable):
            number = self._next[node]
            self._next[node] = number % usable + 1
            if str(network[number]) not in self._taken:
                break
        return str(network[self._next[node] - 1 or usable])  # all taken: pods that nobody counts share

    def release(self, uid: str) -> None:
        """Take the address of a pod back."""
        self._taken.discard(self._given.pop(uid, ""))
