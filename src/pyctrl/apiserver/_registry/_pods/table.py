"""Table rows of pods: what `kubectl get pods` shows (upstream printPod)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pyctrl._go.durations import age
from pyctrl.apiserver._registry.strategy import Object
from pyctrl.apiserver._registry.table_cells import NONE, Cells, spec_of, status_of
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["pod_cells", "pod_row_conditions"]

_ENDED: Final = {
    "Succeeded": {"reason": "Succeeded", "message": "The pod has completed successfully."},
    "Failed": {"reason": "Failed", "message": "The pod failed."},
}


def pod_row_conditions(obj: Object) -> list[JSON]:
    """Return the conditions of a row: that the pod is completed."""
    ended = _ENDED.get(status_of(obj).get("phase", ""))
    return [{"type": "Completed", "status": "True", **ended}] if ended else []


def pod_cells(obj: Object) -> Cells:
    """Return the cells of a pod's row."""
    spec, status = spec_of(obj), status_of(obj)
    sidecars = {each["name"] for each in spec.get("initContainers") or () if each.get("restartPolicy") == "Always"}
    initial, containers = status.get("initContainerStatuses") or [], status.get("containerStatuses") or []
    true = {each["type"] for each in status.get("conditions") or () if each.get("status") == "True"}
    begun = [each for each in initial if _has_begun(each, sidecars)]
    first = next((each for each in initial if not _has_ended_well(each) and each not in begun), None)
    seen = initial if first is None else initial[: initial.index(first) + 1]
    ready = sum(bool(each.get("ready")) for each in seen if each in begun and not _has_ended_well(each))
    reason, counted = _pod_reason(obj), seen
    if first is not None:
        reason = _initial_reason(first, initial.index(first), len(spec.get("initContainers") or ()))
    if first is None or "Initialized" in true:
        counted = [*(each for each in seen if each["name"] in sidecars), *containers]
        running = [each for each in containers if _is_running(each)]
        ready += len(running)
        reason = _containers_reason(reason, containers, has_running=bool(running), is_ready="Ready" in true)
    gates = spec.get("readinessGates") or ()
    addresses = status.get("podIPs") or ()
    return {
        "Ready": f"{ready}/{len(spec.get('containers') or ()) + len(sidecars)}",
        "Status": _deleted_reason(obj) or reason,
        "Restarts": _restarts(counted),
        "IP": (addresses[0].get("ip", "") if addresses else status.get("podIP")) or NONE,
        "Node": spec.get("nodeName") or NONE,
        "Nominated Node": status.get("nominatedNodeName") or NONE,
        "Readiness Gates": f"{sum(each['conditionType'] in true for each in gates)}/{len(gates)}" if gates else NONE,
    }


def _pod_reason(obj: Object) -> str:
    """Return the reason of the pod itself, or its phase."""
    status = status_of(obj)
    gated = "SchedulingGated"
    if any(each["type"] == "PodScheduled" and each.get("reason") == gated for each in status.get("conditions") or ()):
        return gated
    return str(status.get("reason") or status.get("phase") or "")


def _deleted_reason(obj: Object) -> str:
    if not obj["metadata"].get("deletionTimestamp"):
        return ""
    status = status_of(obj)
    if status.get("reason") == "NodeLost":
        return "Unknown"
    return "" if status.get("phase") in _ENDED else "Terminating"


def _terminated(status: Object) -> Object | None:
    found: Object | None = (status.get("state") or {}).get("terminated")
    return found


def _has_ended_well(status: Object) -> bool:
    ended = _terminated(status)
    return ended is not None and not ended.get("exitCode")


def _has_begun(status: Object, sidecars: Iterable[str]) -> bool:
    """Return whether a container of the initialization does not hold it up: a sidecar that has started."""
    return status["name"] in sidecars and bool(status.get("started"))


def _is_running(status: Object) -> bool:
    state = status.get("state") or {}
    has_reason = bool((state.get("waiting") or {}).get("reason"))
    return bool(status.get("ready")) and "running" in state and "terminated" not in state and not has_reason


def _initial_reason(status: Object, index: int, count: int) -> str:
    """Return why the initialization is not done."""
    ended, waiting = _terminated(status), (status.get("state") or {}).get("waiting") or {}
    if ended is not None:
        return f"Init:{_end(ended)}"
    if waiting.get("reason") and waiting["reason"] != "PodInitializing":
        return f"Init:{waiting['reason']}"
    return f"Init:{index}/{count}"


def _end(terminated: Object) -> str:
    if terminated.get("reason"):
        return str(terminated["reason"])
    signal = terminated.get("signal")
    return f"Signal:{signal}" if signal else f"ExitCode:{terminated.get('exitCode', 0)}"


def _containers_reason(reason: str, containers: list[Object], *, has_running: bool, is_ready: bool) -> str:
    """Return the reason of the first container that has one, else that of the pod."""
    failed = ""
    for each in reversed(containers):
        state, ended = each.get("state") or {}, _terminated(each)
        if (state.get("waiting") or {}).get("reason"):
            reason = state["waiting"]["reason"]
        elif ended is not None:
            reason = _end(ended)
            failed = reason if ended.get("exitCode") else failed
    if reason != "Completed":
        return reason
    if has_running and is_ready:
        return "Running"
    return failed or ("NotReady" if has_running else reason)


def _restarts(statuses: Iterable[Object]) -> str:
    """Return the number of restarts, and when the last one was."""
    count, last = 0, ""
    for each in statuses:
        count += each.get("restartCount", 0)
        ended = (each.get("lastState") or {}).get("terminated") or {}
        last = max(last, ended.get("finishedAt") or "")
    return f"{count} ({age(last)} ago)" if count and last else str(count)
