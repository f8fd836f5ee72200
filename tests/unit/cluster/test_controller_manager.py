"""The controllers of kube-controller-manager in a manager."""

from __future__ import annotations

from random import Random

from pyctrl.cluster import Cluster, add_controllers
from pyctrl.manager import Manager


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
