"""Fixtures of the tests of the simulated kubelet."""

from __future__ import annotations

from collections.abc import AsyncIterator
from random import Random

import pytest_asyncio

from pyctrl.client import Client
from pyctrl.cluster import Cluster


@pytest_asyncio.fixture
async def client() -> AsyncIterator[Client]:
    """A client of a new cluster with one node."""
    async with Cluster(random=Random(1)) as cluster, cluster.client() as client:
        yield client
