"""Ephemeral volume controller: creates the claims of ephemeral volumes, which are deleted with their pod."""

from __future__ import annotations

from pyctrl.api import ObjectMeta, is_controlled_by, is_deleting, set_controller_reference
from pyctrl.cluster._controllers.volume.pvcprotection import MAY_USE_CLAIMS
from pyctrl.cluster._legacy_event_recorder import LegacyEventRecorder
from pyctrl.cluster._namespace_termination import is_namespace_terminating
from pyctrl.controller import Builder, ManagedCluster, Reconciler, Request, Result, on_create
from pyctrl.errors import AlreadyExists, Forbidden, NotFound
from pyctrl.kinds.core.v1 import PersistentVolumeClaim, Pod, Volume

__all__ = ["add_ephemeral_volumes"]


def add_ephemeral_volumes(host: ManagedCluster) -> None:
    """Run the ephemeral volume controller in a manager."""
    reconciler = EphemeralVolumeReconciler(LegacyEventRecorder(host.live_client, "ephemeral_volume"))
    Builder(host).reconciles(Pod, predicates=[on_create & MAY_USE_CLAIMS]).options(name="ephemeral-volume").build(
        reconciler
    )


class EphemeralVolumeReconciler(Reconciler[Pod]):
    """Creates the claims of a new pod's ephemeral volumes; the garbage collector deletes them."""

    def __init__(self, recorder: LegacyEventRecorder) -> None:
        self._recorder = recorder

    async def reconcile(self, request: Request) -> Result | None:
        pod = await self.client.find(Pod, request.key)
        if pod is None or is_deleting(pod):
            return None
        for volume in pod.spec.volumes:
            if volume.ephemeral is not None:
                await self._create(pod, volume)
        return None

    async def _create(self, pod: Pod, volume: Volume) -> None:
        claim = _claim_of(pod, volume)
        try:
            await self.client.create(claim)
        except AlreadyExists:
            found = await self.client.live.find(PersistentVolumeClaim, claim.key)
            if found is not None and not is_controlled_by(found, pod):
                message = f'PVC "{claim.key}" was not created for the pod'
                await self._recorder.warning(pod, "EphemeralVolumeCreationFailed", message)
        except NotFound:
            return
        except Forbidden as error:
            if not is_namespace_terminating(error):
                raise


def _claim_of(pod: Pod, volume: Volume) -> PersistentVolumeClaim:
    template = volume.ephemeral.volume_claim_template if volume.ephemeral is not None else None
    assert template is not None  # required by the API server's validation
    claim = PersistentVolumeClaim(
        metadata=ObjectMeta(
            name=f"{pod.metadata.name}-{volume.name}",
            namespace=pod.metadata.namespace,
            labels=dict(template.metadata.labels),
            annotations=dict(template.metadata.annotations),
        ),
        spec=template.spec,
    )
    set_controller_reference(pod, claim)
    return claim
