"""The SampleDB operator on its own cluster in virtual time, with helpers for tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

import yaml

from examples.sampledb.api import SampleDB, SampleDBSpec
from examples.sampledb.reconciler import add_sampledb
from pyctrl.api import Key, ObjectMeta, find_condition
from pyctrl.client import Client, MergePatch, wait_for
from pyctrl.cluster import Cluster
from pyctrl.controller import Controller
from pyctrl.kinds.batch.v1 import Job
from pyctrl.kinds.core.v1 import PersistentVolumeClaim
from pyctrl.manager import Manager
from pyctrl.program import install_definitions

CONFIG = Path(__file__).parents[3] / "examples" / "sampledb" / "config"
DEFINITION = CONFIG / "crd" / "bases" / "databases.example.com_sampledbs.yaml"
KEY = Key("default", "shop")


async def install(client: Client) -> None:
    """Install the definition of the example."""
    await install_definitions(client, [yaml.safe_load(DEFINITION.read_text())])


@asynccontextmanager
async def operator(cluster: Cluster, *, seed: int = 2) -> AsyncIterator[Controller]:
    """Run the operator until the block ends."""
    async with Manager(cluster.config, random=Random(seed)) as manager:
        controller = add_sampledb(manager)
        async with manager.running():
            yield controller


def sampledb(**spec: Any) -> SampleDB:
    """Make a database, of version 1 by default."""
    wanted = SampleDBSpec(**{"version": 1} | spec)
    return SampleDB(metadata=ObjectMeta(name=KEY.name, namespace=KEY.namespace), spec=wanted)


async def changed(client: Client, **spec: Any) -> SampleDB:
    """Change the spec of the database, by its JSON names."""
    return await client.patch(SampleDB, KEY, MergePatch({"spec": spec}))


async def until(client: Client, reason: str, *, kind: str = "Ready", timeout: float = 600.0) -> SampleDB:
    """Wait until a condition of the database has this reason and is current."""

    def is_so(found: SampleDB) -> bool:
        condition = find_condition(found.status.conditions, kind)
        is_current = found.status.observed_generation == found.metadata.generation
        return is_current and condition is not None and condition.reason == reason

    return await wait_for(client, SampleDB, KEY, is_so, timeout=timeout)


def message(database: SampleDB, kind: str = "Ready") -> str:
    """Return the message of a condition."""
    condition = find_condition(database.status.conditions, kind)
    return condition.message if condition else ""


async def names(client: Client, kind: type[Job | PersistentVolumeClaim]) -> list[str]:
    """Return the names of Jobs or volume claims."""
    return sorted(each.metadata.name for each in await client.list(kind))


async def backups(client: Client) -> list[str]:
    """Return the names of backup Jobs in the order of their times."""
    return [name for name in await names(client, Job) if name.startswith("shop-backup-")]


async def container(client: Client, job: str) -> tuple[str, list[str]]:
    """Return the image and arguments of a Job."""
    (found,) = (await client.get(Job, Key("default", job))).spec.template.spec.containers
    return (found.image or "").rpartition("/")[2], list(found.args)
