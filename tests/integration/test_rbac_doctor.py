"""The pitfalls of the seeds on any cluster: the cluster accepts them, and the doctor finds them."""

from __future__ import annotations

import pytest

from pyctrl.client import Client
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.kinds.core.v1 import Pod
from pyctrl.rbac import Diagnosis, allow, grants
from tests.integration._pitfalls import Site
from tests.unit.rbac import _seeds as seeds
from tests.unit.rbac._seeds import parsed

pytestmark = [
    pytest.mark.slow("reads every role and binding of a cluster"),
    pytest.mark.timeout(60),
]


@pytest.fixture
def site(client: Client, namespace: str) -> Site:
    return Site(client, namespace)


def told(diagnosis: Diagnosis) -> set[tuple[str, str]]:
    """Return the severity and code of each finding."""
    return {(each.severity, each.code) for each in diagnosis.findings}


async def test_a_user_a_narrow_binding_and_a_deployment_that_runs_as_default(site: Site) -> None:
    """000.02, 000.03, 000.10, 000.28: the doctor finds each accepted object that has no effect."""
    objects = parsed(seeds.JENKINS, seeds.ROLE, seeds.CLUSTER_ROLE, seeds.FOR_USER, seeds.NARROW, seeds.DEPLOYMENT)
    async with site.with_objects([*objects, *parsed(seeds.EVC_DEFINITION)]):
        diagnosis = await site.examined("jenkins")
    assert told(diagnosis) == {
        ("error", "user-for-account"),
        ("error", "role-binding-of-cluster-role"),
        ("error", "runs-as-default"),
        ("warning", "namespace-on-cluster-object"),
        ("warning", "wildcard"),
    }
    [slip] = [each for each in diagnosis.findings if each.code == "user-for-account"]
    assert slip.fix.endswith(f"--role=evc-operator --serviceaccount={site.namespace}:jenkins")


async def test_a_role_that_is_not_there_and_a_group_without_rights(site: Site) -> None:
    """000.04-000.06: it finds a dangling roleRef, a definition without readers, and missing permissions."""
    needed = grants([allow(Pod, "list", "watch")], namespaces=[site.namespace], own_namespace=site.namespace)
    async with site.with_objects(parsed(seeds.JENKINS, seeds.FOR_ACCOUNT, seeds.EVC_DEFINITION)):
        diagnosis = await site.examined("jenkins", needed)
        everything = await site.examined(None)
    assert told(diagnosis) == {("error", "role-not-found"), ("error", "missing-right")}
    name = f"ephemeralvolumeclaims.{site.namespace}.kopf.dev"
    assert [each.code for each in everything.findings if each.object.name == name] == ["definition-without-reader"]


async def test_a_full_width_comma(site: Site) -> None:
    """001.20: the finding names the character, and its commands create the role under the corrected name."""
    async with site.with_objects(parsed(seeds.INVENTORY)):
        diagnosis = await site.examined("k8s-test-operator")
    [finding] = [each for each in diagnosis.findings if each.code == "role-not-found"]
    assert "U+3001 IDEOGRAPHIC COMMA" in finding.message
    assert f"kubectl delete clusterrole '{site.named('k8s-operator、')}'" in finding.fix
    assert f"  name: {site.named('k8s-operator')}\n" in finding.fix


async def test_the_wrong_group_of_a_marker(site: Site) -> None:
    """003.11: deployments in the group of the definition are an error if that definition is installed."""
    needed = grants([allow(Deployment, "list", "watch")], namespaces=None, own_namespace=site.namespace)
    async with site.with_objects(parsed(seeds.PODSET_DEFINITION, seeds.PODSET)):
        diagnosis = await site.examined("controller-manager", needed)
    assert told(diagnosis) == {
        ("error", "missing-api-group"),
        ("error", "missing-right"),
        ("warning", "list-without-watch"),
        ("warning", "namespace-on-cluster-object"),
    }
