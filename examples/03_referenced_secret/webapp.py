"""WebApp: a Deployment whose pods get the Secret that the WebApp names, and restart when its content changes."""

import hashlib

from pyctrl import ObjectReconciler, allow, merge_from, reading, set_controller_reference
from pyctrl.api import Condition, CustomResource, Key, Model, ObjectMeta, set_condition
from pyctrl.kinds.apps.v1 import Deployment, DeploymentSpec
from pyctrl.kinds.core.v1 import Container, EnvFromSource, PodSpec, PodTemplateSpec, Secret, SecretEnvSource
from pyctrl.kinds.meta.v1 import LabelSelector


class WebAppSpec(Model):
    image: str
    secret_name: str


class WebAppStatus(Model):
    conditions: list[Condition] = []


class WebApp(CustomResource[WebAppSpec, WebAppStatus], group="example.com", version="v1"):
    """WebApp is an image that runs with the content of a Secret in its environment."""


class WebAppReconciler(ObjectReconciler[WebApp]):
    owns = (Deployment,)
    reads = (reading(Secret, of="data"),)  # a change of the content runs the WebApps that have read it
    rbac = (allow(Deployment, "create", "patch"), allow(WebApp, "patch", subresource="status"))

    async def reconcile_object(self, app: WebApp) -> None:
        before, key = app.deep_copy(), Key(app.metadata.namespace, app.spec.secret_name)
        secret = await self.client.find(Secret, key)
        if secret is None:  # no error, no retry: its creation causes a reconcile
            ready = Condition(type="Ready", status="False", reason="NoSecret", message=f"There is no Secret {key}.")
        else:
            await self.client.create_or_apply(deployment_for(app, secret), force=True)
            ready = Condition(type="Ready", status="True", reason="Applied", message=f"The pods use Secret {key}.")
        if set_condition(app.status.conditions, ready):
            await self.client.status.patch(app, merge_from(before))


def deployment_for(app: WebApp, secret: Secret) -> Deployment:
    labels, content = {"webapp": app.metadata.name}, repr(sorted(secret.data.items()))
    checksum = {"example.com/checksum": hashlib.sha256(content.encode()).hexdigest()}  # new content restarts the pods
    source = EnvFromSource(secret_ref=SecretEnvSource(name=secret.metadata.name))
    pod = PodSpec(containers=[Container(name="web", image=app.spec.image, env_from=[source])])
    pods = PodTemplateSpec(metadata=ObjectMeta(labels=labels, annotations=checksum), spec=pod)
    spec = DeploymentSpec(selector=LabelSelector(match_labels=labels), template=pods)
    deployment = Deployment(metadata=ObjectMeta(name=app.metadata.name, namespace=app.metadata.namespace), spec=spec)
    set_controller_reference(app, deployment)
    return deployment
