# SPDX-FileCopyrightText: Jane Doe
# SPDX-License-Identifier: Apache-2.0

"""The Memcached controller."""

from pyctrl import ObjectMeta, Reconciler, Request, allow, is_deleting, merge_from, set_controller_reference
from pyctrl.kinds.apps.v1 import Deployment, DeploymentSpec
from pyctrl.kinds.core.v1 import Container, PodSpec, PodTemplateSpec
from pyctrl.kinds.meta.v1 import LabelSelector

from shop.api.v1alpha1.memcached import Memcached

IMAGE = "memcached:1.6-alpine"


def deployment_for(memcached: Memcached) -> Deployment:
    """Return the Deployment of a Memcached, owned by it."""
    name, namespace = memcached.metadata.name, memcached.metadata.namespace
    labels = {"app.kubernetes.io/name": "memcached", "app.kubernetes.io/instance": name}
    pod = PodSpec(containers=[Container(name="memcached", image=IMAGE)])
    spec = DeploymentSpec(
        replicas=memcached.spec.size,
        selector=LabelSelector(match_labels=labels),
        template=PodTemplateSpec(metadata=ObjectMeta(labels=labels), spec=pod),
    )
    deployment = Deployment(metadata=ObjectMeta(name=name, namespace=namespace, labels=labels), spec=spec)
    set_controller_reference(memcached, deployment)
    return deployment


class MemcachedReconciler(Reconciler[Memcached]):
    """Manages a Deployment for each Memcached, and reports the number of ready pods."""

    owns = (Deployment,)
    rbac = (
        allow(Deployment, "create", "patch"),
        allow(Memcached, "patch", subresource="status"),
        # for owner references, on clusters that check this permission, such as OpenShift
        allow(Memcached, "update", subresource="finalizers", essential=False),
    )

    async def reconcile(self, request: Request) -> None:
        """Reconcile one Memcached."""
        memcached = await self.client.find(Memcached, request.key)
        if memcached is None or is_deleting(memcached):
            return  # deleted: the garbage collector removes the objects it owns
        deployment = (await self.client.create_or_apply(deployment_for(memcached), force=True)).object
        before = memcached.deep_copy()
        memcached.status.ready = deployment.status.ready_replicas or 0
        memcached.status.observed_generation = memcached.metadata.generation
        if memcached.status != before.status:
            await self.client.status.patch(memcached, merge_from(before))
