# SPDX-FileCopyrightText: Jane Doe
# SPDX-License-Identifier: Apache-2.0

"""What becomes of each Fleet."""

from pyctrl import Reconciler, Request, allow, is_deleting, merge_from

from shop.api.v1.fleet import Fleet


class FleetReconciler(Reconciler[Fleet]):
    """Brings what there is to what each Fleet says."""

    rbac = (allow(Fleet, "patch", subresource="status"),)

    async def reconcile(self, request: Request) -> None:
        """Look at one Fleet, and make what differs as it says."""
        fleet = await self.client.find(Fleet, request.key)
        if fleet is None or is_deleting(fleet):
            return  # gone or going: the cluster collects what it owned
        if fleet.status.observed_generation != fleet.metadata.generation:
            before = fleet.deep_copy()
            fleet.status.observed_generation = fleet.metadata.generation
            await self.client.status.patch(fleet, merge_from(before))
