"""Which of the integration tests there are, and what they take for granted of a cluster."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator

import pytest_asyncio

from pyctrl.client import Client
from pyctrl.cluster import add_controllers
from pyctrl.manager import Manager
from pyctrl.testing import ClusterUnderTest
from pyctrl.testing._cluster.choice import ClusterChoice, cluster_choice

# They drive the kubectl on PATH; without one they do not exist, so that no test is ever skipped.
collect_ignore_glob = [] if shutil.which("kubectl") else ["test_kubectl*.py", "test_evc_session.py"]
if cluster_choice() is ClusterChoice.EXISTING:
    collect_ignore_glob.append("test_access_webhooks.py")  # the flags of somebody else's API server are not ours to set


@pytest_asyncio.fixture
async def client(cluster: ClusterUnderTest, client: Client) -> AsyncIterator[Client]:
    """A client of a cluster that collects garbage, empties namespaces and expands Deployments, if need be by ours."""
    if cluster.has_controllers:
        yield client
        return
    async with Manager(cluster.config) as manager:
        add_controllers(manager)
        async with manager.running():
            yield client
