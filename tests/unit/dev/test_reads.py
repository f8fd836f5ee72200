"""What `pyctrl dev` shows of reads: what an object's last reconcile has read, and whose reconciles have read it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from pyctrl.api import GroupVersionKind, ObjectMeta, Unstructured
from pyctrl.controller import Request
from pyctrl.dev import ReadRow, take_details
from pyctrl.kinds.core.v1 import Secret
from tests.unit.dev._programs import PROGRAM
from tests.unit.dev._sessions import box_session

SAMPLE = Request("default", "sample")

READING = PROGRAM.replace("    owns = (ConfigMap,)\n", "    owns = (ConfigMap,)\n    reads = (Secret,)\n").replace(
    "        if await self.client.find(ConfigMap",
    """        for name in ("shared", f"{request.name}-key"):
            await self.client.find(Secret, Key(request.namespace, name))
        await self.client.list(Secret, namespace=request.namespace, labels={"box": request.name})
        if await self.client.find(ConfigMap""",
)
READING = READING.replace("ConfigMap\n", "ConfigMap, Secret\n", 1).replace(
    "import ObjectMeta", "import Key, ObjectMeta"
)


async def test_an_object_shows_what_its_last_reconcile_has_read_and_who_else_has(tmp_path: Path) -> None:
    """Reads are objects, with the ones that do not exist and other objects that have read them, and lists."""
    async with box_session(tmp_path, READING) as session:
        await session.admin.create(Secret(metadata=ObjectMeta(name="shared", namespace="default")))
        other = Unstructured.new(GroupVersionKind("dev.example.com", "v1", "Box"), name="other", namespace="default")
        await session.admin.create(other)
        await asyncio.sleep(3)
        found = await take_details(session, "box", SAMPLE)
        assert found.reads == (
            ReadRow(text="Secret default/shared", others=("Box default/other",)),
            ReadRow(text="Secret default/sample-key", is_missing=True),
            ReadRow(text="list of Secret in namespace default, labels box=sample"),
        )
        assert found.readers == ()


async def test_an_object_shows_whose_reconciles_have_read_it(tmp_path: Path) -> None:
    """An object that other reconciles have read names them, and so does an object that it owns."""
    program = (
        PROGRAM.replace("    owns = (ConfigMap,)\n", "    reads = (ConfigMap,)\n")
        + """

class Watcher(Reconciler[ConfigMap]):
    reads = (Box,)

    async def reconcile(self, request: Request) -> None:
        await self.client.find(Box, request.key)
"""
    )
    async with box_session(tmp_path, program) as session:
        await asyncio.sleep(3)
        found = await take_details(session, "box", SAMPLE)
        assert found.readers == ("ConfigMap default/sample",)
        assert [(each.name, each.readers) for each in found.owned] == [("sample", ("Box default/sample",))]
