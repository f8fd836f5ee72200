# SPDX-FileCopyrightText: Jane Doe
# SPDX-License-Identifier: Apache-2.0

"""The Memcached controller on an in-process or real cluster, with exactly the permissions that it declares."""

from pyctrl import Builder, Client, Manager, ObjectMeta
from pyctrl.client import wait_for
from pyctrl.testing import InstallKinds, UnderRole, sample_of

import shop
from shop.api.v1alpha1.memcached import Memcached
from shop.controllers.memcached import MemcachedReconciler


def wire(manager: Manager) -> None:
    Builder(manager).build(MemcachedReconciler())


async def test_the_status_follows_the_spec(
    under_role: UnderRole, install_kinds: InstallKinds, client: Client, namespace: str, running_pods: None
) -> None:
    """The status has the generation of the spec, and no permission is missing or unused."""
    await install_kinds(shop)
    async with under_role(wire, namespaces=[namespace]) as operator:
        memcached = sample_of(Memcached)
        memcached.metadata = ObjectMeta(name="sample", namespace=namespace)
        await client.create(memcached)
        await wait_for(
            client,
            Memcached,
            memcached.key,
            lambda found: found.status.ready == found.spec.size > 0,
        )
        assert operator.compare().lines() == []
