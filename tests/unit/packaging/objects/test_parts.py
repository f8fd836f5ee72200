"""The objects that a program needs, their fields, and their references to each other."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml

from examples.podset.podset import add_podset
from pyctrl.api import Access
from pyctrl.client import Client, Config, wait_for
from pyctrl.cluster import Cluster
from pyctrl.errors import CommandFailed
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.kinds.authorization.v1 import ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec
from pyctrl.manager import LeaderElection, Manager, NoServer, Sharding
from pyctrl.packaging import Project, install, parts, problems_of, tree
from pyctrl.rbac import grants
from tests.unit.packaging._programs import WIDGETS, of_text, podset

RESTRICTED = {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}


def named(objects: list[dict[str, Any]], kind: str, name: str) -> dict[str, Any]:
    """Return the object of a name."""
    return next(each for each in objects if (each["kind"], each["metadata"]["name"]) == (kind, name))


def arguments(project: Project) -> list[str]:
    """Return the flags in the Deployment."""
    deployment = named(install(project), "Deployment", project.account.name)
    return list(deployment["spec"]["template"]["spec"]["containers"][0]["args"])


@pytest.mark.parametrize(
    "args",
    [("--fingerprints-config-map=kept",), ("--log-level=debug", "--fingerprints-config-map", "kept")],
    ids=["one word", "two words"],
)
async def test_the_flag_for_fingerprints_brings_its_permissions(args: tuple[str, ...]) -> None:
    """With ``--fingerprints-config-map`` the program may create ConfigMaps in its namespace, and change its own."""
    project = await podset(args=args)
    role = named(install(project), "Role", "podset-manager-role")
    assert role["metadata"]["namespace"] == "podset-system"
    create, change = (rule for rule in role["rules"] if rule["resources"] == ["configmaps"])
    assert create == {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create"]}
    assert change["verbs"] == ["delete", "get", "update"]
    assert {"kept", "kept-a-0"} <= set(change["resourceNames"])
    assert arguments(project)[-len(args) :] == list(args)
    without = install(await podset())
    assert not [each for each in without if "configmaps" in str(each.get("rules")) and each["kind"] == "Role"]


async def test_files_have_the_names_of_kubebuilder() -> None:
    """The files have the names of a kubebuilder project."""
    assert list(tree(await podset())) == [
        "crd/bases/apps.jicki.cn_podsets.yaml",
        "crd/kustomization.yaml",
        "default/kustomization.yaml",
        "default/metrics_service.yaml",
        "manager/kustomization.yaml",
        "manager/manager.yaml",
        "rbac/kustomization.yaml",
        "rbac/leader_election_role.yaml",
        "rbac/leader_election_role_binding.yaml",
        "rbac/metrics_auth_role.yaml",
        "rbac/metrics_auth_role_binding.yaml",
        "rbac/metrics_reader_role.yaml",
        "rbac/podset_admin_role.yaml",
        "rbac/podset_editor_role.yaml",
        "rbac/podset_viewer_role.yaml",
        "rbac/role.yaml",
        "rbac/role_binding.yaml",
        "rbac/service_account.yaml",
        "samples/apps.jicki.cn_v1alpha1_podset.yaml",
        "samples/kustomization.yaml",
    ]


async def test_the_same_program_gives_the_same_bytes() -> None:
    """The same program yields the same bytes, independent of set order, time and machine."""
    assert tree(await podset()) == tree(await podset())


async def test_what_is_installed_works_in_one_go() -> None:
    """The manifests apply in one go without unknown fields, and the pod runs as the account."""
    project = await podset(image="podset:0.1.0")
    async with Cluster(random=Random(1), rbac=True) as cluster, cluster.client() as client:
        for obj in install(project):
            await client.apply(obj, field_owner="test")
        await wait_for(client, Deployment, project.account, lambda found: found.status.ready_replicas == 1)


async def test_the_leader_may_what_electing_takes() -> None:
    """The leader election Role grants exactly what an electing manager requests."""
    role = named(install(await podset()), "Role", "podset-leader-election-role")
    election = LeaderElection(name="podset-controller-manager")
    async with Manager(Config.in_process(NoServer()), leader_election=election) as manager:
        add_podset(manager)
        assert manager.elector is not None
        wanted = grants(manager.elector.rbac, namespaces=None, own_namespace="podset-system")
    assert role["rules"] == [rule.to_wire() for rule in wanted.rules["podset-system"]]
    assert role["metadata"]["namespace"] == "podset-system"


async def test_shards_may_what_dividing_takes() -> None:
    """With shards the Role grants exactly what a member of a ring and its elector request."""
    role = named(install(await podset(shards="auto")), "Role", "podset-leader-election-role")
    sharding = Sharding(name="podset-controller-manager")
    async with Manager(Config.in_process(NoServer()), sharding=sharding) as manager:
        assert manager.elector is not None
        assert manager.shard_member is not None
        needed = (*manager.elector.rbac, *manager.shard_member.rbac)
        wanted = grants(needed, namespaces=None, own_namespace="podset-system")
    assert role["rules"] == [rule.to_wire() for rule in wanted.rules["podset-system"]]


async def test_replicas_that_cache_their_own_objects_may_label_them() -> None:
    """With the flag in ``args`` the manager's role permits to get and patch what is reconciled and owned."""
    for args, verbs in (((), {"list", "watch"}), (("--shard-memory=label",), {"list", "watch", "get", "patch"})):
        project = await podset(shards="auto", args=args)
        role = named(install(project), "ClusterRole", "podset-manager-role")
        granted = {verb for rule in role["rules"] if "podsets" in rule["resources"] for verb in rule["verbs"]}
        assert granted == verbs


async def test_replicas_with_shards_leave_one_by_one() -> None:
    """With shards all replicas are active, and neither an update nor a drain takes two of them at once."""
    project = await podset(shards="auto", replicas=3)
    deployment = named(install(project), "Deployment", "podset-controller-manager")["spec"]
    assert deployment["replicas"] == 3
    assert deployment["strategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1},
    }
    assert arguments(project)[:2] == ["--shards=auto", "--leader-election-id=podset-controller-manager"]
    assert "--leader-elect" not in arguments(project)
    budget = named(install(project), "PodDisruptionBudget", "podset-controller-manager")
    assert budget["spec"] == {"maxUnavailable": 1, "selector": {"matchLabels": deployment["selector"]["matchLabels"]}}
    assert budget["metadata"]["namespace"] == "podset-system"
    assert "- pod_disruption_budget.yaml\n" in tree(project)["manager/kustomization.yaml"]
    assert "PodDisruptionBudget" not in {each["kind"] for each in install(await podset(replicas=3))}


async def test_replicas_with_shards_work_in_one_go() -> None:
    """The manifests of three replicas with shards apply in one go without unknown fields, and all become ready."""
    project = await podset(image="podset:0.1.0", shards="auto", replicas=3)
    async with Cluster(random=Random(1), rbac=True) as cluster, cluster.client() as client:
        for obj in install(project):
            await client.apply(obj, field_owner="test")
        await wait_for(client, Deployment, project.account, lambda found: found.status.ready_replicas == 3)


async def test_the_program_may_what_it_declares() -> None:
    """The manager's role has the derived rules without those of leader election and metrics."""
    project = await podset()
    role = named(install(project), "ClusterRole", "podset-manager-role")
    assert role["rules"] == [rule.to_wire() for rule in project.grants.rules[""]]
    binding = named(install(project), "ClusterRoleBinding", "podset-manager-rolebinding")
    assert binding["subjects"] == [
        {"kind": "ServiceAccount", "name": "podset-controller-manager", "namespace": "podset-system"}
    ]


async def test_people_may_what_the_names_of_their_roles_say() -> None:
    """A viewer reads, an editor also writes, and only an administrator writes the status."""
    project = await podset()
    async with Cluster(random=Random(1), rbac=True) as cluster, cluster.client() as client:
        for obj in install(project, ["rbac"]):
            if obj["kind"] == "ClusterRole":
                await client.apply(obj, field_owner="test")
        may: dict[str, set[str]] = {}
        for who in ("viewer", "editor", "admin"):
            await client.apply(_bound(who), field_owner="test")
            may[who] = {verb for verb in VERBS if await _may(client, who, verb)}
    assert may["viewer"] == {"get", "list", "watch", "get/status"}
    assert may["editor"] == may["viewer"] | {"create", "delete", "patch", "update"}
    assert may["admin"] == may["editor"] | {"deletecollection"}


VERBS = (
    "get",
    "list",
    "watch",
    "create",
    "update",
    "patch",
    "delete",
    "deletecollection",
    "get/status",
    "patch/status",
)


def _bound(who: str) -> dict[str, Any]:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": f"podset-{who}"},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": f"podset-podset-{who}-role",
        },
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": who}],
    }


async def _may(client: Client, who: str, verb: str) -> bool:
    verb, _, subresource = verb.partition("/")
    attributes = ResourceAttributes(
        group="apps.jicki.cn", resource="podsets", verb=verb, namespace="default", subresource=subresource
    )
    review = SubjectAccessReview(spec=SubjectAccessReviewSpec(user=who, resource_attributes=attributes))
    return (await client.create(review)).status.allowed


async def test_pods_are_as_restricted_as_they_can_be() -> None:
    """Pods are restricted: no root, read-only root file system, no capabilities, memory but no CPU limit, probes."""
    pod = named(install(await podset()), "Deployment", "podset-controller-manager")["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert pod["securityContext"] == {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    assert container["securityContext"] == RESTRICTED
    assert container["resources"] == {"requests": {"cpu": "10m", "memory": "96Mi"}, "limits": {"memory": "256Mi"}}
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert {container[probe]["httpGet"]["port"] for probe in ("livenessProbe", "readinessProbe")} <= ports.keys()


async def test_metrics_can_be_served_in_the_clear_or_not_at_all() -> None:
    """Metrics without TLS need no token review, and without metrics there is no Service."""
    clear, off = await podset(metrics="http"), await podset(metrics="off")
    assert {"rbac/metrics_auth_role.yaml"}.isdisjoint(tree(clear))
    assert "default/metrics_service.yaml" in tree(clear)
    assert "default/metrics_service.yaml" not in tree(off)
    assert "--metrics-bind-address=0" in arguments(off)


async def test_rights_are_restricted_to_namespaces_with_the_program() -> None:
    """A program that watches some namespaces gets Roles in them and no cluster permissions."""
    project = await podset(watch_namespaces=("shop", "web"))
    granted = [each for each in install(project) if each["metadata"]["name"] == "podset-manager-role"]
    assert [(each["kind"], each["metadata"].get("namespace")) for each in granted] == [
        ("Role", "shop"),
        ("Role", "web"),
    ]
    assert project.grants.allow(Access("list", resource="pods", namespace="web"))
    assert "--watch-namespace=shop,web" in arguments(project)


async def test_extras_are_there_when_they_are_asked_for() -> None:
    """A ServiceMonitor and network policies for the pods' ports are optional; `config/default` includes them."""
    texts = tree(await podset(prometheus=True, network_policy=True))
    policy = yaml.safe_load(texts["network-policy/allow-metrics-traffic.yaml"])
    assert policy["spec"]["ingress"][0]["ports"] == [{"port": 8443, "protocol": "TCP"}]
    assert yaml.safe_load(texts["prometheus/monitor.yaml"])["kind"] == "ServiceMonitor"
    listed = yaml.safe_load(texts["default/kustomization.yaml"])["resources"]
    assert listed == ["../crd", "../rbac", "../manager", "../prometheus", "../network-policy", "metrics_service.yaml"]


async def test_samples_are_valid(tmp_path: Path) -> None:
    """Samples have the required fields within their bounds, examples and defaults, and no other fields."""
    project = await of_text(tmp_path, WIDGETS)
    (sheet,) = parts(project, ["samples"])
    (made,) = sheet.objects
    assert made["metadata"] == {"name": "widget-sample", "namespace": "default"}
    assert made["spec"] == {
        "size": 4,
        "colour": "red",
        "name": "box-1",
        "schedule": "* * * * *",
        "parts": ["sample"],
        "mood": "calm",
    }
    text = tree(project, ["samples"])[sheet.path]
    assert problems_of(text, project.definitions, "sample.yaml") == []
    assert problems_of(text.replace("size: 4", "size: 5"), project.definitions, "sample.yaml")


async def test_a_name_that_no_object_can_have_is_refused() -> None:
    """An invalid name is rejected with the valid form and the setting to change."""
    with pytest.raises(CommandFailed, match=r"'Pod_Set' cannot be the prefix of object names.*--name"):
        await podset(name="Pod_Set")


OLD_WIDGET = """

class OldWidget(CustomResource[WidgetStatus], group="example.com", version="v1beta1", kind="Widget", deprecated="old"):
    pass
"""


async def test_a_version_that_nobody_reconciles_is_in_the_definition(tmp_path: Path) -> None:
    """A definition has all versions of a program's classes and stores the reconciled version."""
    project = await of_text(tmp_path, WIDGETS + OLD_WIDGET)
    versions = named(install(project), "CustomResourceDefinition", "widgets.example.com")["spec"]["versions"]
    assert [(each["name"], each["storage"]) for each in versions] == [("v1", True), ("v1beta1", False)]
