"""A `pyctrl dev` session whose program is rewritten while it runs, in virtual time and without sockets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from pyctrl.api import GroupVersionKind, Key, Unstructured
from pyctrl.client import wait_for
from pyctrl.dev import DevOptions, DevSession, SessionState
from pyctrl.errors import CommandFailed, Invalid, NotFound
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.kinds.rbac.v1 import ClusterRole, Role
from pyctrl.program import Target
from tests.unit.dev._programs import CONVERSION, PROGRAM, SAMPLE, WEBHOOKS

pytestmark = pytest.mark.usefixtures("imports_as_before")


BOX = GroupVersionKind("dev.example.com", "v1", "Box")
KEY = Key("default", "sample")
FAILS = """

def add_boxes(manager):
    from pyctrl import Builder

    async def fails():
        raise OSError("no disk")

    Builder(manager).build(BoxReconciler())
    manager.add(fails)
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A program, and a sample beside it."""
    (tmp_path / "config" / "samples").mkdir(parents=True)
    (tmp_path / "config" / "samples" / "box.yaml").write_text(SAMPLE)
    (tmp_path / "config" / "samples" / "kustomization.yaml").write_text("resources: [box.yaml]\n")
    path = tmp_path / "boxes.py"
    path.write_text(PROGRAM)
    return path


@asynccontextmanager
async def session_of(file: Path, **options: Any) -> AsyncIterator[DevSession]:
    chosen = DevOptions(**{"controllers": False, "kubelet": False, **options})
    async with DevSession(Target.parse(str(file)), chosen) as session, asyncio.TaskGroup() as group:
        following = group.create_task(session.run())
        yield session
        following.cancel()


def box(name: str = "", *, size: int = 1) -> Unstructured:
    meta = {"name": name, "generateName": "box-", "namespace": "default"}
    return Unstructured({"apiVersion": "dev.example.com/v1", "kind": "Box", "metadata": meta, "spec": {"size": size}})


def state_of(session: DevSession) -> SessionState:
    """Return the state, of which a type checker assumes that it stays."""
    return session.state


async def says(session: DevSession, text: str, key: Key = KEY) -> Unstructured:
    return await wait_for(session.admin, BOX, key, lambda box: box.get("status", {}).get("said") == text, timeout=20)


async def test_one_command_is_enough(file: Path) -> None:
    """A session applies the CRD of the class, the permissions of the code, and the sample beside the file."""
    async with session_of(file) as session:
        await says(session, "one")
        role = await session.admin.get(ClusterRole, Key("", "boxes"))
        assert {verb for rule in role.rules for verb in rule.verbs} == {"create", "list", "watch", "patch", "update"}
        assert session.problem == ""


async def test_only_some_namespaces_are_watched(file: Path) -> None:
    """The namespaces are created, the program has permissions there only, and reconciles nothing elsewhere."""
    async with session_of(file, namespaces=["blue", "red"]) as session:
        created = box("one")
        created.metadata.namespace = "red"
        await session.admin.create(created)
        await says(session, "one", Key("red", "one"))
        assert "status" not in await session.admin.get(BOX, KEY)  # the sample, in the namespace default
        assert await session.admin.find(ClusterRole, Key("", "boxes")) is None
        for namespace in ("blue", "red"):
            await session.admin.get(Role, Key(namespace, "boxes"))
        assert session.problem == ""


async def test_a_save_brings_the_new_code_and_leaves_everything_else(file: Path) -> None:
    """A reload keeps objects and caches: no kind is listed again."""
    async with session_of(file) as session:
        before = await says(session, "one")
        informers = {each.gvk: each for each in session.cache.informers}
        file.write_text(PROGRAM.replace('"one"', '"two"'))
        again = await says(session, "two")
        assert session.reloads == 1
        assert again.metadata.uid == before.metadata.uid
        assert {each.gvk: each for each in session.cache.informers} == informers
        assert [each.relists for each in session.cache.statistics()] == [0, 0]


async def test_reconciles_have_five_seconds_to_end(file: Path) -> None:
    """A reload cancels a reconcile that takes a minute, and waits for one that takes two seconds."""
    for seconds, ends in ((60, False), (2, True)):
        slow = f"import asyncio; await asyncio.sleep({seconds}); print('ended')"
        file.write_text(PROGRAM.replace("if box is None:", f"{slow}\n        if box is None:"))
        async with session_of(file) as session:
            await asyncio.sleep(1)
            began, before = asyncio.get_running_loop().time(), session.manager
            file.write_text(PROGRAM.replace('"one"', '"two"'))
            await asyncio.sleep(0.5)
            assert state_of(session) is SessionState.RELOADING
            await says(session, "two")
            assert session.manager is not before
            assert state_of(session) is SessionState.RUNNING
            assert session.problem == ""
            assert (asyncio.get_running_loop().time() - began < 4) is ends
            assert asyncio.get_running_loop().time() - began < 7


async def test_a_type_that_stored_objects_may_not_fit_is_told_of(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A warning reports a schema change that may break stored objects; the new CRD is installed nevertheless."""
    async with session_of(file) as session:
        await says(session, "one")
        file.write_text(PROGRAM.replace("size: int = 1", 'colour: str = "red"').replace('"one"', '"two"'))
        await says(session, "two")
        (told,) = [record.getMessage() for record in caplog.records if "may break stored" in record.message]
        assert told.startswith(
            "Change of CustomResourceDefinition may break stored objects or clients: boxes.dev.example.com: "
            "version v1, spec.size: "
        )


async def test_what_cannot_be_imported_leaves_the_old_program_running(file: Path) -> None:
    """If an import fails, the error has the line, and the old version runs until the next valid save."""
    async with session_of(file) as session:
        await says(session, "one")
        file.write_text(PROGRAM + "\nraise ValueError('half')\n")
        await asyncio.sleep(5)
        (problem,) = session.problems
        assert problem.message == f"importing {file} failed: ValueError: half"
        assert problem.place.startswith(f"{file}:")
        assert problem.excerpt[0].endswith("| raise ValueError('half')")
        assert session.state is SessionState.OUTDATED
        await session.admin.create(box("b"))
        await says(session, "one", Key("default", "b"))
        file.write_text(PROGRAM.replace('"one"', '"two"'))
        await says(session, "two")
        assert session.problem == ""


async def test_a_missing_right_is_seen_and_comes_with_the_next_save(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The program has only the permissions that its code declares; the error names the missing one and the line."""
    file.write_text(PROGRAM.replace('allow(ConfigMap, "create")', ""))
    async with session_of(file) as session:
        await asyncio.sleep(3)
        (error,) = (run.error for run in session.journal.failures.values())
        assert error is not None
        assert "configmaps is forbidden" in error.message
        line = 1 + file.read_text().splitlines().index("            await self.client.create(content)")
        assert error.message.endswith('; rbac lacks allow(ConfigMap, "create")')
        assert error.place == f"{file}, line {line}"
        assert "allow(" in caplog.text
        file.write_text(PROGRAM)
        await says(session, "one")


async def test_rights_may_be_left_out_of_it(file: Path) -> None:
    """Without enforcement the program has an administrator's permissions."""
    file.write_text(PROGRAM.replace('allow(ConfigMap, "create")', ""))
    async with session_of(file, enforce_rights=False) as session:
        await says(session, "one")
        assert session.journal.failures == {}


async def test_kinds_that_come_and_go_follow_the_code(file: Path) -> None:
    """A changed CRD is installed again; a kind that the code no longer uses leaves the cache and the role."""
    async with session_of(file) as session:
        await says(session, "one")
        changes = {
            "owns = (ConfigMap,)": "owns = ()",
            "size: int": "length: int = 3\n    size: int",
            "await self.client.find(ConfigMap, request.key) is None": "box.spec.size < 0",
            'allow(ConfigMap, "create")': "",
        }
        text = PROGRAM
        for old, new in changes.items():
            text = text.replace(old, new)
        file.write_text(text)
        await asyncio.sleep(3)
        assert session.reloads == 1
        assert [each.gvk.kind for each in session.cache.informers] == ["Box"]
        role = await session.admin.get(ClusterRole, Key("", "boxes"))
        assert not [rule for rule in role.rules if "configmaps" in rule.resources]
        definition = await session.admin.get(
            GroupVersionKind("apiextensions.k8s.io", "v1", "CustomResourceDefinition"), Key("", "boxes.dev.example.com")
        )
        assert "length" in str(definition.to_wire())


async def test_the_server_asks_webhooks_without_any_set_up(file: Path) -> None:
    """Webhooks need no certificate and no port; each save changes, adds or removes them."""
    file.write_text(PROGRAM + WEBHOOKS)

    async with session_of(file) as session:
        assert (await session.admin.create(box(size=0)))["spec"]["size"] == 7
        with pytest.raises(Invalid, match="LIMIT"):
            await session.admin.create(box(size=11))
        file.write_text(PROGRAM + WEBHOOKS.replace("LIMIT", "ten is a lot"))
        await asyncio.sleep(2)
        with pytest.raises(Invalid, match="ten is a lot"):
            await session.admin.create(box(size=11))
        file.write_text(PROGRAM)
        await asyncio.sleep(2)
        assert (await session.admin.create(box(size=11)))["spec"]["size"] == 11


async def test_versions_are_converted_without_any_set_up(file: Path) -> None:
    """A version that a save adds is served, the hub is the storage version, and objects are converted in process."""
    old = GroupVersionKind("dev.example.com", "v1alpha1", "Box")
    async with session_of(file) as session:
        await says(session, "one")
        file.write_text(PROGRAM + CONVERSION)
        await asyncio.sleep(2)
        assert session.problem == ""
        assert (await session.admin.get(old, KEY))["spec"] == {"length": 2}
        meta = {"name": "b", "namespace": "default"}
        await session.admin.create(
            Unstructured(
                {"apiVersion": "dev.example.com/v1alpha1", "kind": "Box", "metadata": meta, "spec": {"length": 3}}
            )
        )
        assert (await says(session, "one", Key("default", "b")))["spec"] == {"size": 3}


async def test_without_samples_one_is_made_up(file: Path) -> None:
    """Without sample files each reconciled kind gets a generated sample, unless `apply` is empty."""
    for each in (file.parent / "config" / "samples").iterdir():
        each.unlink()
    async with session_of(file) as session:
        assert (await says(session, "one", Key("default", "box-sample")))["spec"] == {"size": 1}
    async with session_of(file, apply=()) as session:
        assert not await session.admin.list(BOX)


async def test_a_sample_that_is_saved_is_applied_again(file: Path) -> None:
    """A saved sample is applied again; an invalid one is reported and changes nothing."""
    sample = file.parent / "config" / "samples" / "box.yaml"
    async with session_of(file) as session:
        await says(session, "one")
        sample.write_text(SAMPLE.replace("size: 2", "size: 5"))
        await wait_for(session.admin, BOX, KEY, lambda found: found["spec"]["size"] == 5, timeout=10)
        sample.write_text("kind: [")
        await asyncio.sleep(2)
        assert str(sample) in session.problem


async def test_a_program_that_fails_leaves_the_session_alive(file: Path) -> None:
    """An error that stops the manager is reported; the next save starts the manager again."""
    file.write_text(PROGRAM + FAILS)
    async with session_of(file) as session:
        await asyncio.sleep(2)
        assert "boxes failed: OSError: no disk" in session.problem
        assert session.state is SessionState.STOPPED
        file.write_text(PROGRAM)
        await asyncio.sleep(2)
        await says(session, "one")


async def test_a_program_that_cannot_be_loaded_at_first_is_refused(file: Path) -> None:
    """A program that cannot be loaded at first fails the session with the error."""
    file.write_text("value =\n")
    with pytest.raises(CommandFailed, match="SyntaxError"):
        async with session_of(file):
            raise AssertionError("it has begun")


async def test_the_embedded_cluster_is_whole(file: Path) -> None:
    """The garbage collector deletes the objects that a deleted object owns."""
    async with session_of(file, controllers=True) as session:
        await says(session, "one")
        await session.admin.get(ConfigMap, KEY)
        await session.admin.delete(BOX, KEY)
        await asyncio.sleep(5)
        with pytest.raises(NotFound):
            await session.admin.get(ConfigMap, KEY)
