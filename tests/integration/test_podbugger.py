"""PodBuggerTool: an operator that adds a container to running pods with matching labels.

The introduction of an operator-sdk tutorial describes it; here it is complete, and runs on any cluster.
"""

from __future__ import annotations

import pytest

from pyctrl.api import CustomResource, Key, Model, ObjectMeta, is_deleting
from pyctrl.client import Client, MergePatch, StrategicMergePatch, wait_for
from pyctrl.controller import Builder, Reconciler, Request, labels_changed, mapped, on_create
from pyctrl.kinds.core.v1 import Container, Pod, PodSpec
from pyctrl.manager import Manager
from pyctrl.manifests import definition
from pyctrl.program import install_definitions
from pyctrl.rbac import allow
from pyctrl.testing import UnderRole

pytestmark = pytest.mark.virtual_time  # where the cluster is embedded


class PodBuggerToolSpec(Model):
    """What the user wants."""

    labels: dict[str, str]
    """Which pods are of interest: those with one of these."""

    image: str
    """What the container that they get is made of."""


class PodBuggerTool(CustomResource[PodBuggerToolSpec, Model], group="pyctrl.test", version="v1"):
    """PodBuggerTool adds a container to pods, to look into them."""


class PodBugger(Reconciler[Pod]):
    """Adds the containers of the tools in its namespace to each pod."""

    rbac = (allow(Pod, "patch", subresource="ephemeralcontainers"),)

    async def reconcile(self, request: Request) -> None:
        """Compare the labels of one pod with those of the tools, and add the containers that it lacks."""
        pod = await self.client.find(Pod, request.key)
        if pod is None or is_deleting(pod):
            return
        there = {each.name for each in pod.spec.ephemeral_containers}
        for tool in await self.client.list(PodBuggerTool, namespace=request.namespace):
            name = f"bugger-{tool.metadata.name}"
            if tool.spec.labels.items() & pod.metadata.labels.items() and name not in there:
                container = {"name": name, "image": tool.spec.image, "targetContainerName": pod.spec.containers[0].name}
                patch = StrategicMergePatch({"spec": {"ephemeralContainers": [container]}})  # keeps those of others
                await self.client.subresource("ephemeralcontainers").patch(Pod, pod.key, patch)


def add_podbugger(manager: Manager) -> None:
    """Add the controller: it watches new pods, pod labels, and tools, which concern every pod of their namespace."""

    async def pods_beside(tool: PodBuggerTool) -> list[Request]:
        return [Request.of(pod) for pod in await manager.client.list(Pod, namespace=tool.metadata.namespace)]

    (
        Builder(manager)
        .reconciles(Pod, predicates=[on_create | labels_changed])
        .watches(PodBuggerTool, mapped(pods_beside))
        .build(PodBugger())
    )


def pod(namespace: str, name: str, **labels: str) -> Pod:
    """Make a pod."""
    meta = ObjectMeta(name=name, namespace=namespace, labels=labels)
    return Pod(metadata=meta, spec=PodSpec(containers=[Container(name="main", image="busybox")]))


def is_bugged(found: Pod) -> bool:
    """Return whether a pod has the container, and it runs."""
    running = [each.name for each in found.status.ephemeral_container_statuses if each.state.running is not None]
    return running == ["bugger-look"]


async def test_pods_of_interest_get_a_container(
    client: Client, namespace: str, running_pods: None, under_role: UnderRole
) -> None:
    """Existing, new and relabelled pods get the container, other pods do not, and every permission is used."""
    await install_definitions(client, [definition(PodBuggerTool)])
    for name, labels in (("before", {"app": "web"}), ("other", {"app": "db"})):
        await client.create(pod(namespace, name, **labels))
    async with under_role(add_podbugger, namespaces=[namespace]) as operator:
        spec = PodBuggerToolSpec(labels={"app": "web", "tier": "front"}, image="busybox:1.36")
        await client.create(PodBuggerTool(metadata=ObjectMeta(name="look", namespace=namespace), spec=spec))
        await client.create(pod(namespace, "after", tier="front"))
        for name in ("before", "after"):
            found = await wait_for(client, Pod, Key(namespace, name), is_bugged)
            (added,) = found.spec.ephemeral_containers
            assert (added.image, added.target_container_name) == ("busybox:1.36", "main")
        assert (await client.get(Pod, Key(namespace, "other"))).spec.ephemeral_containers == []
        await client.patch(Pod, Key(namespace, "other"), MergePatch({"metadata": {"labels": {"app": "web"}}}))
        await wait_for(client, Pod, Key(namespace, "other"), is_bugged)
        assert operator.compare().lines() == []
