"""Volume claims of a StatefulSet's pods: created before the pod, kept after it, owned by the retention policy."""

from __future__ import annotations

from pyctrl.api import is_deleting
from pyctrl.cache import CachedClient
from pyctrl.client import merge_from
from pyctrl.cluster._controllers.statefulset.pods import claim_owner_references, is_in_ordinal_range, volume_claims_for
from pyctrl.cluster._legacy_event_recorder import LegacyEventRecorder
from pyctrl.errors import ApiError, Conflict, NotFound
from pyctrl.kinds.apps.v1 import StatefulSet
from pyctrl.kinds.core.v1 import PersistentVolumeClaim, Pod

__all__ = ["VolumeClaimControl"]


class VolumeClaimControl:
    """Creates the claims of one StatefulSet, and updates their owners."""

    def __init__(self, client: CachedClient, events: LegacyEventRecorder, stateful_set: StatefulSet) -> None:
        self._client, self._events, self._set = client, events, stateful_set
        #: True if a claim that is being deleted blocks the creation of its pod.
        self.is_waiting = False

    async def prepare(self, pod: Pod) -> bool:
        """Create the claims of a new pod; return False if a claim of an earlier pod must be deleted first."""
        for wanted in volume_claims_for(self._set, pod):
            present = await self._client.find(PersistentVolumeClaim, wanted.key)
            if present is None:
                await self._create(wanted, pod)
            elif is_deleting(present) or _belongs_to_another(present, pod):
                self.is_waiting = True
                return False
        return True

    async def sync(self, pod: Pod) -> bool:
        """Update the owners of a pod's claims; return whether anything changed.

        Missing claims of a pending pod are created again.
        """
        is_changed = False
        for wanted in volume_claims_for(self._set, pod):
            present = await self._client.find(PersistentVolumeClaim, wanted.key)
            if present is None:
                if pod.status.phase == "Pending" and is_in_ordinal_range(pod, self._set):
                    await self._create(wanted, pod)
                continue
            owners = claim_owner_references(present, self._set, pod)
            if owners != present.metadata.owner_references:
                before = present.deep_copy()
                present.metadata.owner_references = owners
                is_changed = await self._patch(present, before) or is_changed
        return is_changed

    async def _patch(self, claim: PersistentVolumeClaim, before: PersistentVolumeClaim) -> bool:
        try:
            await self._client.patch(claim, merge_from(before, optimistic_lock=True))
        except (NotFound, Conflict):
            return False  # changed or deleted meanwhile: the next reconcile retries
        return True

    async def _create(self, claim: PersistentVolumeClaim, pod: Pod) -> None:
        name, owner = claim.metadata.name, self._set.metadata.name
        if pod.metadata.uid:
            claim.metadata.owner_references = claim_owner_references(claim, self._set, pod)
        try:
            await self._client.create(claim)
        except ApiError as error:
            message = f"Create Claim {name} for Pod {pod.metadata.name} in StatefulSet {owner} failed error: "
            await self._events.warning(self._set, "FailedCreate", message + error.message)
            raise
        message = f"Create Claim {name} Pod {pod.metadata.name} in StatefulSet {owner} success"
        await self._events.normal(self._set, "SuccessfulCreate", message)


def _belongs_to_another(claim: PersistentVolumeClaim, pod: Pod) -> bool:
    """Return whether an earlier pod of the same name owns a claim."""
    owners = claim.metadata.owner_references
    return any(ref.kind == "Pod" and ref.name == pod.metadata.name and ref.uid != pod.metadata.uid for ref in owners)
