"""The session of the seed with a real kubectl and the inventory, on any cluster."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
import yaml

from pyctrl.api import Key
from pyctrl.client import Client, wait_for_list, wait_until_gone
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.kinds.core.v1 import Pod, Service
from pyctrl.testing import ClusterUnderTest
from tests.integration._inventory import ACCOUNT, LABELS, STUB, Site, over_https, prepared
from tests.integration._kubectl import Kubectl

pytestmark = [
    pytest.mark.rbac,
    pytest.mark.real_time,  # sockets and processes
    pytest.mark.slow("each command is a process, which asks for discovery anew"),
    pytest.mark.timeout(60),
]

SELECTED = "--selector=app=k8s-test-app"


@pytest.fixture
async def site(cluster: ClusterUnderTest, client: Client, namespace: str, running_pods: None) -> AsyncIterator[Site]:
    """A cluster that kubectl reaches, where pods run and the account has no permissions yet."""
    async with over_https(cluster) as served, prepared(served, namespace) as site:
        yield site


@pytest.fixture
async def kubectl(site: Site, tmp_path: Path) -> AsyncIterator[Kubectl]:
    """kubectl for the administrator, with the example's configuration in the directory `config`."""
    (tmp_path / "kubeconfig").write_text(site.cluster.config.to_kubeconfig())
    (tmp_path / "config").mkdir()
    for file in ("role.yaml", "service.yaml"):
        (tmp_path / "config" / file).write_text(yaml.safe_dump_all(site.documents(file)))
    yield Kubectl(tmp_path / "kubeconfig", site.namespace)
    await site.forbid()


async def test_the_session_of_the_seed(site: Site, kubectl: Kubectl) -> None:
    """After `kubectl apply` of the directory, every request succeeds and kubectl shows the author's results."""
    applied = await kubectl("apply", "-f", "config/")
    assert f"serviceaccount/{ACCOUNT} created" in applied
    assert f"clusterrolebinding.rbac.authorization.k8s.io/{site.cluster_role} created" in applied
    assert f"deployment.apps/{ACCOUNT} created" in applied
    await site.allow()
    async with site.visit(await site.login(ACCOUNT)) as visitor:
        for path in ("/deployments", "/services"):
            assert (await visitor.post(path))[0] == 200
        await wait_for_list(site.admin, Pod, two_are_ready, namespace=site.namespace, labels=LABELS)
        head, *pods = rows(await kubectl("get", "pods", SELECTED))
        assert head == ["NAME", "READY", "STATUS", "RESTARTS", "AGE"]
        assert [pod[1:4] for pod in pods] == [["1/1", "Running", "0"]] * 2
        head, service = rows(await kubectl("get", "svc", SELECTED))
        assert head == ["NAME", "TYPE", "CLUSTER-IP", "EXTERNAL-IP", "PORT(S)", "AGE"]
        assert (service[0], service[1], service[3]) == (STUB, "NodePort", "<none>")
        assert service[4].startswith("80:3")
        assert service[4].endswith("/TCP")
        assert (await visitor.delete(f"/{STUB}"))[0] == 200
    for kind in (Deployment, Service):
        await wait_until_gone(site.admin, kind, Key(site.namespace, STUB))
    nothing = await kubectl.outcome("get", "deployment,svc", SELECTED)
    assert (nothing.out, nothing.err) == ("", f"No resources found in {site.namespace} namespace.\n")


async def test_a_pod_runs_as_the_account_that_its_deployment_names(site: Site, kubectl: Kubectl) -> None:
    """After kubectl edit sets serviceAccountName on a Deployment, its new pods run as that account."""
    await site.allow()
    await kubectl("create", "deployment", "operator-test", "--image=nginx:alpine")
    assert await account_of_pods(site) == "default"
    named = f"serviceAccountName: {ACCOUNT}\n      terminationGracePeriodSeconds"
    edited = await kubectl("edit", "deployment", "operator-test", editing=("terminationGracePeriodSeconds", named))
    assert edited == "deployment.apps/operator-test edited"
    assert await account_of_pods(site, without="default") == ACCOUNT


async def test_a_glob_after_f_is_one_file_and_arguments(site: Site, kubectl: Kubectl) -> None:
    """kubectl rejects `apply -f *.yaml`, because -f takes one file, but accepts the directory."""
    await site.allow()
    refused = await kubectl.outcome("apply", "-f", "config/role.yaml", "config/service.yaml")
    assert (refused.code, refused.err.splitlines()[0]) == (1, "error: Unexpected args: [config/service.yaml]")
    assert "created" in await kubectl("apply", "-f", "config/")


def rows(table: str) -> list[list[str]]:
    """Split kubectl's output into words."""
    return [line.split() for line in table.splitlines()]


def two_are_ready(pods: Sequence[Pod]) -> bool:
    ready = [condition.status for pod in pods for condition in pod.status.conditions if condition.type == "Ready"]
    return ready == ["True", "True"]


async def account_of_pods(site: Site, *, without: str = "") -> str:
    """Wait until a pod of operator-test runs as a different account, and return that account."""

    def others(pods: Sequence[Pod]) -> list[str]:
        # Without the ServiceAccount admission plugin, pods have no name for `default`.
        accounts = [pod.spec.service_account_name or "default" for pod in pods]
        return [account for account in accounts if account != without]

    labels = {"app": "operator-test"}
    return others(
        await wait_for_list(site.admin, Pod, lambda pods: bool(others(pods)), namespace=site.namespace, labels=labels)
    )[0]
