"""PodStatus of a pod on a simulated node, as a kubelet reports it, and the allocation of pod IPs."""

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


_RESIZE_CONDITIONS = frozenset(("PodResizeInProgress", "PodResizePending"))


class PodIPs(NamedTuple):
    """The addresses of a pod and its node."""

    node: str
    pod: str


class _ConditionState(NamedTuple):
    """The content of a condition."""

    kind: str
    holds: bool
    reason: str = ""
    message: str = ""


def pod_status(pod: Pod, lifecycle: PodLifecycle, addresses: PodIPs, now: float) -> dict[str, Any]:
    """Return the PodStatus without the conditions that other components maintain."""
    status: dict[str, Any] = {
        "phase": lifecycle.phase(),
        "observedGeneration": pod.metadata.generation,
        "hostIP": addresses.node,
        "hostIPs": [{"ip": addresses.node}],
        "startTime": format_time(pod.status.start_time or _clock.now()),
        "conditions": [
            *(_condition(pod, state) for state in _condition_states(pod, lifecycle, now)),
            *lifecycle.resize.conditions(),
        ],
        "containerStatuses": _statuses(lifecycle.mains, now),
    }
    if lifecycle.has_begun:
        status |= {"podIP": addresses.pod, "podIPs": [{"ip": addresses.pod}]}
    if lifecycle.inits:
        status["initContainerStatuses"] = _statuses(lifecycle.inits, now)
    if lifecycle.ephemeral:
        status["ephemeralContainerStatuses"] = _statuses(lifecycle.ephemeral, now)
    if lifecycle.failure is not None:
        status |= {"reason": lifecycle.failure[0], "message": lifecycle.failure[1]}
    return status


def status_patch(pod: Pod, status: dict[str, Any]) -> dict[str, Any]:
    """Return the changed parts of a status as a strategic merge patch, or an empty one."""
    present = pod.status.to_wire()
    news = {key: value for key, value in status.items() if key != "conditions" and present.get(key) != value}
    known = {condition["type"]: condition for condition in present.get("conditions") or ()}
    conditions = [each for each in status["conditions"] if not _is_reported(each, known.get(each["type"]))]
    ended = _RESIZE_CONDITIONS & known.keys() - {each["type"] for each in status["conditions"]}
    conditions += [{"$patch": "delete", "type": kind} for kind in sorted(ended)]
    if conditions:
        news["conditions"] = conditions
    return {"status": news} if news else {}


def _is_reported(condition: dict[str, Any], present: dict[str, Any] | None) -> bool:
    return present is not None and all(present.get(key) == value for key, value in condition.items())


def _statuses(containers: Iterable[ContainerLifecycle], now: float) -> list[dict[str, Any]]:
    return [container.status(now) for container in containers]


# --- conditions ---


def _condition(pod: Pod, state: _ConditionState) -> dict[str, Any]:
    """Return a condition with the time of its last transition."""
    status = "True" if state.holds else "False"
    before = next((each for each in pod.status.conditions if each.type == state.kind), None)
    since = before.last_transition_time if before is not None and before.status == status else None
    return {
        "type": state.kind,
        "status": status,
        "observedGeneration": pod.metadata.generation,
        "lastTransitionTime": format_time(since or _clock.now()),
        "reason": state.reason or None,
        "message": state.message or None,
    }


def _condition_states(pod: Pod, lifecycle: PodLifecycle, now: float) -> list[_ConditionState]:
    states = [
        _ConditionState("PodReadyToStartContainers", lifecycle.has_begun and not lifecycle.is_over),
        _initialized(lifecycle),
        _ready(pod, lifecycle, now),
        _containers_ready("ContainersReady", lifecycle, now),
        _ConditionState("PodScheduled", holds=True),
    ]
    if lifecycle.can_restart_all:
        started = ("RestartAllContainersStarted", "container exited with restart policy rule")
        why = started if lifecycle.is_restarting_all else ("", "")
        states.append(_ConditionState("AllContainersRestarting", lifecycle.is_restarting_all, *why))
    if lifecycle.failure is not None and lifecycle.failure[0] == "Evicted":
        states.append(_ConditionState("DisruptionTarget", True, "TerminationByKubelet", lifecycle.failure[1]))
    return states


def _initialized(lifecycle: PodLifecycle) -> _ConditionState:
    if lifecycle.phase() == "Succeeded":
        return _ConditionState("Initialized", True, "PodCompleted")
    waiting = [each.spec.name for each in lifecycle.inits if not is_init_done(each)]
    if waiting and not lifecycle.is_stopping and not lifecycle.is_initialized:
        message = f"containers with incomplete status: [{' '.join(waiting)}]"
        return _ConditionState("Initialized", False, "ContainersNotInitialized", message)
    return _ConditionState("Initialized", holds=True)


def _containers_ready(kind: str, lifecycle: PodLifecycle, now: float) -> _ConditionState:
    if lifecycle.is_over:
        return _ConditionState(kind, False, "PodCompleted" if lifecycle.phase() == "Succeeded" else "PodFailed")
    unready = [
        each.spec.name for each in (*filter(is_sidecar, lifecycle.inits), *lifecycle.mains) if not each.is_ready(now)
    ]
    if unready:
        return _ConditionState(
            kind, False, "ContainersNotReady", f"containers with unready status: [{' '.join(unready)}]"
        )
    return _ConditionState(kind, holds=True)


def _ready(pod: Pod, lifecycle: PodLifecycle, now: float) -> _ConditionState:
    containers = _containers_ready("Ready", lifecycle, now)
    if not containers.holds:
        return containers
    statuses = {condition.type: condition.status for condition in pod.status.conditions}
    gates = [gate.condition_type for gate in pod.spec.readiness_gates if statuses.get(gate.condition_type) != "True"]
    if gates:
        missing = [_gate_message(gate, is_there=gate in statuses) for gate in gates]
        return _ConditionState("Ready", False, "ReadinessGatesNotReady", ", ".join(missing))
    return containers


def _gate_message(gate: str, *, is_there: bool) -> str:
    if is_there:
        return f'the status of pod readiness gate "{gate}" is not "True", but False'
    return f'corresponding condition of pod readiness gate "{gate}" does not exist.'


class PodIPAllocator:
    """Allocates pod IPs from the nodes' pod CIDRs."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = {
            node.metadata.name: next((each.address for each in node.status.addresses if each.type == "InternalIP"), "")
            for node in nodes
        }
        self._ranges = {
            node.metadata.name: ipaddress.IPv4Network(node.spec.pod_cidr or "10.244.0.0/24") for node in nodes
        }
        self._next = dict.fromkeys(self._nodes, 1)
        self._allocated: dict[str, str] = {}
        self._in_use: set[str] = set()

    def of(self, pod: Pod) -> PodIPs:
        """Return the addresses of a pod: its present ones, or newly allocated ones."""
        node = pod.spec.node_name or ""
        if pod.spec.host_network:
            return PodIPs(self._nodes[node], self._nodes[node])
        uid = pod.metadata.uid
        address = pod.status.pod_ip or self._allocated.get(uid)
        if address is None:
            address = self._free(node)
        self._allocated[uid] = address
        self._in_use.add(address)
        return PodIPs(self._nodes[node], address)

    def _free(self, node: str) -> str:
        network = self._ranges[node]
        usable = network.num_addresses - 2
        for _ in range(usable):
            number = self._next[node]
            self._next[node] = number % usable + 1
            if str(network[number]) not in self._in_use:
                break
        return str(network[self._next[node] - 1 or usable])  # if all are in use, an address is shared

    def release(self, uid: str) -> None:
        """Release the address of a pod."""
        self._in_use.discard(self._allocated.pop(uid, ""))
