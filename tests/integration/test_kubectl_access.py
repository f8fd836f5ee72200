"""A real kubectl on an embedded cluster with RBAC, over TLS: without it kubectl sends no token."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from random import Random

import pytest

from pyctrl.api import ObjectMeta
from pyctrl.client import Config
from pyctrl.cluster import Cluster
from pyctrl.kinds.core.v1 import ServiceAccount
from tests.integration._kubectl import Kubectl, Outcome

pytestmark = [
    pytest.mark.real_time,  # sockets and processes
    pytest.mark.slow("each command is a process, which asks for discovery anew"),
    pytest.mark.timeout(30),
]


class Guarded:
    """A cluster with RBAC, and kubectl for its administrator and for the service account `bot`."""

    def __init__(self, cluster: Cluster, config: Config, directory: Path) -> None:
        (directory / "kubeconfig").write_text(config.to_kubeconfig())
        self.cluster = cluster
        self.admin = Kubectl(directory / "kubeconfig", "default")
        self._token = cluster.server.issue_account_token("default", "bot")

    async def bot(self, *arguments: str) -> Outcome:
        """Run a command as the service account."""
        return await self.admin.outcome(*arguments, f"--token={self._token}")


@pytest.fixture
async def guarded(tmp_path: Path) -> AsyncIterator[Guarded]:
    async with Cluster(random=Random(1), rbac=True, kubelet=False) as cluster, cluster.serve(tls=True) as config:
        async with cluster.client() as admin:
            await admin.create(ServiceAccount(metadata=ObjectMeta(name="bot", namespace="default")))
        yield Guarded(cluster, config, tmp_path)


async def test_what_one_may_do_is_told_before_it_is_tried(guarded: Guarded) -> None:
    """can-i answers for the user and for impersonated users; a binding changes the answer."""
    asked = await guarded.bot("auth", "can-i", "list", "configmaps")
    assert (asked.code, asked.out) == (1, "no\n")
    refused = await guarded.bot("get", "configmaps")
    assert 'User "system:serviceaccount:default:bot" cannot list resource "configmaps"' in refused.err

    await guarded.admin("create", "rolebinding", "bot", "--clusterrole=view", "--serviceaccount=default:bot")
    assert (await guarded.bot("auth", "can-i", "list", "configmaps")).out == "yes\n"
    assert "kube-root-ca.crt" in (await guarded.bot("get", "configmaps")).out
    as_bot = "--as=system:serviceaccount:default:bot"
    assert (await guarded.admin.outcome("auth", "can-i", "delete", "configmaps", as_bot)).out == "no\n"
    assert await guarded.admin("auth", "can-i", "delete", "configmaps") == "yes"


async def test_who_one_is_and_all_that_one_may_do(guarded: Guarded) -> None:
    """whoami names a service account and its groups; --list has only the permissions of all users."""
    told = (await guarded.bot("auth", "whoami")).out
    assert "system:serviceaccount:default:bot" in told
    assert "system:serviceaccounts:default" in told
    rules = (await guarded.bot("auth", "can-i", "--list")).out
    assert "selfsubjectreviews.authentication.k8s.io" in rules
    assert "[/version]" in rules
    assert "*.*" not in rules
    assert "*.*" in await guarded.admin("auth", "can-i", "--list")


async def test_a_requested_token_logs_in(guarded: Guarded) -> None:
    """A token of `create token` authenticates as its account; an invalid one is rejected."""
    token = await guarded.admin("create", "token", "bot")
    assert "system:serviceaccount:default:bot" in await guarded.admin("auth", "whoami", f"--token={token}")
    wrong = await guarded.admin.outcome("get", "configmaps", "--token=wrong")
    assert "You must be logged in to the server" in wrong.err


async def test_nobody_grants_what_they_do_not_have(guarded: Guarded) -> None:
    """A user cannot grant permissions that the user lacks, and the error names them."""
    await guarded.admin("create", "role", "writer", "--verb=create", "--resource=roles.rbac.authorization.k8s.io")
    await guarded.admin("create", "rolebinding", "writer", "--role=writer", "--serviceaccount=default:bot")
    refused = await guarded.bot("create", "role", "r", "--verb=get", "--resource=secrets")
    assert "is attempting to grant RBAC permissions not currently held" in refused.err
    assert '{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}' in refused.err
