"""The start finds what has changed: objects, owned objects, lists."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from pyctrl.api import Key, ObjectMeta, set_controller_reference
from pyctrl.client import MergePatch
from pyctrl.controller import Request
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


async def test_what_changed_while_the_program_did_not_run_runs() -> None:
    """An object that changed, that is new, or whose Secret appeared, changed or vanished runs at the start."""
    program = Program(MemoryFingerprints(verify_within=LONG))
    async with program.running() as manager:
        client = manager.live_client
        for name in ("changed", "gone"):
            await client.create(secret(name))
        await settled(manager)
    await filled(program, a="changed", b="gone", c="new", d="absent", e="absent")
    async with Manager(program.manager.config) as other:
        client = other.live_client
        await client.patch(await client.get(Secret, Key("default", "changed")), MergePatch({"data": {"x": "eA=="}}))
        await client.delete(Secret, Key("default", "gone"))
        await client.create(secret("new"))
        await client.patch(await client.get(ConfigMap, Key("default", "d")), MergePatch({"data": {"x": "y"}}))
        await client.create(config_map("f"))
    assert await runs_after_restart(program) == ["a", "b", "c", "d", "f"]
    assert await runs_after_restart(program) == []


async def test_an_object_that_was_recreated_runs() -> None:
    """An object with the name of a former one runs, whatever its version is."""
    program = Program(MemoryFingerprints(verify_within=LONG))
    await filled(program, web="db")
    async with Manager(program.manager.config) as other:
        await other.live_client.delete(ConfigMap, Key("default", "web"))
        await other.live_client.create(config_map("web", secret="db"))
    assert await runs_after_restart(program) == ["web"]


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


async def apply_blindly(noter: Noter, request: Request) -> None:
    """Create what the request owns without reading it from the cache."""
    owner = await noter.client.find(ConfigMap, request.key)
    if owner is not None:
        await noter.client.apply(deployment(owner), field_owner="noter", force=True)


async def test_an_owned_object_counts_also_if_it_was_not_read() -> None:
    """An owned object that was deleted while the program did not run causes a run, although runs never read it."""
    program = Program(
        MemoryFingerprints(verify_within=LONG), apply_blindly, wire=lambda builder: builder.owns(Deployment)
    )
    await filled(program, web="x", shop="x")
    assert await runs_after_restart(program) == []
    async with Manager(program.manager.config) as other:
        await other.live_client.delete(Deployment, Key("default", "web"))
    assert set(await runs_after_restart(program)) == {"web"}


async def list_secrets(noter: Noter, request: Request) -> None:
    """Read the Secrets with the label of the request."""
    await noter.client.list(Secret, namespace="default", labels={"of": request.name})


async def test_lists_count_by_what_they_select() -> None:
    """A list that has gained, lost or changed an object runs its request; other changes of the kind do not."""
    program = Program(MemoryFingerprints(verify_within=LONG), list_secrets)
    async with program.running() as manager:
        for name in ("gains", "loses", "changes", "stays"):
            await manager.live_client.create(config_map(name))
            made = secret(f"of-{name}")
            made.metadata.labels = {"of": name}
            await manager.live_client.create(made)
        await settled(manager)
    async with Manager(program.manager.config) as other:
        client = other.live_client
        made = secret("more")
        made.metadata.labels = {"of": "gains"}
        await client.create(made)
        await client.create(secret("unrelated"))
        await client.delete(Secret, Key("default", "of-loses"))
        changed = await client.get(Secret, Key("default", "of-changes"))
        await client.patch(changed, MergePatch({"data": {"x": "eA=="}}))
    assert await runs_after_restart(program) == ["changes", "gains", "loses"]


async def test_lists_that_no_request_has_read_again_are_forgotten() -> None:
    """Of the lists that a start compares, those of requests that were not restored do not stay."""
    lists = True

    async def run(noter: Noter, request: Request) -> None:
        if lists:
            await noter.client.list(Secret, namespace="default", labels={"of": request.name})

    program = Program(MemoryFingerprints(verify_within=LONG), run)
    await filled(program, web="x", shop="x")
    async with Manager(program.manager.config) as other:
        client = other.live_client
        await client.patch(await client.get(ConfigMap, Key("default", "web")), MergePatch({"data": {"x": "y"}}))
    lists = False
    async with program.running() as manager:
        await settled(manager)
        assert program.runs == ["web"]
        (kind,) = program.controller.subscriptions.kinds.values()
        assert [str(read.view()) for read in kind.reads()] == ["list of Secret in namespace default, labels of=shop"]
