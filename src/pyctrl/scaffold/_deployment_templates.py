"""Templates for a kind that manages a Deployment of an image: additions to its types, controller and test."""

from __future__ import annotations

import re
from string import Template

from pyctrl.errors import CommandFailed

__all__ = ["CONDITION", "CONTROLLER", "KINDS", "READY", "SIZE", "check_image"]

SIZE = """
    size: Int32 = Field(1, ge=0)
    \"\"\"The desired number of pods.\"\"\"
"""

READY = """
    ready: Int32 = 0
    \"\"\"The number of ready pods.\"\"\"
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
    """Return the Deployment of a $kind, owned by it."""
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
    """Manages a Deployment for each $kind, and reports the number of ready pods."""

    owns = (Deployment,)
    rbac = (
        allow(Deployment, "create", "patch"),
        allow($kind, "patch", subresource="status"),
        # for owner references, on clusters that check this permission, such as OpenShift
        allow($kind, "update", subresource="finalizers", essential=False),
    )

    async def reconcile(self, request: Request) -> None:
        """Reconcile one $kind."""
        $one = await self.client.find($kind, request.key)
        if $one is None or is_deleting($one):
            return  # deleted: the garbage collector removes the objects it owns
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
    """Check the image, and that the kind can own a Deployment.

    Raises:
        CommandFailed: one of them is invalid; the message says what is expected.
    """
    if not _IMAGE.fullmatch(image):
        raise CommandFailed(f"{image!r} is not an image: expected a name and a tag, such as memcached:1.6")
    if not is_namespaced:
        raise CommandFailed(
            "a Deployment is namespaced, so its owner has to be: --image cannot be combined with --no-namespaced"
        )
    if kind in _NAMES or kind == "PodTemplateSpec" or variable in _VARIABLES:
        raise CommandFailed(
            f"with --image, the kind {kind} would shadow a name that the controller uses; choose another name"
        )
