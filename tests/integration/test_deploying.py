"""All manifests of a program, applied to any cluster and deleted again."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyctrl.api import GroupVersionKind, Key
from pyctrl.client import Client
from pyctrl.kinds.apiextensions.v1 import CustomResourceDefinition
from pyctrl.kinds.core.v1 import Namespace
from pyctrl.packaging import Deployer, Settings, read_project

PROGRAM = '''\
from pydantic import Field
from pyctrl import CustomResource, Model, Reconciler, Request
from pyctrl.webhook import AdmissionRequest, Defaulter


class GadgetSpec(Model):
    size: int = Field(ge=1)


class Gadget(CustomResource[GadgetSpec], group="deploy.pyctrl.test", version="v1"):
    """Gadget is deployed."""


class GadgetReconciler(Reconciler[Gadget]):
    async def reconcile(self, request: Request) -> None: ...


class GadgetDefaults(Defaulter[Gadget]):
    def default(self, obj: Gadget, request: AdmissionRequest) -> None: ...
'''

KINDS = {
    "Namespace", "CustomResourceDefinition", "ServiceAccount", "Role", "ClusterRole", "RoleBinding",
    "ClusterRoleBinding", "Service", "NetworkPolicy", "Deployment", "MutatingWebhookConfiguration",
}  # fmt: skip


@pytest.mark.slow("a namespace takes the cluster some seconds to empty")
async def test_a_program_comes_and_goes(client: Client, tmp_path: Path) -> None:
    """The API server accepts every manifest unchanged, and after deletion nothing of the program remains."""
    (tmp_path / "gadgets_deployed.py").write_text(PROGRAM)
    settings = Settings(program=str(tmp_path / "gadgets_deployed.py"), name="gadget-test", network_policy=True)
    project = await read_project(settings)
    deployer = Deployer(client, project)

    steps = [step async for step in deployer.deploy()]
    try:
        assert {step.kind for step in steps} == KINDS
        assert {step.what for step in steps} == {"applied"}
        definition = await client.get(CustomResourceDefinition, Key("", "gadgets.deploy.pyctrl.test"))
        assert definition.status.accepted_names.kind == "Gadget"
    finally:
        gone = [step async for step in deployer.undeploy(delete_definitions=True)]

    assert len(gone) == len(steps)
    for step in steps:
        if step.kind in ("ClusterRole", "ClusterRoleBinding"):
            assert await client.find(GroupVersionKind("rbac.authorization.k8s.io", "v1", step.kind), step.key) is None
    assert await client.find(CustomResourceDefinition, Key("", "gadgets.deploy.pyctrl.test")) is None
    assert await client.find(Namespace, Key("", "gadget-test-system")) is None
