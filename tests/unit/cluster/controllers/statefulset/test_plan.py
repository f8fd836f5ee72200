"""The order of the steps of a StatefulSet, in virtual time, compared with a kube-controller-manager 1.36."""

from __future__ import annotations

import asyncio

from pyctrl.client import Client
from pyctrl.kinds.apps.v1 import (
    StatefulSetOrdinals,
)
from pyctrl.kinds.core.v1 import Pod
from tests.unit.cluster._statefulsets import change, new_image, settled, stateful_set
from tests.unit.cluster._workloads import (
    image_of,
    key,
    pods_of,
    run_all,
    set_phase,
    until_names,
    until_pods,
)


async def test_parallel_makes_all_at_once_from_the_first_number(client: Client) -> None:
    """Parallel creates all pods at once, with ordinals from ordinals.start."""
    await client.create(stateful_set(3, pod_management_policy="Parallel", ordinals=StatefulSetOrdinals(start=5)))
    await until_names(client, "db-5", "db-6", "db-7")
    await change(client, replicas=1)
    await until_names(client, "db-5")


async def test_below_the_partition_nothing_changes(client: Client) -> None:
    """Pods below the partition keep their revision, also when they are recreated."""
    await client.create(stateful_set(3))
    await settled(client, 3)
    await new_image(client, "other", type="RollingUpdate", rollingUpdate={"partition": 2})
    await until_pods(client, lambda pods: any(image_of(pod) == "other" for pod in pods))
    await run_all(client)
    await client.delete(Pod, key("db-0"))
    await until_names(client, "db-0", "db-1", "db-2")
    assert [image_of(pod) for pod in await pods_of(client)] == ["busybox", "busybox", "other"]


async def test_on_delete_waits_for_the_deletion(client: Client) -> None:
    """With OnDelete no pod is replaced automatically; a deleted pod is recreated from the new template."""
    await client.create(stateful_set(2))
    await settled(client, 2)
    await new_image(client, "other", type="OnDelete", rollingUpdate=None)
    await asyncio.sleep(60)
    assert [image_of(pod) for pod in await pods_of(client)] == ["busybox", "busybox"]
    await client.delete(Pod, key("db-0"))
    await until_pods(client, lambda pods: [image_of(pod) for pod in pods] == ["other", "busybox"])


async def test_scaling_down_deletes_the_highest_ordinal_first(client: Client) -> None:
    """Scaling down deletes the highest ordinal first, even if unready, and never two at a time."""
    await client.create(stateful_set(3))
    await settled(client, 3)
    broken = await client.get(Pod, key("db-2"))
    await set_phase(client, broken, "Running", is_ready=False)
    await change(client, replicas=1)
    await until_names(client, "db-0")


async def test_min_ready_seconds_hold_up_the_next_pod(client: Client) -> None:
    """The next pod is created only after the previous one has been ready for minReadySeconds."""
    await client.create(stateful_set(2, min_ready_seconds=30))
    await until_names(client, "db-0")
    await run_all(client)
    await asyncio.sleep(25)
    await until_names(client, "db-0")
    await asyncio.sleep(10)
    await until_names(client, "db-0", "db-1")
