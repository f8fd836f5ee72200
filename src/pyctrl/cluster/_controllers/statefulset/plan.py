"""The next steps of a StatefulSet, decided from its pods alone.

The rules are those of kube-controller-manager's stateful_set_control.go (pkg/controller/statefulset). With
``OrderedReady`` there is one step at a time, and none while a pod with a lower ordinal is unavailable. With
``Parallel`` all missing pods are created and all surplus pods deleted at once. Both update from the highest ordinal
down, one pod at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from pyctrl.api import is_deleting
from pyctrl.cluster._controllers.pod_control import is_available
from pyctrl.cluster._controllers.statefulset.pods import ordinal_of, ordinals, revision_of
from pyctrl.kinds.apps.v1 import StatefulSet
from pyctrl.kinds.core.v1 import Pod

__all__ = ["PodAction", "PodStep", "StatefulSetPlan"]


class PodAction(Enum):
    """What a step does to a pod."""

    CREATE = "create"  # the pod is missing
    DELETE = "delete"  # the pod has finished, is surplus, or is of an old revision
    UPDATE = "update"  # its labels and claims are updated
    UPDATE_CLAIMS = "update claims"  # only its claims are updated


@dataclass(frozen=True, slots=True)
class PodStep:
    """One step of a plan."""

    action: PodAction
    ordinal: int
    #: None for CREATE.
    pod: Pod | None = None


class StatefulSetPlan:
    """The steps of one reconcile.

    Args:
        stateful_set: the StatefulSet.
        pods: its pods.
        update: the name of the update revision.
    """

    def __init__(self, stateful_set: StatefulSet, pods: Sequence[Pod], update: str) -> None:
        self._set, self._update = stateful_set, update
        by_ordinal = {ordinal_of(pod, stateful_set): pod for pod in pods}
        #: The pod of each ordinal in range, or None.
        self.replicas: dict[int, Pod | None] = {o: by_ordinal.get(o) for o in ordinals(stateful_set)}
        surplus = sorted((o for o in by_ordinal if o is not None and o not in self.replicas), reverse=True)
        #: The surplus pods, the highest ordinal first (condemned, as upstream).
        self.condemned: list[Pod] = [by_ordinal[o] for o in surplus]
        self._is_ordered = stateful_set.spec.pod_management_policy != "Parallel"

    def steps(self) -> list[PodStep]:
        """Return the steps to take now, in order."""
        steps, may_continue = self._create_missing()
        if not may_continue:
            return steps
        steps += [PodStep(PodAction.UPDATE_CLAIMS, self._ordinal(pod), pod) for pod in self.condemned]
        steps += self._scale_down()
        if not (self._is_ordered and self.condemned):
            steps += self._rolling_update()
        return steps

    def _create_missing(self) -> tuple[list[PodStep], bool]:
        """Create missing pods and delete finished ones; return whether the plan may continue."""
        steps: list[PodStep] = []
        for ordinal, pod in self.replicas.items():
            if pod is None:
                steps.append(PodStep(PodAction.CREATE, ordinal))
            elif _is_terminal(pod):
                steps += [] if is_deleting(pod) else [PodStep(PodAction.DELETE, ordinal, pod)]
            elif not self._is_ordered or self._is_available(pod):
                steps.append(PodStep(PodAction.UPDATE, ordinal, pod))
                continue
            elif pod.status.phase == "Pending":
                steps.append(PodStep(PodAction.UPDATE_CLAIMS, ordinal, pod))
            if self._is_ordered:
                return steps, False
        return steps, True

    def _scale_down(self) -> list[PodStep]:
        """Delete surplus pods; with ordered management only one, and only if no other pod is unavailable."""
        candidates = self.condemned
        if self._is_ordered:
            first = self._first_unavailable()
            candidates = [pod for pod in candidates[:1] if self._is_available(pod) or pod is first]
        return [PodStep(PodAction.DELETE, self._ordinal(pod), pod) for pod in candidates if not is_deleting(pod)]

    def _rolling_update(self) -> Iterator[PodStep]:
        """Delete the next pod of an old revision, if all pods with higher ordinals are available."""
        strategy = self._set.spec.update_strategy
        if strategy.type == "OnDelete":
            return
        partition = (strategy.rolling_update.partition or 0) if strategy.rolling_update is not None else 0
        for ordinal, pod in reversed(list(self.replicas.items())[partition:]):
            if pod is None or _is_terminal(pod):
                return  # the pod is being created or replaced
            if revision_of(pod) != self._update and not is_deleting(pod):
                yield PodStep(PodAction.DELETE, ordinal, pod)
                return
            if not self._is_available(pod):
                return

    def _first_unavailable(self) -> Pod | None:
        """Return the unavailable pod with the lowest ordinal, pods in range before surplus ones."""
        present = [pod for pod in self.replicas.values() if pod is not None]
        return next((pod for pod in (*present, *reversed(self.condemned)) if not self._is_available(pod)), None)

    def _is_available(self, pod: Pod) -> bool:
        is_running = pod.status.phase == "Running" and not is_deleting(pod)
        return is_running and is_available(pod, self._set.spec.min_ready_seconds)

    def _ordinal(self, pod: Pod) -> int:
        return ordinal_of(pod, self._set) or 0


def _is_terminal(pod: Pod) -> bool:
    return pod.status.phase in ("Failed", "Succeeded")
