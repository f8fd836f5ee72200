"""One pod on a pretend node: which of its containers run when, and what phase that is. No I/O."""

from __future__ import annotations

import math

from pyctrl.cluster._kubelet.container_lifecycle import ContainerLifecycle, ContainerStage, PodEvent
from pyctrl.cluster._kubelet.scripts import PodScript, Script
from pyctrl.kinds.core.v1 import Container, EphemeralContainer, Pod

__all__ = ["PodLifecycle", "is_init_done", "is_sidecar"]


class PodLifecycle:
    """What becomes of a pod between its binding and its end.

    `advance` moves it to a moment, `next_change` says when to look again; what there is to see is `pod_status`'s.
    """

    def __init__(self, pod: Pod, script: PodScript, now: float) -> None:
        self.uid = pod.metadata.uid
        self.node = pod.spec.node_name or ""
        self.is_stopping = False
        self.failure: tuple[str, str] | None = None  # reason and message of a pod that the node itself has ended
        self._pod, self._script = pod, script
        self._start = now
        self._has_begun = False
        name = f"{pod.metadata.name}_{pod.metadata.namespace}({self.uid})"
        policy = pod.spec.restart_policy or "Always"
        self.inits = [
            self._container(c, name, _init_policy(c, policy), "initContainers") for c in pod.spec.init_containers
        ]
        self.mains = [self._container(c, name, c.restart_policy or policy, "containers") for c in pod.spec.containers]
        self.ephemeral: list[ContainerLifecycle] = []
        self._name = name
        self._events: list[PodEvent] = []
        self.wait("PodInitializing" if self.inits else "ContainerCreating", "")
        self._adopt(pod, now)

    def _container(self, spec: Container, pod: str, policy: str, field: str) -> ContainerLifecycle:
        script = self._script.containers.get(spec.name, Script())
        return ContainerLifecycle(spec, script, policy=policy, pod=pod, path=f"spec.{field}{{{spec.name}}}")

    def _adopt(self, pod: Pod, now: float) -> None:
        """Take over a pod that has a status from an earlier kubelet."""
        known = {s.name: s for s in (*pod.status.init_container_statuses, *pod.status.container_statuses)}
        for life in (*self.inits, *self.mains):
            status = known.get(life.spec.name)
            if status is not None and (status.state.running or status.state.terminated or status.restart_count):
                self._has_begun = True
                life.adopt(status, now)
        if pod.status.phase in ("Succeeded", "Failed"):
            self.failure = (pod.status.reason, pod.status.message or "") if pod.status.reason else None
            self._has_begun = True
            for life in self._all():
                life.stop(now, 0)

    def _all(self) -> list[ContainerLifecycle]:
        return [*self.inits, *self.mains, *self.ephemeral]

    # -- what happens ------------------------------------------------------------------------------------------

    def take(self, pod: Pod, script: PodScript, now: float) -> None:
        """Take a changed pod: other images, other scripts, ephemeral containers."""
        self._pod, self._script = pod, script
        specs = {c.name: c for c in (*pod.spec.init_containers, *pod.spec.containers)}
        for life in (*self.inits, *self.mains):
            life.take(specs[life.spec.name], script.containers.get(life.spec.name, Script()), now)
        known = {life.spec.name for life in self.ephemeral}
        added = [each for each in pod.spec.ephemeral_containers if each.name not in known]  # patches put them in front
        self.ephemeral += [self._ephemeral(each, now) for each in added]

    def _ephemeral(self, spec: EphemeralContainer, now: float) -> ContainerLifecycle:
        container = Container(name=spec.name, image=spec.image)
        path = f"spec.ephemeralContainers{{{spec.name}}}"
        life = ContainerLifecycle(container, Script(), policy="Never", pod=self._name, path=path)
        life.begin(now)
        return life

    def wait(self, reason: str, message: str) -> None:
        """Say why the containers have not begun."""
        for life in (*self.inits, *self.mains):
            life.waiting = reason, message

    def stop(self, now: float, grace: float) -> None:
        """Ask all containers to end: the pod has been deleted. Asking again may shorten the grace period."""
        self.is_stopping = True
        for life in self._all():
            life.stop(now, grace)

    def fail(self, now: float, reason: str, message: str) -> None:
        """End the pod from the node's side."""
        self.failure = reason, message
        for life in self._all():
            life.stop(now, 0)

    def advance(self, now: float) -> None:
        """Let everything happen that is due."""
        self._check_limits(now)
        while True:
            for life in self._all():
                life.advance(now)
            if not self._start_and_stop(now):
                return

    def _check_limits(self, now: float) -> None:
        if self.is_over or self.is_stopping:
            return
        limit = self._pod.spec.active_deadline_seconds
        if limit is not None and now >= self._start + limit:
            self.fail(now, "DeadlineExceeded", "Pod was active on the node longer than the specified deadline")
        evicted = self._script.evict_after_seconds
        if evicted is not None and now >= self._start + evicted:
            message = "The node was low on resource: memory. Threshold quantity: 100Mi, available: 0."
            self._events.append(PodEvent("Warning", "Evicted", message))
            self.fail(now, "Evicted", message)

    def _start_and_stop(self, now: float) -> bool:
        """Start what may start now, or stop what nobody needs any more; says whether anything was."""
        if self.is_stopping or self.failure is not None:
            return False
        for life in self.inits:
            if life.stage is ContainerStage.WAITING:
                self._has_begun = True
                life.begin(now)
                return True
            if not is_init_done(life):
                return False
        waiting = [life for life in self.mains if life.stage is ContainerStage.WAITING]
        for life in waiting:
            self._has_begun = True
            life.begin(now)
        if all(life.stage is ContainerStage.ENDED for life in self.mains):
            waiting = [life for life in self.inits if life.stage not in (ContainerStage.WAITING, ContainerStage.ENDED)]
            for life in waiting:  # sidecars
                life.stop(now, 0)
        return bool(waiting)

    def next_change(self, now: float) -> float:
        """When it has to be looked at again; infinity for never."""
        moments = [life.next_change(now) for life in self._all()]
        if not self.is_over and not self.is_stopping:
            limits = (self._pod.spec.active_deadline_seconds, self._script.evict_after_seconds)
            moments += [self._start + limit for limit in limits if limit is not None]
        return min(moments, default=math.inf)

    def take_events(self) -> list[PodEvent]:
        """Return what there is to tell, once."""
        told = [event for life in self._all() for event in life.events] + self._events
        self._events = []
        for life in self._all():
            life.events = []
        return told

    # -- what is said of it ------------------------------------------------------------------------------------

    @property
    def has_begun(self) -> bool:
        """Whether any container was ever given its turn."""
        return self._has_begun

    @property
    def is_over(self) -> bool:
        """Whether nothing runs and nothing will."""
        if any(
            life.stage is ContainerStage.ENDED and not succeeded(life) for life in self.inits if not is_sidecar(life)
        ):
            return True
        return all(life.stage is ContainerStage.ENDED for life in (*self.mains, *filter(is_sidecar, self.inits)))

    @property
    def is_initialized(self) -> bool:
        """Whether all init containers have done their part."""
        return all(map(is_init_done, self.inits))

    def phase(self) -> str:
        """Return the phase of the pod."""
        if self.failure is not None:
            return "Failed"
        if self.is_over:
            regular = [life for life in self.inits if not is_sidecar(life)]
            return "Succeeded" if all(map(succeeded, (*regular, *self.mains))) else "Failed"
        return "Running" if self.is_initialized and any(life.has_run for life in self.mains) else "Pending"


def _init_policy(container: Container, policy: str) -> str:
    """Return when an init container is started again: a sidecar always, another one until it succeeds."""
    if container.restart_policy is not None:
        return container.restart_policy
    return "Never" if policy == "Never" else "OnFailure"


def is_sidecar(life: ContainerLifecycle) -> bool:
    return life.spec.restart_policy == "Always"


def succeeded(life: ContainerLifecycle) -> bool:
    return life.exit_code == 0


def is_init_done(life: ContainerLifecycle) -> bool:
    """Whether what comes after this init container may start."""
    if is_sidecar(life):
        return life.stage is ContainerStage.RUNNING or (life.has_run and life.stage is not ContainerStage.WAITING)
    return life.stage is ContainerStage.ENDED and succeeded(life)
