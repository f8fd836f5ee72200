"""Declared permissions, and the roles that are derived from them."""

from __future__ import annotations

import pytest

from pyctrl.api import Access, AccessRule, CustomResource, GroupVersionKind, Key, Metadata, Model
from pyctrl.errors import RbacError
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.kinds.core.v1 import Endpoints, Node, Pod
from pyctrl.rbac import (
    LEADER_ELECTION,
    Permission,
    PermissionScope,
    allow,
    grants,
    manifests,
    normalise,
    remedy,
    to_yaml,
)


class Claim(CustomResource[Model, Model], group="kopf.dev", version="v1", plural="claimz"):
    """A kind with an irregular plural."""


def rule(resources: str, verbs: str, groups: str = "", names: str = "", paths: str = "") -> AccessRule:
    return AccessRule(
        verbs=tuple(verbs.split()),
        groups=tuple("" if group == "core" else group for group in groups.split()) or (("",) if resources else ()),
        resources=tuple(resources.split()),
        names=tuple(names.split()),
        paths=tuple(paths.split()),
    )


def test_a_kind_is_named_by_its_plural_and_group() -> None:
    """allow() takes a built-in or custom class, and uses its plural and group."""
    assert allow(Deployment, "create", "patch").rule == rule("deployments", "create patch", "apps")
    assert allow(Claim, "patch").rule == rule("claimz", "patch", "kopf.dev")
    assert allow(Metadata[Pod], "delete").rule == rule("pods", "delete")
    assert allow(Endpoints, "get").rule == rule("endpoints", "get")
    assert allow(Pod, "create", subresource="eviction").rule == rule("pods/eviction", "create")


@pytest.mark.parametrize(
    ("kind", "plural"), [("Gateway", "gatewaies"), ("Policy", "policies"), ("Class", "classes"), ("Widget", "widgets")]
)
def test_a_kind_without_a_class_is_named_as_kubernetes_guesses(kind: str, plural: str) -> None:
    """The plural of an unknown GroupVersionKind is guessed as Kubernetes does."""
    assert allow(GroupVersionKind("example.com", "v1", kind), "get").rule.resources == (plural,)


def test_kinds_without_a_namespace_take_a_cluster_role() -> None:
    """Permissions for cluster-scoped kinds need a ClusterRole, also for a manager restricted to namespaces."""
    granted = grants([allow(Node, "patch"), allow(Pod, "delete")], namespaces=["a", "b"], own_namespace="system")
    assert granted.rules == {
        "": (rule("nodes", "patch"),),
        "a": (rule("pods", "delete"),),
        "b": (rule("pods", "delete"),),
    }


def test_a_lease_is_needed_where_the_operator_runs() -> None:
    """Leader election needs a Role in the operator's namespace, wherever the manager watches."""
    granted = grants([LEADER_ELECTION, allow(Pod, "delete")], namespaces=None, own_namespace="system")
    assert granted.rules == {
        "": (rule("pods", "delete"),),
        "system": (rule("leases", "create get update", "coordination.k8s.io"),),
    }


def test_a_role_does_not_repeat_what_the_cluster_role_grants() -> None:
    """A Role does not repeat permissions of the ClusterRole."""
    both = [allow(Pod, "list", "watch", where=PermissionScope.CLUSTER), allow(Pod, "list", "patch", where="web")]
    assert grants(both, namespaces=None, own_namespace="x").rules == {
        "": (rule("pods", "list watch"),),
        "web": (rule("pods", "patch"),),
    }


@pytest.mark.parametrize(
    ("what", "verbs", "text"),
    [
        (Pod, (), "at least one verb"),
        (Pod, ("read",), "verbs such as 'create' and 'patch', got 'read'"),
        ("pods", ("get",), "a kind, or a path such as '/metrics'; got 'pods'"),
        (int, ("get",), "a kind, or a path"),
    ],
)
def test_a_wrong_declaration_says_what_was_expected(what: type, verbs: tuple[str, ...], text: str) -> None:
    """allow() rejects unknown verbs, no verbs, and arguments that are not kinds."""
    with pytest.raises(RbacError, match=text):
        allow(what, *verbs)  # type: ignore[arg-type]


NORMAL = [
    ("verbs of one resource", [rule("pods", "get"), rule("pods", "list get")], [rule("pods", "get list")]),
    ("resources with the same verbs", [rule("pods", "get"), rule("nodes", "get")], [rule("nodes pods", "get")]),
    (
        "groups with the same resources",
        [rule("jobs", "get", "batch"), rule("jobs", "get", "example.com")],
        [rule("jobs", "get", "batch example.com")],
    ),
    ("core is the empty group", [rule("pods", "get", "core"), rule("pods", "list")], [rule("pods", "get list")]),
    ("every verb", [rule("pods", "get list"), rule("pods", "*")], [rule("pods", "*")]),
    ("paths", [rule("", "get", paths="/b"), rule("", "get", paths="/a")], [rule("", "get", paths="/a /b")]),
    (
        "names stay apart",
        [rule("secrets", "get", names="b a"), rule("secrets", "list")],
        [rule("secrets", "list"), rule("secrets", "get", names="a b")],
    ),
    (
        "names, which controller-gen does not merge",
        [rule("secrets", "get", names="b"), rule("secrets", "get", names="a")],
        [rule("secrets", "get", names="a b")],
    ),
    (
        "what another rule says already",
        [rule("secrets", "get list"), rule("secrets", "get", names="a")],
        [rule("secrets", "get list")],
    ),
    (
        "resources of different verbs, sorted",
        [rule("pods/log", "get"), rule("pods", "get list"), rule("events", "create")],
        [rule("events", "create"), rule("pods", "get list"), rule("pods/log", "get")],
    ),
]


@pytest.mark.parametrize(("rules", "expected"), [case[1:] for case in NORMAL], ids=[case[0] for case in NORMAL])
def test_rules_are_merged_as_controller_gen_merges_them(rules: list[AccessRule], expected: list[AccessRule]) -> None:
    """Rules that allow the same are merged into the same rules, however they are declared."""
    assert list(normalise(rules)) == expected
    assert list(normalise(reversed(rules))) == expected
    assert list(normalise(normalise(rules))) == expected


def test_manifests_grant_exactly_that() -> None:
    """Roles and bindings can be applied as they are."""
    declared = [Permission(rule=rule("pods", "list watch")), LEADER_ELECTION]
    granted = grants(declared, namespaces=None, own_namespace="evc-system")
    documents = manifests(granted, name="evc-operator", account=Key("evc-system", "evc"))
    assert [(each["kind"], each["metadata"]) for each in documents] == [
        ("ClusterRole", {"name": "evc-operator"}),
        ("ClusterRoleBinding", {"name": "evc-operator"}),
        ("Role", {"name": "evc-operator", "namespace": "evc-system"}),
        ("RoleBinding", {"name": "evc-operator", "namespace": "evc-system"}),
    ]
    assert to_yaml(documents[:1]) == (
        "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: evc-operator\nrules:\n"
        "- apiGroups:\n  - ''\n  resources:\n  - pods\n  verbs:\n  - list\n  - watch\n"
    )
    assert documents[3]["roleRef"] == {
        "apiGroup": "rbac.authorization.k8s.io",
        "kind": "Role",
        "name": "evc-operator",
    }


def test_grants_allow_what_they_list_and_nothing_more() -> None:
    """Grants allow exactly the listed accesses, those of the whole cluster in every namespace."""
    granted = grants([allow(Pod, "list"), allow(Pod, "delete", where="web")], namespaces=None, own_namespace="x")
    assert all(granted.allow(access) for access in granted.accesses())
    assert granted.allow(Access("list", "", "pods", namespace="web"))
    assert not granted.allow(Access("delete", "", "pods", namespace="other"))


def test_a_remedy_names_the_rule_and_the_commands() -> None:
    """The suggestion has the missing permission in words, as a YAML rule, and as commands."""
    cure = remedy(
        rule("deployments/status", "get patch", "apps"), "", user="system:serviceaccount:ops:podset", name="podset-2"
    )
    assert cure.what == "get and patch deployments.apps/status at the cluster scope"
    assert cure.rule == '- apiGroups: ["apps"]\n  resources: ["deployments/status"]\n  verbs: ["get", "patch"]\n'
    assert "in a ClusterRole that is bound to system:serviceaccount:ops:podset:" in cure.text
    assert cure.commands == (
        "kubectl create clusterrole podset-2 --verb=get,patch --resource=deployments.apps/status",
        "kubectl create clusterrolebinding podset-2 --clusterrole=podset-2 --serviceaccount=ops:podset",
    )


def test_a_remedy_in_one_namespace_is_a_role() -> None:
    """In one namespace the suggestion is a Role, with names and users quoted for the shell."""
    cure = remedy(rule("secrets", "get", names="it's"), "web", user="jane doe", name="r")
    assert cure.commands == (
        "kubectl create role r --namespace=web --verb=get --resource=secrets --resource-name='it'\"'\"'s'",
        "kubectl create rolebinding r --namespace=web --role=r --user='jane doe'",
    )


def test_a_remedy_names_its_role_by_itself() -> None:
    """Suggestions for different users, verbs and paths have different role names."""

    def named(granted: AccessRule, user: str) -> str:
        return remedy(granted, "", user=user, name="").commands[0].split()[3]

    account = "system:serviceaccount:ops:podset"
    assert named(rule("deployments", "list watch", "apps"), account) == "ops:podset:deployments.apps:list-watch"
    assert named(rule("deployments/status", "patch", "apps"), account) == "ops:podset:deployments.apps-status:patch"
    assert named(rule("secrets", "get", names="a b"), "Jane Doe/IT") == "Jane-Doe-IT:secrets-a-b:get"
    assert named(AccessRule(verbs=("*",), paths=("/metrics/*",)), account) == "ops:podset:metrics:all"


def test_a_remedy_for_nobody_in_particular_has_a_place_to_fill_in() -> None:
    """If the server does not name the user, the command has a placeholder."""
    cure = remedy(rule("pods", "list"), "", user="", name="r")
    assert cure.commands[1].endswith("--serviceaccount=NAMESPACE:NAME")
    assert "bound to the user of this program" in cure.text
