"""What a StatefulSet does next: pure decisions over its pods.

The rules are those of kube-controller-manager's stateful_set_control.go (pkg/controller/statefulset): with
``OrderedReady`` one thing at a time, and nothing while a pod of a lower number is not available; with ``Parallel``
everything that is missing or too much at once. Updates go from the highest number down, one pod at a time, in both.
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
    """What is done to a pod."""

    CREATE = "create"  # it is missing
    DELETE = "delete"  # it has ended, is one too many, or is of an old template
    KEEP = "keep"  # its labels and claims are made what they should be
    CLAIM = "claim"  # its claims are; the rest does not matter now


@dataclass(frozen=True, slots=True)
class PodStep:
    """One thing to do."""

    verb: PodAction
    ordinal: int
    #: None when it is to be created.
    pod: Pod | None = None


class StatefulSetPlan:
    """The steps of one reconcile.

    Args:
        stateful_set: as it is wanted.
        pods: those of its name.
        update: the name of the revision that all pods shall have in the end.
    """

    def __init__(self, stateful_set: StatefulSet, pods: Sequence[Pod], update: str) -> None:
        self._set, self._update = stateful_set, update
        by_ordinal = {ordinal_of(pod, stateful_set): pod for pod in pods}
        #: What there is of each wanted number.
        self.slots: dict[int, Pod | None] = {o: by_ordinal.get(o) for o in ordinals(stateful_set)}
        surplus = sorted((o for o in by_ordinal if o is not None and o not in self.slots), reverse=True)
        #: The pods that are too many, the highest number first.
        self.condemned: list[Pod] = [by_ordinal[o] for o in surplus]
        self._is_ordered = stateful_set.spec.pod_management_policy != "Parallel"

    def steps(self) -> list[PodStep]:
        """Return what is to be done now, in this order."""
        steps, is_settled = self._fill()
        if not is_settled:
            return steps
        steps += [PodStep(PodAction.CLAIM, self._ordinal(pod), pod) for pod in self.condemned]
        steps += self._scale_down()
        if not (self._is_ordered and self.condemned):
            steps += self._renew()
        return steps

    def _fill(self) -> tuple[list[PodStep], bool]:
        """Make what is missing, replace what has ended; says whether all that comes after may go on."""
        steps: list[PodStep] = []
        for ordinal, pod in self.slots.items():
            if pod is None:
                steps.append(PodStep(PodAction.CREATE, ordinal))
            elif _is_terminal(pod):
                steps += [] if is_deleting(pod) else [PodStep(PodAction.DELETE, ordinal, pod)]
            elif not self._is_ordered or self._is_settled(pod):
                steps.append(PodStep(PodAction.KEEP, ordinal, pod))
                continue
            elif pod.status.phase == "Pending":
                steps.append(PodStep(PodAction.CLAIM, ordinal, pod))
            if self._is_ordered:
                return steps, False
        return steps, True

    def _scale_down(self) -> list[PodStep]:
        """Take those that are too many; in order, only while nothing else is unavailable."""
        candidates = self.condemned
        if self._is_ordered:
            first = self._first_unavailable()
            candidates = [pod for pod in candidates[:1] if self._is_settled(pod) or pod is first]
        return [PodStep(PodAction.DELETE, self._ordinal(pod), pod) for pod in candidates if not is_deleting(pod)]

    def _renew(self) -> Iterator[PodStep]:
        """Replace the next pod of an old revision, when all above it are available."""
        strategy = self._set.spec.update_strategy
        if strategy.type == "OnDelete":
            return
        partition = (strategy.rolling_update.partition or 0) if strategy.rolling_update is not None else 0
        for ordinal, pod in reversed(list(self.slots.items())[partition:]):
            if pod is None or _is_terminal(pod):
                return  # it is being created or replaced
            if revision_of(pod) != self._update and not is_deleting(pod):
                yield PodStep(PodAction.DELETE, ordinal, pod)
                return
            if not self._is_settled(pod):
                return

    def _first_unavailable(self) -> Pod | None:
        """Return the unavailable pod of the lowest number; those that are wanted come first."""
        present = [pod for pod in self.slots.values() if pod is not None]
        return next((pod for pod in (*present, *reversed(self.condemned)) if not self._is_settled(pod)), None)

    def _is_settled(self, pod: Pod) -> bool:
        is_running = pod.status.phase == "Running" and not is_deleting(pod)
        return is_running and is_available(pod, self._set.spec.min_ready_seconds)

    def _ordinal(self, pod: Pod) -> int:
        return ordinal_of(pod, self._set) or 0


def _is_terminal(pod: Pod) -> bool:
    return pod.status.phase in ("Failed", "Succeeded")
