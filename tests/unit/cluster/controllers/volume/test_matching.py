"""Matching of volumes and claims."""

from __future__ import annotations

import asyncio

from pyctrl.api import Key
from pyctrl.client import Client
from pyctrl.kinds.core.v1 import PersistentVolumeClaim
from tests.unit.cluster._pods import reasons
from tests.unit.cluster._volumes import bound, claim, volume


async def test_a_claim_selects_and_names_volumes(client: Client) -> None:
    """A selector matches labels; a volume name waits for that volume and requires a match."""
    await client.create(claim("selects", selector={"matchLabels": {"a": "b"}}))
    await client.create(claim("names", volumeName="named"))
    await client.create(claim("too-much", "9Gi", volumeName="tiny"))
    await client.create(volume("plain", "1Gi"))
    await client.create(volume("labelled", "1Gi", labels={"a": "b"}))
    await client.create(volume("named", "1Gi"))
    await client.create(volume("tiny", "1Mi"))
    assert (await bound(client, "selects")).spec.volume_name == "labelled"
    assert (await bound(client, "names")).spec.volume_name == "named"
    await asyncio.sleep(1)
    assert (await client.get(PersistentVolumeClaim, Key("default", "too-much"))).status.phase == "Pending"
    assert await reasons(client, "too-much") == ["VolumeMismatch"]
