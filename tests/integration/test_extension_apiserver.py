"""An extension API server behind the aggregator of a real API server, or of the embedded one with the same flags."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest
import pytest_asyncio

from pyctrl.api import GroupVersionKind, Key, ObjectMeta, Unstructured
from pyctrl.apiserver import CertificateAuthority
from pyctrl.cli._envtest.binary_assets import write_binary_assets
from pyctrl.client import Client, Config, wait_for
from pyctrl.errors import ServiceUnavailable
from pyctrl.extension_apiserver import APIResource, ExtensionAPIServer, api_service_names, api_services
from pyctrl.kinds.core.v1 import Namespace, Service, ServicePort, ServiceSpec
from pyctrl.kinds.rbac.v1 import ClusterRole, ClusterRoleBinding, PolicyRule, RoleRef, Subject
from pyctrl.manager import Manager
from pyctrl.testing import control_plane
from pyctrl.webhook import Lifetimes, ManagedCertificates
from pyctrl.webhook import Service as ServiceAddress
from tests.integration._kubectl import Kubectl
from tests.unit.extension_apiserver._flavors import GROUP, DictStorage, Fischer, FischerSpec, Flavor

pytestmark = pytest.mark.slow("a real API server of its own takes ten seconds to start")

API_SERVICE = GroupVersionKind("apiregistration.k8s.io", "v1", "APIService")
PATIENCE = 60.0
NAME = "wardle"
#: Numbers of namespaces: each test has its own, as a deleted one is terminating for some seconds.
NUMBERS = count(1)
# A certificate is valid from five minutes ago on, and renewed after two thirds: after some seconds.
LIFETIME = timedelta(seconds=162)


@pytest.fixture(scope="module")
def admin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Config, Path]]:
    """The administrator of an API server of its own, whose aggregator has a certificate."""
    directory = tmp_path_factory.mktemp("front-proxy")
    authority = CertificateAuthority.new("front proxy")
    issued = authority.client("front-proxy-client")
    for name, content in (("ca.crt", authority.certificate), ("tls.crt", issued.certificate), ("tls.key", issued.key)):
        (directory / name).write_bytes(content)
    flags = {
        "proxy-client-cert-file": directory / "tls.crt",
        "proxy-client-key-file": directory / "tls.key",
        "requestheader-client-ca-file": directory / "ca.crt",
        "requestheader-allowed-names": "front-proxy-client",
        "requestheader-username-headers": "X-Remote-User",
        "requestheader-group-headers": "X-Remote-Group",
        "requestheader-extra-headers-prefix": "X-Remote-Extra-",
    }
    assets = Path(os.environ.get("KUBEBUILDER_ASSETS", "") or tmp_path_factory.mktemp("assets"))
    if "KUBEBUILDER_ASSETS" not in os.environ:
        write_binary_assets(assets, {})
    with control_plane(assets, apiserver_flags=[f"--{name}={value}" for name, value in flags.items()]) as plane:
        yield Config.from_kubeconfig(plane.kubeconfig), plane.kubeconfig


@dataclass(frozen=True, slots=True)
class Served:
    """A running extension API server, and an administrator's client and kubectl of the API server in front of it."""

    client: Client
    kubectl: Kubectl
    server: ExtensionAPIServer
    certificates: ManagedCertificates
    config: Config


@pytest_asyncio.fixture
async def served(admin: tuple[Config, Path]) -> AsyncIterator[Served]:
    """Kinds that the API server proxies to this process."""
    config, kubeconfig = admin
    async with Client.connect(config) as client, _running(config, client, kubeconfig) as served:
        yield served
        for name in api_service_names([Flavor]):
            await client.delete(await client.get(API_SERVICE, Key("", name)))


@asynccontextmanager
async def _running(config: Config, client: Client, kubeconfig: Path) -> AsyncIterator[Served]:
    address = ServiceAddress(f"{NAME}-{next(NUMBERS)}", NAME)
    await client.create(Namespace(metadata=ObjectMeta(name=address.namespace)))
    async with Manager(config) as manager:
        server = ExtensionAPIServer(
            Fischer, APIResource(Flavor, DictStorage()), client=manager.live_client, host="127.0.0.1", port=0
        )
        certificates = ManagedCertificates(
            manager.live_client,
            secret=Key(address.namespace, "wardle-cert"),
            target=address,
            api_services=api_service_names(server.kinds),
            lifetimes=Lifetimes(certificate=LIFETIME, settling=timedelta(seconds=1)),
            interval=timedelta(seconds=0.5),
        )
        server.listen_at(certificates=certificates)
        manager.add(certificates)
        manager.add(certificates.rotation)
        manager.add(server)
        async with manager.running():
            await _publish(client, server, address)
            yield Served(client, Kubectl(kubeconfig, "default"), server, certificates, config)


async def _publish(client: Client, server: ExtensionAPIServer, address: ServiceAddress) -> None:
    """Create the Service, which leads to this machine, and the APIServices; wait until they are available."""
    spec = ServiceSpec(type="ExternalName", external_name="localhost", ports=[ServicePort(port=server.port)])
    await client.create(Service(metadata=ObjectMeta(name=address.name, namespace=address.namespace), spec=spec))
    for each in api_services(server.kinds, replace(address, port=server.port)):
        await client.apply(Unstructured(each), force=True)
    async with asyncio.timeout(PATIENCE):
        for name in api_service_names(server.kinds):
            await wait_for(client, API_SERVICE, Key("", name), _is_available)
        while await _is_refused(client):
            pass  # the proxy of kube-apiserver follows the condition a moment later


async def _is_refused(client: Client) -> bool:
    try:
        await client.list(Flavor)
    except ServiceUnavailable:
        return True
    return False


def _is_available(found: Unstructured | None) -> bool:
    conditions = ((found.get("status") or {}).get("conditions") or ()) if found is not None else ()
    return any(each["type"] == "Available" and each["status"] == "True" for each in conditions)


FLAVOR = f"""
apiVersion: {GROUP}/v1
kind: Flavor
metadata: {{name: vanilla}}
sweetness: 7
"""


async def test_kubectl_works_with_the_kinds(served: Served) -> None:
    """Through the aggregator, kubectl creates, reads, explains, applies, watches and deletes the kinds."""
    kubectl = served.kubectl
    assert "flavors" in await kubectl("api-resources", "--api-group", GROUP)
    assert await kubectl("create", "-f", "-", stdin=FLAVOR) == f"flavor.{GROUP}/vanilla created"
    assert (await kubectl("get", "flavors")).splitlines()[1].split()[:2] == ["vanilla", "7"]
    async with asyncio.timeout(PATIENCE):
        while "sweetness" not in (await kubectl.outcome("explain", f"flavors.{GROUP}")).out:
            pass  # kube-apiserver fetches the OpenAPI document a moment later
    applied = FLAVOR.replace("7", "9")
    assert "serverside-applied" in await kubectl(
        "apply", "--server-side", "--force-conflicts", "-f", "-", stdin=applied
    )
    assert await kubectl("get", "fl", "vanilla", "-o", "jsonpath={.sweetness}") == "9"
    refused = await kubectl.outcome("apply", "-f", "-", stdin=FLAVOR.replace("7", "11"))
    assert "should be less than or equal to 10" in refused.err
    watched = await kubectl("get", "flavors", "-w", "--request-timeout", "2s", "--no-headers")
    assert watched.startswith("vanilla")
    deleted = await kubectl("delete", "flavor", "vanilla")
    assert deleted.startswith(f'flavor.{GROUP} "vanilla" deleted')
    assert "No resources found" in (await kubectl.outcome("get", "flavors")).err


async def test_objects_in_the_memory_of_the_server_are_watched(served: Served) -> None:
    """A watch through the aggregator has the changes of a kind in memory; status and scale have endpoints."""
    client = served.client
    made = Fischer(metadata=ObjectMeta(name="f", namespace="default"), spec=FischerSpec(replicas=1))
    created = await client.create(made)
    async with asyncio.timeout(PATIENCE):
        watch = client.watch(Fischer, resource_version=created.metadata.resource_version)
        await served.kubectl("scale", f"fischers.{GROUP}/f", "--replicas", "3")
        async for event in watch:
            assert (event.type, event.object.spec.replicas) == ("MODIFIED", 3)
            break
        await watch.aclose()
    await client.delete(created)


async def test_roles_of_the_cluster_decide(served: Served) -> None:
    """A user without a role is forbidden, with kube-apiserver's message; with a role, the user reads."""
    refused = await served.kubectl.outcome("get", "flavors", "--as", "jane")
    assert f'User "jane" cannot list resource "flavors" in API group "{GROUP}"' in refused.err
    client = served.client
    rule = PolicyRule(api_groups=[GROUP], resources=["flavors"], verbs=["list"])
    await client.apply(ClusterRole(metadata=ObjectMeta(name="flavors"), rules=[rule]), force=True)
    group = "rbac.authorization.k8s.io"
    reference = RoleRef(api_group=group, kind="ClusterRole", name="flavors")
    subject = Subject(kind="User", name="joe", api_group=group)
    binding = ClusterRoleBinding(metadata=ObjectMeta(name="flavors"), role_ref=reference, subjects=[subject])
    await client.apply(binding, force=True)
    assert "No resources found" in (await served.kubectl.outcome("get", "flavors", "--as", "joe")).err


async def test_certificates_rotate_without_interruption(served: Served) -> None:
    """While the serving certificate is renewed, requests through the aggregator work."""
    assert served.certificates.keys is not None
    first = served.certificates.keys.certificate
    async with asyncio.timeout(PATIENCE):
        while served.certificates.keys.certificate == first:
            await served.client.list(Flavor)
    await served.client.list(Flavor)
