# SPDX-FileCopyrightText: Jane Doe
# SPDX-License-Identifier: Apache-2.0

"""The Fleet controller."""

from pyctrl import Reconciler, Request, allow, is_deleting, merge_from

from shop.api.v1.fleet import Fleet


class FleetReconciler(Reconciler[Fleet]):
    """Reconciles the actual state with the spec of each Fleet."""

    rbac = (allow(Fleet, "patch", subresource="status"),)

    async def reconcile(self, request: Request) -> None:
        """Reconcile one Fleet."""
        fleet = await self.client.find(Fleet, request.key)
        if fleet is None or is_deleting(fleet):
            return  # deleted: the garbage collector removes the objects it owns
        if fleet.status.observed_generation != fleet.metadata.generation:
            before = fleet.deep_copy()
            fleet.status.observed_generation = fleet.metadata.generation
            await self.client.status.patch(fleet, merge_from(before))
