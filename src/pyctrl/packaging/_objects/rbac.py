"""The service account, roles and bindings of a program, and roles for the users of its kinds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from pyctrl.api import AccessRule, KubernetesObject
from pyctrl.packaging._project import Project
from pyctrl.rbac import EVENTS, LEADER_ELECTION, SHARDING, manifests, normalise

__all__ = [
    "METRICS_RULES", "auth_delegator_binding", "auth_reader_binding", "bindings", "election_binding", "election_role",
    "election_rules", "kind_roles", "metrics_binding", "metrics_reader", "metrics_role", "roles", "service_account",
]  # fmt: skip

Object = dict[str, Any]

_GROUP = "rbac.authorization.k8s.io"
_VERSION = f"{_GROUP}/v1"
_EDIT = ("create", "delete", "get", "list", "patch", "update", "watch")
_VIEW = ("get", "list", "watch")


def service_account(project: Project) -> Object:
    """Return the service account that the program runs as."""
    return project.make("v1", "ServiceAccount", project.account.name, namespaced=True)


def roles(project: Project) -> list[Object]:
    """Return the program's ClusterRole, and a Role for each namespace that needs more permissions."""
    return [_labelled(project, each) for each in _granted(project) if not each["kind"].endswith("Binding")]


def bindings(project: Project) -> list[Object]:
    """Return the bindings of the program's roles to its account."""
    found = [_labelled(project, each) for each in _granted(project) if each["kind"].endswith("Binding")]
    for each in found:
        each["metadata"]["name"] = project.called("manager-rolebinding")
    return found


def _granted(project: Project) -> list[Object]:
    return manifests(project.grants, name=project.called("manager-role"), account=project.account)


def _labelled(project: Project, obj: Object) -> Object:
    metadata = dict(sorted({**obj["metadata"], "labels": project.labels}.items()))
    return {**obj, "metadata": metadata}


# -- leader election -------------------------------------------------------------------------------------------------


def election_role(project: Project) -> Object:
    """Return the Role for leader election: create Leases, update its own Lease, write Events.

    With shards it is for the Leases of all replicas.
    """
    return _role(project, "leader-election-role", election_rules(project), namespaced=True)


def election_rules(project: Project) -> tuple[AccessRule, ...]:
    """Return the rules for leader election, or sharding, which elects a leader, too."""
    if project.settings.shards == "auto":
        return SHARDING.rule, EVENTS.rule
    rule = LEADER_ELECTION.rule
    create = replace(rule, verbs=("create",))
    change = replace(rule, verbs=("get", "update"), names=(lease_of(project),))
    return create, change, EVENTS.rule


def election_binding(project: Project) -> Object:
    """Return the binding of the leader election Role."""
    return _bound(project, "leader-election-rolebinding", "leader-election-role", namespaced=True)


def lease_of(project: Project) -> str:
    """Return the name of the Lease."""
    return project.called("controller-manager")


# -- metrics ---------------------------------------------------------------------------------------------------------


METRICS_RULES = (
    AccessRule(verbs=("create",), groups=("authentication.k8s.io",), resources=("tokenreviews",)),
    AccessRule(verbs=("create",), groups=("authorization.k8s.io",), resources=("subjectaccessreviews",)),
)


def metrics_role(project: Project) -> Object:
    """Return the ClusterRole that the metrics server needs to authenticate and authorize requests."""
    return _role(project, "metrics-auth-role", METRICS_RULES)


def metrics_binding(project: Project) -> Object:
    """Return the binding of the metrics server's ClusterRole."""
    return _bound(project, "metrics-auth-rolebinding", "metrics-auth-role")


def metrics_reader(project: Project) -> Object:
    """Return the ClusterRole to read metrics. It is not bound: bind it to the account of Prometheus."""
    return _role(project, "metrics-reader", (AccessRule(verbs=("get",), paths=("/metrics",)),))


# -- extension API servers --------------------------------------------------------------------------------------------


def auth_delegator_binding(project: Project) -> Object:
    """Return the ClusterRoleBinding that lets an extension API server review tokens and accesses."""
    account = {"kind": "ServiceAccount", "name": project.account.name, "namespace": project.namespace}
    return project.make(
        _VERSION,
        "ClusterRoleBinding",
        project.called("auth-delegator"),
        roleRef={"apiGroup": _GROUP, "kind": "ClusterRole", "name": "system:auth-delegator"},
        subjects=[account],
    )


def auth_reader_binding(project: Project) -> Object:
    """Return the RoleBinding that lets an extension API server read how the aggregator authenticates itself."""
    account = {"kind": "ServiceAccount", "name": project.account.name, "namespace": project.namespace}
    made = project.make(
        _VERSION,
        "RoleBinding",
        project.called("auth-reader"),
        roleRef={"apiGroup": _GROUP, "kind": "Role", "name": "extension-apiserver-authentication-reader"},
        subjects=[account],
    )
    made["metadata"] = dict(sorted({**made["metadata"], "namespace": "kube-system"}.items()))
    return made


# -- users -----------------------------------------------------------------------------------------------------------


def kind_roles(project: Project, kind: type[KubernetesObject]) -> dict[str, Object]:
    """Return the admin, editor and viewer ClusterRoles of a kind, for its users. They are not bound."""
    group, plural = (kind.gvk.group,), kind.resource.plural
    found = {}
    for who, verbs in (("admin", ("*",)), ("editor", _EDIT), ("viewer", _VIEW)):
        rules = [AccessRule(verbs=verbs, groups=group, resources=(plural,))]
        if "status" in kind.resource.subresources:
            rules.append(AccessRule(verbs=("get",), groups=group, resources=(f"{plural}/status",)))
        found[who] = _role(project, f"{project.short(kind)}-{who}-role", rules)
    return found


def _role(project: Project, name: str, rules: Iterable[AccessRule], *, namespaced: bool = False) -> Object:
    wire = [rule.to_wire() for rule in normalise(rules)]
    kind = "Role" if namespaced else "ClusterRole"
    return project.make(_VERSION, kind, project.called(name), namespaced=namespaced, rules=wire)


def _bound(project: Project, name: str, role: str, *, namespaced: bool = False) -> Object:
    kind = "Role" if namespaced else "ClusterRole"
    account = {"kind": "ServiceAccount", "name": project.account.name, "namespace": project.namespace}
    return project.make(
        _VERSION,
        f"{kind}Binding",
        project.called(name),
        namespaced=namespaced,
        roleRef={"apiGroup": _GROUP, "kind": kind, "name": project.called(role)},
        subjects=[account],
    )
