"""kubectl's view of an operator's events, on any cluster."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pyctrl.client import Client, EventWriter
from pyctrl.testing import ClusterUnderTest
from tests.integration._kubectl import Kubectl, kubectl_for
from tests.integration._objects import config_map

pytestmark = [
    pytest.mark.real_time,  # sockets and processes
    pytest.mark.slow("each command is a process, which asks for discovery anew"),
    pytest.mark.timeout(30),
]


@pytest.fixture
async def kubectl(cluster: ClusterUnderTest, client: Client, namespace: str, tmp_path: Path) -> AsyncIterator[Kubectl]:
    """kubectl in the test's namespace, with events of a ConfigMap: one single, and one repeated three times."""
    shop = await client.create(config_map(namespace, "shop"))
    writer = EventWriter(client, host="here")
    recorder = writer.recorder("shops")
    async with asyncio.TaskGroup() as group:
        group.create_task(writer.run())
        recorder.normal(shop, "Opened", "Opened the shop")
        for _ in range(3):
            recorder.warning(shop, "Empty", "Nothing to sell")
        writer.ask_to_stop()
    async with kubectl_for(cluster, namespace, tmp_path) as kubectl:
        yield kubectl


def columns(table: str) -> list[list[str]]:
    """Split a table of kubectl into its cells."""
    return [re.split(r"\s{2,}", line.strip()) for line in table.splitlines()]


async def test_get_events_has_them_in_its_columns(kubectl: Kubectl) -> None:
    """get events -o wide shows the source and count of each event."""
    head, *rows = columns(await kubectl("get", "events"))
    assert head == ["LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"]
    assert sorted(row[1:] for row in rows) == [
        ["Normal", "Opened", "configmap/shop", "Opened the shop"],
        ["Warning", "Empty", "configmap/shop", "Nothing to sell"],
    ]
    assert all(re.fullmatch(r"\d+s", row[0]) for row in rows)
    head, *rows = columns(await kubectl("get", "events", "-o", "wide", "--field-selector", "type=Warning"))
    told = dict(zip(head, [*rows[0][:4], "", *rows[0][4:]], strict=True))
    assert (told["SOURCE"], told["COUNT"]) == ("shops, shops-here", "3")
    assert head[4] == "SUBOBJECT"
    assert re.fullmatch(r"shop\.[0-9a-f]+", told["NAME"])


async def test_describe_shows_them_with_the_object(kubectl: Kubectl) -> None:
    """describe shows type, reason, source and message of the object's events."""
    described = await kubectl("describe", "configmap", "shop")
    assert re.search(r"Normal\s+Opened\s+\S+\s+shops\s+Opened the shop", described)
    assert re.search(r"Warning\s+Empty\s+\d+s \(x3 over \d+s\)\s+shops\s+Nothing to sell", described)


async def test_events_shows_them_with_their_repetitions(kubectl: Kubectl) -> None:
    """kubectl events shows repetitions, filtered by object and by type."""
    shown = await kubectl("events", "--for", "configmap/shop", "--types", "Warning")
    assert re.search(r"\d+s \(x3 over \d+s\)\s+Warning\s+Empty\s+ConfigMap/shop\s+Nothing to sell", shown)
    assert "Opened" not in shown
