"""Helpers of the tests of controllers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pyctrl import _clock
from pyctrl.api import GroupVersionKind, Key, ObjectMeta, Quantity, Unstructured, format_time, is_deleting
from pyctrl.client import Client, MergePatch, wait_for_list
from pyctrl.kinds.core.v1 import (
    Container,
    Event,
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    Pod,
    PodSpec,
    PodTemplateSpec,
    VolumeResourceRequirements,
)

NAMESPACE = "default"
LABELS = {"app": "web"}


def template(image: str = "busybox", **spec: Any) -> PodTemplateSpec:
    """Make a template of pods labelled web."""
    containers = [Container(name="c", image=image)]
    return PodTemplateSpec(metadata=ObjectMeta(labels=dict(LABELS)), spec=PodSpec(containers=containers, **spec))


def claim(name: str) -> PersistentVolumeClaim:
    """Make a claim of 1 Gi."""
    resources = VolumeResourceRequirements(requests={"storage": Quantity("1Gi")})
    spec = PersistentVolumeClaimSpec(access_modes=["ReadWriteOnce"], resources=resources)
    return PersistentVolumeClaim(metadata=ObjectMeta(name=name, labels={"of": "claim"}), spec=spec)


def key(name: str) -> Key:
    """Return a key in the default namespace."""
    return Key(NAMESPACE, name)


def image_of(pod: Pod) -> str:
    """Return the image of a pod's first container."""
    return pod.spec.containers[0].image or ""


async def pods_of(client: Client) -> list[Pod]:
    """Return all pods, by name."""
    return sorted(await client.list(Pod), key=lambda pod: pod.metadata.name)


async def until_pods(client: Client, condition: Callable[[Sequence[Pod]], bool], timeout: float = 60.0) -> list[Pod]:
    """Wait for a condition on all pods; return them by name."""
    return await wait_for_list(client, Pod, condition, timeout=timeout)


async def until_names(client: Client, *names: str) -> list[Pod]:
    """Wait until exactly the pods with these names exist."""
    return await until_pods(client, lambda pods: [pod.metadata.name for pod in pods] == list(names))


async def set_phase(client: Client, pod: Pod, phase: str, *, is_ready: bool | None = None, exit_code: int = 0) -> None:
    """Report a phase in place of a kubelet; a Running pod is ready by default."""
    ready = phase == "Running" if is_ready is None else is_ready
    now = format_time(_clock.now())
    state = {"running": {"startedAt": now}}
    if phase in ("Succeeded", "Failed"):
        state = {"terminated": {"exitCode": exit_code or int(phase == "Failed"), "finishedAt": now}}  # type: ignore[dict-item]
    status = {
        "phase": phase,
        "startTime": now,
        "conditions": [{"type": "Ready", "status": str(ready), "lastTransitionTime": now}],
        "containerStatuses": [
            {"name": c.name, "image": c.image, "imageID": "", "ready": ready, "restartCount": 0, "state": state}
            for c in pod.spec.containers
        ],
    }
    await client.status.patch(Pod, pod.key, MergePatch({"status": status}))


async def run_all(client: Client) -> None:
    """Run every pending pod in place of a kubelet."""
    for pod in await pods_of(client):
        if pod.status.phase == "Pending" and not is_deleting(pod):
            await set_phase(client, pod, "Running")


async def events_of(client: Client, name: str) -> list[str]:
    """Return the events about an object as ``reason: message xcount``, in order of creation."""
    events = [event for event in await client.list(Event) if event.involved_object.name == name]
    events.sort(key=lambda event: event.metadata.name)
    return [f"{event.reason}: {event.message} x{event.count}" for event in events]


def untyped(gvk: GroupVersionKind, name: str, spec: dict[str, Any]) -> Unstructured:
    """Make an object of any kind in the default namespace."""
    return Unstructured.new(gvk, name=name, namespace=NAMESPACE, spec=spec)
