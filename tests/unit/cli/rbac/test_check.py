"""Tests of `pyctrl rbac check`, for the login and for a service account."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from pyctrl.api import Key, ObjectMeta, Unstructured
from pyctrl.cli._rbac.check import checked
from pyctrl.client import Client
from pyctrl.cluster import Cluster
from pyctrl.kinds.core.v1 import ServiceAccount
from pyctrl.program import offline_manager
from pyctrl.rbac import manifests
from tests.unit.cli.conftest import Run

BOT = Key("ops", "bot")
TARGET = "examples.podset.podset:add_podset"


@pytest.fixture
async def admin() -> AsyncIterator[Client]:
    """A client of a cluster with RBAC, and a service account without permissions."""
    async with Cluster(rbac=True, kubelet=False) as cluster, cluster.client() as client:
        await client.create(Unstructured({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ops"}}))
        await client.create(ServiceAccount(metadata=ObjectMeta(name=BOT.name, namespace=BOT.namespace)))
        yield client


async def test_what_an_account_lacks_is_listed_with_what_grants_it(admin: Client) -> None:
    """Each missing permission is a line, and the commands that grant the permissions follow."""
    found = await checked(admin, TARGET, own_namespace="default", account=BOT, watched=())
    text = found.text()
    assert not found.is_enough
    assert text.startswith("for system:serviceaccount:ops:bot:\nmissing  list and watch pods at the cluster scope\n")
    assert "missing  patch podsets.apps.jicki.cn/status at the cluster scope\n" in text
    assert f"\n  pyctrl rbac generate {TARGET} --service-account ops:bot | kubectl apply -f -\n" in text
    assert "  kubectl create clusterrolebinding ops:bot:pods:list-watch --clusterrole=ops:bot:pods:list-watch" in text


async def test_what_is_granted_is_listed_as_allowed(admin: Client) -> None:
    """With its generated roles the account has all permissions, and the output lists only allowed ones."""
    async with offline_manager(TARGET, namespaces=["web"]) as manager:
        granted = manager.grants(own_namespace="ops")
    await admin.create(Unstructured({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "web"}}))
    for document in manifests(granted, name="bot", account=BOT):
        await admin.create(Unstructured(document))
    found = await checked(admin, TARGET, own_namespace="default", account=BOT, watched=["web"])
    text = found.text()
    assert found.is_enough
    assert "allowed  create, list, patch and watch deployments.apps in namespace 'web'" in text.splitlines()
    assert "missing" not in text
    wire = found.to_wire()
    assert (wire["user"], wire["allowed"]) == ("system:serviceaccount:ops:bot", True)
    deployments = {"group": "apps", "resource": "deployments", "namespace": "web"}
    assert {"verdict": "allowed", "verb": "create", **deployments}.items() <= wire["reviews"][0].items()


async def test_the_login_itself_is_reviewed_where_no_account_is_named(admin: Client) -> None:
    """Without an account the login is checked, and shown with its user name on the server."""
    found = await checked(admin, TARGET, own_namespace="default", account=None, watched=())
    text = found.text()
    assert found.is_enough
    assert text.startswith("for kubernetes-admin:\nallowed  list and watch pods at the cluster scope")


def test_an_account_without_a_namespace_is_refused(run: Run) -> None:
    """An invalid service account is an error before any request."""
    ran = run("rbac", "check", TARGET, "--service-account", "bot")
    assert (ran.code, ran.out) == (1, "")
    assert "NAMESPACE:NAME, such as default:jenkins; got 'bot'" in ran.err
