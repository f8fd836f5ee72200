"""The next steps of a DaemonSet, decided from nodes and pods alone.

The rules are those of kube-controller-manager's daemonset controller (pkg/controller/daemon): one pod on each eligible
node. An update either deletes up to maxUnavailable old pods at a time, or first creates up to maxSurge new ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pyctrl.api import is_deleting
from pyctrl.cluster._controllers.daemonset.pods import NodeFit, is_pod_updated, node_should_run_daemon_pod, pods_by_node
from pyctrl.cluster._controllers.int_or_percent import scaled_value
from pyctrl.cluster._controllers.pod_control import is_available, is_ready
from pyctrl.kinds.apps.v1 import DaemonSet
from pyctrl.kinds.core.v1 import Node, Pod

__all__ = ["DaemonSetPlan", "PodChanges"]


@dataclass(slots=True)
class PodChanges:
    """The pods to create and delete."""

    #: The nodes of the pods to create.
    create: list[str] = field(default_factory=list)
    delete: list[Pod] = field(default_factory=list)
    #: The finished pods among the deleted ones, with their nodes.
    finished: list[tuple[Pod, str]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.create or self.delete)


#: A node's pods of the current and of earlier templates; None if it has more than one of either.
_NewAndOld = tuple[Pod | None, Pod | None]


class DaemonSetPlan:
    """A snapshot of a DaemonSet with its nodes and pods.

    Args:
        daemon_set: the DaemonSet.
        nodes: all nodes.
        pods: the pods of the DaemonSet.
        hashed: the value of the hash label on pods of the current template.
    """

    def __init__(self, daemon_set: DaemonSet, nodes: Sequence[Node], pods: Sequence[Pod], hashed: str) -> None:
        self._set, self._hashed = daemon_set, hashed
        self.fits: dict[str, NodeFit] = {
            node.metadata.name: node_should_run_daemon_pod(daemon_set, node) for node in nodes
        }
        self.pods: dict[str, list[Pod]] = pods_by_node(pods)
        rolling = daemon_set.spec.update_strategy.rolling_update
        self._surge = rolling.max_surge if rolling is not None and rolling.max_surge is not None else 0
        self._missing = rolling.max_unavailable if rolling is not None and rolling.max_unavailable is not None else 1

    @property
    def desired_number_scheduled(self) -> int:
        """The number of nodes that should run a pod."""
        return sum(fit.should_run for fit in self.fits.values())

    # --- one pod on each eligible node ---

    def manage(self) -> PodChanges:
        """Return the missing pods to create and the surplus pods to delete."""
        changes = PodChanges()
        for node, fit in self.fits.items():
            pods = self.pods.get(node, [])
            if fit.should_continue_running:
                self._pods_should_be_on_node(node, fit, pods, changes)
            else:
                changes.delete += [pod for pod in pods if not is_deleting(pod)]
        for node in self.pods.keys() - self.fits.keys():  # deleted nodes: their pods that were never bound
            changes.delete += [p for p in self.pods[node] if not p.spec.node_name and not is_deleting(p)]
        return changes

    def _pods_should_be_on_node(self, node: str, fit: NodeFit, pods: Sequence[Pod], changes: PodChanges) -> None:
        if not pods:
            changes.create += [node] if fit.should_run else []
            return
        present = [pod for pod in pods if not is_deleting(pod)]
        finished = [pod for pod in present if pod.status.phase in ("Failed", "Succeeded")]
        changes.finished += [(pod, node) for pod in finished]
        changes.delete += finished
        running = [pod for pod in present if pod not in finished]
        if not self._allows_surge:
            changes.delete += running[1:]
        elif running:
            changes.delete += self._surplus(running)
        elif fit.should_run:
            changes.create.append(node)

    @property
    def _allows_surge(self) -> bool:
        is_rolling = self._set.spec.update_strategy.type != "OnDelete"
        return is_rolling and scaled_value(self._surge, 100, up=True) > 0  # any total shows whether it is more than 0

    def _surplus(self, running: Sequence[Pod]) -> list[Pod]:
        """Return the surplus pods of a node where a new pod may run beside an old one."""
        new = [pod for pod in running if is_pod_updated(pod, self._set, self._hashed)]
        old = [pod for pod in running if pod not in new]
        surplus = [*new[1:], *old[1:]]
        if new and old and (not is_ready(old[0]) or self._is_available(new[0])):
            surplus.append(old[0])
        return surplus

    # --- rolling update ---

    def rolling_update(self) -> PodChanges:
        """Return the next pods to replace with the current template."""
        if self._set.spec.update_strategy.type == "OnDelete":
            return PodChanges()
        surge, missing = (
            scaled_value(self._surge, self.desired_number_scheduled, up=True),
            scaled_value(self._missing, self.desired_number_scheduled, up=True),
        )
        if surge:
            return self._surge_new_pods(surge)
        return self._delete_old_pods(max(1, missing))

    def _pairs(self) -> Iterator[tuple[str, _NewAndOld | None]]:
        wanted = {node for node, fit in self.fits.items() if fit.should_run}
        for node in sorted(wanted | self.pods.keys()):
            living = [pod for pod in self.pods.get(node, ()) if not is_deleting(pod)]
            new = [pod for pod in living if is_pod_updated(pod, self._set, self._hashed)]
            old = [pod for pod in living if pod not in new]
            is_clear = len(new) <= 1 and len(old) <= 1
            yield node, (next(iter(new), None), next(iter(old), None)) if is_clear else None

    def _delete_old_pods(self, missing: int) -> PodChanges:
        """Delete old pods: unavailable ones at once, available ones up to maxUnavailable."""
        unavailable = 0
        at_once: list[Pod] = []
        candidates: list[Pod] = []
        for _, pair in self._pairs():
            match pair:
                case (None, Pod() as old):
                    (candidates if self._is_available(old) else at_once).append(old)
                case (Pod() as new, None) if self._is_available(new):
                    continue
                case _:
                    unavailable += 1
        return PodChanges(delete=[*at_once, *candidates[: max(0, missing - unavailable)]])

    def _surge_new_pods(self, surge: int) -> PodChanges:
        """Create new pods beside old ones, and delete an old pod when the new one is available."""
        surging = 0
        at_once: list[str] = []
        candidates: list[str] = []
        done: list[Pod] = []
        for node, pair in self._pairs():
            match pair:
                case None:
                    surging += 1
                case (None, Pod() as old) if node in self.fits and self.fits[node].should_run:
                    (candidates if self._is_available(old) else at_once).append(node)
                case (Pod() as new, Pod() as old):
                    if not self._is_available(old) or self._is_available(new):
                        done.append(old)
                    else:
                        surging += 1
        return PodChanges(create=[*at_once, *candidates[: max(0, surge - surging)]], delete=done)

    def _is_available(self, pod: Pod) -> bool:
        return is_available(pod, self._set.spec.min_ready_seconds)
