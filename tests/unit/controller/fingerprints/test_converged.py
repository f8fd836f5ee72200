"""Which requests converge: own writes belong to it, changes by others and failures end it."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from pyctrl.api import Key, ObjectMeta, set_controller_reference
from pyctrl.client import MergePatch
from pyctrl.controller import Request, Result, generation_changed, on_create, reading
from pyctrl.kinds.apps.v1 import Deployment, DeploymentSpec
from pyctrl.kinds.core.v1 import ConfigMap, Container, PodSpec, PodTemplateSpec, Secret
from pyctrl.kinds.meta.v1 import LabelSelector
from pyctrl.manager import Manager, MemoryFingerprints
from tests.unit.manager.fingerprints._programs import Noter, Program, config_map, secret

LONG = timedelta(days=300)


async def settled(manager: Manager, seconds: float = 5.0) -> None:
    """Wait until nothing is left to do."""
    await asyncio.sleep(seconds)


async def filled(program: Program, **secrets: str) -> None:
    """Run a program until ConfigMaps that name Secrets have converged."""
    async with program.running() as manager:
        for name, of in secrets.items():
            await manager.live_client.create(config_map(name, secret=of))
        await settled(manager)


async def runs_after_restart(program: Program) -> list[str]:
    """Restart a program and return what it runs in the first seconds, sorted."""
    async with program.running() as manager:
        await settled(manager)
        return sorted(program.runs)


async def test_a_failed_run_has_no_fingerprint() -> None:
    """A request whose last run has failed runs at the next start."""

    async def run(noter: Noter, request: Request) -> None:
        if request.name == "bad":
            raise RuntimeError("no")

    program = Program(MemoryFingerprints(verify_within=LONG), run)
    await filled(program, bad="x", good="x")
    assert set(await runs_after_restart(program)) == {"bad"}


async def test_an_immediate_requeue_has_no_fingerprint() -> None:
    """A request that asked to run again at once has not converged."""

    async def run(noter: Noter, request: Request) -> Result:
        return Result.after(timedelta(0))

    program = Program(MemoryFingerprints(verify_within=LONG), run)
    await filled(program, web="x")
    assert "web" in await runs_after_restart(program)


async def test_a_foreign_change_that_a_predicate_ignores_runs_at_the_next_start() -> None:
    """A change that no run has seen is seen at the next start, as it is without fingerprints."""
    program = Program(MemoryFingerprints(verify_within=LONG), wire=lambda builder: builder.filter(on_create))
    await filled(program, web="db", shop="db")
    async with program.running() as manager:
        client = manager.live_client
        await client.patch(await client.get(ConfigMap, Key("default", "web")), MergePatch({"data": {"x": "y"}}))
        await settled(manager)
        assert program.runs == []
    assert await runs_after_restart(program) == ["web"]


async def test_a_change_by_others_during_a_run_runs_at_the_next_start() -> None:
    """A change that a predicate ignores, and that came after the run had read the object, is seen at the next start."""
    is_running, may_end = asyncio.Event(), asyncio.Event()

    async def run(noter: Noter, request: Request) -> None:
        await noter.client.find(ConfigMap, request.key)
        is_running.set()
        await may_end.wait()

    program = Program(MemoryFingerprints(verify_within=LONG), run, wire=lambda builder: builder.filter(on_create))
    async with program.running() as manager:
        client = manager.live_client
        made = await client.create(config_map("web"))
        await is_running.wait()
        await client.patch(made, MergePatch({"data": {"x": "y"}}))
        await settled(manager)
        may_end.set()
        await settled(manager)
        assert program.runs == ["web"]
    assert await runs_after_restart(program) == ["web"]


async def test_an_own_write_that_only_a_list_shows_ends_the_convergence() -> None:
    """After an interrupted watch a list shows the own write, and may hide a change by others before it."""

    async def label(noter: Noter, request: Request) -> None:
        found = await noter.client.find(ConfigMap, request.key)
        if found is not None and "done" not in found.metadata.labels:
            await noter.client.patch(found, MergePatch({"metadata": {"labels": {"done": ""}}}))

    program, web = Program(MemoryFingerprints(verify_within=LONG), label), Request("default", "web")
    async with program.running() as manager:
        await manager.live_client.create(config_map("web"))
        await settled(manager)
        assert program.controller.fingerprints is not None
        requests = program.controller.fingerprints.requests
        informer = requests.followed.reconciled
        assert informer is not None
        record = informer.find(web.key)
        for was_seen, converges in ((True, True), (False, False)):
            requests.changed(informer, record, record, was_seen=was_seen)
            assert (web in requests.requests) == converges


async def test_a_change_of_parts_that_do_not_matter_runs_at_most_once() -> None:
    """With ``reading(Secret, of="data")`` a changed label leaves the fingerprint as it is while the program runs."""
    program = Program(MemoryFingerprints(verify_within=LONG), reads=(reading(Secret, of="data"),))
    await filled(program, web="db")
    async with program.running() as manager:
        client = manager.live_client
        db = await client.create(secret("db"))
        await settled(manager)
        await client.patch(db, MergePatch({"metadata": {"labels": {"a": "b"}}}))
        await settled(manager)
        assert program.runs == ["web"]
    assert await runs_after_restart(program) == []


def deployment(owner: ConfigMap) -> Deployment:
    labels = {"of": owner.metadata.name}
    made = Deployment(
        metadata=ObjectMeta(name=owner.metadata.name, namespace="default"),
        spec=DeploymentSpec(
            selector=LabelSelector(match_labels=labels),
            template=PodTemplateSpec(
                metadata=ObjectMeta(labels=labels), spec=PodSpec(containers=[Container(name="a", image="a")])
            ),
        ),
    )
    set_controller_reference(owner, made)
    return made


async def create_deployment(noter: Noter, request: Request) -> None:
    """Create the Deployment of a ConfigMap, and write the ConfigMap's status, here a label."""
    owner = await noter.client.find(ConfigMap, request.key)
    if owner is None:
        return
    if await noter.client.find(Deployment, request.key) is None:
        await noter.client.create(deployment(owner))
    if "done" not in owner.metadata.labels:
        await noter.client.patch(owner, MergePatch({"metadata": {"labels": {"done": ""}}}))


@pytest.mark.parametrize("predicates", [(), (generation_changed,)], ids=["all changes", "generations"])
async def test_own_writes_belong_to_the_fingerprint(predicates: tuple[Any, ...]) -> None:
    """What a run has written itself does not run it at the next start; a change of it by others meanwhile does."""
    program = Program(
        MemoryFingerprints(verify_within=LONG),
        create_deployment,
        wire=lambda builder: builder.owns(Deployment, predicates=predicates).filter(*predicates),
    )
    await filled(program, web="x", shop="x", mail="x")
    assert await runs_after_restart(program) == []
    async with Manager(program.manager.config) as other:
        client = other.live_client
        await client.delete(Deployment, Key("default", "web"))
        shop = await client.get(Deployment, Key("default", "shop"))
        await client.patch(shop, MergePatch({"metadata": {"labels": {"by": "hand"}}}))
    assert sorted(set(await runs_after_restart(program))) == ["shop", "web"]
