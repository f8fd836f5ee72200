# SPDX-FileCopyrightText: Jane Doe
# SPDX-License-Identifier: Apache-2.0

"""The PodSet controller."""

from pyctrl import Reconciler, Request, allow, is_deleting, merge_from

from shop.api.v1alpha1.podset import PodSet


class PodSetReconciler(Reconciler[PodSet]):
    """Reconciles the actual state with the spec of each PodSet."""

    rbac = (allow(PodSet, "patch", subresource="status"),)

    async def reconcile(self, request: Request) -> None:
        """Reconcile one PodSet."""
        podset = await self.client.find(PodSet, request.key)
        if podset is None or is_deleting(podset):
            return  # deleted: the garbage collector removes the objects it owns
        if podset.status.observed_generation != podset.metadata.generation:
            before = podset.deep_copy()
            podset.status.observed_generation = podset.metadata.generation
            await self.client.status.patch(podset, merge_from(before))
