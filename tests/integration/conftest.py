"""The selection of integration tests, and their assumptions about a cluster."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator

import pytest_asyncio

from pyctrl.client import Client
from pyctrl.cluster import add_controllers
from pyctrl.manager import Manager
from pyctrl.testing import ClusterUnderTest
from pyctrl.testing._cluster.choice import ClusterChoice, cluster_choice

# These tests run the kubectl on PATH; without one they are not collected, so that no test is ever skipped.
collect_ignore_glob = [] if shutil.which("kubectl") else ["test_kubectl*.py", "test_evc_session.py"]
if cluster_choice() is ClusterChoice.EXISTING:
    collect_ignore_glob.append("test_access_webhooks.py")  # tests cannot set flags of an existing server
if cluster_choice() is ClusterChoice.EXISTING or not shutil.which("kubectl"):
    collect_ignore_glob.append("test_extension_apiserver.py")  # it sets flags of kube-apiserver's aggregator


@pytest_asyncio.fixture
async def client(cluster: ClusterUnderTest, client: Client) -> AsyncIterator[Client]:
    """A client of a cluster with controllers; pyctrl adds its own if the cluster has none."""
    if cluster.has_controllers:
        yield client
        return
    async with Manager(cluster.config) as manager:
        add_controllers(manager)
        async with manager.running():
            yield client
