"""PV protection: a deleted volume stays until it is not bound any more.

The rules are those of kube-controller-manager's PV protection controller (pkg/controller/volume/pvprotection); the
persistent volume controller applies them when it reconciles a deleted volume.
"""

from __future__ import annotations

from pyctrl.api import remove_finalizer
from pyctrl.cache import CachedClient
from pyctrl.client import merge_from
from pyctrl.kinds.core.v1 import PersistentVolume

__all__ = ["remove_pv_protection"]

FINALIZER = "kubernetes.io/pv-protection"  # added to every new volume by the API server


async def remove_pv_protection(client: CachedClient, volume: PersistentVolume) -> None:
    """Remove the protection finalizer of a volume.

    Raises:
        Conflict: the volume changed meanwhile.
        NotFound: the volume is gone.
    """
    before = volume.deep_copy()
    if remove_finalizer(volume, FINALIZER):
        await client.patch(volume, merge_from(before, optimistic_lock=True))
