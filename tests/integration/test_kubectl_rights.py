"""Accounts and roles made with kubectl, and mistakes that every cluster accepts silently."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import yaml

from pyctrl.api import Key
from pyctrl.client import Client, HttpRequest, wait_for
from pyctrl.kinds.core.v1 import Secret
from pyctrl.testing import ClusterUnderTest
from tests.integration._inventory import Site, over_https, prepared
from tests.integration._kubectl import Kubectl

pytestmark = [
    pytest.mark.rbac,
    pytest.mark.real_time,  # sockets and processes
    pytest.mark.slow("each command is a process, which asks for discovery anew"),
    pytest.mark.timeout(60),
]

TOKEN_SECRET = yaml.safe_dump(
    {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "jenkins-secret", "annotations": {"kubernetes.io/service-account.name": "jenkins"}},
        "type": "kubernetes.io/service-account-token",
    }
)


class Jenkins:
    """A service account without permissions, an administrator's kubectl, and unique names."""

    def __init__(self, site: Site, kubectl: Kubectl) -> None:
        self.site, self.admin = site, kubectl
        self.account = f"{site.namespace}:jenkins"
        self.name = f"evc-operator-{site.namespace}"  # of cluster-scoped objects

    def roles(self) -> str:
        """Write a Role, and a ClusterRole that has a namespace although it is cluster-scoped."""
        rules = [
            {"apiGroups": [""], "resources": ["*"], "verbs": ["*"]},
            {"apiGroups": ["kopf.dev"], "resources": ["*"], "verbs": ["*"]},
        ]
        definitions = {"apiGroups": ["apiextensions.k8s.io"], "resources": ["*"], "verbs": ["*"]}
        head = {"apiVersion": "rbac.authorization.k8s.io/v1"}
        role = {"metadata": {"name": "evc-operator", "namespace": self.site.namespace}, "kind": "Role", "rules": rules}
        whole = {"metadata": {"name": self.name, "namespace": "default"}, "kind": "ClusterRole"}
        return yaml.safe_dump_all([{**head, **role}, {**head, **whole, "rules": [*rules, definitions]}])

    async def may(self, *what: str) -> str:
        """Return the server's answer to whether the account may do something."""
        asked = await self.admin.outcome("auth", "can-i", *what, f"--as=system:serviceaccount:{self.account}")
        return asked.out.strip()


@pytest.fixture
async def jenkins(cluster: ClusterUnderTest, client: Client, namespace: str, tmp_path: Path) -> AsyncIterator[Jenkins]:
    """The account; cluster-scoped objects of a test are deleted afterwards."""
    async with over_https(cluster) as served, prepared(served, namespace) as site:
        (tmp_path / "kubeconfig").write_text(site.cluster.config.to_kubeconfig())
        kubectl = Kubectl(tmp_path / "kubeconfig", site.namespace)
        assert await kubectl("create", "serviceaccount", "jenkins") == "serviceaccount/jenkins created"
        made = Jenkins(site, kubectl)
        yield made
        for kind in ("clusterrolebinding", "clusterrole"):
            await kubectl("delete", kind, made.name, f"{made.name}、", "--ignore-not-found")


async def test_a_token_in_a_secret_as_it_was_done_before_tokens_were_requested(jenkins: Jenkins) -> None:
    """A service account token Secret is filled with a token, which describe shows and which logs in."""
    assert await jenkins.admin("create", "-f", "-", stdin=TOKEN_SECRET) == "secret/jenkins-secret created"
    filled = await wait_for(
        jenkins.site.admin,
        Secret,
        Key(jenkins.site.namespace, "jenkins-secret"),
        lambda secret: {"token", "ca.crt", "namespace"} <= secret.data.keys(),
    )
    token = base64.b64decode(filled.data["token"]).decode()
    assert token in await jenkins.admin("describe", "secret", "jenkins-secret")
    assert "jenkins-secret" in await jenkins.admin("describe", "sa", "jenkins")
    for shown in (token, await jenkins.admin("create", "token", "jenkins")):
        assert f"system:serviceaccount:{jenkins.account}" in await jenkins.admin("auth", "whoami", f"--token={shown}")


async def test_roles_and_bindings_as_the_author_got_them_right_in_the_end(jenkins: Jenkins) -> None:
    """A bound Role and ClusterRole grant permissions; the namespace of the ClusterRole is dropped."""
    assert await jenkins.may("list", "pvc") == "no"
    made = await jenkins.admin("create", "-f", "-", stdin=jenkins.roles())
    assert made.splitlines() == [
        "role.rbac.authorization.k8s.io/evc-operator created",
        f"clusterrole.rbac.authorization.k8s.io/{jenkins.name} created",
    ]
    assert await jenkins.admin("get", "clusterrole", jenkins.name, "-o", "jsonpath={.metadata.namespace}") == ""

    account = f"--serviceaccount={jenkins.account}"
    await jenkins.admin("create", "rolebinding", "jenkins-binding", "--role=evc-operator", account)
    assert await jenkins.may("list", "pvc") == "yes"
    assert await jenkins.may("list", "pvc", "-A") == "no"
    await jenkins.admin("create", "clusterrolebinding", jenkins.name, f"--clusterrole={jenkins.name}", account)
    assert await jenkins.may("list", "pvc", "-A") == "yes"
    assert await jenkins.may("get", "customresourcedefinitions.apiextensions.k8s.io") == "yes"


async def test_a_binding_to_a_user_that_nobody_is_changes_nothing(jenkins: Jenkins) -> None:
    """--user=jenkins is accepted, but grants the service account of that name nothing."""
    await jenkins.admin("create", "-f", "-", stdin=jenkins.roles())
    made = await jenkins.admin("create", "rolebinding", "jenkins-binding", "--role=evc-operator", "--user=jenkins")
    assert made == "rolebinding.rbac.authorization.k8s.io/jenkins-binding created"
    assert await jenkins.may("list", "pvc") == "no"


async def test_a_rolebinding_grants_a_clusterrole_in_one_namespace_only(jenkins: Jenkins) -> None:
    """A RoleBinding to a ClusterRole is accepted, but does not allow lists of all namespaces."""
    await jenkins.admin("create", "-f", "-", stdin=jenkins.roles())
    account = f"--serviceaccount={jenkins.account}"
    await jenkins.admin("create", "rolebinding", "jenkins-binding", f"--clusterrole={jenkins.name}", account)
    answers = [await jenkins.may("list", "pvc", *where) for where in ((), ("-A",), ("-n", "kube-system"))]
    assert answers == ["yes", "no", "no"]


async def test_a_role_that_is_not_there_is_bound_all_the_same(jenkins: Jenkins) -> None:
    """can-i names a missing bound role, even if only a full-width comma differs."""
    await jenkins.admin("create", "clusterrole", f"{jenkins.name}、", "--verb=list", "--resource=nodes")
    account = f"--serviceaccount={jenkins.account}"
    await jenkins.admin("create", "clusterrolebinding", jenkins.name, f"--clusterrole={jenkins.name}", account)
    await jenkins.admin("create", "rolebinding", "jenkins-binding", "--role=missing", account)

    told = await jenkins.may("list", "nodes")
    assert told.startswith("no - RBAC: ")
    assert f'clusterrole.rbac.authorization.k8s.io "{jenkins.name}" not found' in told
    assert 'role.rbac.authorization.k8s.io "missing" not found' in await jenkins.may("list", "pvc")


async def test_a_path_that_is_none_is_told_to_each_in_their_way(jenkins: Jenkins) -> None:
    """/kopf.dev/… is a plain text 404 for an administrator, and a 403 that names the path for the account."""
    wrong = HttpRequest(method="GET", path="/kopf.dev/ephemeralvolumeclaims")
    answer = await jenkins.site.admin.transport.request(wrong)
    assert (answer.status, answer.body.strip()) == (404, b"404 page not found")
    async with Client.connect(await jenkins.site.login("jenkins")) as client:
        answer = await client.transport.request(wrong)
    assert answer.status == 403
    assert json.loads(answer.body)["message"] == (
        f'forbidden: User "system:serviceaccount:{jenkins.account}" cannot get path "/kopf.dev/ephemeralvolumeclaims"'
    )
