"""Deploy and undeploy: applied and deleted objects, and error messages."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from random import Random

import pytest

from pyctrl.api import GroupVersionKind, Key, ObjectMeta, Unstructured
from pyctrl.client import Client
from pyctrl.cluster import Cluster
from pyctrl.errors import CommandFailed
from pyctrl.kinds.apiextensions.v1 import CustomResourceDefinition
from pyctrl.kinds.core.v1 import Namespace, Service
from pyctrl.kinds.rbac.v1 import ClusterRole, ClusterRoleBinding, Role
from pyctrl.packaging import Deployer, Project, changes, install
from tests.unit.packaging._programs import WEBHOOK, WIDGETS, of_text, podset

PODSETS = Key("", "podsets.apps.jicki.cn")
MINUTE = timedelta(minutes=1)


async def deploy(client: Client, project: Project) -> list[str]:
    """Deploy a project; return the steps."""
    return [str(step) async for step in Deployer(client, project).deploy()]


async def undeploy(client: Client, project: Project, *, delete_definitions: bool = False) -> list[str]:
    """Undeploy a project; return the steps."""
    steps = Deployer(client, project).undeploy(delete_definitions=delete_definitions)
    return [str(step) async for step in steps]


async def test_deployed_twice_it_is_there_once() -> None:
    """Deploying applies everything in order and waits for the program; deploying again removes nothing."""
    async with Cluster(random=Random(1), rbac=True) as cluster, cluster.client() as client:
        project = await podset()
        steps = await deploy(client, project)
        assert steps[:3] == [
            "applied Namespace podset-system",
            "applied CustomResourceDefinition podsets.apps.jicki.cn",
            "applied ServiceAccount podset-system/podset-controller-manager",
        ]
        await Deployer(client, project).wait(MINUTE)
        assert await deploy(client, project) == steps


async def test_what_a_version_needs_no_more_goes() -> None:
    """A Service and roles that a new version no longer needs are deleted, and other objects are kept."""
    async with Cluster(random=Random(1), rbac=True) as cluster, cluster.client() as client:
        await deploy(client, await podset())
        other = await podset(name="other")
        await deploy(client, other)
        removed = [step for step in await deploy(client, await podset(metrics="off")) if step.startswith("removed")]
        assert removed == [
            "removed Service podset-system/podset-controller-manager-metrics-service",
            "removed ClusterRoleBinding podset-metrics-auth-rolebinding",
            "removed ClusterRole podset-metrics-auth-role",
            "removed ClusterRole podset-metrics-reader",
        ]
        assert await client.find(Service, Key("other-system", "other-controller-manager-metrics-service")) is not None


async def test_definitions_stay_unless_they_are_to_go() -> None:
    """Undeploy keeps definitions and their objects unless requested; the namespace is deleted last."""
    async with Cluster(random=Random(1), rbac=True) as cluster, cluster.client() as client:
        before = {role.key for role in (await client.list(ClusterRole)).items}
        project = await podset()
        await deploy(client, project)
        steps = await undeploy(client, project)
        assert steps[0] == "kept CustomResourceDefinition podsets.apps.jicki.cn"
        assert steps[-1] == "removed Namespace podset-system"
        assert await client.find(CustomResourceDefinition, PODSETS) is not None

        assert await undeploy(client, project, delete_definitions=True) == [
            "removed CustomResourceDefinition podsets.apps.jicki.cn"
        ]
        assert await client.find(CustomResourceDefinition, PODSETS) is None
        assert {role.key for role in (await client.list(ClusterRole)).items} == before
        assert not [each for each in (await client.list(ClusterRoleBinding)).items if "podset" in each.metadata.name]
        assert await undeploy(client, project, delete_definitions=True) == []


async def test_a_namespace_of_somebody_else_stays() -> None:
    """A namespace that existed before gets no labels and is not deleted."""
    async with Cluster(random=Random(1), rbac=True) as cluster, cluster.client() as client:
        await client.create(Namespace(metadata=ObjectMeta(name="theirs")))
        project = await podset(namespace="theirs")
        await deploy(client, project)
        assert len((await client.list(Role, namespace="theirs")).items) == 1
        await undeploy(client, project)
        assert await client.find(Namespace, Key("", "theirs")) is not None
        assert (await client.list(Role, namespace="theirs")).items == []


async def test_what_is_missing_is_said() -> None:
    """Deploying without a kubelet or controller manager fails after the timeout with the missing part."""
    project = await podset()
    async with Cluster(random=Random(1), rbac=True, kubelet=False) as cluster, cluster.client() as client:
        await deploy(client, project)
        with pytest.raises(
            CommandFailed, match=r"is not available after 60s:\n  pod podset-controller-manager-.*no node"
        ):
            await Deployer(client, project).wait(MINUTE)
    async with Cluster(random=Random(1), rbac=True, controllers=False) as cluster, cluster.client() as client:
        await deploy(client, project)
        with pytest.raises(CommandFailed, match=r"no controller reconciles Deployments in this cluster"):
            await Deployer(client, project).wait(MINUTE)


async def test_a_kind_that_the_cluster_has_not_is_named_with_its_cure() -> None:
    """A kind that the cluster lacks is named with a solution: a ServiceMonitor needs the Prometheus operator."""
    async with Cluster(random=Random(1), rbac=True) as cluster, cluster.client() as client:
        with pytest.raises(
            CommandFailed, match="does not serve ServiceMonitor: install the Prometheus operator, or leave out"
        ):
            await deploy(client, await podset(prometheus=True))


async def test_webhooks_go_first(tmp_path: Path) -> None:
    """Undeploy deletes webhook configurations first, because the API server cannot call a deleted program."""
    async with Cluster(random=Random(1), rbac=True) as cluster, cluster.client() as client:
        project = await of_text(tmp_path, WIDGETS + WEBHOOK)
        assert (await deploy(client, project))[-1].startswith("applied ValidatingWebhookConfiguration")
        assert (await undeploy(client, project))[1].startswith("removed ValidatingWebhookConfiguration")
        kind = GroupVersionKind("example.com", "v1", "Widget")
        made = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a", "namespace": "default"}}
        spec = {"size": 4, "colour": "red", "name": "box-1", "schedule": "* * * * *", "parts": ["a"]}
        await client.create(Unstructured({**made, "spec": spec}))
        assert await client.find(kind, Key("default", "a")) is not None


async def test_what_would_change_is_shown_and_nothing_does() -> None:
    """A preview changes nothing and shows all objects before, none after, and one line for another image."""
    async with Cluster(random=Random(1), rbac=True) as cluster, cluster.client() as client:
        project = await podset(image="podset:1")
        before = [each.diff async for each in changes(client, install(project))]
        assert len(before) == len(install(project))
        assert before[0].startswith("--- /dev/null\n+++ Namespace podset-system (program)\n")
        assert await client.find(Namespace, Key("", "podset-system")) is None

        await deploy(client, project)
        assert [each.diff async for each in changes(client, install(project))] == []

        (text,) = [each.diff async for each in changes(client, install(await podset(image="podset:2")))]
        changed = [line.strip() for line in text.splitlines()[2:] if line[0] in "+-"]
        assert [line.split(maxsplit=1)[1] for line in changed] == ["image: podset:1", "image: podset:2"]
