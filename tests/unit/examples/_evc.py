"""The EphemeralVolumeClaim operator on its own cluster in virtual time, with helpers for tests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random

import yaml

from examples.evc.evc import EphemeralVolumeClaim, EvcSpec, add_evc
from pyctrl.api import Condition, Key, ObjectMeta, find_condition
from pyctrl.client import Client, MergePatch, wait_for
from pyctrl.cluster import Cluster
from pyctrl.controller import Controller
from pyctrl.kinds.apiextensions.v1 import CustomResourceDefinition
from pyctrl.kinds.core.v1 import PersistentVolumeClaim
from pyctrl.manager import Manager

CONFIG = Path(__file__).parents[3] / "examples" / "evc" / "config"
DEFINITION = CONFIG / "crd" / "bases" / "kopf.dev_ephemeralvolumeclaims.yaml"
KEY = Key("default", "my-claim")


def definition() -> CustomResourceDefinition:
    """Return the definition of the example."""
    return CustomResourceDefinition.from_wire(yaml.safe_load(DEFINITION.read_text()))


async def install(client: Client) -> None:
    """Install the definition and wait until it is served."""
    made = await client.create(definition())

    def is_served(found: CustomResourceDefinition) -> bool:
        return any(each.type == "Established" and each.status == "True" for each in found.status.conditions)

    await wait_for(client, CustomResourceDefinition, made.key, is_served)


@asynccontextmanager
async def operator(cluster: Cluster, *, finalizer: bool = False, seed: int = 2) -> AsyncIterator[Controller]:
    """Run the operator until the block ends."""
    async with Manager(cluster.config, random=Random(seed)) as manager:
        controller = add_evc(manager, finalizer=finalizer)
        async with manager.running():
            yield controller


def evc(size: object = "2G", name: str = KEY.name) -> EphemeralVolumeClaim:
    """Make a claim, without a size if the size is None."""
    spec = EvcSpec() if size is None else EvcSpec(size=size)
    return EphemeralVolumeClaim(metadata=ObjectMeta(name=name, namespace=KEY.namespace), spec=spec)


async def resized(client: Client, size: object) -> EphemeralVolumeClaim:
    """Change the size of the claim."""
    return await client.patch(EphemeralVolumeClaim, KEY, MergePatch({"spec": {"size": size}}))


def ready(claim: EphemeralVolumeClaim) -> Condition:
    """Return the condition of a claim, or an empty one if there is none."""
    return find_condition(claim.status.conditions, "Ready") or Condition(type="Ready", status="Unknown")


def is_so(reason: str) -> Callable[[EphemeralVolumeClaim], bool]:
    """Return whether a claim's condition has a reason and is current."""
    return lambda claim: ready(claim).reason == reason and claim.status.observed_generation == claim.metadata.generation


async def until(client: Client, reason: str, key: Key = KEY) -> EphemeralVolumeClaim:
    """Wait until the condition of a claim has this reason."""
    return await wait_for(client, EphemeralVolumeClaim, key, is_so(reason))


async def volume_claim(client: Client, key: Key = KEY) -> PersistentVolumeClaim:
    """Return the PersistentVolumeClaim."""
    return await client.get(PersistentVolumeClaim, key)
