"""The configuration of the examples, applied to a cluster as their pages say."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
import yaml

from examples.evc.evc import EphemeralVolumeClaim
from examples.podset.podset import PodSet
from pyctrl.api import Key, KubernetesObject
from pyctrl.client import wait_for, wait_for_list
from pyctrl.cluster import Cluster
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.kinds.core.v1 import Pod
from pyctrl.manifests import definition
from pyctrl.rbac import to_yaml

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.mark.parametrize(
    ("example", "files", "key"),
    [
        ("podset", ["crd.yaml", "role.yaml", "manager.yaml"], Key("podset-system", "podset-operator")),
        ("evc", ["crd.yaml", "role.yaml", "manager.yaml"], Key("evc-system", "evc-operator")),
        ("inventory", ["role.yaml", "service.yaml"], Key("testing", "k8s-test-operator")),
    ],
)
async def test_an_example_is_applied_in_one_go(example: str, files: list[str], key: Key) -> None:
    """Nothing is needed before its turn, every field is known, and the pod runs as the account with the rights."""
    async with Cluster(random=Random(1), rbac=True) as cluster, cluster.client() as client:
        for file in files:
            for document in yaml.safe_load_all((EXAMPLES / example / "config" / file).read_text()):
                await client.apply(document, field_owner="test")
        await wait_for(client, Deployment, key, lambda found: found.status.ready_replicas == 1)
        (pod,) = await wait_for_list(client, Pod, lambda pods: len(pods) == 1, namespace=key.namespace)
    assert pod.spec.service_account_name == key.name
    assert pod.status.phase == "Running"


def test_a_directory_is_applied_in_the_order_of_its_names() -> None:
    """`kubectl apply -f examples/inventory/config/`: the file with the namespace comes first."""
    assert sorted(path.name for path in (EXAMPLES / "inventory" / "config").iterdir()) == ["role.yaml", "service.yaml"]


@pytest.mark.parametrize(("example", "kind"), [("podset", PodSet), ("evc", EphemeralVolumeClaim)])
def test_the_definition_of_an_example_is_that_of_its_types(example: str, kind: type[KubernetesObject]) -> None:
    """`config/crd.yaml` is what the types of the example make."""
    assert (EXAMPLES / example / "config" / "crd.yaml").read_text() == to_yaml([definition(kind)])
