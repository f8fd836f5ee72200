"""Both example operators behind one interface, for tests of faults."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import yaml

from examples.evc.evc import EphemeralVolumeClaim, add_evc
from examples.podset.podset import PodSet, add_podset
from pyctrl.api import Key, KubernetesObject, is_condition_true
from pyctrl.client import Client, Config, InProcessTransport, MergePatch, wait_for
from pyctrl.controller import Controller
from pyctrl.kinds.apiextensions.v1 import CustomResourceDefinition
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.kinds.core.v1 import PersistentVolumeClaim
from pyctrl.manager import Manager
from pyctrl.testing import FaultyTransport, RandomFaults, Rule

CONFIG = Path(__file__).parents[3] / "examples"


@dataclass(frozen=True, kw_only=True)
class Example:
    """An operator, and how to check that it has done its work."""

    name: str
    kind: type[KubernetesObject]
    #: The kind that it creates: an object with the same name for each of its objects.
    made: type[KubernetesObject]
    add: Callable[[Manager], Controller]
    #: Makes the spec of an object of size n.
    spec: Callable[[int], Any]
    has: Callable[[Any, int], bool]
    #: Globs of the paths of the objects that it creates and reports on.
    creates: str
    reports: str

    def new(self, name: str, size: int = 2) -> Any:
        """Make an object."""
        return self.kind.from_wire(
            {**self._names(), "metadata": {"name": name, "namespace": "default"}, "spec": self.spec(size)}
        )

    def documents(self, *files: str) -> list[Any]:
        """Return the documents in its configuration files."""
        texts = [path.read_text() for file in files for path in sorted((CONFIG / self.name / "config").glob(file))]
        return [document for text in texts for document in yaml.safe_load_all(text)]

    async def resize(self, client: Client, name: str, size: int) -> None:
        """Change the requested size."""
        await client.patch(self.kind, key(name), MergePatch({"spec": self.spec(size)}))

    async def settled(self, client: Client, name: str, size: int = 2, *, timeout: float | None = 60.0) -> Any:
        """Wait until an object of this size has all that it needs and reports so."""
        return await wait_for(client, self.kind, key(name), lambda found: self.has(found, size), timeout=timeout)

    def _names(self) -> dict[str, str]:
        return {"apiVersion": self.kind.gvk.api_version, "kind": self.kind.gvk.kind}


def _evc_has(claim: EphemeralVolumeClaim, size: int) -> bool:
    status = claim.status
    is_current = status.observed_generation == claim.metadata.generation
    return is_current and status.size == f"{size}G" and is_condition_true(status.conditions, "Ready")


EVC = Example(
    name="evc",
    kind=EphemeralVolumeClaim,
    made=PersistentVolumeClaim,
    add=add_evc,
    spec=lambda size: {"size": f"{size}G"},
    has=_evc_has,
    creates="*/persistentvolumeclaims",
    reports="*/ephemeralvolumeclaims/*",
)
PODSET = Example(
    name="podset",
    kind=PodSet,
    made=Deployment,
    add=add_podset,
    spec=lambda size: {"size": size},
    has=lambda podset, size: len(podset.status.nodes) == size,
    creates="*/deployments",
    reports="*/podsets/*/status",
)


def key(name: str) -> Key:
    """Return the key of an object."""
    return Key("default", name)


async def install(client: Client, example: Example) -> None:
    """Install the definition of an example and wait until it is served."""
    made = await client.create(CustomResourceDefinition.from_wire(example.documents("crd/bases/*.yaml")[0]))

    def is_served(found: CustomResourceDefinition) -> bool:
        return any(each.type == "Established" and each.status == "True" for each in found.status.conditions)

    await wait_for(client, CustomResourceDefinition, made.key, is_served)


class Operator:
    """One process of an operator as seen from outside: a manager with its own connection."""

    def __init__(
        self,
        config: Config,
        example: Example,
        *,
        seed: int,
        rules: tuple[Rule, ...] = (),
        random_faults: RandomFaults | None = None,
    ) -> None:
        assert config.application is not None
        inner = InProcessTransport(config.application, credentials=config.credentials)
        self.transport = FaultyTransport(inner, rules, random_faults=random_faults)
        self._example, self._seed = example, seed

    async def run(self) -> None:
        """Run until cancelled, then end immediately as a killed process does."""
        async with Manager(
            client=Client(self.transport), random=Random(self._seed), grace_period=timedelta(0)
        ) as manager:
            self._example.add(manager)
            await manager.run()

    @property
    def writes(self) -> list[tuple[str, str]]:
        """Methods and paths of its writes and attempted writes, without Events."""
        requests = [each for each in self.transport.requests if each.method != "GET"]
        return [(each.method, each.path) for each in requests if not each.path.endswith("/events")]


@asynccontextmanager
async def running(operator: Operator) -> AsyncIterator[asyncio.Task[None]]:
    """Run an operator until the block ends or the given task is cancelled."""
    task = asyncio.create_task(operator.run())
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
