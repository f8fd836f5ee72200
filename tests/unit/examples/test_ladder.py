"""The ladder of examples in `pyctrl dev`, in virtual time and without sockets."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from pyctrl.dev import DevOptions, DevSession
from pyctrl.packaging import read_settings
from pyctrl.program import Target

pytestmark = pytest.mark.usefixtures("imports_as_before")

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
LADDER = sorted(each.name for each in EXAMPLES.glob("[0-9][0-9]_*"))
NEED_A_SERVER = ("04", "09")  # a DNS service, a database: their own tests start it


@pytest.mark.slow("the pods and nodes of a whole cluster for 20 seconds")
@pytest.mark.parametrize("name", LADDER)
async def test_an_example_runs(name: str) -> None:
    """`pyctrl dev` starts each example with its samples, and no reconcile fails within 20 seconds."""
    apply = () if name.startswith(NEED_A_SERVER) else None
    options = DevOptions(apply=apply, namespaces=read_settings(EXAMPLES / name).watch_namespaces)
    async with DevSession(Target.parse(str(EXAMPLES / name)), options) as session:
        await asyncio.sleep(20)
        assert session.problem == ""
        assert session.journal.failures == {}
