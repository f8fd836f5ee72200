"""Helpers of the tests of running Deployments."""

from __future__ import annotations

from pyctrl.api import (
    Key,
    ObjectMeta,
)
from pyctrl.client import Client, wait_for
from pyctrl.kinds.apps.v1 import Deployment, DeploymentSpec
from pyctrl.kinds.core.v1 import (
    Container,
    PodSpec,
    PodTemplateSpec,
)
from pyctrl.kinds.meta.v1 import LabelSelector

WEB = Key("default", "web")


def template(image: str = "busybox") -> PodTemplateSpec:
    """Make a template of pods labelled web."""
    spec = PodSpec(containers=[Container(name="c", image=image)])
    return PodTemplateSpec(metadata=ObjectMeta(labels={"app": "web"}), spec=spec)


def deployment(replicas: int, *, history: int | None = None) -> Deployment:
    """Make a Deployment."""
    selector = LabelSelector(match_labels={"app": "web"})
    return Deployment(
        metadata=ObjectMeta(name=WEB.name, namespace=WEB.namespace, annotations={"note": "n"}),
        spec=DeploymentSpec(replicas=replicas, selector=selector, template=template(), revision_history_limit=history),
    )


async def rolled_out(client: Client, image: str, replicas: int) -> Deployment:
    """Wait until all pods and the status have a new image."""

    def is_done(found: Deployment) -> bool:
        return (
            found.spec.template.spec.containers[0].image == image
            and found.status.observed_generation == found.metadata.generation
            and found.status.updated_replicas == found.status.available_replicas == found.status.replicas == replicas
        )

    return await wait_for(client, Deployment, WEB, is_done)
