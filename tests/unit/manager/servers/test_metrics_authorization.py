"""Access to secured metrics, decided by an API server with RBAC, and once over TLS."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path

import aiohttp
import pytest

from pyctrl.api import AccessRule, Key, ObjectMeta, Unstructured
from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, Config
from pyctrl.cluster import Cluster
from pyctrl.errors import ConfigError
from pyctrl.kinds.core.v1 import ServiceAccount
from pyctrl.manager import Manager
from pyctrl.manager._servers.metrics_authorization import ScrapeGuard
from pyctrl.rbac import Grants, manifests
from tests.unit.client._authority import Authority

PROMETHEUS = Key("default", "prometheus")
NOBODY = Key("default", "nobody")


async def token_of(cluster: Cluster, account: Key) -> str:
    return await cluster.config_for_account(account).credentials.authorization() or ""


async def admit(admin: Client) -> Unstructured:
    """Create both accounts, and permit Prometheus to get metrics; return the binding."""
    for account in (PROMETHEUS, NOBODY):
        await admin.create(ServiceAccount(metadata=ObjectMeta(name=account.name, namespace=account.namespace)))
    rule = AccessRule(verbs=("get",), paths=("/metrics",))
    documents = manifests(Grants({"": (rule,)}), name="metrics-reader", account=PROMETHEUS)
    return [await admin.create(Unstructured(document)) for document in documents][-1]


async def test_who_may_get_metrics_passes_and_others_do_not() -> None:
    """A missing or unknown token gets a 401, a user without permission a 403 with the name; others get the metrics."""
    async with Cluster(rbac=True) as cluster, cluster.client() as admin:
        await admit(admin)
        guard = ScrapeGuard(lambda: admin)

        assert await guard.refusal(await token_of(cluster, PROMETHEUS), "/metrics") is None
        refused = await guard.refusal(await token_of(cluster, NOBODY), "/metrics")
        assert refused == (403, "Authorization denied for user system:serviceaccount:default:nobody\n")
        for header in ("", "Basic YWRtaW46YWRtaW4=", "Bearer ", "Bearer invented", "Bearer \udcff"):
            assert await guard.refusal(header, "/metrics") == (401, "Unauthorized\n")


async def test_an_answer_holds_for_a_while() -> None:
    """A positive answer is cached for five minutes: frequent scrapes send few requests; a removed role then counts."""
    async with Cluster(rbac=True) as cluster, cluster.client() as admin:
        binding = await admit(admin)
        guard = ScrapeGuard(lambda: admin)
        token = await token_of(cluster, PROMETHEUS)
        assert await guard.refusal(token, "/metrics") is None
        await admin.delete(binding)
        await asyncio.sleep(299)
        assert await guard.refusal(token, "/metrics") is None
        await asyncio.sleep(2)
        refused = await guard.refusal(token, "/metrics")
        assert refused is not None
        assert refused[0] == 403


async def test_who_cannot_ask_lets_nobody_pass() -> None:
    """Without permission for the reviews, a scrape gets 500 without details."""
    async with Cluster(rbac=True) as cluster, cluster.client() as admin:
        await admit(admin)
        async with Client.connect(cluster.config_for_account(NOBODY)) as client:
            guard = ScrapeGuard(lambda: client)
            refused = await guard.refusal(await token_of(cluster, PROMETHEUS), "/metrics")

    assert refused == (500, "Authentication failed: Forbidden\n")


async def test_the_rights_to_ask_are_declared_only_when_they_are_used(tmp_path: Path) -> None:
    """Permissions for the reviews are declared with secured metrics, and not without."""
    config = Config.in_process(ApiServer())
    for certificates, expected in ((None, False), (tmp_path, True)):
        async with Manager(config, metrics_bind_address=":0", metrics_certificates=certificates) as manager:
            granted = {access.resource for access in manager.grants().accesses()}
        assert ({"tokenreviews", "subjectaccessreviews"} <= granted) is expected


@pytest.mark.real_time
async def test_secured_metrics_are_served_over_tls(tmp_path: Path) -> None:
    """Secured metrics use TLS with the directory's certificate and require a token; missing files raise an error."""
    config = Config.in_process(ApiServer())
    async with Manager(config, metrics_bind_address="127.0.0.1:0", metrics_certificates=tmp_path) as manager:
        with pytest.raises(ConfigError, match="the metrics server's certificate cannot be read"):
            await manager.run(handle_signals=False)
    authority = Authority()
    issued = authority.server()
    (tmp_path / "tls.crt").write_bytes(issued.certificate)
    (tmp_path / "tls.key").write_bytes(issued.key)
    manager = Manager(config, metrics_bind_address="127.0.0.1:0", metrics_certificates=tmp_path)
    trust = ssl.create_default_context(cadata=authority.pem.decode())
    async with manager, manager.running(), aiohttp.ClientSession() as stranger:
        assert manager.metrics is not None
        url = f"https://127.0.0.1:{manager.metrics.server.port}/metrics"
        async with stranger.get(url, ssl=trust) as response:
            assert (response.status, await response.text()) == (401, "Unauthorized\n")
