"""Website: a Deployment for each Website, and conditions in its status that say how it is doing."""

from pyctrl import CustomResource, Model, ObjectMeta, ObjectReconciler, allow, merge_from, set_controller_reference
from pyctrl.api import AGE, Condition, Int32, Int64, PrinterColumn, is_condition_false, set_condition
from pyctrl.kinds.apps.v1 import Deployment, DeploymentSpec
from pyctrl.kinds.core.v1 import Container, PodSpec, PodTemplateSpec
from pyctrl.kinds.meta.v1 import LabelSelector

TYPES = ("Available", "Progressing", "Degraded")
COLUMNS = [PrinterColumn(each, f'.status.conditions[?(@.type=="{each}")].status') for each in TYPES]


class WebsiteSpec(Model):
    image: str
    replicas: Int32 = 1


class WebsiteStatus(Model):
    observed_generation: Int64 = 0
    conditions: list[Condition] = []


class Website(CustomResource[WebsiteSpec, WebsiteStatus], group="example.com", version="v1", columns=(*COLUMNS, AGE)):
    """Website is an image that is served by some replicas."""


class WebsiteReconciler(ObjectReconciler[Website]):
    owns = (Deployment,)
    rbac = (allow(Deployment, "create", "patch"), allow(Website, "patch", subresource="status"))

    async def reconcile_object(self, website: Website) -> None:
        deployment = (await self.client.create_or_apply(deployment_for(website), force=True)).object
        before = website.deep_copy()
        website.status.observed_generation = website.metadata.generation
        for condition in conditions_of(deployment):
            set_condition(website.status.conditions, condition)
        if website.status != before.status:
            await self.client.status.patch(website, merge_from(before))


def deployment_for(website: Website) -> Deployment:
    name, labels = website.metadata.name, {"website": website.metadata.name}
    pod = PodSpec(containers=[Container(name="web", image=website.spec.image)])
    pods = PodTemplateSpec(metadata=ObjectMeta(labels=labels), spec=pod)
    spec = DeploymentSpec(replicas=website.spec.replicas, selector=LabelSelector(match_labels=labels), template=pods)
    deployment = Deployment(metadata=ObjectMeta(name=name, namespace=website.metadata.namespace), spec=spec)
    set_controller_reference(website, deployment)
    return deployment


def conditions_of(deployment: Deployment) -> list[Condition]:
    status, wanted = deployment.status, deployment.spec.replicas
    available, updated = status.available_replicas or 0, status.updated_replicas or 0
    is_observed = status.observed_generation == deployment.metadata.generation
    is_done = is_observed and wanted == updated == available == (status.replicas or 0)
    is_stuck = is_condition_false(status.conditions, "Progressing")  # the deadline of the rollout has passed
    reason = "Stuck" if is_stuck else "RolledOut" if is_done else "RollingOut"
    text = f"{available} of {wanted} replicas are available, {updated} up to date."
    states = zip(TYPES, (available > 0, not (is_done or is_stuck), is_stuck), strict=True)
    return [Condition(type=each, status="True" if on else "False", reason=reason, message=text) for each, on in states]
