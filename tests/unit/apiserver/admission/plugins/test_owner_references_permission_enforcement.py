"""Admission plugin OwnerReferencesPermissionEnforcement. The messages are those of a kube-apiserver 1.36.2."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from pyctrl.apiserver import AdmissionPluginName, ApiServer
from tests.unit.apiserver._kit import CONFIGMAPS, MERGE, Asker

RBAC = "/apis/rbac.authorization.k8s.io/v1"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
JANE = {"kind": "User", "name": "jane"}

NO_DELETE = "cannot set an ownerRef on a resource you can't delete: , <nil>"
NO_FINALIZERS = (
    "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>"
)

Object = dict[str, Any]


def rule(verbs: str, resources: str, group: str = "", **names: list[str]) -> Object:
    """Return a rule."""
    return {"verbs": verbs.split(), "apiGroups": [group], "resources": resources.split(), **names}


WRITE = rule("get create update patch", "configmaps")
DELETE = rule("delete", "configmaps")
FINALIZE = rule("update", "configmaps/finalizers")


class Enforcing(Asker):
    """A server with RBAC and the plugin; requests are made by `jane` or the administrator."""

    def __init__(self) -> None:
        plugins: tuple[AdmissionPluginName, ...] = ("OwnerReferencesPermissionEnforcement",)
        super().__init__(ApiServer(random=Random(1), authorization="RBAC", enable_admission_plugins=plugins))
        self.is_admin = True

    def answer(self, method: str, path: str, body: Any = None, *, headers: Any = None, **query: str) -> Any:
        own = {"Authorization": f"Bearer {self.server.loopback_token}"}
        if not self.is_admin:
            own["Impersonate-User"] = JANE["name"]
        return super().answer(method, path, body, headers={**own, **(headers or {})}, **query)

    def be_jane(self, *rules: Object, cluster: tuple[Object, ...] = ()) -> None:
        """Grant jane rules in `default` and in the cluster, and make the next requests as jane."""
        self.is_admin = True
        for prefix, kind, granted in ((f"{RBAC}/namespaces/default", "Role", rules), (RBAC, "ClusterRole", cluster)):
            role = {"metadata": {"name": "jane"}, "rules": list(granted)}
            assert self("PUT", f"{prefix}/{kind.lower()}s/jane", role)[0] in (200, 201)
            binding = {"metadata": {"name": "jane"}, "roleRef": {"kind": kind, "name": "jane"}, "subjects": [JANE]}
            assert self("PUT", f"{prefix}/{kind.lower()}bindings/jane", binding)[0] in (200, 201)
        self.is_admin = False

    def owned(self, name: str, *owners: Object) -> None:
        """Create a ConfigMap with owners as the administrator."""
        self.is_admin = True
        self.make(name, ownerReferences=list(owners))


@pytest.fixture
def ask() -> Enforcing:
    return Enforcing()


def owner(kind: str = "ConfigMap", version: str = "v1", uid: str = "1", **more: Any) -> Object:
    """Return a reference to an owner, which need not exist."""
    return {"apiVersion": version, "kind": kind, "name": "owner", "uid": uid, **more}


def blocking(kind: str = "ConfigMap", version: str = "v1", uid: str = "1") -> Object:
    """Return a reference to an owner with blockOwnerDeletion."""
    return owner(kind, version, uid, blockOwnerDeletion=True)


def create(ask: Asker, *owners: Object) -> tuple[int, Any]:
    """Try to create a ConfigMap with owners."""
    return ask("POST", CONFIGMAPS, {"metadata": {"name": "a", "ownerReferences": list(owners)}}, dryRun="All")


def change(ask: Asker, *owners: Object) -> tuple[int, Any]:
    """Try to change the owners of ConfigMap `a`."""
    return ask("PATCH", f"{CONFIGMAPS}/a", {"metadata": {"ownerReferences": list(owners)}}, headers=MERGE)


def test_who_holds_an_owner_back_may_update_its_finalizers(ask: Enforcing) -> None:
    """A create with blockOwnerDeletion requires `update` on the owner's finalizers."""
    ask.be_jane(WRITE)

    assert create(ask, blocking()) == (
        403,
        {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": f'configmaps "a" is forbidden: {NO_FINALIZERS}',
            "reason": "Forbidden",
            "details": {"name": "a", "kind": "configmaps"},
            "code": 403,
        },
    )
    assert create(ask, owner(), owner(uid="2", blockOwnerDeletion=False))[0] == 201
    assert create(ask, owner(), blocking(uid="2"))[0] == 403
    ask.be_jane(WRITE, FINALIZE)
    assert create(ask, blocking())[0] == 201


@pytest.mark.parametrize(("names", "code"), [(["owner"], 201), (["else"], 403)])
def test_the_right_may_be_for_one_owner(ask: Enforcing, names: list[str], code: int) -> None:
    """A rule with resourceNames applies to owners of these names."""
    ask.be_jane(WRITE, {**FINALIZE, "resourceNames": names})
    assert create(ask, blocking())[0] == code


def test_an_owner_of_the_cluster_takes_a_right_in_the_cluster(ask: Enforcing) -> None:
    """A Role is not enough for a cluster-scoped owner."""
    ask.be_jane(WRITE, rule("update", "nodes/finalizers namespaces/finalizers"))
    assert create(ask, blocking("Node"))[1]["message"] == f'configmaps "a" is forbidden: {NO_FINALIZERS}'
    assert create(ask, blocking("Namespace"))[0] == 403
    ask.be_jane(WRITE, cluster=(rule("update", "nodes/finalizers namespaces/finalizers"),))
    assert create(ask, blocking("Node"))[0] == 201
    assert create(ask, blocking("Namespace"))[0] == 201


@pytest.mark.parametrize(
    ("version", "kind"),
    [("v1", "Nope"), ("apps/v9", "Deployment"), ("nope.example.com/v1", "Nope"), ("v1", "CONFIGMAP")],
)
def test_an_owner_that_nobody_knows_cannot_be_held_back(ask: Enforcing, version: str, kind: str) -> None:
    """An owner of an unknown kind is rejected with blockOwnerDeletion only."""
    ask.be_jane(WRITE, rule("*", "*", "*"))
    code, status = create(ask, blocking(kind, version))
    assert code == 403
    assert status["message"] == (
        'configmaps "a" is forbidden: cannot set blockOwnerDeletion in this case because cannot find RESTMapping for '
        f'APIVersion {version} Kind {kind}: no matches for kind "{kind}" in version "{version}"'
    )
    assert create(ask, owner(kind, version))[0] == 201


def test_kinds_are_found_as_kube_apiserver_finds_them(ask: Enforcing) -> None:
    """A kind can be in lower case; the resource of a list kind is guessed."""
    ask.be_jane(WRITE, FINALIZE)
    assert create(ask, blocking("configmap"))[0] == 201
    assert create(ask, blocking("ConfigMapList"))[0] == 403
    ask.be_jane(WRITE, rule("update", "configmaplists/finalizers"))
    assert create(ask, blocking("ConfigMapList"))[0] == 201


def test_who_changes_owners_may_delete_the_object(ask: Enforcing) -> None:
    """Adding, changing, reordering and removing owners require `delete`; other changes do not."""
    ask.owned("a", owner(), owner(uid="2"))
    ask.be_jane(WRITE)
    told = f'configmaps "a" is forbidden: {NO_DELETE}'

    assert change(ask, owner(), owner(uid="2"), owner(uid="3"))[1]["message"] == told
    assert change(ask, owner(blockOwnerDeletion=False), owner(uid="2"))[1]["message"] == told
    assert change(ask, owner(uid="2"), owner())[1]["message"] == told
    assert change(ask)[1]["message"] == told
    assert change(ask, owner(), blocking(uid="2"))[1]["message"] == told
    assert change(ask, owner(), owner(uid="2"))[0] == 200
    assert ask("PATCH", f"{CONFIGMAPS}/a", {"data": {"a": "b"}}, headers=MERGE)[0] == 200
    ask.be_jane(WRITE, {**DELETE, "resourceNames": ["a"]})
    assert change(ask)[0] == 200


def test_only_owners_that_are_newly_held_back_are_asked_about(ask: Enforcing) -> None:
    """Unchanged and removed blockOwnerDeletion require no permission on finalizers."""
    ask.owned("a", blocking())
    ask.be_jane(WRITE, DELETE)
    refusal = f'configmaps "a" is forbidden: {NO_FINALIZERS}'

    assert change(ask, {**blocking(), "controller": True})[0] == 200
    assert change(ask, blocking(), blocking(uid="2"))[1]["message"] == refusal
    assert change(ask, owner())[0] == 200
    assert change(ask, blocking())[1]["message"] == refusal


def test_apply_and_replace_are_asked_about_too(ask: Enforcing) -> None:
    """The plugin handles all kinds of writes."""
    ask.owned("b")
    ask.be_jane(WRITE)
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "ownerReferences": [blocking()]}}
    apply = {"Content-Type": "application/apply-patch+yaml"}
    code, status = ask("PATCH", f"{CONFIGMAPS}/a", obj, headers=apply, fieldManager="x")
    assert (code, status["message"]) == (403, f'configmaps "a" is forbidden: {NO_FINALIZERS}')
    code, status = ask("PUT", f"{CONFIGMAPS}/b", {"metadata": {"name": "b", "ownerReferences": [owner()]}})
    assert (code, status["message"]) == (403, f'configmaps "b" is forbidden: {NO_DELETE}')


def test_a_sub_resource_is_deleted_by_its_own_name(ask: Enforcing) -> None:
    """Owners written through the status require `delete` on the status; a pod's status is exempt."""
    containers = {"containers": [{"name": "c", "image": "i"}]}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": containers}
    deployment = {"metadata": {"name": "d"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template}}
    assert ask("POST", DEPLOYMENTS, deployment)[0] == 201
    pods = "/api/v1/namespaces/default/pods"
    assert ask("POST", pods, {"metadata": {"name": "p"}, "spec": containers})[0] == 201
    patch = {"metadata": {"ownerReferences": [owner()]}}
    status = rule("patch", "deployments/status", "apps")

    ask.be_jane(rule("patch", "pods/status"), status, rule("delete", "deployments", "apps"))
    assert ask("PATCH", f"{pods}/p/status", patch, headers=MERGE)[0] == 200
    code, refusal = ask("PATCH", f"{DEPLOYMENTS}/d/status", patch, headers=MERGE)
    assert (code, refusal["message"]) == (403, f'deployments.apps "d" is forbidden: {NO_DELETE}')
    ask.be_jane(status, rule("delete", "deployments/status", "apps"))
    assert ask("PATCH", f"{DEPLOYMENTS}/d/status", patch, headers=MERGE)[0] == 200


def test_a_binding_to_nothing_is_told(ask: Enforcing) -> None:
    """The error has the name of the missing role."""
    ask.be_jane(WRITE)
    ask.is_admin = True
    dangling = {"metadata": {"name": "x"}, "roleRef": {"kind": "Role", "name": "not-there"}, "subjects": [JANE]}
    assert ask("POST", f"{RBAC}/namespaces/default/rolebindings", dangling)[0] == 201
    ask.is_admin = False
    why = 'RBAC: role.rbac.authorization.k8s.io "not-there" not found, <nil>'
    assert create(ask, blocking())[1]["message"].endswith(f"set finalizers on: {why}")


def test_it_is_off_unless_it_is_wanted() -> None:
    """The plugin is disabled by default, as in kube-apiserver."""
    ask = Enforcing()
    ask.server = ApiServer(random=Random(1), authorization="RBAC")
    ask.be_jane(WRITE)
    assert create(ask, blocking("Nope"))[0] == 201
