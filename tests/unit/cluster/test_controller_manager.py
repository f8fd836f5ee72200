"""The controllers of kube-controller-manager in a manager."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from pyctrl.api import Key, ObjectMeta
from pyctrl.client import wait_for, wait_until_gone
from pyctrl.cluster import Cluster, add_controllers
from pyctrl.kinds.core.v1 import ConfigMap, Namespace, Pod, ServiceAccount
from pyctrl.manager import Manager
from tests.unit.cluster._deployments import template


async def test_the_controllers_of_workloads_are_added() -> None:
    """A manager gets the controllers of workloads, volumes, nodes and services."""
    async with Cluster(random=Random(1)) as cluster, Manager(cluster.config) as manager:
        add_controllers(manager)
        expected = {"garbage-collector", "deployment", "daemonset", "cronjob", "disruption"}
        assert manager.controller_names >= expected


async def test_account_tokens_need_a_signer() -> None:
    """The controller of token Secrets is added only with a function that signs tokens."""
    cluster = Cluster(random=Random(1))
    async with cluster, Manager(cluster.config) as without, Manager(cluster.config) as signing:
        add_controllers(without)
        add_controllers(signing, make_token=lambda *_: "token")
        assert signing.controller_names - without.controller_names == {"serviceaccount-tokens"}


async def test_one_controller_is_chosen() -> None:
    """A cluster with the namespace controller only empties namespaces and creates no service accounts."""
    cluster = Cluster(random=Random(1), controllers=["namespace-controller"], kubelet=False)
    async with cluster, cluster.client() as client:
        await client.create(Namespace(metadata=ObjectMeta(name="going")))
        await client.create(ConfigMap(metadata=ObjectMeta(name="c", namespace="going")))
        await client.delete(Namespace, Key("", "going"))
        await wait_until_gone(client, Namespace, Key("", "going"))
        assert await client.list(ServiceAccount) == []


@pytest.mark.parametrize("controllers", [False, ["namespace-controller"]])
async def test_nodes_run_pods_with_any_choice(controllers: Any) -> None:
    """Nodes lose the taint with which they are created, so pods run, whatever controllers were chosen."""
    cluster = Cluster(random=Random(1), controllers=controllers)
    async with cluster, cluster.client() as client:
        pod = template().spec
        await client.create(Pod(metadata=ObjectMeta(name="p", namespace="default"), spec=pod))
        await wait_for(client, Pod, Key("default", "p"), lambda pod: pod.status.phase == "Running")


def test_an_unknown_controller_is_refused() -> None:
    """The error for a wrong name has the names that exist."""
    wrong: Any = ["garbage-collector"]
    with pytest.raises(ValueError, match=r"got garbage-collector; there are: .*garbage-collector-controller"):
        Cluster(controllers=wrong)
