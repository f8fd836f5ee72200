"""The example of computed objects, in a cluster in the process."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from examples.flavors.flavors import Flavor, add_flavors
from pyctrl.api import Key, ObjectMeta, Quantity
from pyctrl.apiserver import User
from pyctrl.client import Client, Config
from pyctrl.cluster import Cluster
from pyctrl.errors import Forbidden, MethodNotAllowed
from pyctrl.extension_apiserver import ExtensionAPIServer
from pyctrl.kinds.core.v1 import ConfigMap, Node
from pyctrl.manager import Manager
from pyctrl.packaging import install, read_project, read_settings
from pyctrl.program import APIServerOptions, ProgramManager
from pyctrl.webhook import ManagedCertificates
from pyctrl.webhook._certificates.ca_injection import API_SERVICE
from tests.unit.extension_apiserver._flavors import ADMIN, Aggregator

EXAMPLES = Path(__file__).parents[3] / "examples"


async def test_nodes_are_counted_by_size() -> None:
    """`kubectl get flavors` has each size with the number of its nodes at this moment."""
    async with (
        Cluster(nodes=3, random=Random(1), rbac=True) as cluster,
        Manager(cluster.config) as manager,
        cluster.client() as admin,
    ):
        add_flavors(manager)
        (server,) = [each.runnable for each in manager.members if isinstance(each.runnable, ExtensionAPIServer)]
        async with Client.connect(Config.in_process(Aggregator(server, ADMIN))) as client:
            (flavor,) = await client.list(Flavor)
            assert flavor.nodes == 3
            assert (await client.get(Flavor, flavor.key)).cpu == flavor.cpu
            small = Node(metadata=ObjectMeta(name="small"))
            await admin.create(small)
            small = await admin.get(Node, Key("", "small"))
            small.status.capacity = {"cpu": Quantity("2"), "memory": Quantity("4Gi")}
            await admin.status.update(small)
            assert {each.metadata.name: each.nodes for each in await client.list(Flavor)} == {
                flavor.metadata.name: 3,
                "2cpu-4gi": 1,
            }
            with pytest.raises(MethodNotAllowed):
                await client.create(Flavor(metadata=ObjectMeta(name="mine")))


async def test_the_generated_rights_are_enough() -> None:
    """With the generated roles and bindings, the program reviews users, and keeps its certificate and CA."""
    project = await read_project(read_settings(EXAMPLES / "flavors"))
    async with Cluster(random=Random(1), rbac=True, nodes=2) as cluster, cluster.client() as admin:
        for document in install(project):
            await admin.apply(document, field_owner="test")
        async with ProgramManager(cluster.config_for_account(project.account)) as manager:
            manager.apiserver_options = APIServerOptions(service=project.apiserver_service, port=0)
            add_flavors(manager)
            (server,) = manager.api_servers
            for certificates in (each.runnable for each in manager.members):
                if isinstance(certificates, ManagedCertificates):
                    await certificates.keep()
            api_service = await admin.get(API_SERVICE, Key("", "v1.flavors.example.com"))
            assert api_service["spec"]["caBundle"]
            name = "metadata.name=extension-apiserver-authentication"
            await manager.live_client.list(ConfigMap, namespace="kube-system", fields=name)
            async with Client.connect(Config.in_process(Aggregator(server, User(name="jane")))) as client:
                with pytest.raises(Forbidden, match='User "jane" cannot list resource "flavors"'):
                    await client.list(Flavor)
            async with Client.connect(Config.in_process(Aggregator(server, ADMIN))) as client:
                assert [each.nodes for each in await client.list(Flavor)] == [2]
