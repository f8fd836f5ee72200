"""What a DaemonSet does next: pure decisions over nodes and pods.

The rules are those of kube-controller-manager's daemonset controller (pkg/controller/daemon): one pod on each node
that fits; an update replaces as many at a time as may be unavailable, or first adds as many as may be too much.
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
    """What is to be done."""

    #: Nodes that get a pod.
    create: list[str] = field(default_factory=list)
    delete: list[Pod] = field(default_factory=list)
    #: Of those, the ones that have ended, and the nodes where.
    ended: list[tuple[Pod, str]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.create or self.delete)


#: What a node has of the present template and of earlier ones; None when it has more than one of either.
_NewAndOld = tuple[Pod | None, Pod | None]


class DaemonSetPlan:
    """One look at a DaemonSet.

    Args:
        daemon_set: what is wanted.
        nodes: all nodes.
        pods: those of the set.
        hashed: the label that pods of the present template have.
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
    def desired(self) -> int:
        """On how many nodes a pod should run."""
        return sum(fit.should_run for fit in self.fits.values())

    # --- one pod on each node that fits ---

    def place(self) -> PodChanges:
        """Return what brings a pod to each node that should have one, and takes away what should not be there."""
        actions = PodChanges()
        for node, fit in self.fits.items():
            pods = self.pods.get(node, [])
            if fit.should_continue_running:
                self._settle(node, fit, pods, actions)
            else:
                actions.delete += [pod for pod in pods if not is_deleting(pod)]
        for node in self.pods.keys() - self.fits.keys():  # nodes that are gone: the pods that never got there
            actions.delete += [p for p in self.pods[node] if not p.spec.node_name and not is_deleting(p)]
        return actions

    def _settle(self, node: str, fit: NodeFit, pods: Sequence[Pod], actions: PodChanges) -> None:
        if not pods:
            actions.create += [node] if fit.should_run else []
            return
        present = [pod for pod in pods if not is_deleting(pod)]
        ended = [pod for pod in present if pod.status.phase in ("Failed", "Succeeded")]
        actions.ended += [(pod, node) for pod in ended]
        actions.delete += ended
        running = [pod for pod in present if pod not in ended]
        if not self._may_surge:
            actions.delete += running[1:]
        elif running:
            actions.delete += self._surplus(running)
        elif fit.should_run:
            actions.create.append(node)

    @property
    def _may_surge(self) -> bool:
        is_rolling = self._set.spec.update_strategy.type != "OnDelete"
        return is_rolling and scaled_value(self._surge, 100, up=True) > 0  # of any number: more than none

    def _surplus(self, running: Sequence[Pod]) -> list[Pod]:
        """Return what is too much where a new pod may run beside an old one."""
        new = [pod for pod in running if is_pod_updated(pod, self._set, self._hashed)]
        old = [pod for pod in running if pod not in new]
        surplus = [*new[1:], *old[1:]]
        if new and old and (not is_ready(old[0]) or self._is_available(new[0])):
            surplus.append(old[0])
        return surplus

    # --- an update ---

    def renew(self) -> PodChanges:
        """Return what brings the present template to the next nodes."""
        if self._set.spec.update_strategy.type == "OnDelete":
            return PodChanges()
        surge, missing = (
            scaled_value(self._surge, self.desired, up=True),
            scaled_value(self._missing, self.desired, up=True),
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
        """Delete old pods: those that are not available at once, of the others as many as may be missing."""
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
        """Create new pods beside old ones, and delete an old one when the new one has taken over."""
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
