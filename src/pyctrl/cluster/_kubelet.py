"""A pretend scheduler and kubelet: pods get a node, run at once, and go when they are deleted.

Nothing is executed. What a controller sees is what it would see on a node where every image starts and stays up.
"""

from __future__ import annotations

from typing import Any

from pyctrl import _clock
from pyctrl.api import format_time, is_deleting
from pyctrl.client import MergePatch, bind
from pyctrl.controller import Builder, Controller, Host, Reconciler, Request, Result
from pyctrl.errors import Conflict, Forbidden, NotFound
from pyctrl.kinds.core.v1 import Pod

from ._namespaces import is_namespace_going

__all__ = ["NODE", "PretendKubelet", "add_kubelet"]

NODE = "pretend"


def add_kubelet(host: Host) -> Controller:
    """Run the pretend scheduler and kubelet in a manager."""
    return Builder(host).reconciles(Pod).options(name="pretend-kubelet", workers=8).build(PretendKubelet())


class PretendKubelet(Reconciler[Pod]):
    """Binds pods that have no node to the pretend one, reports its pods as running, and ends deleted ones."""

    async def reconcile(self, request: Request) -> Result | None:
        pod = await self.client.find(Pod, request.key)
        if pod is None:
            return None
        try:
            await self._step(pod)
        except (NotFound, Conflict):
            return None  # it has changed or gone: its next event tells
        except Forbidden as error:
            if not is_namespace_going(error):
                raise
        return None

    async def _step(self, pod: Pod) -> None:
        if is_deleting(pod):
            if pod.spec.node_name in (NODE, None, ""):
                await self.client.delete(pod, grace_period_seconds=0)
        elif not pod.spec.node_name:
            await bind(self.client, pod.key, NODE)
        elif pod.spec.node_name == NODE and pod.status.phase in (None, "", "Pending"):
            await self.client.status.patch(pod, MergePatch({"status": _running(pod)}))


def _running(pod: Pod) -> dict[str, Any]:
    """Return the status of a pod whose containers all run and are ready."""
    now = format_time(_clock.now())
    ready = [
        {"type": condition, "status": "True", "lastTransitionTime": now, "lastProbeTime": None}
        for condition in ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
    ]
    containers = [
        {
            "name": container.name,
            "image": container.image,
            "imageID": f"pretend://{container.image}",
            "containerID": f"pretend://{pod.metadata.uid}/{container.name}",
            "ready": True,
            "started": True,
            "restartCount": 0,
            "state": {"running": {"startedAt": now}},
        }
        for container in pod.spec.containers
    ]
    return {"phase": "Running", "startTime": now, "conditions": ready, "containerStatuses": containers}
