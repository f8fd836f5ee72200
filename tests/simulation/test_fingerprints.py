"""With fingerprints an operator ends in the same states as without, wherever it is killed and whatever they contain."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import timedelta
from typing import Any
from weakref import WeakKeyDictionary

import pytest

from pyctrl.api import CustomResource, Key, Model, is_deleting
from pyctrl.client import Client, MergePatch, merge_from
from pyctrl.controller import Builder, Controller, ManagedCluster, ObjectReconciler, generation_changed
from pyctrl.kinds.core.v1 import ConfigMap, Service, ServiceSpec
from pyctrl.manager import MemoryFingerprints
from pyctrl.rbac import allow
from pyctrl.simulation import Attempt, Plan, RunOutcome, Schedule, World
from pyctrl.simulation._forks import Tries
from pyctrl.simulation._oracle import Reference, judge
from pyctrl.simulation._plans import systematic
from pyctrl.simulation._run import Run
from pyctrl.simulation._simulation import Simulation
from tests.simulation.operators._case import GROUP, NAMESPACE, ensure, meta, owned

FEW = 12  # plans for each kind of damage; the undamaged volume gets all


class AppSpec(Model):
    service: str
    version: str


class AppStatus(Model):
    upstream: str = ""


class App(CustomResource[AppSpec, AppStatus], group=GROUP, version="v1"):
    """An app whose configuration names the host of a service."""


class AppReconciler(ObjectReconciler[App]):
    """Writes a ConfigMap for each App, from the Service that the App names, and the status of the App."""

    rbac = (allow(ConfigMap, "create", "patch"), allow(App, "patch", subresource="status"))

    async def reconcile_object(self, app: App) -> None:
        if is_deleting(app):
            return
        service = await self.client.find(Service, Key(NAMESPACE, app.spec.service))
        upstream = (service and service.spec.external_name) or "none"
        data = {"version": app.spec.version, "upstream": upstream}
        await ensure(self.client, app, owned(app, f"{app.metadata.name}-app", data))
        if app.status.upstream != upstream:
            patch = merge_from(app)
            app.status.upstream = upstream
            await self.client.status.patch(app, patch)


started: list[Controller] = []


def add_apps(manager: ManagedCluster) -> Controller:
    """Add the operator, which ignores changes of the status."""
    builder = Builder(manager).reconciles(App, predicates=[generation_changed]).owns(ConfigMap).reads(Service)
    started.append(builder.build(AppReconciler()))
    return started[-1]


async def scenario(client: Client, world: World) -> None:
    """Create apps before and after their service; change and delete both."""
    spec = ServiceSpec(type="ExternalName", external_name="old.example.com")
    await client.create(App(metadata=meta("web"), spec=AppSpec(service="database", version="1")))
    await client.create(App(metadata=meta("shop"), spec=AppSpec(service="database", version="1")))
    await world.settle()
    await client.create(Service(metadata=meta("database"), spec=spec))
    await world.settle()
    await client.patch(Service, Key(NAMESPACE, "database"), MergePatch({"spec": {"externalName": "new.example.com"}}))
    await client.patch(App, Key(NAMESPACE, "web"), MergePatch({"spec": {"version": "2"}}))
    await world.settle()
    await client.delete(Service, Key(NAMESPACE, "database"))
    await client.delete(App, Key(NAMESPACE, "shop"))
    await client.delete(ConfigMap, Key(NAMESPACE, "web-app"))


class Volume(MemoryFingerprints):
    """A volume of each run, which all processes of the run share, with one kind of damage."""

    def __init__(self, damage: str) -> None:
        super().__init__(verify_within=timedelta(days=30), interval=timedelta(seconds=0.5))
        self._damage = damage
        self._written: WeakKeyDictionary[asyncio.AbstractEventLoop, list[bytes]] = WeakKeyDictionary()
        self._elsewhere: list[bytes] = []  # by the first run, in which another server had other objects

    async def load(self) -> bytes | None:
        written = self._written.get(asyncio.get_running_loop(), [])
        match self._damage:
            case "lost":
                return None
            case "old":
                return written[len(written) // 2] if written else None
            case "torn":
                return written[-1][: len(written[-1]) // 2] if written else None
            case "elsewhere":
                return self._elsewhere[-1] if self._elsewhere else None
        return written[-1] if written else None

    async def save(self, data: bytes) -> None:
        loop = asyncio.get_running_loop()
        if not self._written or (loop in self._written and len(self._written) == 1):
            self._elsewhere.append(data)
        self._written.setdefault(loop, []).append(data)


def explore(damage: str, *, families: tuple[str, ...], most: int | None = None) -> Counter[str]:
    """Try plans with fingerprints against the end states without; return how many processes skipped requests."""
    plain = Simulation(name="apps", program=add_apps, scenario=scenario)
    runs = [plain.run(Schedule(seed=seed)) for seed in range(3)]
    reference = Reference(runs)
    volume = Volume(damage)
    options: dict[str, Any] = {"fingerprints": volume}
    simulation = Simulation(name="apps", program=add_apps, scenario=scenario, options=options)
    simulation.run(Schedule(seed=7))  # fills the volume of another world
    simulation.fingerprint = reference.fingerprint
    plans = [plan for plan in systematic(runs[0], families=families) if len(plan.schedule) == 1]
    if most is not None:
        plans = plans[:: max(1, len(plans) // most)]
    found: Counter[str] = Counter()

    def verdict(run: Run) -> RunOutcome:
        skipped = sum(each.fingerprints.skipped for each in started[-2:] if each.fingerprints is not None)
        return RunOutcome(tuple(judge(reference, run)), fingerprints=frozenset(["skipped" if skipped else "all run"]))

    def tried(attempt: Attempt) -> bool:
        assert not attempt.outcome.problems, f"{attempt.plan.schedule}: {attempt.outcome.problems[0]}"
        found.update(attempt.outcome.fingerprints)
        return True

    expected = [reference.fingerprint(state) for state in runs[0].steps]
    Tries(simulation, expected, verdict).run([Plan(plan.family, plan.schedule) for plan in plans], tried)
    assert sum(found.values()) == len(plans) > 3
    return found


@pytest.mark.slow(reason="some hundred runs of a small operator")
@pytest.mark.timeout(600)
def test_at_every_crash_point_the_end_states_are_those_without_fingerprints() -> None:
    """A process is killed at each point; the next one leaves requests out, and ends as one without fingerprints."""
    found = explore("none", families=("crash",))
    assert found["skipped"] > 10, "no process has left anything out: the test says nothing"


@pytest.mark.slow(reason="some dozen runs of a small operator")
@pytest.mark.timeout(600)
@pytest.mark.parametrize("damage", ["lost", "old", "torn", "elsewhere"])
def test_damaged_fingerprints_change_no_end_state(damage: str) -> None:
    """Fingerprints that are lost, old, torn or from another cluster are as good as none."""
    found = explore(damage, families=("crash",), most=FEW)
    assert bool(found["skipped"]) == (damage == "old")
