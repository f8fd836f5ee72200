"""The configuration of the examples, applied to a cluster as the documentation describes."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random

import pytest
import yaml

from pyctrl.api import Key
from pyctrl.client import Client, wait_for, wait_for_list
from pyctrl.cluster import Cluster
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.kinds.core.v1 import Pod
from pyctrl.packaging import ConfigDirectory, install, problems_of, read_project, read_settings, tree

EXAMPLES = Path(__file__).parents[3] / "examples"
DEPLOYED = ["podset", "evc", "sampledb", "05_schedule", "09_database", "flavors", "guestbook"]


@pytest.mark.parametrize("example", DEPLOYED)
async def test_an_example_is_deployed(example: str) -> None:
    """Each example deploys in order without unknown fields, and its pod runs as the account with the permissions."""
    project = await read_project(read_settings(EXAMPLES / example))
    async with Cluster(random=Random(1), rbac=True) as cluster, cluster.client() as client:
        for document in install(project):
            await client.apply(document, field_owner="test")
        await _runs(client, project.account, project.account.name)


async def test_the_inventory_is_applied_in_one_go() -> None:
    """The inventory, a server with hand-written manifests, deploys in one go."""
    async with Cluster(random=Random(1), rbac=True) as cluster, cluster.client() as client:
        for file in ("role.yaml", "service.yaml"):
            for document in yaml.safe_load_all((EXAMPLES / "inventory" / "config" / file).read_text()):
                await client.apply(document, field_owner="test")
        await _runs(client, Key("testing", "k8s-test-operator"), "k8s-test-operator")


async def _runs(client: Client, key: Key, account: str) -> None:
    await wait_for(client, Deployment, key, lambda found: found.status.ready_replicas == 1)
    (pod,) = await wait_for_list(client, Pod, lambda pods: len(pods) == 1, namespace=key.namespace)
    assert pod.spec.service_account_name == account
    assert pod.status.phase == "Running"


def test_a_directory_is_applied_in_the_order_of_its_names() -> None:
    """`kubectl apply -f examples/inventory/config/` creates the namespace first."""
    assert sorted(path.name for path in (EXAMPLES / "inventory" / "config").iterdir()) == ["role.yaml", "service.yaml"]


@pytest.mark.parametrize("example", DEPLOYED)
def test_the_files_of_an_example_are_those_of_its_program(example: str) -> None:
    """`pyctrl manifests --check` reports nothing for an example, and its samples are valid."""
    project = asyncio.run(read_project(read_settings(EXAMPLES / example)))  # the rest is no work for an event loop
    texts = tree(project)
    assert ConfigDirectory(EXAMPLES / example / "config").differences(texts) == []
    for path in texts:
        if path.startswith("samples/") and not path.endswith("kustomization.yaml"):
            assert problems_of((EXAMPLES / example / "config" / path).read_text(), project.definitions, path) == []
