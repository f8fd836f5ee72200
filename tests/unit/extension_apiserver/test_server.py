"""An extension API server delegates authentication and authorization, and serves its kinds."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from pyctrl._headers import Headers
from pyctrl.api import Key, KubernetesObject, ObjectMeta
from pyctrl.apiserver import FRONT_PROXY, AuditLog, CertificateAuthority, Peer, User
from pyctrl.client import Client, MergePatch
from pyctrl.cluster import Cluster
from pyctrl.errors import ConfigError, Forbidden
from pyctrl.extension_apiserver import APIResource, ExtensionAPIServer, in_process_host, in_process_objects
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.kinds.rbac.v1 import ClusterRole, ClusterRoleBinding, PolicyRule, RoleRef, Subject
from pyctrl.manager import Manager
from pyctrl.webhook import Conversion, Spoke
from tests.unit.extension_apiserver._flavors import (
    GROUP,
    DictStorage,
    Fischer,
    FischerSpec,
    Flavor,
    client_of,
    served,
)

FLAVORS = f"/apis/{GROUP}/v1/namespaces/default/flavors"
PROXY, CLIENTS, SERVING = (CertificateAuthority.new(name) for name in ("front proxy", "clients", "serving"))


@pytest_asyncio.fixture
async def cluster() -> AsyncIterator[Cluster]:
    """A cluster with RBAC."""
    async with Cluster(rbac=True, controllers=False, kubelet=False, random=Random(1)) as cluster:
        yield cluster


async def grant(client: Client, user: str, *verbs: str) -> None:
    """Let a user access Flavors."""
    rule = PolicyRule(api_groups=[GROUP], resources=["flavors"], verbs=[*verbs])
    await client.create(ClusterRole(metadata=ObjectMeta(name=user), rules=[rule]))
    reference = RoleRef(api_group="rbac.authorization.k8s.io", kind="ClusterRole", name=user)
    subject = Subject(kind="User", name=user, api_group="rbac.authorization.k8s.io")
    await client.create(ClusterRoleBinding(metadata=ObjectMeta(name=user), role_ref=reference, subjects=[subject]))


async def test_users_have_the_rights_of_the_cluster(cluster: Cluster) -> None:
    """The roles of the cluster decide what a user may do, by kube-apiserver's SubjectAccessReviews."""
    async with cluster.client() as admin:
        await grant(admin, "jane", "list")
    async with served(Flavor, cluster=cluster) as server:

        async def status(method: str, user: str) -> int:
            headers = Headers([("X-Remote-User", user)])
            return (await server.handle(method, FLAVORS, [], headers, b"{}", peer=Peer("", FRONT_PROXY))).status

        assert (await status("GET", "jane"), await status("DELETE", "jane"), await status("GET", "joe")) == (
            200,
            403,
            403,
        )


async def test_the_message_of_forbidden_is_kube_apiservers() -> None:
    """A user without rights gets the 403 that a built-in kind gives."""
    async with client_of(Flavor, user=User(name="joe")) as client:
        with pytest.raises(Forbidden) as refused:
            await client.get(Flavor, Key("default", "vanilla"))
    assert (refused.value.user, refused.value.verb, refused.value.resource) == ("joe", "get", "flavors")


async def test_reviews_are_cached(cluster: Cluster) -> None:
    """Several requests of a user within ten seconds need one SubjectAccessReview."""
    posted: list[bytes] = []
    cluster.server._audit = AuditLog(posted.append)
    async with served(Flavor, cluster=cluster) as server:
        for _ in range(3):
            headers = Headers([("X-Remote-User", "jane"), ("X-Remote-Group", "a"), ("X-Remote-Group", "b")])
            await server.handle("GET", FLAVORS, [], headers, b"", peer=Peer("", FRONT_PROXY))
    reviews = [each for each in posted if b"subjectaccessreviews" in each]
    assert len(reviews) == 1


async def test_direct_clients_have_a_token(cluster: Cluster) -> None:
    """A token is reviewed by the cluster; other tokens get 401, no token is anonymous."""
    async with served(Flavor, cluster=cluster) as server:

        async def status(headers: dict[str, str], path: str = FLAVORS) -> int:
            return (await server.handle("GET", path, [], headers, b"")).status

        token = cluster.server.issue_token(User(name="root", groups=("system:masters",)))
        assert await status({"Authorization": f"Bearer {token}"}) == 200
        assert await status({"Authorization": "Bearer nonsense"}) == 401
        assert await status({}) == 403
        paths = ("/healthz", "/livez", "/readyz", "/apis")
        assert [await status({}, path) for path in paths] == [200, 200, 200, 403]
        assert await status({"X-Remote-User": "root", "X-Remote-Group": "system:masters"}) == 403


async def test_an_unreachable_cluster_denies(cluster: Cluster) -> None:
    """Without an answer to the review, the request fails."""
    client = cluster.client()
    server = ExtensionAPIServer(Flavor, client=client)
    await client.aclose()
    headers = Headers([("X-Remote-User", "jane")])
    response = await server.handle("GET", FLAVORS, [], headers, b"", peer=Peer("", FRONT_PROXY))
    assert response.status == 500


async def test_discovery_has_the_kinds_only() -> None:
    """The server has its own groups, and none of kube-apiserver's."""
    async with client_of(Flavor, APIResource(Fischer, DictStorage())) as client:
        names = {mapping.gvk.kind for mapping in await client.discovery.mappings()}
        assert names == {"Flavor", "Fischer"}


async def test_objects_in_the_memory_of_the_server() -> None:
    """A class alone is stored in memory, with a status, versions and a watch."""
    async with client_of(Fischer) as client:
        created = await client.create(Fischer(metadata=ObjectMeta(name="f", namespace="default"), spec=FischerSpec()))
        created.status.replicas = 3
        await client.status.update(created)
        events = []
        async with asyncio.timeout(10):
            async for event in client.watch(Fischer, resource_version=created.metadata.resource_version):
                events.append((event.type, event.object.status.replicas))
                break
        assert events == [("MODIFIED", 3)]


class NewFischer(KubernetesObject, group=GROUP, version="v1", kind="Fischer", plural="fischers"):
    """A version of Fischer."""

    replicas: int = 0


class OldFischer(KubernetesObject, group=GROUP, version="v1beta1", kind="Fischer", plural="fischers"):
    """An older version of Fischer, with another field."""

    count: int = 0


async def test_versions_are_converted_in_the_process() -> None:
    """A kind in memory can have several versions, which a conversion of the program converts."""
    conversion = Conversion(
        NewFischer,
        Spoke(
            OldFischer,
            to_hub=lambda old: NewFischer(metadata=old.metadata, replicas=old.count),
            from_hub=lambda new: OldFischer(metadata=new.metadata, count=new.replicas),
        ),
    )
    resource = APIResource(NewFischer, versions=(OldFischer,), conversion=conversion)
    async with client_of(resource) as client:
        await client.create(OldFischer(metadata=ObjectMeta(name="f", namespace="default"), count=3))
        assert (await client.get(NewFischer, Key("default", "f"))).replicas == 3
        assert [each.count for each in await client.list(OldFischer)] == [3]


def test_a_storage_implements_something(tmp_path: Path) -> None:
    """A storage without any interface is refused when the server is made."""

    class Nothing:
        pass

    with pytest.raises(ValueError, match="supports no verb"):
        ExtensionAPIServer(APIResource(Flavor, Nothing()), client=None)  # type: ignore[arg-type]


def config_map(**data: str) -> ConfigMap:
    """Return the ConfigMap of the cluster."""
    name = ObjectMeta(name="extension-apiserver-authentication", namespace="kube-system")
    lists = {
        "requestheader-allowed-names": '["front-proxy-client"]',
        "requestheader-username-headers": '["X-Remote-User"]',
        "requestheader-group-headers": '["X-Remote-Group"]',
        "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
    }
    return ConfigMap(metadata=name, data={**lists, **data})


def tls(tmp_path: Path, authority: CertificateAuthority | None, name: str) -> ssl.SSLContext:
    """Return the TLS context of a client with a certificate."""
    context = ssl.create_default_context(cadata=SERVING.certificate.decode())
    if authority is not None:
        issued, file = authority.client(name, ["system:masters"]), tmp_path / "client.pem"
        file.write_bytes(issued.certificate + issued.key)
        context.load_cert_chain(file)
    return context


@pytest.mark.real_time
async def test_certificates_over_tls(cluster: Cluster, tmp_path: Path) -> None:
    """Over TLS, the proxy's certificate brings users in headers, and a client certificate its own user.

    The authorities of the ConfigMap are followed while the server runs.
    """
    issued = SERVING.server()
    (tmp_path / "tls.crt").write_bytes(issued.certificate)
    (tmp_path / "tls.key").write_bytes(issued.key)
    async with cluster.client() as client, Manager(cluster.config) as manager:
        authorities = {
            "client-ca-file": CLIENTS.certificate.decode(),
            "requestheader-client-ca-file": PROXY.certificate.decode(),
        }
        await client.apply(config_map(**authorities), force=True)
        server = ExtensionAPIServer(Flavor, client=manager.live_client, certificates=tmp_path, host="127.0.0.1", port=0)
        manager.add(server)

        async def status(authority: CertificateAuthority | None, name: str, user: str = "") -> int:
            headers = {"X-Remote-User": user, "X-Remote-Group": "system:masters"} if user else {}
            context = tls(tmp_path, authority, name)
            async with aiohttp.ClientSession() as session:
                url = f"https://127.0.0.1:{server.port}{FLAVORS}"
                async with session.get(url, headers=headers, ssl=context) as response:
                    return response.status

        async with manager.running():
            assert server.why_not_ready == ""
            assert await status(PROXY, "front-proxy-client", "jane") == 200
            assert await status(PROXY, "another-client", "jane") == 401
            assert await status(CLIENTS, "root") == 200
            assert await status(None, "", "jane") == 403
            changed = {"data": {"requestheader-client-ca-file": CLIENTS.certificate.decode()}}
            found = await client.get(ConfigMap, config_map().key)
            await client.patch(found, MergePatch(changed))
            async with asyncio.timeout(10):
                while not await _fails(status(PROXY, "front-proxy-client", "jane")):
                    pass  # until the server has seen the change


async def _fails(call: Any) -> bool:
    try:
        return bool(await call != 200)
    except (aiohttp.ClientError, OSError):
        return True


async def test_a_certificate_is_needed(cluster: Cluster, tmp_path: Path) -> None:
    """A server without a certificate in its directory ends with an error that says what to do."""
    async with cluster.client() as client:
        await client.apply(config_map(), force=True)
        server = ExtensionAPIServer(Flavor, client=client, certificates=tmp_path)
        with pytest.raises(ConfigError, match="the extension API server has no certificate"):
            await server.run()


async def test_a_server_stops_while_it_waits_for_the_cluster(cluster: Cluster, tmp_path: Path) -> None:
    """A server whose cluster does not answer yet stops at once when it is asked to."""
    client = cluster.client()
    server = ExtensionAPIServer(Flavor, client=client, certificates=tmp_path)
    await client.aclose()
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        group.create_task(server.run())
        await asyncio.sleep(1)
        assert server.why_not_ready == "the extension API server has not started"
        server.ask_to_stop()


async def test_a_server_without_certificates_says_so(cluster: Cluster, caplog: pytest.LogCaptureFixture) -> None:
    """A server without certificates does not hold up the manager, and logs what to do."""
    async with Manager(cluster.config) as manager:
        manager.add(ExtensionAPIServer(Flavor, client=manager.live_client))
        async with manager.running():
            pass
    (record,) = [each for each in caplog.records if "does not listen" in each.message]
    assert "--apiserver-service" in record.__dict__["hint"]


def test_a_service_in_the_process_leads_to_no_other_host() -> None:
    """The Service resolves to the host under which its transport is, and the APIServices name the Service."""
    service, *found = in_process_objects([Flavor], Key("a", "wardle"))
    assert service["spec"]["externalName"] == in_process_host(Key("a", "wardle"))
    assert in_process_host(Key("a", "wardle")).endswith(".invalid")
    assert [each["spec"]["service"] for each in found] == [{"name": "wardle", "namespace": "a", "port": 443}]
