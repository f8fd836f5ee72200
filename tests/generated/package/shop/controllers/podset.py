# SPDX-FileCopyrightText: Jane Doe
# SPDX-License-Identifier: Apache-2.0

"""What becomes of each PodSet."""

from pyctrl import Reconciler, Request, allow, is_deleting, merge_from

from shop.api.v1alpha1.podset import PodSet


class PodSetReconciler(Reconciler[PodSet]):
    """Brings what there is to what each PodSet says."""

    rbac = (allow(PodSet, "patch", subresource="status"),)

    async def reconcile(self, request: Request) -> None:
        """Look at one PodSet, and make what differs as it says."""
        podset = await self.client.find(PodSet, request.key)
        if podset is None or is_deleting(podset):
            return  # gone or going: the cluster collects what it owned
        if podset.status.observed_generation != podset.metadata.generation:
            before = podset.deep_copy()
            podset.status.observed_generation = podset.metadata.generation
            await self.client.status.patch(podset, merge_from(before))
