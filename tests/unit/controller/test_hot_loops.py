"""Hot loops: reconciles that trigger themselves are reported with controller, object and changed fields."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from pyctrl._log import LogContextFilter
from pyctrl.api import ObjectMeta
from pyctrl.apiserver import ApiServer
from pyctrl.client import Config
from pyctrl.controller import Builder, Reconciler, Request
from pyctrl.controller._hot_loops import REMINDER, UPDATES, WRITES, _differences
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.manager import Manager
from pyctrl.testing import Spinning, run_virtual

WARNING = "Hot loop: each reconcile is caused by a write of the one before"
PAUSE = 0.1  # seconds of each run, so that virtual time passes


class Scripted(Reconciler[Any]):
    """Runs the script of the test and counts calls."""

    def __init__(self, do: Callable[[Scripted, Request], Awaitable[None]]) -> None:
        self.runs = 0
        self._do = do

    async def reconcile(self, request: Request) -> None:
        self.runs += 1
        await self._do(self, request)


async def count(reconciler: Scripted, request: Request) -> None:
    """Write the number of runs and a constant colour into the object."""
    await asyncio.sleep(PAUSE)
    found = await reconciler.client.get(ConfigMap, request.key)
    found.data = {"runs": str(int(found.data.get("runs", "0")) + 1), "colour": "red"}
    await reconciler.client.update(found)


async def spin(reconciler: Scripted, request: Request) -> None:
    """Write the number of runs into the status."""
    found = await reconciler.client.get(Deployment, request.key)
    found.status.replicas = (found.status.replicas or 0) + 1
    await reconciler.client.status.update(found)


def config_map(name: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default"))


def deployment(name: str) -> Deployment:
    pod = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "main", "image": "web"}]}}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": pod}
    return Deployment.model_validate({"metadata": {"name": name, "namespace": "default"}, "spec": spec})


async def run(
    do: Callable[[Scripted, Request], Awaitable[None]], *objects: ConfigMap | Deployment, seconds: float
) -> Scripted:
    """Run a controller on some objects for a while."""
    async with Manager(Config.in_process(ApiServer())) as manager:
        reconciler = Scripted(do)
        Builder(manager).reconciles(type(objects[0])).options(name="counter").build(reconciler)
        async with manager.running():
            for obj in objects:
                await manager.client.create(obj)
            await asyncio.sleep(seconds)
    return reconciler


def warnings(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    return [vars(record) for record in caplog.records if record.message == WARNING]


async def test_a_loop_is_warned_of_with_the_field_that_each_run_writes(caplog: pytest.LogCaptureFixture) -> None:
    """A hot loop is logged once per controller and field, whatever the object, and again after five minutes."""
    caplog.handler.addFilter(LogContextFilter())
    await run(count, config_map("a"), config_map("b"), seconds=(2 * UPDATES + 10) * PAUSE)

    [warning] = warnings(caplog)
    about = warning["context"]
    assert (about["controller"], about["namespace"], about["name"]) in [("counter", "default", name) for name in "ab"]
    assert (warning["fields"], warning["written"]) == ("data.runs", f"ConfigMap default/{about['name']}")
    assert warning["runs"] in (UPDATES, UPDATES + 1)
    assert "write only when something differs" in warning["fix"]


async def test_whoever_shows_loops_is_called_for_each_row_of_runs() -> None:
    """A callback gets the object and the changed fields for each series of runs, as `pyctrl dev` shows them."""
    seen: list[tuple[Request, str]] = []
    async with Manager(Config.in_process(ApiServer())) as manager:
        controller = Builder(manager).reconciles(ConfigMap).options(name="counter").build(Scripted(count))
        controller.on_reconcile_loop(lambda request, written: seen.append((request, written)))
        async with manager.running():
            await manager.client.create(config_map("a"))
            await asyncio.sleep((2 * UPDATES + 10) * PAUSE)

    assert seen == [(Request("default", "a"), "each run writes data.runs of ConfigMap default/a")] * 2


async def test_a_loop_that_lasts_is_warned_of_again(caplog: pytest.LogCaptureFixture) -> None:
    """A hot loop that lasts is logged again after five minutes."""

    async def slowly(reconciler: Scripted, request: Request) -> None:
        await asyncio.sleep(REMINDER / (UPDATES + 10))
        await count(reconciler, request)

    await run(slowly, config_map("a"), seconds=3.1 * REMINDER)

    assert len(warnings(caplog)) == 2


async def test_a_reconcile_that_comes_to_rest_is_not_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    """Dozens of runs with a write each are not a hot loop if they end."""

    async def step(reconciler: Scripted, request: Request) -> None:
        if reconciler.runs < UPDATES - 1:
            await count(reconciler, request)

    reconciler = await run(step, config_map("a"), seconds=UPDATES * PAUSE)

    assert reconciler.runs == UPDATES - 1
    assert warnings(caplog) == []


async def test_runs_that_others_have_caused_are_no_loop(caplog: pytest.LogCaptureFixture) -> None:
    """Runs caused by writes of another client are not a hot loop."""
    server = ApiServer()
    async with Manager(Config.in_process(server)) as manager, Manager(Config.in_process(server)) as other:
        reconciler = Scripted(lambda *_: asyncio.sleep(0))
        Builder(manager).reconciles(ConfigMap).build(reconciler)
        async with manager.running():
            written = await other.live_client.create(config_map("a"))
            for number in range(2 * UPDATES):
                written.data = {"runs": str(number)}
                written = await other.live_client.update(written)
                await asyncio.sleep(1)

    assert reconciler.runs > 2 * UPDATES
    assert warnings(caplog) == []


def test_a_status_loop_ends_a_test_in_virtual_time_with_its_cause() -> None:
    """A status loop at one virtual instant fails the test with an error that names controller, object and field."""
    seen: list[Request] = []

    async def counted(reconciler: Scripted, request: Request) -> None:
        seen.append(request)
        await spin(reconciler, request)

    with pytest.raises(Spinning) as raised:
        run_virtual(run(counted, deployment("web"), seconds=60))

    text = str(raised.value)
    assert "controller 'counter' reconciles default/web because of its own writes" in text
    assert "each run writes status.replicas of Deployment default/web" in text
    assert len(seen) < 600


def test_a_loop_that_creates_is_one() -> None:
    """A loop that creates an object in each run is an error after two thousand runs."""

    async def create(reconciler: Scripted, request: Request) -> None:
        made = config_map(f"made-{reconciler.runs}")
        await reconciler.client.create(made)

    async def main() -> None:
        async with Manager(Config.in_process(ApiServer())) as manager:
            reconciler = Scripted(create)
            builder = Builder(manager).options(name="maker")
            builder.watches(ConfigMap, lambda _observed: [Request("default", "all")]).build(reconciler)
            async with manager.running():
                await manager.client.create(config_map("first"))
                await asyncio.sleep(60)

    said = f"{2 * WRITES} reconciles.*'maker' reconciles default/all.*the last one ConfigMap"
    with pytest.raises(Spinning, match=said):
        run_virtual(main())


@pytest.mark.parametrize(
    ("before", "after", "fields"),
    [
        ({"status": {"a": 1, "b": 2}}, {"status": {"a": 1, "b": 3}}, ["status.b"]),
        ({}, {"status": {"a": 1}}, ["status"]),
        ({"status": {"conditions": [{"at": 1}]}}, {"status": {"conditions": [{"at": 2}]}}, ["status.conditions[0].at"]),
        ({"spec": {"items": [1]}}, {"spec": {"items": [1, 2]}}, ["spec.items"]),
        (
            {"metadata": {"annotations": {"a/b": "1"}}},
            {"metadata": {"annotations": {"a/b": "2"}}},
            ['metadata.annotations["a/b"]'],
        ),
        (
            {"metadata": {"resourceVersion": "1", "generation": 1}},
            {"metadata": {"resourceVersion": "2", "generation": 2}},
            [],
        ),
    ],
)
def test_differences_are_paths_of_fields(before: Any, after: Any, fields: list[str]) -> None:
    """Differences are field paths of any depth, without the fields that every write changes."""
    assert list(_differences(before, after)) == fields
