"""Helpers of the tests of StatefulSets."""

from __future__ import annotations

import asyncio
from typing import Any

from pyctrl.api import ObjectMeta
from pyctrl.client import Client, MergePatch, wait_for
from pyctrl.kinds.apps.v1 import (
    StatefulSet,
    StatefulSetSpec,
)
from pyctrl.kinds.meta.v1 import LabelSelector
from tests.unit.cluster._workloads import (
    LABELS,
    NAMESPACE,
    claim,
    key,
    run_all,
    template,
)

DB = key("db")


def stateful_set(replicas: int, **spec: Any) -> StatefulSet:
    """Make a StatefulSet with a claim for each pod."""
    made = StatefulSetSpec(
        replicas=replicas,
        service_name="svc",
        selector=LabelSelector(match_labels=LABELS),
        template=template(),
        volume_claim_templates=[claim("data")],
        **spec,
    )
    return StatefulSet(metadata=ObjectMeta(name=DB.name, namespace=NAMESPACE), spec=made)


async def change(client: Client, **spec: Any) -> None:
    """Patch the set's spec."""
    await client.patch(StatefulSet, DB, MergePatch({"spec": spec}))


async def new_image(client: Client, image: str, **strategy: Any) -> None:
    """Patch the set's template and update strategy."""
    await change(client, template=template(image).to_wire(), **({"updateStrategy": strategy} if strategy else {}))


async def settled(client: Client, replicas: int) -> StatefulSet:
    """Run all pods until a number of them is available at the update revision."""

    def is_done(found: StatefulSet) -> bool:
        status = found.status
        is_seen = status.observed_generation == found.metadata.generation
        return is_seen and status.updated_replicas == status.available_replicas == status.replicas == replicas

    for _ in range(20):
        await asyncio.sleep(1)
        await run_all(client)
        if is_done(await client.get(StatefulSet, DB)):
            break
    return await wait_for(client, StatefulSet, DB, is_done)
