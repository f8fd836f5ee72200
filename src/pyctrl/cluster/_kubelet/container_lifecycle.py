"""Lifecycle of a container on a simulated node: a state machine over the event loop's time. No I/O."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from pyctrl import _clock
from pyctrl.api import format_time
from pyctrl.cluster._kubelet.container_log import ContainerLog
from pyctrl.cluster._kubelet.image_names import digest, full_image_name, image_id
from pyctrl.cluster._kubelet.probe_results import ProbeKind, ProbeResults
from pyctrl.cluster._kubelet.scripts import Script
from pyctrl.kinds.core.v1 import Container, ContainerStatus

__all__ = ["ContainerLifecycle", "ContainerStage", "PodEvent", "duration"]

INITIAL_BACKOFF, MAX_BACKOFF = 10.0, 300.0  # the kubelet's backoff of image pulls and restarts, doubling each time
BACKOFF_RESET = 600.0  # seconds of a run that reset the backoff: twice the maximum
PULL_ERROR_SECONDS = 1.0  # how long ErrImagePull is reported before ImagePullBackOff, until the next pod sync
_PARTS = ("limits", "requests")
KILLED = 137  # 128 + SIGKILL


class ContainerStage(Enum):
    """The stage of a container."""

    WAITING = "waiting"  # earlier init containers are not done
    PULLING = "pulling"
    PULL_FAILED = "pull failed"  # ErrImagePull
    PULL_BACKOFF = "pull backoff"  # ImagePullBackOff, until it is pulled again
    RUNNING = "running"
    CRASHED = "crashed"  # CrashLoopBackOff, until it is started again
    ENDED = "ended"  # for good


@dataclass(frozen=True, slots=True)
class PodEvent:
    """An Event about a pod or one of its containers."""

    type: str
    reason: str
    message: str
    field_path: str = ""


#: The last state of a container that was removed to restart all containers of its pod.
_REMOVED = {
    "exitCode": KILLED,
    "reason": "RestartingAllContainers",
    "message": "The container is removed because RestartAllContainers in place",
    "startedAt": None,
    "finishedAt": None,
}
_HAS_NEWER_LOG = (ContainerStage.RUNNING, ContainerStage.ENDED)  # than that of the last state


class ContainerLifecycle:
    """The state of one container, and the time of its next change.

    Args:
        spec: the container.
        script: its behaviour.
        policy: its restart policy: Always, OnFailure or Never.
        pod: its pod as messages name it: ``name_namespace(uid)``.
        path: the field path of its Events, such as ``spec.containers{main}``.
    """

    def __init__(self, spec: Container, script: Script, *, policy: str, pod: str, path: str) -> None:
        self.spec = spec
        self.script = script
        self.stage = ContainerStage.WAITING
        self.until = math.inf  # when the stage ends
        self.restarts = 0
        self.allocated = self.resources = spec.resources.to_wire()  # by the node, and in use
        self.waiting = ("ContainerCreating", "")  # reason and message of the state waiting
        self.events: list[PodEvent] = []
        self.on_exit: list[Callable[[], None]] = []  # called once, when the current run ends
        self.logs_to_write: list[ContainerLog] = []  # of runs that have started since they were last taken
        self.runs_to_probe: list[ProbeResults] = []  # the same
        self.has_started = False  # in any run: also its startup probe succeeded
        self.restarts_all = False  # by its restart rules, its exit restarts all containers of the pod
        self._policy, self._pod, self._path = policy, pod, path
        self._pull_failures = 0
        self._crashes = 0  # since the last run that reset the backoff
        self._runs = 0
        self._ready_at = self._unready_at = math.inf
        self._began = 0.0
        self._started_at = ""
        self._stopping = False
        self._probed: ProbeResults | None = None  # the results of the current run, if its probes run
        self._ended: dict[str, Any] | None = None  # the state terminated of the last run
        self._ended_before: dict[str, Any] | None = None  # that of the run before it
        self._log: ContainerLog | None = None  # of the last run
        self._previous_log: ContainerLog | None = None
        self._printed = ""  # the text of the script that is in the log

    # --- state ---

    def is_ready(self, now: float) -> bool:
        """Return whether the container runs and is ready."""
        is_probed_ready = self._probed is None or self._probed.is_ready
        return self.stage is ContainerStage.RUNNING and self._ready_at <= now < self._unready_at and is_probed_ready

    def is_running(self, probed: ProbeResults) -> bool:
        """Return whether the run of these results has not ended."""
        return self.stage is ContainerStage.RUNNING and self._probed is probed

    @property
    def is_stopping(self) -> bool:
        """Whether the container is being stopped."""
        return self._stopping

    @property
    def _is_started(self) -> bool:
        return self.stage is ContainerStage.RUNNING and (self._probed is None or self._probed.is_started)

    @property
    def exit_code(self) -> int | None:
        """The exit code of the last run, or None."""
        return None if self._ended is None else int(self._ended["exitCode"])

    @property
    def has_run(self) -> bool:
        """True if the container was ever started."""
        return self._runs > 0

    def find_log(self, *, previous: bool = False) -> ContainerLog | None:
        """Return the log of the last run, or that of the run that ended last; None if there is none."""
        return self._previous_log if previous and self.stage in _HAS_NEWER_LOG else self._log

    def next_change(self, now: float) -> float:
        """Return the time of the next change, or infinity."""
        moments = [self.until]
        if self.stage is ContainerStage.RUNNING:
            moments += [at for at in (self._ready_at, self._unready_at) if at > now]
        return min(moments)

    # --- transitions ---

    def begin(self, now: float) -> None:
        """Pull the image, then start the container."""
        self._enter(ContainerStage.PULLING, now + (self.script.pull_seconds or 0.0))
        if self.script.pull_error is not None or self.script.pull_seconds:
            self._add_event("Normal", "Pulling", f'Pulling image "{self.spec.image}"')

    def advance(self, now: float) -> None:
        """Make all transitions up to now."""
        while self.until <= now:
            self._step(self.until)
        self._follow_probes(now)
        if self._unready_at <= now and self.stage is ContainerStage.RUNNING and self._unready_at != -math.inf:
            self._unready_at = -math.inf  # recorded
            self._add_event("Warning", "Unhealthy", "Readiness probe failed: as scripted")

    def _follow_probes(self, now: float) -> None:
        """Record that the container has started, or restart it because a probe failed."""
        self.has_started = self.has_started or self._is_started
        failed = self._probed.failed if self._probed is not None else None
        if failed is None or self.stage is not ContainerStage.RUNNING or self._stopping:
            return
        restarted = ", will be restarted" if self._action_after(KILLED) else ""
        message = f"Container {self.spec.name} failed {failed.value.lower()} probe{restarted}"
        self._add_event("Normal", "Killing", message)
        self._record_termination(KILLED)
        self._act_after(KILLED, now)

    def record_probe(self, kind: ProbeKind, failure: str | None) -> bool:
        """Record the result of a probe, with an Event of its failure; return whether the pod has to be synced."""
        results = self._probed
        if results is None:
            return False
        before = results.is_started, results.is_ready, results.failed
        results.record(kind, succeeded=failure is None)
        if failure is not None:
            self._add_event("Warning", "Unhealthy", f"{kind.value} probe failed: {failure}")
        return failure is not None or before != (results.is_started, results.is_ready, results.failed)

    def _step(self, at: float) -> None:
        match self.stage:
            case ContainerStage.PULLING if self.script.pull_error is not None:
                self._pull_failed(at, self.script.pull_error)
            case ContainerStage.PULLING:
                self._pulled()
                self._start(at)
            case ContainerStage.PULL_FAILED:
                self._enter(
                    ContainerStage.PULL_BACKOFF, at - PULL_ERROR_SECONDS + _restart_backoff(self._pull_failures)
                )
                self._add_event("Normal", "BackOff", f'Back-off pulling image "{self.spec.image}"')
                self._add_event("Warning", "Failed", "Error: ImagePullBackOff")
            case ContainerStage.PULL_BACKOFF:
                self.begin(at)
            case ContainerStage.RUNNING:
                self._terminate(at)
            case ContainerStage.CRASHED:
                self.restarts += 1
                self._pulled()
                self._start(at)
            case ContainerStage.WAITING | ContainerStage.ENDED:
                self.until = math.inf

    def _enter(self, stage: ContainerStage, until: float) -> None:
        was_running = self.stage is ContainerStage.RUNNING
        self.stage, self.until = stage, until
        if was_running:
            callbacks, self.on_exit = self.on_exit, []
            for call in callbacks:
                call()

    def _pull_failed(self, at: float, reason: str) -> None:
        self._pull_failures += 1
        self._enter(ContainerStage.PULL_FAILED, at + PULL_ERROR_SECONDS)
        self._add_event("Warning", "Failed", f'Failed to pull image "{self.spec.image}": {reason}')
        self._add_event("Warning", "Failed", "Error: ErrImagePull")

    def _pulled(self) -> None:
        image, seconds = self.spec.image, self.script.pull_seconds or 0.0
        if seconds and self.stage is ContainerStage.PULLING:
            took = duration(seconds)
            message = f'Successfully pulled image "{image}" in {took} ({took} including waiting). Image size: 0 bytes.'
        else:
            message = f'Container image "{image}" already present on machine and can be accessed by the pod'
        self._add_event("Normal", "Pulled", message)

    def _start(self, at: float) -> None:
        self._pull_failures = 0
        self._began, self._started_at = at, format_time(_clock.now())
        self._runs += 1
        self.resources = self.allocated
        self._open_log()
        self._begin_probes()
        self._add_event("Normal", "Created", "Container created")
        self._add_event("Normal", "Started", "Container started")
        self._enter(ContainerStage.RUNNING, math.inf)
        self._schedule(at)

    def _begin_probes(self) -> None:
        results = ProbeResults(self.spec) if self.script.probes else None
        self._probed = results if results is not None and results.probes else None
        if self._probed is not None:
            self.runs_to_probe.append(self._probed)
        self.has_started = self.has_started or self._probed is None or self._probed.is_started

    def _open_log(self) -> None:
        self._previous_log, self._log = self._log, ContainerLog()
        self._printed = ""
        self._print()
        if callable(self.script.logs):
            self.logs_to_write.append(self._log)

    def _print(self) -> None:
        """Print the text of the script, or what was added to it."""
        text = self.script.logs
        if isinstance(text, str) and self._log is not None and text != self._printed:
            added = text.removeprefix(self._printed)
            is_line_complete = not self._printed or self._printed.endswith("\n")
            self._log.stdout.write(added if is_line_complete else added.removeprefix("\n"))
            self._log.stdout.end_line()
            self._printed = text

    def close_log(self) -> None:
        """End the log: the pod was removed."""
        if self._log is not None:
            self._log.end()

    def _schedule(self, at: float) -> None:
        """Set the times of readiness and termination from the script."""
        script = self.script
        self._ready_at = at + (script.ready_seconds or 0.0)
        ready_seconds = math.inf if script.unready_after_seconds is None else script.unready_after_seconds
        self._unready_at = self._ready_at + ready_seconds
        if script.run_seconds is not None:
            self.until = at + script.run_seconds
        else:
            ends = script.exit_code is not None or script.termination_reason is not None
            self.until = at if ends else math.inf

    def _terminate(self, at: float) -> None:
        codes = self.script.exit_codes
        code = codes[min(self._runs, len(codes)) - 1]
        self._record_termination(code, self.script.termination_reason if code else None)
        self._act_after(code, at)

    def _act_after(self, code: int, at: float) -> None:
        action = None if self._stopping else self._action_after(code)
        self.restarts_all = action == "RestartAllContainers"
        if action == "Restart":
            self._crashed(at)
        else:
            self._enter(ContainerStage.ENDED, math.inf)

    def _action_after(self, code: int) -> str | None:
        """Return what follows an exit code, by the restart rules, else by the policy; None: the container has ended."""
        for rule in self.spec.restart_policy_rules:
            codes = rule.exit_codes
            if codes is not None and (code in codes.values) == (codes.operator == "In"):
                return rule.action
        return None if self._policy == "Never" or (self._policy == "OnFailure" and code == 0) else "Restart"

    def _record_termination(self, code: int, reason: str | None = None) -> None:
        self.close_log()
        self._ended_before = self._ended
        self._ended = {
            "exitCode": code,
            "reason": reason or ("Error" if code else "Completed"),
            "startedAt": self._started_at,
            "finishedAt": format_time(_clock.now()),
            "containerID": self._container_id(),
        }
        if self.script.termination_message:
            self._ended["message"] = self.script.termination_message

    def _crashed(self, at: float) -> None:
        """Schedule a restart: at once after the first crash, then with backoff."""
        if at - self._began >= BACKOFF_RESET:
            self._crashes = 0
        self._enter(ContainerStage.CRASHED, at + _restart_backoff(self._crashes))
        self._crashes += 1
        if self.until > at:
            name = self.spec.name
            self._add_event("Warning", "BackOff", f"Back-off restarting failed container {name} in pod {self._pod}")

    def stop(self, now: float, grace: float) -> None:
        """Stop the container within its grace period; a second call may only shorten the period."""
        if self.stage is not ContainerStage.RUNNING:
            self._enter(ContainerStage.ENDED, math.inf)
            return
        if not self._stopping:
            self._add_event("Normal", "Killing", f"Stopping container {self.spec.name}")
            seconds = (self.script.stop_seconds or 0.0) + self._pre_stop_sleep()
            self.script = _stopped(self.script, seconds, grace)
            self.until = min(self.until, now + min(seconds, grace))
        elif now + grace < self.until:
            self.until = now + grace
            self.script = _stopped(self.script, grace + 1, grace)
        self._stopping = True

    def _pre_stop_sleep(self) -> int:
        """Return the seconds that the hook `preStop` sleeps; other hooks take no time."""
        hook = self.spec.lifecycle.pre_stop if self.spec.lifecycle is not None else None
        return hook.sleep.seconds if hook is not None and hook.sleep is not None else 0

    def update(self, spec: Container, script: Script, now: float) -> None:
        """Update container and script: a new image restarts the container, a new script ends a backoff."""
        image_changed = spec.image != self.spec.image
        if self._stopping or (not image_changed and script == self.script):
            self.spec, self.script = spec, self.script if self._stopping else script
            self._print()
            return
        self.spec, self.script = spec, script
        self._print()
        if self.stage is ContainerStage.RUNNING and not image_changed:
            self._schedule(now)
        elif self.stage is ContainerStage.RUNNING:
            self._restart(now, f"Container {spec.name} definition changed, will be restarted")
        elif self.stage is ContainerStage.CRASHED:
            self.until = now
        elif self.stage in (ContainerStage.PULL_FAILED, ContainerStage.PULL_BACKOFF):
            self._pull_failures = 0
            self.begin(now)

    def _restart(self, now: float, why: str) -> None:
        self._add_event("Normal", "Killing", why)
        self._record_termination(0)
        self.restarts += 1
        self.begin(now)

    def remove(self) -> None:
        """Remove the container, so that it starts again: all containers of the pod are restarted."""
        self.restarts_all = self.has_started = False
        if self.stage is ContainerStage.RUNNING:
            self._add_event("Normal", "Killing", f"Stopping container {self.spec.name}")
            self.close_log()
        if self._runs:
            self.restarts += 1
            self._ended_before, self._ended = self._ended, dict(_REMOVED)
        self._enter(ContainerStage.WAITING, math.inf)

    def resize(self, now: float) -> None:
        """Use the allocated resources: after a restart if the resize policy of a changed one demands that."""
        names = {each.resource_name for each in self.spec.resize_policy if each.restart_policy == "RestartContainer"}
        before, after = (
            {part: values.get(part) or {} for part in _PARTS} for values in (self.resources, self.allocated)
        )
        changed = any(before[part].get(name) != after[part].get(name) for part in _PARTS for name in names)
        self.resources = self.allocated
        if changed and self.stage is ContainerStage.RUNNING:
            self._restart(now, f"Container {self.spec.name} resize requires restart")

    def adopt(self, status: ContainerStatus, now: float) -> None:
        """Continue from the status that an earlier kubelet reported."""
        self.restarts, wire = status.restart_count, status.to_wire()
        self._ended = (wire.get("lastState") or {}).get("terminated")
        if status.state.running is not None:
            self._runs = self.restarts + 1
            self._began, self._started_at = now, wire["state"]["running"].get("startedAt") or ""
            self._open_log()
            self._begin_probes()
            self._enter(ContainerStage.RUNNING, math.inf)
            self._schedule(now)
            self._ready_at = now if status.ready else self._ready_at
        elif status.state.terminated is not None:
            self._runs = self.restarts + 1
            self._ended = wire["state"]["terminated"]
            self.has_started = True
            action = self._action_after(self.exit_code or 0)
            self.restarts_all = action == "RestartAllContainers"
            self._enter(*((ContainerStage.CRASHED, now) if action == "Restart" else (ContainerStage.ENDED, math.inf)))

    def _add_event(self, type: str, reason: str, message: str) -> None:
        self.events.append(PodEvent(type, reason, message, self._path))

    # -- what is message of it ------------------------------------------------------------------------------------

    def status(self, now: float) -> dict[str, Any]:
        """Return the ContainerStatus."""
        shown: dict[str, Any] = {
            "name": self.spec.name,
            "state": self._state(),
            "lastState": {"terminated": last} if (last := self._last_state()) else {},
            "ready": self.is_ready(now)
            or (self.stage is ContainerStage.ENDED and self.exit_code == 0 and self._is_init),
            "restartCount": self.restarts,
            "image": full_image_name(self.spec.image or "") if self._runs else self.spec.image or "",
            "imageID": image_id(self.spec.image or "") if self._runs else "",
            "started": self._is_started,
        }
        if self._runs:
            shown["containerID"] = self._container_id()
        if self._runs:
            shown["resources"] = self.resources  # also an empty one: it tells the API server that a resize is possible
        if "requests" in self.allocated:
            shown["allocatedResources"] = self.allocated["requests"]
        return shown

    def _last_state(self) -> dict[str, Any] | None:
        return self._ended_before if self.stage is ContainerStage.ENDED else self._ended

    @property
    def _is_init(self) -> bool:
        return self._path.startswith("spec.initContainers")

    def _state(self) -> dict[str, Any]:
        match self.stage:
            case ContainerStage.RUNNING:
                return {"running": {"startedAt": self._started_at}}
            case ContainerStage.ENDED if self._ended is not None:
                return {"terminated": self._ended}
            case ContainerStage.CRASHED:
                seconds = duration(_restart_backoff(self._crashes - 1) or INITIAL_BACKOFF)
                message = f"back-off {seconds} restarting failed container={self.spec.name} pod={self._pod}"
                return {"waiting": {"reason": "CrashLoopBackOff", "message": message}}
            case ContainerStage.PULL_FAILED:
                error = self.script.pull_error or ""
                return {"waiting": {"reason": "ErrImagePull", "message": error}}
            case ContainerStage.PULL_BACKOFF:
                message = f'Back-off pulling image "{self.spec.image}": ErrImagePull: {self.script.pull_error or ""}'
                return {"waiting": {"reason": "ImagePullBackOff", "message": message}}
        reason, message = self.waiting
        return {"waiting": {"reason": reason, "message": message} if message else {"reason": reason}}

    def _container_id(self) -> str:
        return f"containerd://{digest(self._pod, self.spec.name, str(self._runs))}"


def _restart_backoff(failures: int) -> float:
    """Return the backoff after a number of consecutive failures."""
    return min(INITIAL_BACKOFF * 2 ** (failures - 1), MAX_BACKOFF) if failures else 0.0


def _stopped(script: Script, seconds: float, grace: float) -> Script:
    """Return the script of a container that needs seconds to stop: it exits cleanly, or is killed after its grace."""
    ending = Script(exit_code=KILLED if seconds > grace else 0, termination_reason="Error", run_seconds=None)
    return ending.over(script)


def duration(seconds: float) -> str:
    """Format a duration as Go does: 10s, 1m20s, 5m0s, 1.5s, 250ms."""
    if seconds < 1:
        return f"{seconds * 1000:g}ms" if seconds else "0s"
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(int(minutes), 60)
    return (f"{hours}h" if hours else "") + (f"{minutes}m" if hours or minutes else "") + f"{rest:g}s"
