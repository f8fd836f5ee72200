"""Replicas of an operator that divide its objects: as processes, and as `pyctrl shards` shows them."""

from __future__ import annotations

import json
import signal
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from examples.podset.podset import PodSet
from pyctrl import _clock
from pyctrl.api import Key, hash_field
from pyctrl.client import Client, MergePatch, wait_for_list
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.kinds.coordination.v1 import Lease
from pyctrl.manager import Ring
from pyctrl.testing import ClusterUnderTest
from tests.integration._commands import Shell
from tests.integration._operators import install, podset
from tests.integration._processes import Operator, example_process, kubeconfig_for

pytestmark = [pytest.mark.slow("starts processes, which import for a second each"), pytest.mark.timeout(120)]

RING = "podset"
NAMES = tuple(f"p{number}" for number in range(16))


async def working(client: Client, namespace: str, count: int) -> None:
    """Wait until some replicas work on all slots together, and no other one is left."""

    def is_so(leases: Sequence[Lease]) -> bool:
        phases = [each.phase for ring in Ring.read(leases, _clock.now()) for each in ring.members]
        return phases == ["working"] * count

    await wait_for_list(client, Lease, is_so, namespace=namespace)


async def sized(client: Client, namespace: str, size: int) -> None:
    """Wait until the Deployments of all PodSets have a size."""

    def is_so(found: Sequence[Deployment]) -> bool:
        return sorted(each.metadata.name for each in found if each.spec.replicas == size) == sorted(NAMES)

    await wait_for_list(client, Deployment, is_so, namespace=namespace)


def reconciled(replica: Operator, namespace: str) -> set[str]:
    """Return the names of the PodSets that a replica has reconciled."""
    lines = [f"{line} " for line in replica.log if "Reconcile successful" in line]
    return {name for name in NAMES if any(f"object={namespace}/{name} " in line for line in lines)}


def lease_of(replica: Operator) -> str:
    """Return the name of the Lease with which a replica has joined."""
    line = next(line for line in replica.log if "Joining the ring" in line)
    return line.partition("lock=")[2].split()[0].rpartition("/")[2]


def owner_of(uid: str, members: Sequence[dict[str, Any]]) -> str:
    """Return the member in whose ranges the hash of a uid is."""
    (owner,) = [
        member["name"]
        for member in members
        for start, end in (bounds.split("-") for bounds in member["ranges"])
        if int(start, 16) <= hash_field(uid) < int(end, 16)
    ]
    return str(owner)


async def test_two_replicas_divide_the_objects_and_the_last_one_takes_all(
    cluster: ClusterUnderTest, client: Client, namespace: str, tmp_path: Path
) -> None:
    """Each object is reconciled by the replica that `pyctrl shards` shows, and after a stop all by the other one."""
    await install(client)
    async with AsyncExitStack() as stack:
        kubeconfig = await stack.enter_async_context(kubeconfig_for(cluster, tmp_path))
        flags = ("--shards", "auto", "--leader-election-id", RING, "--leader-election-namespace", namespace)
        arguments = ("podset", "--verbose", "--kubeconfig", str(kubeconfig), *flags)
        one, two = [await stack.enter_async_context(example_process(*arguments)) for _ in range(2)]
        login = ("-n", namespace, "--kubeconfig", kubeconfig)
        await working(client, namespace, 2)

        made = [await client.create(podset(namespace, 0, name)) for name in NAMES]
        await sized(client, namespace, 0)
        shown = await Shell(tmp_path).pyctrl("shards", RING, "-o", "json", *login)
        (ring,) = json.loads(shown.out)["rings"]
        assert [member["state"] for member in ring["members"]] == ["working", "working"]
        assert (sum(member["slots"] for member in ring["members"]), ring["unassigned"]) == (1024, 0)
        for replica in (one, two):
            own = {
                each.metadata.name for each in made if owner_of(each.metadata.uid, ring["members"]) == lease_of(replica)
            }
            await replica.has_reconciled(namespace, *own)
            assert reconciled(replica, namespace) == own

        assert await one.end(signal.SIGTERM) == 0
        await working(client, namespace, 1)
        for name in NAMES:
            await client.patch(PodSet, Key(namespace, name), MergePatch({"spec": {"size": 1}}))
        await sized(client, namespace, 1)
        await two.has_reconciled(namespace, *NAMES)
        shown = await Shell(tmp_path).pyctrl("shards", *login)
        assert f"{namespace}/{RING}\n" in shown.out
        rows = [line.split() for line in shown.out.splitlines() if line.startswith(f"{RING}-")]
        assert [row[:4] for row in rows] == [[lease_of(two), "working", "1024", "(100.0%)"]]
        assert await two.end(signal.SIGTERM) == 0
        left = await Shell(tmp_path).pyctrl("shards", *login)
        assert (left.code, left.out) == (1, "")
        assert f"no ring in namespace {namespace}" in left.err
