"""PodSet operator: runs a Deployment of a given size, and reports the names of its pods in the status."""

from __future__ import annotations

import logging
from typing import Annotated

from pydantic import Field

from pyctrl.api import (
    AGE,
    CustomResource,
    Int32,
    Model,
    ObjectMeta,
    PrinterColumn,
    Required,
    is_controlled_by,
    is_deleting,
    set_controller_reference,
)
from pyctrl.client import merge_from
from pyctrl.controller import Builder, Controller, ManagedCluster, Reconciler, Request, Result
from pyctrl.errors import NotOwned
from pyctrl.kinds.apps.v1 import Deployment, DeploymentSpec
from pyctrl.kinds.core.v1 import Container, ContainerPort, Pod, PodSpec, PodTemplateSpec
from pyctrl.kinds.meta.v1 import LabelSelector
from pyctrl.rbac import allow

__all__ = ["PodSet", "PodSetReconciler", "PodSetSpec", "PodSetStatus", "add_podset"]

log = logging.getLogger("podset")


class PodSetSpec(Model):
    """What the user wants."""

    size: Int32 = Field(ge=0, description="Number of pods")


class PodSetStatus(Model):
    """What there is."""

    nodes: Annotated[list[str], Required()] = Field(default_factory=list, description="Names of the pods, sorted")


class PodSet(
    CustomResource[PodSetSpec, PodSetStatus],
    group="apps.jicki.cn",
    version="v1alpha1",
    columns=(PrinterColumn("Size", ".spec.size"), AGE),
):
    """PodSet keeps a number of pods running."""


def labels_for(name: str) -> dict[str, str]:
    """Return the labels of the pods of a PodSet."""
    return {"app": "podSet", "podSet_cr": name}


def deployment_for(podset: PodSet) -> Deployment:
    """Return the Deployment of a PodSet, owned by it."""
    labels = labels_for(podset.metadata.name)
    container = Container(
        name="podset",
        image="busybox",
        command=["sleep", "3600"],
        ports=[ContainerPort(name="podset", container_port=1234)],
    )
    deployment = Deployment(
        metadata=ObjectMeta(name=podset.metadata.name, namespace=podset.metadata.namespace),
        spec=DeploymentSpec(
            replicas=podset.spec.size,
            selector=LabelSelector(match_labels=labels),
            template=PodTemplateSpec(metadata=ObjectMeta(labels=labels), spec=PodSpec(containers=[container])),
        ),
    )
    set_controller_reference(podset, deployment)
    return deployment


class PodSetReconciler(Reconciler[PodSet]):
    """Keeps the Deployment and the status in sync with the PodSet. PodSets, Deployments and pods trigger it."""

    rbac = (allow(Deployment, "create", "patch"), allow(PodSet, "patch", subresource="status"))

    async def reconcile(self, request: Request) -> Result | None:
        """Compare a PodSet with its Deployment and pods, and correct the difference."""
        podset = await self.client.find(PodSet, request.key)
        if podset is None or is_deleting(podset):
            return None  # deleted: the garbage collector deletes what it owns
        await self.scale(podset)
        await self.report(podset)
        return None

    async def scale(self, podset: PodSet) -> None:
        """Create the Deployment, or set its replicas to the PodSet's size."""
        deployment = await self.client.find(Deployment, podset.key)
        if deployment is None:
            await self.client.create(deployment_for(podset))
            log.info("created deployment", extra={"replicas": podset.spec.size})
        elif not is_controlled_by(deployment, podset):
            raise NotOwned(f"Deployment {podset.key}", f"PodSet {podset.metadata.name}")
        elif deployment.spec.replicas != podset.spec.size:
            patch = merge_from(deployment)  # of the changes from here on
            deployment.spec.replicas = podset.spec.size
            await self.client.patch(deployment, patch)
            log.info("scaled deployment", extra={"replicas": podset.spec.size})

    async def report(self, podset: PodSet) -> None:
        """Update the pod names in the status."""
        labels = labels_for(podset.metadata.name)
        pods = await self.client.list(Pod, namespace=podset.metadata.namespace, labels=labels)
        names = sorted(pod.metadata.name for pod in pods if not is_deleting(pod))
        if names != podset.status.nodes:
            patch = merge_from(podset)
            podset.status.nodes = names
            await self.client.status.patch(podset, patch)


def add_podset(host: ManagedCluster) -> Controller:
    """Add the operator to a manager, with two workers. It reads the pods, whose names are in the status."""
    return Builder(host).reconciles(PodSet).owns(Deployment).reads(Pod).options(workers=2).build(PodSetReconciler())
