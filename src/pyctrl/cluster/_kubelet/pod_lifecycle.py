"""Lifecycle of a pod on a simulated node: the order of its containers, and its phase. No I/O."""

from __future__ import annotations

import math

from pyctrl.cluster._kubelet.container_lifecycle import ContainerLifecycle, ContainerStage, PodEvent
from pyctrl.cluster._kubelet.container_log import ContainerLog
from pyctrl.cluster._kubelet.pod_resize import PodResize
from pyctrl.cluster._kubelet.pod_sessions import PodSessions
from pyctrl.cluster._kubelet.probe_results import ProbeResults
from pyctrl.cluster._kubelet.scripts import PodScript, Script, as_container
from pyctrl.kinds.core.v1 import Container, EphemeralContainer, Pod

__all__ = ["PodLifecycle", "is_init_done", "is_sidecar"]

RESTART_ALL_SECONDS = 1.0  # from an exit that restarts all containers until they are removed, by the next pod sync


class PodLifecycle:
    """The state of a pod from its binding to its end.

    `advance` makes all transitions up to a time, `next_change` returns the time of the next one, and `pod_status`
    renders the PodStatus.
    """

    def __init__(self, pod: Pod, script: PodScript, now: float) -> None:
        self.uid = pod.metadata.uid
        self.node = pod.spec.node_name or ""
        self.is_stopping = False
        self.failure: tuple[str, str] | None = None  # reason and message of a pod that the kubelet has failed
        self._pod, self._script = pod, script
        self._start = now
        self._has_begun = self._has_initialized = False
        self._restart_at = math.inf  # when all containers are removed, to start again
        name = f"{pod.metadata.name}_{pod.metadata.namespace}({self.uid})"
        policy = pod.spec.restart_policy or "Always"
        self.inits = [
            self._container(c, name, _init_policy(c, policy), "initContainers") for c in pod.spec.init_containers
        ]
        self.mains = [self._container(c, name, c.restart_policy or policy, "containers") for c in pod.spec.containers]
        self.ephemeral: list[ContainerLifecycle] = []
        #: The resizes of the pod.
        self.resize = PodResize(pod, [*self.inits, *self.mains])
        #: What clients do in its containers.
        self.sessions = PodSessions()
        self._name = name
        self._events: list[PodEvent] = []
        self.wait("PodInitializing" if self.inits else "ContainerCreating", "")
        self._adopt(pod, now)

    def _container(self, spec: Container, pod: str, policy: str, field: str) -> ContainerLifecycle:
        script = self._script.containers.get(spec.name, Script())
        return ContainerLifecycle(spec, script, policy=policy, pod=pod, path=f"spec.{field}{{{spec.name}}}")

    def _adopt(self, pod: Pod, now: float) -> None:
        """Continue from the status that an earlier kubelet reported."""
        known = {s.name: s for s in (*pod.status.init_container_statuses, *pod.status.container_statuses)}
        for container in (*self.inits, *self.mains):
            status = known.get(container.spec.name)
            if status is not None and (status.state.running or status.state.terminated or status.restart_count):
                self._has_begun = True
                container.adopt(status, now)
        if pod.status.phase in ("Succeeded", "Failed"):
            self.failure = (pod.status.reason, pod.status.message or "") if pod.status.reason else None
            self._has_begun = True
            for container in self._all():
                container.stop(now, 0)

    @property
    def containers(self) -> list[ContainerLifecycle]:
        """All containers, in the order of their start."""
        return self._all()

    def _all(self) -> list[ContainerLifecycle]:
        return [*self.inits, *self.mains, *self.ephemeral]

    @property
    def pod(self) -> Pod:
        """The pod as it was last observed."""
        return self._pod

    def find(self, name: str) -> ContainerLifecycle | None:
        """Return the container with a name, or None."""
        return next((each for each in self._all() if each.spec.name == name), None)

    # --- transitions ---

    def update(self, pod: Pod, script: PodScript, now: float) -> None:
        """Update pod and scripts: other images, other scripts, new ephemeral containers."""
        self._pod, self._script = pod, script
        specs = {c.name: c for c in (*pod.spec.init_containers, *pod.spec.containers)}
        for container in (*self.inits, *self.mains):
            container.update(specs[container.spec.name], script.containers.get(container.spec.name, Script()), now)
        known = {container.spec.name for container in self.ephemeral}
        added = [each for each in pod.spec.ephemeral_containers if each.name not in known]  # patches put them in front
        self.ephemeral += [self._ephemeral(each, now) for each in added]

    def _ephemeral(self, spec: EphemeralContainer, now: float) -> ContainerLifecycle:
        container, script = as_container(spec), self._script.containers.get(spec.name, Script())
        path = f"spec.ephemeralContainers{{{spec.name}}}"
        lifecycle = ContainerLifecycle(container, script, policy="Never", pod=self._name, path=path)
        lifecycle.begin(now)
        return lifecycle

    def wait(self, reason: str, message: str) -> None:
        """Set the reason and message with which the containers wait."""
        for container in (*self.inits, *self.mains):
            container.waiting = reason, message

    def stop(self, now: float, grace: float) -> None:
        """Stop all containers of a deleted pod. A second call may shorten the grace period."""
        self.is_stopping = True
        for container in self._all():
            container.stop(now, grace)

    def fail(self, now: float, reason: str, message: str) -> None:
        """Fail the pod from the node's side."""
        self.failure = reason, message
        for container in self._all():
            container.stop(now, 0)

    def advance(self, now: float) -> None:
        """Make all transitions up to now."""
        self._check_limits(now)
        self.resize.advance(now)
        while True:
            for container in self._all():
                container.advance(now)
            if not self._restart_all(now) and not self._start_and_stop(now):
                break
        self._has_initialized = self.is_initialized

    def _restart_all(self, now: float) -> bool:
        """Remove all containers, a second after the exit of one that restarts all; return whether it did."""
        containers = [*self.inits, *self.mains]
        if self.is_stopping or self.failure is not None or not any(each.restarts_all for each in containers):
            self._restart_at = math.inf
            return False
        self._restart_at = min(self._restart_at, now + RESTART_ALL_SECONDS)
        if now < self._restart_at:
            return False
        for container in reversed(containers):
            container.remove()
        self._restart_at = math.inf
        return True

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
        """Start the containers that may start, or stop sidecars that are not needed; return whether any changed."""
        if self.is_stopping or self.failure is not None or self.is_restarting_all:
            return False
        for container in self.inits:
            if container.stage is ContainerStage.WAITING:
                self._has_begun = True
                container.begin(now)
                return True
            if not is_init_done(container):
                return False
        waiting = [container for container in self.mains if container.stage is ContainerStage.WAITING]
        for container in waiting:
            self._has_begun = True
            container.begin(now)
        if all(container.stage is ContainerStage.ENDED for container in self.mains):
            waiting = [
                container
                for container in self.inits
                if container.stage not in (ContainerStage.WAITING, ContainerStage.ENDED)
            ]
            for container in waiting:  # sidecars
                container.stop(now, 0)
        return bool(waiting)

    def next_change(self, now: float) -> float:
        """Return the time of the next change, or infinity."""
        moments = [
            self._restart_at,
            self.resize.next_change,
            *(container.next_change(now) for container in self._all()),
        ]
        if not self.is_over and not self.is_stopping:
            limits = (self._pod.spec.active_deadline_seconds, self._script.evict_after_seconds)
            moments += [self._start + limit for limit in limits if limit is not None]
        return min(moments, default=math.inf)

    def take_logs_to_write(self) -> list[tuple[ContainerLifecycle, ContainerLog]]:
        """Return the containers that have started and whose logs a function writes, and clear them."""
        started = [(container, log) for container in self._all() for log in container.logs_to_write]
        for container in self._all():
            container.logs_to_write = []
        return started

    def take_runs_to_probe(self) -> list[tuple[ContainerLifecycle, ProbeResults]]:
        """Return the containers that have started and whose probes run, and clear them."""
        started = [(container, results) for container in self._all() for results in container.runs_to_probe]
        for container in self._all():
            container.runs_to_probe = []
        return started

    def close_logs(self) -> None:
        """End the logs of all containers: the pod was removed."""
        for container in self._all():
            container.close_log()

    def take_events(self) -> list[PodEvent]:
        """Return the new Events, and clear them."""
        events = [event for container in self._all() for event in container.events]
        events += [*self._events, *self.resize.events]
        self._events, self.resize.events = [], []
        for container in self._all():
            container.events = []
        return events

    # --- state ---

    @property
    def has_begun(self) -> bool:
        """True if any container was ever started."""
        return self._has_begun

    @property
    def can_restart_all(self) -> bool:
        """Whether a restart rule of a container restarts all."""
        rules = (rule for each in (*self.inits, *self.mains) for rule in each.spec.restart_policy_rules)
        return any(rule.action == "RestartAllContainers" for rule in rules)

    @property
    def is_restarting_all(self) -> bool:
        """True from the exit of a container that restarts all containers until they are removed."""
        return self._restart_at < math.inf

    @property
    def is_over(self) -> bool:
        """True if all containers have finished for good."""
        if self.is_restarting_all:
            return False
        if any(
            container.stage is ContainerStage.ENDED and not succeeded(container)
            for container in self.inits
            if not is_sidecar(container)
        ):
            return True
        return all(
            container.stage is ContainerStage.ENDED for container in (*self.mains, *filter(is_sidecar, self.inits))
        )

    @property
    def is_initialized(self) -> bool:
        """True if all init containers were done at any time."""
        return self._has_initialized or all(map(is_init_done, self.inits))

    def phase(self) -> str:
        """Return the phase of the pod."""
        if self.failure is not None:
            return "Failed"
        if self.is_over:
            regular = [container for container in self.inits if not is_sidecar(container)]
            return "Succeeded" if all(map(succeeded, (*regular, *self.mains))) else "Failed"
        return "Running" if self.is_initialized and any(container.has_run for container in self.mains) else "Pending"


def _init_policy(container: Container, policy: str) -> str:
    """Return the restart policy of an init container: Always for a sidecar, else restarts until success."""
    if container.restart_policy is not None:
        return container.restart_policy
    return "Never" if policy == "Never" else "OnFailure"


def is_sidecar(container: ContainerLifecycle) -> bool:
    """Return whether a container is a sidecar."""
    return container.spec.restart_policy == "Always"


def succeeded(container: ContainerLifecycle) -> bool:
    """Return whether the last run of a container succeeded."""
    return container.exit_code == 0


def is_init_done(container: ContainerLifecycle) -> bool:
    """Return whether the containers after this init container may start."""
    if is_sidecar(container):
        return container.has_started
    return container.stage is ContainerStage.ENDED and succeeded(container)
