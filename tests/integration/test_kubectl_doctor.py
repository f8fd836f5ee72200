"""The doctor's fixes, run as printed, with a real kubectl on any cluster."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pyctrl.client import Client
from pyctrl.kinds.core.v1 import Pod
from pyctrl.rbac import Permission, allow, grants
from pyctrl.testing import ClusterUnderTest
from tests.integration._kubectl import kubectl_for
from tests.integration._pitfalls import Site
from tests.unit.rbac import _seeds as seeds
from tests.unit.rbac._seeds import Object, parsed

pytestmark = [
    pytest.mark.real_time,  # sockets and processes
    pytest.mark.slow("each command is a process, which asks for discovery anew"),
    pytest.mark.timeout(60),
]


@pytest.fixture
async def shell(cluster: ClusterUnderTest, namespace: str, tmp_path: Path) -> AsyncIterator[Path]:
    """A directory with a kubeconfig for the cluster."""
    async with kubectl_for(cluster, namespace, tmp_path):
        yield tmp_path


async def run(script: str, home: Path) -> None:
    """Run the printed command, like a user who pastes it."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "KUBECONFIG": str(home / "kubeconfig")}
    process = await asyncio.create_subprocess_exec(
        "sh", "-ec", script, env=environment, stderr=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    _, errors = await process.communicate()
    assert process.returncode == 0, f"{script}\n{errors.decode()}"


BINDINGS = parsed(seeds.JENKINS, seeds.CLUSTER_ROLE, seeds.NARROW)
SLIP = parsed(seeds.JENKINS, seeds.ROLE, seeds.FOR_USER)
PODS = allow(Pod, "list", "watch")


@pytest.mark.parametrize(
    ("account", "objects", "needed"),
    [
        ("jenkins", SLIP, None),
        ("jenkins", BINDINGS, None),
        ("jenkins", [*SLIP[:2], *parsed(seeds.FOR_ACCOUNT, seeds.DEPLOYMENT)], None),
        ("jenkins", parsed(seeds.JENKINS), PODS),
        ("k8s-test-operator", parsed(seeds.INVENTORY), None),
    ],
    ids=["000.02", "000.03", "000.28", "000.05", "001.20"],
)
async def test_a_cure_cures(
    client: Client, namespace: str, shell: Path, account: str, objects: list[Object], needed: Permission | None
) -> None:
    """Pasting the fix of each error into a shell removes the error."""
    site, granted = Site(client, namespace), None
    if needed is not None:
        granted = grants([needed], namespaces=[namespace], own_namespace=namespace)
    async with site.with_objects(objects):
        errors = [each for each in (await site.examined(account, granted)).findings if each.severity == "error"]
        assert errors
        for each in errors:
            await run(each.fix, shell)
        assert not (await site.examined(account, granted)).has_errors
