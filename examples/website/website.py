"""Website: a Deployment for each Website object. This is the program of the README."""

from pyctrl import CustomResource, Model, ObjectMeta, ObjectReconciler, allow, set_controller_reference
from pyctrl.kinds.apps.v1 import Deployment, DeploymentSpec
from pyctrl.kinds.core.v1 import Container, PodSpec, PodTemplateSpec
from pyctrl.kinds.meta.v1 import LabelSelector


class WebsiteSpec(Model):
    image: str = "nginx"
    replicas: int = 1


class Website(CustomResource[WebsiteSpec, Model], group="example.com", version="v1"):
    """A website, served by a Deployment."""


class WebsiteReconciler(ObjectReconciler[Website]):
    owns = (Deployment,)
    rbac = (allow(Deployment, "create", "patch"),)

    async def reconcile_object(self, website: Website) -> None:
        name, labels = website.metadata.name, {"website": website.metadata.name}
        containers = [Container(name="web", image=website.spec.image)]
        pod = PodTemplateSpec(metadata=ObjectMeta(labels=labels), spec=PodSpec(containers=containers))
        spec = DeploymentSpec(replicas=website.spec.replicas, selector=LabelSelector(match_labels=labels), template=pod)
        deployment = Deployment(metadata=ObjectMeta(name=name, namespace=website.metadata.namespace), spec=spec)
        set_controller_reference(website, deployment)
        await self.client.create_or_apply(deployment)
