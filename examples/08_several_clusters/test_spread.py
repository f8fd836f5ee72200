"""Three clusters in this process: that of the operator, and two members, of which one joins later."""

import pytest

from pyctrl import Client, Manager, MergePatch, ObjectMeta
from pyctrl.client import wait_for, wait_until_gone
from pyctrl.cluster import Cluster
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.manager import InMemoryProvider
from pyctrl.testing import ClusterUnderTest
from spread import LABEL, add_members


@pytest.mark.virtual_time(outside="skip")
async def test_each_member_has_a_copy(cluster: ClusterUnderTest, client: Client) -> None:
    """A labelled ConfigMap is copied, also to a member that joins; copies are restored, and deleted with it."""
    async with Cluster() as north, Cluster() as south, north.client() as in_north, south.client() as in_south:
        provider = InMemoryProvider({"north": north.config})
        async with Manager(cluster.config) as manager:
            add_members(manager, provider)
            async with manager.running():
                metadata = ObjectMeta(name="colours", namespace="default", labels={LABEL: "yes"})
                key = (await client.create(ConfigMap(metadata=metadata, data={"sky": "blue"}))).key
                await wait_for(in_north, ConfigMap, key, lambda copy: copy.data == {"sky": "blue"})

                provider.add("south", south.config)
                await wait_for(in_south, ConfigMap, key, lambda copy: copy.data == {"sky": "blue"})

                await client.patch(ConfigMap, key, MergePatch({"data": {"sky": "grey"}}))
                await in_south.delete(ConfigMap, key)
                for member in (in_north, in_south):
                    await wait_for(member, ConfigMap, key, lambda copy: copy.data == {"sky": "grey"})

                await client.delete(ConfigMap, key)
                for member in (client, in_north, in_south):
                    await wait_until_gone(member, ConfigMap, key)
