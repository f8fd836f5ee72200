"""Tests of the repetitions by which a hot loop shows."""

from __future__ import annotations

import asyncio
from typing import Any

from pyctrl.client import Client
from pyctrl.controller import Builder, Reconciler, Request
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.rbac import allow
from pyctrl.simulation import ExploreOptions, explore_program
from pyctrl.simulation._repetitions import ENDLESS, Repetitions


def test_one_thing_too_often_is_endless() -> None:
    """The same write again and again is endless; many writes of different objects are not."""
    repetitions = Repetitions()
    for number in range(2 * ENDLESS):
        repetitions.note(f"create configmaps default/web-{number}")
    was_endless = repetitions.are_endless
    assert not was_endless
    for _ in range(ENDLESS + 1):
        repetitions.note("patch configmaps default/web")
    assert repetitions.are_endless
    assert "patch configmaps default/web" in repetitions.spinning


def test_a_rest_begins_to_count() -> None:
    """Writes before the world came to rest do not count."""
    repetitions = Repetitions()
    for _ in range(3):
        for _ in range(ENDLESS):
            repetitions.note("patch configmaps default/web")
        repetitions.clear()
    assert not repetitions.spinning


class Counter(Reconciler[ConfigMap]):
    rbac = (allow(ConfigMap, "update"),)

    async def reconcile(self, request: Request) -> None:
        found = await self.client.find(ConfigMap, request.key)
        if found is not None and "runs" in found.data:
            found.data["runs"] = str(int(found.data["runs"]) + 1)
            await self.client.update(found)


def test_a_hot_loop_is_a_failure_without_any_fault() -> None:
    """An operator that wakes itself fails the reference run soon, although every run does the same."""

    async def scenario(client: Client) -> None:
        manifest: dict[str, Any] = {"metadata": {"name": "web", "namespace": "default"}, "data": {"runs": "0"}}
        await client.create(ConfigMap.from_wire(manifest))
        await asyncio.sleep(0)

    report = explore_program(lambda host: Builder(host).build(Counter()), scenario, options=ExploreOptions(runs=1))

    (story,) = report.stories
    assert "does not come to rest: update configmaps default/web" in story.title
    assert "the operator wakes itself" in story.guess
