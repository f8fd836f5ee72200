"""The inventory running as a service account on a cluster with RBAC, and its configuration as a test applies it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml
from aiohttp.test_utils import TestClient, TestServer

from examples.inventory.inventory import LABELS, Inventory
from examples.inventory.inventory import NAME as STUB
from pyctrl.api import Access, AccessRule, Key, ObjectMeta
from pyctrl.apiserver import ApiServer, CertificateAuthority, serve
from pyctrl.client import Client, Config, wait_for
from pyctrl.kinds.authorization.v1 import ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec
from pyctrl.kinds.core.v1 import Namespace, ServiceAccount
from pyctrl.kinds.rbac.v1 import ClusterRole, ClusterRoleBinding
from pyctrl.rbac import Permission, PermissionScope, grants, manifests
from pyctrl.testing import ClusterUnderTest

__all__ = ["ACCOUNT", "LABELS", "NAMESPACE", "STUB", "Site", "Visitor", "over_https", "prepared"]

CONFIGURATION = Path(__file__).parents[2] / "examples" / "inventory" / "config"
ACCOUNT = "k8s-test-operator"
NAMESPACE = "testing"
PATIENCE = 45.0  # seconds until an API server applies new roles; on an idle machine some milliseconds


@dataclass(frozen=True, slots=True)
class Site:
    """A cluster with RBAC, its administrator, and the test's namespace instead of `testing`."""

    cluster: ClusterUnderTest
    admin: Client
    namespace: str

    def documents(self, file: str) -> Iterator[dict[str, Any]]:
        """Read a configuration file, with names that are unique on a shared cluster."""
        text = (CONFIGURATION / file).read_text()
        for document in yaml.safe_load_all(text.replace(f": {NAMESPACE}\n", f": {self.namespace}\n")):
            if document["kind"].startswith("ClusterRole"):
                document["metadata"]["name"] = self.cluster_role
            if document["kind"] == "ClusterRoleBinding":
                document["roleRef"]["name"] = self.cluster_role
            yield document

    @property
    def cluster_role(self) -> str:
        """The name of the cluster-scoped objects."""
        return ACCOUNT if self.namespace == NAMESPACE else f"{ACCOUNT}-{self.namespace}"

    async def allow(self) -> None:
        """Apply the account and its roles, and wait until they take effect."""
        for document in self.documents("role.yaml"):
            await self.admin.apply(document)
        async with Client.connect(await self.login(ACCOUNT)) as client:
            for access in self.rights():
                await until_allowed(client, access)

    async def take_away(self, right: Access) -> None:
        """Remove one permission from the account, and wait until that takes effect."""
        rest = [access for access in self.rights() if access != right]
        granted = grants(map(permission, rest), namespaces=None, own_namespace=self.namespace)
        for role in manifests(granted, name=ACCOUNT):
            if role["kind"] == "ClusterRole":
                role["metadata"]["name"] = self.cluster_role
            await self.admin.apply(role, force=True)
        async with Client.connect(await self.login(ACCOUNT)) as client, asyncio.timeout(PATIENCE):
            while await may(client, right):
                await asyncio.sleep(0.05)

    def rights(self) -> list[Access]:
        """Return all permissions that the inventory declares."""
        return grants(Inventory.rbac, namespaces=None, own_namespace=self.namespace).accesses()

    async def forbid(self) -> None:
        """Delete the cluster-scoped objects."""
        for kind in (ClusterRoleBinding, ClusterRole):
            await self.admin.delete(kind, Key("", self.cluster_role))

    async def login(self, account: str) -> Config:
        """Log in as an account of the namespace, with a token from the API server."""
        key = Key(self.namespace, account)
        await wait_for(self.admin, ServiceAccount, key)
        return await self.cluster.config_for_account(key)

    @asynccontextmanager
    async def visit(self, config: Config) -> AsyncIterator[Visitor]:
        """Serve the inventory with a login, and return a visitor."""
        async with Client.connect(config) as client:
            server = TestServer(Inventory(client, self.namespace).application())
            async with TestClient(server) as session:
                yield Visitor(session)


def permission(access: Access) -> Permission:
    """Return a permission as a program declares it."""
    rule = AccessRule(verbs=(access.verb,), groups=(access.group,), resources=(access.resource,))
    return Permission(rule=rule, where=PermissionScope.OWN if access.namespace else PermissionScope.CLUSTER)


async def until_allowed(client: Client, access: Access) -> None:
    """Wait until the client has a permission: an API server applies new roles a moment later."""
    try:
        async with asyncio.timeout(PATIENCE):
            while not await may(client, access):
                await asyncio.sleep(0.05)
    except TimeoutError:
        raise AssertionError(f"the roles of the configuration do not let {ACCOUNT} {access}") from None


async def may(client: Client, access: Access) -> bool:
    """Return whether the API server allows the client to do something."""
    asked = ResourceAttributes(
        verb=access.verb, group=access.group, resource=access.resource, namespace=access.namespace
    )
    review = SelfSubjectAccessReview(spec=SelfSubjectAccessReviewSpec(resource_attributes=asked))
    return bool((await client.create(review)).status.allowed)


@asynccontextmanager
async def over_https(cluster: ClusterUnderTest) -> AsyncIterator[ClusterUnderTest]:
    """Serve the embedded cluster to processes and to clients with tokens; other clusters are served already."""
    server = cluster.config.application
    if not isinstance(server, ApiServer):
        yield cluster
        return
    authority = CertificateAuthority.new()
    token = (await cluster.config.credentials.authorization() or "").removeprefix("Bearer ")
    async with serve(server, "127.0.0.1", 0, authority.server_context(["127.0.0.1"])) as url:
        yield replace(cluster, config=Config.from_token(url, token, ca=authority.certificate))


@asynccontextmanager
async def prepared(cluster: ClusterUnderTest, namespace: str) -> AsyncIterator[Site]:
    """Return a site; on the test's own cluster the namespace is that of the seed."""
    async with cluster.client() as admin:
        site = Site(cluster, admin, NAMESPACE if cluster.is_embedded else namespace)
        if cluster.is_embedded:
            await admin.create(Namespace(metadata=ObjectMeta(name=NAMESPACE)))
        await wait_for(admin, ServiceAccount, Key(site.namespace, "default"))
        yield site


class Visitor:
    """A user with curl."""

    def __init__(self, session: TestClient[Any, Any]) -> None:
        self._session = session

    async def get(self, path: str) -> tuple[int, Any]:
        """Send GET; return the code and the JSON of the answer."""
        return await self.send("GET", path)

    async def post(self, path: str) -> tuple[int, Any]:
        """Send POST."""
        return await self.send("POST", path)

    async def delete(self, path: str) -> tuple[int, Any]:
        """Send DELETE."""
        return await self.send("DELETE", path)

    async def send(self, method: str, path: str) -> tuple[int, Any]:
        """Send a request; return the code and the JSON of the answer."""
        async with self._session.request(method, path) as answer:
            return answer.status, await answer.json()
