# SPDX-FileCopyrightText: Jane Doe
# SPDX-License-Identifier: Apache-2.0

"""The Fleet controller on an in-process or real cluster, with exactly the permissions that it declares."""

from pyctrl import Builder, Client, Manager, ObjectMeta
from pyctrl.client import wait_for
from pyctrl.testing import InstallKinds, UnderRole, sample_of

import shop
from shop.api.v1.fleet import Fleet
from shop.controllers.fleet import FleetReconciler


def wire(manager: Manager) -> None:
    Builder(manager).build(FleetReconciler())


async def test_the_status_follows_the_spec(
    under_role: UnderRole, install_kinds: InstallKinds, client: Client, namespace: str
) -> None:
    """The status has the generation of the spec, and no permission is missing or unused."""
    await install_kinds(shop)
    async with under_role(wire) as operator:
        fleet = sample_of(Fleet)
        fleet.metadata = ObjectMeta(name=f"sample-{namespace}")
        await client.create(fleet)
        await wait_for(
            client,
            Fleet,
            fleet.key,
            lambda found: found.status.observed_generation == 1,
        )
        assert operator.compare().lines() == []
