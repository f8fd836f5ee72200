"""The objects that the doctor checks: roles, bindings, service accounts and workloads, indexed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any, NamedTuple, TypeAlias

from pyctrl._schemas import load
from pyctrl.api import AccessRule, Key, LabelSelector
from pyctrl.rbac._doctor.findings import ObjectRef
from pyctrl.rbac._doctor.served_resources import Served

__all__ = ["EVERYWHERE", "Binding", "Facts", "Role", "Subject", "Workload", "workload_of"]


RBAC = "rbac.authorization.k8s.io"
EVERYWHERE = ""  # the "namespace" of cluster-wide bindings
ACCOUNT_USER = "system:serviceaccount:"
ACCOUNT_GROUP = "system:serviceaccounts"
DEFAULT = "default"  # the account that every namespace has, and the namespace that every cluster has
ACCOUNT_ANNOTATION = "kubernetes.io/service-account.name"
ACCOUNT_TOKEN = "kubernetes.io/service-account-token"

Wire: TypeAlias = Mapping[str, Any]

_VERSIONS = frozenset((f"{RBAC}/v1", "v1", "apps/v1", "batch/v1"))  # other groups may have kinds of the same names
CLUSTER_KINDS = frozenset(("ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition", "Namespace"))


class Subject(NamedTuple):
    """A subject of a binding, as written there."""

    kind: str
    name: str
    namespace: str
    group: str

    def __str__(self) -> str:
        shown = f"{self.namespace}/{self.name}" if self.namespace and self.kind == "ServiceAccount" else self.name
        return f"{self.kind} {shown!r}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """A Role or ClusterRole, and the selectors of its aggregation rule."""

    named: ObjectRef
    rules: tuple[AccessRule, ...]
    selectors: tuple[LabelSelector, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    is_own: bool = True  # made by users, not a default role of every cluster

    @property
    def is_aggregated(self) -> bool:
        """Whether the controller manager fills it with the rules of other roles."""
        return bool(self.selectors)


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """A RoleBinding or ClusterRoleBinding."""

    named: ObjectRef
    role_kind: str
    role_name: str
    subjects: tuple[Subject, ...]
    is_own: bool = True

    @property
    def namespace(self) -> str:
        """The namespace that it grants permissions in; "" is all."""
        return self.named.namespace

    @property
    def role_key(self) -> tuple[str, Key]:
        """Kind, namespace and name of the role that it references."""
        return self.role_kind, Key(self.namespace if self.role_kind == "Role" else "", self.role_name)


class Facts:
    """All objects that were read, with indexes.

    Args:
        objects: the objects, each with its source; "" is a cluster.
        served: the resources that exist.
        complete: the kinds of which all objects were read, and in which namespaces; "" is all. Objects of other kinds
            may exist without being here.
        namespace: the namespace of namespaced objects that name none.
    """

    def __init__(
        self,
        objects: Iterable[tuple[Wire, str]],
        *,
        served: Served,
        complete: Mapping[str, frozenset[str]],
        namespace: str = DEFAULT,
    ) -> None:
        self.served = served
        self.namespace = namespace
        self._complete = complete
        self.objects: list[tuple[ObjectRef, Wire]] = [(self._named(obj, source), obj) for obj, source in objects]
        self.bindings: list[Binding] = []
        self.roles: dict[tuple[str, Key], Role] = {}
        self.accounts: dict[Key, Wire] = {}
        self.workloads: list[Workload] = []
        self.token_secrets: list[tuple[ObjectRef, Key]] = []
        for named, obj in self.objects:
            if str(obj.get("apiVersion", "")) in _VERSIONS:
                self._add(named, obj)
        if not self.knows_all("ClusterRole"):
            for obj in _policy():
                self._add(self._named(obj, ""), obj, is_known=True)

    def knows_all(self, kind: str, namespace: str = EVERYWHERE) -> bool:
        """Return whether an object of a kind that was not read does not exist."""
        places = self._complete.get(kind, frozenset())
        return EVERYWHERE in places or namespace in places

    def has_account(self, account: Key) -> bool:
        """Return whether a service account was read; every namespace has one named ``default``."""
        return account in self.accounts or (account.name == DEFAULT and not self.knows_all("ServiceAccount"))

    @cached_property
    def known_accounts(self) -> frozenset[Key]:
        """The accounts that were read or, unless all were read, that a workload or token Secret references."""
        used = (workload.account for workload in self.workloads if workload.account_name)
        tokens = (account for _, account in self.token_secrets)
        known = self.knows_all("ServiceAccount")
        return frozenset(self.accounts if known else (*self.accounts, *used, *tokens))

    @cached_property
    def referenced_accounts(self) -> frozenset[Key]:
        """The known accounts, and those that a binding names."""
        subjects = (account for binding in self.bindings for account in self._subjects(binding))
        return frozenset((*self.known_accounts, *subjects))

    def accounts_named(self, name: str) -> list[Key]:
        """Return the referenced accounts of a name, in any namespace."""
        return self._by_name.get(name, [])

    @cached_property
    def _by_name(self) -> dict[str, list[Key]]:
        found: dict[str, list[Key]] = {}
        for account in self.referenced_accounts:
            found.setdefault(account.name, []).append(account)
        return found

    def bindings_of(self, role: tuple[str, Key]) -> list[Binding]:
        """Return the bindings of a role."""
        return self._by_role.get(role, [])

    @cached_property
    def _by_role(self) -> dict[tuple[str, Key], list[Binding]]:
        found: dict[tuple[str, Key], list[Binding]] = {}
        for binding in self.bindings:
            found.setdefault(binding.role_key, []).append(binding)
        return found

    def bindings_for(self, account: Key) -> list[Binding]:
        """Return the bindings of an account: by its name, by its user name, and by its groups."""
        names: list[tuple[str, Key | str]] = [("ServiceAccount", account), ("User", user_of(account))]
        names += [("Group", group) for group in groups_of(account)]
        return list(dict.fromkeys(each for name in names for each in self._by_subject.get(name, ())))

    @cached_property
    def _by_subject(self) -> dict[tuple[str, Key | str], list[Binding]]:
        found: dict[tuple[str, Key | str], list[Binding]] = {}
        for binding in self.bindings:
            for subject in binding.subjects:
                is_account = subject.kind == "ServiceAccount"
                name = Key(subject.namespace or binding.namespace, subject.name) if is_account else subject.name
                found.setdefault((subject.kind, name), []).append(binding)
        return found

    def rules_of(self, key: tuple[str, Key]) -> tuple[AccessRule, ...] | None:
        """Return the rules of a role, including those of the roles it aggregates; None if it was not read."""
        role = self.roles.get(key)
        return None if role is None else tuple(dict.fromkeys(self._rules(role, ())))

    def _rules(self, role: Role, above: Sequence[Role]) -> Iterator[AccessRule]:
        yield from role.rules
        if not role.is_aggregated or role in above:
            return
        for part in self.parts_of(role):
            yield from self._rules(part, (*above, role))

    def parts_of(self, role: Role) -> list[Role]:
        """Return the cluster roles that an aggregated role selects."""
        candidates = [each for (kind, _), each in self.roles.items() if kind == "ClusterRole" and each is not role]
        return [each for each in candidates if any(selector.matches(each.labels) for selector in role.selectors)]

    # --- reading ---

    def _named(self, obj: Wire, source: str) -> ObjectRef:
        metadata = obj.get("metadata") or {}
        if obj["kind"] in CLUSTER_KINDS or self._is_cluster_scoped(obj):
            return ObjectRef.of(obj, "", source)
        return ObjectRef.of(obj, str(metadata.get("namespace") or self.namespace), source)

    def _is_cluster_scoped(self, obj: Wire) -> bool:
        group = str(obj.get("apiVersion", "")).rpartition("/")[0]
        return any(each.kind == obj["kind"] and not each.namespaced for each in self.served.of_group(group))

    def _add(self, named: ObjectRef, obj: Wire, *, is_known: bool = False) -> None:
        key = Key(named.namespace, named.name)
        is_own = not is_known and _is_own(named, obj)
        if named.kind in ("Role", "ClusterRole"):
            self.roles.setdefault((named.kind, key), replace(_role(named, obj), is_own=is_own))
        elif named.kind in ("RoleBinding", "ClusterRoleBinding"):
            self.bindings.append(_binding(named, obj, is_own=is_own))
        elif named.kind == "ServiceAccount":
            self.accounts[key] = obj
        elif named.kind == "Secret":
            annotations = (obj.get("metadata") or {}).get("annotations") or {}
            if ACCOUNT_ANNOTATION in annotations and obj.get("type", ACCOUNT_TOKEN) == ACCOUNT_TOKEN:
                self.token_secrets.append((named, Key(named.namespace, annotations[ACCOUNT_ANNOTATION])))
        elif (workload := workload_of(named, obj)) is not None:
            self.workloads.append(workload)

    @staticmethod
    def _subjects(binding: Binding) -> Iterator[Key]:
        for subject in binding.subjects:
            if subject.kind == "ServiceAccount":
                yield Key(subject.namespace or binding.namespace, subject.name)
            elif subject.kind == "User" and (account := account_of(subject.name)):
                yield account


def account_of(user: str) -> Key | None:
    """Return the service account of a user name; None if it is not the user name of one."""
    namespace, colon, name = user.removeprefix(ACCOUNT_USER).partition(":")
    is_account = user.startswith(ACCOUNT_USER) and colon and namespace and name and ":" not in name
    return Key(namespace, name) if is_account else None


def user_of(account: Key) -> str:
    """Return the user name of a service account."""
    return f"{ACCOUNT_USER}{account.namespace}:{account.name}"


def groups_of(account: Key) -> tuple[str, ...]:
    """Return the groups of a service account."""
    return ACCOUNT_GROUP, f"{ACCOUNT_GROUP}:{account.namespace}", "system:authenticated"


def _role(named: ObjectRef, obj: Wire) -> Role:
    aggregation = obj.get("aggregationRule") or {}
    return Role(
        named=named,
        rules=tuple(AccessRule.read(rule) for rule in obj.get("rules") or ()),
        selectors=tuple(LabelSelector.from_wire(each) for each in aggregation.get("clusterRoleSelectors") or ()),
        labels=(obj.get("metadata") or {}).get("labels") or {},
    )


def _binding(named: ObjectRef, obj: Wire, *, is_own: bool) -> Binding:
    reference = obj.get("roleRef") or {}
    subjects = [
        Subject(*(str(each.get(part) or "") for part in ("kind", "name", "namespace", "apiGroup")))
        for each in obj.get("subjects") or ()
    ]
    kind, name = str(reference.get("kind", "")), str(reference.get("name", ""))
    return Binding(named=named, role_kind=kind, role_name=name, subjects=tuple(subjects), is_own=is_own)


def _is_own(named: ObjectRef, obj: Wire) -> bool:
    """Return whether users made an object: not a default role or binding, nor one of the control plane."""
    labels = (obj.get("metadata") or {}).get("labels") or {}
    return "kubernetes.io/bootstrapping" not in labels and not named.name.startswith("system:")


@cache
def _policy() -> tuple[Wire, ...]:
    """Return the default roles and bindings of every cluster."""
    return tuple(load("rbac_policy")["items"])


_TEMPLATES = {  # the path of the pod spec
    "Pod": ("spec",),
    "ReplicationController": ("spec", "template", "spec"),
    "ReplicaSet": ("spec", "template", "spec"),
    "Deployment": ("spec", "template", "spec"),
    "StatefulSet": ("spec", "template", "spec"),
    "DaemonSet": ("spec", "template", "spec"),
    "Job": ("spec", "template", "spec"),
    "CronJob": ("spec", "jobTemplate", "spec", "template", "spec"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A Pod or an object with a pod template, without a controlling owner."""

    named: ObjectRef
    pod_spec: Mapping[str, Any]
    path: tuple[str, ...]  # of the pod spec in the object

    @property
    def account(self) -> Key:
        """The service account that its pods run as."""
        return Key(self.named.namespace, self.account_name or "default")

    @property
    def account_name(self) -> str:
        """The name of the account in the pod spec; "" if unset. ``serviceAccount`` is the deprecated field."""
        return str(self.pod_spec.get("serviceAccountName") or self.pod_spec.get("serviceAccount") or "")

    @property
    def kubectl(self) -> str:
        """The object as a kubectl argument: ``deployment/web``."""
        return f"{self.named.kind.lower()}/{self.named.name}"


def workload_of(named: ObjectRef, obj: Mapping[str, Any]) -> Workload | None:
    """Return an object as a workload; None if it has no pods or a controlling owner."""
    path = _TEMPLATES.get(named.kind)
    owners = (obj.get("metadata") or {}).get("ownerReferences") or ()
    if path is None or any(owner.get("controller") for owner in owners):
        return None
    spec: Any = obj
    for part in path:
        spec = (spec or {}).get(part)
    return Workload(named=named, pod_spec=spec or {}, path=path)
