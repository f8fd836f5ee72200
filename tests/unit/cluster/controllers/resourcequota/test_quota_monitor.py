"""Quota monitor."""

from __future__ import annotations

from random import Random

import pytest

from pyctrl.cluster import Cluster
from pyctrl.cluster._controllers.resourcequota.quota_monitor import tracked_kinds


@pytest.mark.virtual_time
async def test_only_what_quotas_count_is_watched() -> None:
    """A quota of pods and ConfigMaps tracks these two resources, and a quota of an unknown resource tracks none."""
    async with Cluster(controllers=False, kubelet=False, random=Random(1)) as cluster, cluster.client() as client:
        tracked = dict(await tracked_kinds(client, ["pods", "count/configmaps"]))
        assert {plural: kind.kind for (_, plural), kind in tracked.items()} == {
            "pods": "Pod",
            "configmaps": "ConfigMap",
        }
        assert await tracked_kinds(client, ["count/unknown.example.com"]) == []
