"""A kind that keeps a Deployment of some image: what its types, its controller and its test have besides."""

from __future__ import annotations

import re
from string import Template

from pyctrl.errors import CommandFailed

__all__ = ["CONDITION", "CONTROLLER", "KINDS", "READY", "SIZE", "check_image"]

SIZE = """
    size: Int32 = Field(1, ge=0)
    \"\"\"How many pods run.\"\"\"
"""

READY = """
    ready: Int32 = 0
    \"\"\"How many of the pods are ready.\"\"\"
"""

KINDS = """\
from pyctrl.kinds.apps.v1 import Deployment, DeploymentSpec
from pyctrl.kinds.core.v1 import Container, PodSpec, PodTemplateSpec
from pyctrl.kinds.meta.v1 import LabelSelector
"""

CONDITION = "found.status.ready == found.spec.size > 0"

CONTROLLER = Template('''\
IMAGE = "$image"


def deployment_for($one: $kind) -> Deployment:
    """Make the Deployment that a $kind wants, owned by it."""
    name, namespace = $one.metadata.name, $one.metadata.namespace
    labels = {"app.kubernetes.io/name": "$label", "app.kubernetes.io/instance": name}
    pod = PodSpec(containers=[Container(name="$label", image=IMAGE)])
    spec = DeploymentSpec(
        replicas=$one.spec.size,
        selector=LabelSelector(match_labels=labels),
        template=PodTemplateSpec(metadata=ObjectMeta(labels=labels), spec=pod),
    )
    deployment = Deployment(metadata=ObjectMeta(name=name, namespace=namespace, labels=labels), spec=spec)
    set_controller_reference($one, deployment)
    return deployment


class ${kind}Reconciler(Reconciler[$kind]):
    """Keeps a Deployment for each $kind, and tells how many of its pods are ready."""

    owns = (Deployment,)
    rbac = (
        allow(Deployment, "create", "patch"),
        allow($kind, "patch", subresource="status"),
        # to own, where the cluster asks for it as OpenShift does
        allow($kind, "update", subresource="finalizers", essential=False),
    )

    async def reconcile(self, request: Request) -> None:
        """Look at one $kind, and make what differs as it says."""
        $one = await self.client.find($kind, request.key)
        if $one is None or is_deleting($one):
            return  # gone or going: the cluster collects what it owned
        deployment = (await self.client.create_or_apply(deployment_for($one), force=True)).object
        before = $one.deep_copy()
        $one.status.ready = deployment.status.ready_replicas or 0
        $one.status.observed_generation = $one.metadata.generation
        if $one.status != before.status:
            await self.client.status.patch($one, merge_from(before))
''')

_IMAGE = re.compile(r"[A-Za-z0-9][\w.:/@-]*")
_NAMES = frozenset({"Container", "Deployment", "DeploymentSpec", "Field", "Int32", "LabelSelector", "PodSpec"})
_VARIABLES = frozenset({"before", "deployment", "labels", "name", "namespace", "pod", "spec"})


def check_image(image: str, kind: str, variable: str, *, is_namespaced: bool) -> None:
    """Refuse what is no image, and kinds that cannot have a Deployment made so.

    Raises:
        CommandFailed: says what was expected.
    """
    if not _IMAGE.fullmatch(image):
        raise CommandFailed(f"{image!r} is no image: a name and a tag were expected, such as memcached:1.6")
    if not is_namespaced:
        raise CommandFailed(
            "a Deployment is in a namespace, and so is what owns it: --image goes without --no-namespaced"
        )
    if kind in _NAMES or kind == "PodTemplateSpec" or variable in _VARIABLES:
        raise CommandFailed(
            f"with --image, a kind {kind} would hide a name that the controller uses; choose another name"
        )
