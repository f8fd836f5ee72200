"""The doctor's findings for each pitfall of the seeds, from files and from a cluster."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Sequence
from random import Random
from typing import Any, TypeAlias

import pytest
import yaml

from pyctrl.api import AccessRule, Key, ObjectMeta, Unstructured
from pyctrl.cli._rbac.objects import read_cluster
from pyctrl.client import Client
from pyctrl.cluster import Cluster
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.kinds.core.v1 import Namespace, Pod
from pyctrl.rbac import LEADER_ELECTION, Diagnosis, Finding, allow, diagnose, grants
from tests.unit.rbac import _seeds as seeds
from tests.unit.rbac._seeds import Object, parsed

pytestmark = pytest.mark.virtual_time

JENKINS = Key("default", "jenkins")
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"

Examine: TypeAlias = Callable[..., Coroutine[Any, Any, Diagnosis]]


async def from_files(objects: Sequence[Object], **options: Any) -> Diagnosis:
    """Examine objects as files."""
    return diagnose([(obj, f"role.yaml, document {n}") for n, obj in enumerate(objects, 1)], **options)


async def from_cluster(objects: Sequence[Object], **options: Any) -> Diagnosis:
    """Examine a cluster with RBAC after kubectl has applied the objects."""
    async with (
        Cluster(random=Random(1), rbac=True, controllers=False, kubelet=False) as cluster,
        cluster.client() as admin,
    ):
        for namespace in ("testing", "jicki-system"):
            await admin.create(Namespace(metadata=ObjectMeta(name=namespace)))
        for obj in objects:
            await admin.create(applied(obj))
        return await in_cluster(admin, **options)


async def in_cluster(client: Client, **options: Any) -> Diagnosis:
    """Examine what a client can read of a cluster."""
    read = await read_cluster(client, namespace=None, own_namespace="default")
    return diagnose(read.objects, complete=read.complete, served=read.served, **options)


def applied(obj: Object) -> Unstructured:
    """Return an object as `kubectl apply` sends it, with its annotation."""
    made = Unstructured(json.loads(json.dumps(obj)))
    made.metadata.annotations = {**made.metadata.annotations, LAST_APPLIED: json.dumps(obj)}
    if made.kind in ("Secret", "Deployment"):
        made.metadata.namespace = made.metadata.namespace or "default"
    return made


@pytest.fixture(params=[from_files, from_cluster], ids=["files", "cluster"])
def examine(request: pytest.FixtureRequest) -> Examine:
    found: Examine = request.param
    return found


def told(diagnosis: Diagnosis, code: str, name: str) -> Finding:
    """Return the only finding with this code about the object of this name."""
    found = [each for each in diagnosis.findings if (each.code, each.object.name) == (code, name)]
    assert len(found) == 1, diagnosis.findings
    return found[0]


async def test_a_binding_to_a_user_instead_of_the_service_account(examine: Examine) -> None:
    """000.02: a binding of `--user=jenkins` is reported with the intended ServiceAccount default/jenkins."""
    diagnosis = await examine(parsed(seeds.JENKINS, seeds.ROLE, seeds.FOR_USER), account=JENKINS)

    finding = told(diagnosis, "user-for-account", "jenkins-binding")
    assert finding.severity == "error"
    assert "User 'jenkins' is not ServiceAccount default/jenkins" in finding.message
    assert "system:serviceaccount:default:jenkins" in finding.message
    assert diagnosis.accounts[JENKINS] == ()


async def test_the_cures_of_a_file_and_of_a_cluster() -> None:
    """000.02: the suggestion is YAML for a file and commands for a cluster."""
    objects = parsed(seeds.JENKINS, seeds.ROLE, seeds.FOR_USER)
    written = told(await from_files(objects), "user-for-account", "jenkins-binding").fix
    assert parsed(written)[0] == {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "jenkins-binding", "namespace": "default"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "evc-operator"},
        "subjects": [{"kind": "ServiceAccount", "name": "jenkins", "namespace": "default"}],
    }
    commands = told(await from_cluster(objects), "user-for-account", "jenkins-binding").fix
    made = "jenkins-binding --namespace=default --role=evc-operator --serviceaccount=default:jenkins"
    assert commands.splitlines() == [
        "kubectl delete rolebinding jenkins-binding --namespace=default",
        f"kubectl create rolebinding {made}",
    ]


async def test_an_account_that_only_its_token_tells_of() -> None:
    """000.02: a Secret with a token proves that a ServiceAccount exists, which the seed's files do not contain."""
    diagnosis = await from_files(parsed(seeds.SECRET, seeds.ROLE, seeds.FOR_USER))
    assert told(diagnosis, "user-for-account", "jenkins-binding").severity == "error"
    assert told(diagnosis, "token-account-not-found", "jenkins-secret").severity == "warning"


async def test_a_role_binding_of_a_cluster_role(examine: Examine) -> None:
    """000.03: a RoleBinding of a ClusterRole grants only in namespace default and does not cover definitions."""
    diagnosis = await examine(parsed(seeds.JENKINS, seeds.CLUSTER_ROLE, seeds.NARROW), account=JENKINS)

    finding = told(diagnosis, "role-binding-of-cluster-role", "jenkins-binding2")
    assert finding.severity == "error"
    assert "in its own namespace only, default" in finding.message
    assert "It does not grant *.apiextensions.k8s.io" in finding.message
    assert "need a ClusterRoleBinding" in finding.message
    assert "clusterrolebinding" in finding.fix.lower()
    assert [str(each) for each in diagnosis.accounts[JENKINS]] == [
        "ClusterRole evc-operator by RoleBinding default/jenkins-binding2, in namespace default"
    ]


async def test_no_rights_in_the_group_of_the_definition(examine: Examine) -> None:
    """000.04: the role is for the core group, so the operator cannot watch its own objects."""
    role = parsed(seeds.ROLE)[0]
    del role["rules"][1]
    objects = [*parsed(seeds.JENKINS, seeds.FOR_ACCOUNT, seeds.EVC_DEFINITION), role]

    finding = told(await examine(objects), "definition-without-reader", "ephemeralvolumeclaims.kopf.dev")
    assert "have no rule for 'kopf.dev'" in finding.message
    assert yaml.safe_load(finding.fix) == [
        {"apiGroups": ["kopf.dev"], "resources": ["ephemeralvolumeclaims"], "verbs": ["list", "watch"]}
    ]
    whole = parsed(seeds.JENKINS, seeds.ROLE, seeds.FOR_ACCOUNT, seeds.EVC_DEFINITION)
    codes = {each.code for each in (await examine(whole, account=JENKINS)).findings}
    assert "definition-without-reader" not in codes


async def test_the_missing_right_of_a_program(examine: Examine) -> None:
    """000.05: each permission that the program needs and the account lacks is reported with its binding."""
    needed = grants([allow(Pod, "list"), allow(Deployment, "watch")], namespaces=None, own_namespace="default")
    objects = parsed(seeds.JENKINS, seeds.CLUSTER_ROLE, seeds.WIDE)

    diagnosis = await examine(objects, account=JENKINS, granted=needed)
    assert {need.rule.resources: str(need.granted_by) for need in diagnosis.needs} == {
        ("pods",): "ClusterRoleBinding jenkins-binding2",
        ("deployments",): "None",
    }
    finding = told(diagnosis, "missing-right", "jenkins")
    assert finding.severity == "error"
    assert "watch deployments.apps at the cluster scope" in finding.message
    assert "kubectl create clusterrole jenkins --verb=watch --resource=deployments.apps" in finding.fix
    assert (
        "kubectl create clusterrolebinding jenkins --clusterrole=jenkins --serviceaccount=default:jenkins"
        in finding.fix
    )


async def test_the_missing_right_that_is_there_in_one_namespace(examine: Examine) -> None:
    """000.03, 000.05: a permission needed everywhere but granted in one namespace is reported with that binding."""
    needed = grants([allow(Pod, "list", "watch")], namespaces=None, own_namespace="default")
    objects = parsed(seeds.JENKINS, seeds.CLUSTER_ROLE, seeds.NARROW)

    finding = told(await examine(objects, account=JENKINS, granted=needed), "missing-right", "jenkins")
    assert "RoleBinding default/jenkins-binding2 grants it in namespace default only" in finding.message
    restricted = grants([allow(Pod, "list", "watch")], namespaces=["default"], own_namespace="default")
    codes = {each.code for each in (await examine(objects, account=JENKINS, granted=restricted)).findings}
    assert "missing-right" not in codes


async def test_a_role_that_is_not_there(examine: Examine) -> None:
    """000.06: a binding to a missing Role is reported, with the ClusterRole of that name as the suggestion."""
    diagnosis = await examine(parsed(seeds.JENKINS, seeds.CLUSTER_ROLE, seeds.FOR_ACCOUNT), account=JENKINS)

    finding = told(diagnosis, "role-not-found", "jenkins-binding")
    assert finding.severity == "error"
    assert "There is no Role default/evc-operator, but there is a ClusterRole of this name" in finding.message
    assert "kubectl delete rolebinding jenkins-binding --namespace=default" in finding.fix
    assert [str(each) for each in diagnosis.accounts[JENKINS]] == [
        "Role default/evc-operator by RoleBinding default/jenkins-binding, which does not exist"
    ]


async def test_a_role_that_allows_everything(examine: Examine) -> None:
    """000.09: wildcards are reported with the permissions that they include."""
    diagnosis = await examine(parsed(seeds.JENKINS, seeds.ROLE, seeds.FOR_ACCOUNT), account=JENKINS)

    finding = told(diagnosis, "wildcard", "evc-operator")
    assert finding.severity == "warning"
    for consequence in ("in namespace default", "read every Secret", "run commands in pods", "log in as any service"):
        assert consequence in finding.message
    assert "kubelets" not in finding.message  # nodes have no namespace
    assert not diagnosis.has_errors


async def test_a_namespace_on_what_lives_in_none(examine: Examine) -> None:
    """000.10, 003.10: a namespace on a cluster-scoped object is found in the annotation of kubectl apply."""
    objects = parsed(seeds.JENKINS, seeds.CLUSTER_ROLE, seeds.WIDE)
    finding = told(await examine(objects, account=JENKINS), "namespace-on-cluster-object", "evc-operator")
    assert finding.severity == "warning"
    assert "metadata.namespace is 'default', but a ClusterRole is not namespaced" in finding.message


async def test_a_deployment_that_does_not_name_the_account(examine: Examine) -> None:
    """000.28: a Deployment that runs as `default` is reported, because the account with the permissions is unused."""
    objects = parsed(seeds.JENKINS, seeds.ROLE, seeds.FOR_ACCOUNT, seeds.EVC_DEFINITION, seeds.DEPLOYMENT)
    finding = told(await examine(objects, account=JENKINS), "runs-as-default", "evc-operator")
    assert finding.severity == "error"
    assert "run as ServiceAccount default/default, which has no roles" in finding.message
    assert "'jenkins'" in finding.message
    assert finding.fix in (
        "spec:\n  template:\n    spec:\n      serviceAccountName: jenkins\n",
        "kubectl set serviceaccount deployment/evc-operator jenkins --namespace=default",
    )
    named = parsed(seeds.DEPLOYMENT)[0]
    named["spec"]["template"]["spec"]["serviceAccountName"] = "jenkins"
    codes = {each.code for each in (await examine([*objects[:-1], named], account=JENKINS)).findings}
    assert codes == {"wildcard"}


async def test_a_full_width_comma_in_the_name_of_a_role(examine: Examine) -> None:
    """001.20: the look-alike is found, its character named, and the suggestion changes the unusual name."""
    account = Key("testing", "k8s-test-operator")
    finding = told(
        await examine(parsed(seeds.INVENTORY), account=account), "role-not-found", "k8s-test-operator-cluster"
    )
    assert finding.severity == "error"
    assert "There is no ClusterRole k8s-operator. 'k8s-operator、' was probably meant" in finding.message
    assert "U+3001 IDEOGRAPHIC COMMA" in finding.message
    assert "name: k8s-operator\n" in finding.fix


async def test_a_marker_with_the_wrong_group(examine: Examine) -> None:
    """003.11: group apps.jicki.cn is corrected to apps for deployments, and a missing watch of pods is reported."""
    account = Key("jicki-system", "controller-manager")
    objects = parsed(seeds.PODSET_DEFINITION, seeds.PODSET)
    needed = grants(
        [allow(Deployment, "list", "watch"), allow(Pod, "list", "watch"), LEADER_ELECTION],
        namespaces=None,
        own_namespace="jicki-system",
    )

    diagnosis = await examine(objects, account=account, granted=needed)
    finding = told(diagnosis, "missing-api-group", "manager-role")
    assert finding.severity == "error"
    assert "deployments: the API group is 'apps', but the rule is for 'apps.jicki.cn'" in finding.message
    assert AccessRule.read(yaml.safe_load(finding.fix)[0]).groups == ("apps",)
    assert "list pods, but not to watch" in told(diagnosis, "list-without-watch", "manager-role").message
    assert {each.message.split(", which")[0] for each in diagnosis.findings if each.code == "missing-right"} == {
        "It may not list and watch deployments.apps at the cluster scope",
        "It may not watch pods at the cluster scope",
        "It may not create, get and update leases.coordination.k8s.io in namespace 'jicki-system'",
    }


async def test_what_is_right_is_left_alone(examine: Examine) -> None:
    """The final roles of the seed with the account's bindings have no errors."""
    objects = parsed(seeds.JENKINS, seeds.ROLE, seeds.CLUSTER_ROLE, seeds.FOR_ACCOUNT, seeds.WIDE)
    diagnosis = await examine([*objects, *parsed(seeds.EVC_DEFINITION)], account=JENKINS)
    assert {each.code for each in diagnosis.findings} == {"wildcard", "namespace-on-cluster-object"}
    assert not diagnosis.has_errors


async def test_the_admin_role_of_a_kind_is_no_problem(examine: Examine) -> None:
    """All verbs of an own kind are reported for a service account, but not for people or in an unbound role."""
    role, binding = parsed(seeds.ROLE, seeds.FOR_ACCOUNT)
    role["rules"] = [{"apiGroups": ["web.example.com"], "resources": ["sites"], "verbs": ["*"]}]
    assert "wildcard" not in {each.code for each in (await examine([role])).findings}
    assert "wildcard" in {each.code for each in (await examine([role, binding])).findings}
    person = {**binding, "subjects": [{"kind": "User", "name": "jane", "apiGroup": "rbac.authorization.k8s.io"}]}
    assert "wildcard" not in {each.code for each in (await examine([role, person])).findings}
    role["rules"][0]["apiGroups"] = [""]
    assert "wildcard" in {each.code for each in (await examine([role])).findings}
