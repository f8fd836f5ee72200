"""The objects of a program with an extension API server."""

from __future__ import annotations

import textwrap
from pathlib import Path

from pyctrl.packaging import install
from tests.unit.packaging._programs import of_text

PROGRAM = textwrap.dedent(
    '''
    """Fischers, served and reconciled."""

    from pyctrl.api import CustomResource, Model
    from pyctrl.controller import Builder, Reconciler, Request, Result
    from pyctrl.extension_apiserver import ExtensionAPIServer
    from pyctrl.manager import Manager


    class FischerSpec(Model):
        """What is wanted."""

        replicas: int = 1


    class Fischer(CustomResource[FischerSpec], group="wardle.example.com", version="v1"):
        """Served by the program."""


    class FischerReconciler(Reconciler[Fischer]):
        """Reconciles what the program serves."""

        async def reconcile(self, request: Request) -> Result | None:
            return None


    def add_fischers(manager: Manager) -> None:
        """Serve and reconcile."""
        manager.add(ExtensionAPIServer(Fischer, client=manager.live_client))
        Builder(manager).reconciles(Fischer).build(FischerReconciler())
    '''
)


async def test_a_served_kind_has_an_apiservice_and_no_definition(tmp_path: Path) -> None:
    """A kind that the program serves has an APIService for its Service, and no CustomResourceDefinition."""
    project = await of_text(tmp_path, PROGRAM)
    objects = {(each["kind"], each["metadata"]["name"]): each for each in install(project)}
    assert not [name for kind, name in objects if kind == "CustomResourceDefinition"]
    service = objects["Service", project.apiserver_service.name]
    api_service = objects["APIService", "v1.wardle.example.com"]["spec"]
    assert api_service["service"] == {
        "name": service["metadata"]["name"],
        "namespace": service["metadata"]["namespace"],
        "port": service["spec"]["ports"][0]["port"],
    }
    container = objects["Deployment", project.account.name]["spec"]["template"]["spec"]["containers"][0]
    assert f"--apiserver-service={service['metadata']['name']}" in container["args"]
    assert service["spec"]["ports"][0]["targetPort"] in [each["containerPort"] for each in container["ports"]]
    assert [kind for kind, _ in objects][-1] == "APIService"


async def test_the_account_may_review_users(tmp_path: Path) -> None:
    """The account is bound to the roles of every extension API server, and may write its certificate and CA."""
    project = await of_text(tmp_path, PROGRAM)
    objects = {(each["kind"], each["metadata"]["name"]): each for each in install(project)}
    reader = objects["RoleBinding", project.called("auth-reader")]
    assert reader["metadata"]["namespace"] == "kube-system"
    assert reader["roleRef"]["name"] == "extension-apiserver-authentication-reader"
    delegator = objects["ClusterRoleBinding", project.called("auth-delegator")]
    assert delegator["roleRef"]["name"] == "system:auth-delegator"
    assert {each["subjects"][0]["name"] for each in (reader, delegator)} == {project.account.name}
    rules = objects["ClusterRole", project.called("manager-role")]["rules"]
    (written,) = [each for each in rules if each["resources"] == ["apiservices"]]
    assert (written["resourceNames"], written["verbs"]) == (["v1.wardle.example.com"], ["get", "update"])


async def test_users_get_roles_for_the_kind(tmp_path: Path) -> None:
    """There are roles for the users of the kind, as for kinds with a definition."""
    project = await of_text(tmp_path, PROGRAM)
    names = {each["metadata"]["name"] for each in install(project)}
    assert {project.called(f"fischer-{role}-role") for role in ("admin", "editor", "viewer")} <= names
