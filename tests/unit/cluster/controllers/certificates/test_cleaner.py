"""Old requests: deleted after their deadlines."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from pyctrl.client import wait_until_gone
from pyctrl.cluster import Cluster
from pyctrl.kinds.certificates.v1 import CertificateSigningRequest
from tests.unit.cluster._certificates import (
    CLIENT_SIGNER,
    NAME,
    approve,
    create,
    encoded_request,
)


@pytest.mark.virtual_time(limit=timedelta(days=3))
@pytest.mark.parametrize(("decision", "hours"), [("", 24), ("Denied", 1), ("Approved", 1)])
async def test_old_requests_are_deleted(decision: str, hours: int) -> None:
    """A pending request is deleted after a day, a denied or issued one after an hour."""
    async with Cluster(kubelet=False) as cluster, cluster.client() as client:
        await create(client, encoded_request("jane"), CLIENT_SIGNER, ["client auth"])
        if decision:
            await approve(client, decision)
        await asyncio.sleep(hours * 3600 - 60)
        assert await client.find(CertificateSigningRequest, NAME) is not None
        await wait_until_gone(client, CertificateSigningRequest, NAME, timeout=3 * 3600)
