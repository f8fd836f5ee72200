"""Permissions that a program declares: a rule, and the namespaces or clusters that it is needed in."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Literal, NamedTuple, TypeAlias, cast, get_args

from pyctrl.api import AccessRule, GroupVersionKind, KindLike, KubernetesObject, kind_of
from pyctrl.errors import NotRegistered, RbacError
from pyctrl.kinds import BUILTIN_KINDS

__all__ = [
    "EVENTS",
    "LEADER_ELECTION",
    "SHARDING",
    "Permission",
    "PermissionScope",
    "Resource",
    "Verb",
    "allow",
    "resource_of",
]


Verb: TypeAlias = Literal[
    "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "use", "bind", "escalate",
    "impersonate", "approve", "sign", "*"
]  # fmt: skip


class PermissionScope(Enum):
    """Where a permission is needed, if not in named namespaces."""

    #: In the namespaces that the manager watches, or in all if it is not restricted.
    WATCHED = "wherever the manager watches"
    #: In the namespace that the operator runs in.
    OWN = "in the operator's own namespace"
    #: In all namespaces, or for a cluster-scoped kind: needs a ClusterRole.
    CLUSTER = "in the whole cluster"


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    """A rule, and where it is needed; use `allow` for the usual ones."""

    rule: AccessRule
    where: PermissionScope | frozenset[str] = PermissionScope.WATCHED
    #: Whether a controller waits until it has this permission. Others are reviewed and reported as well.
    is_essential: bool = True
    #: The cluster that it is needed in: the name of a cluster or fleet of the manager; "" is the manager's own. None is
    #: the cluster of the controller that declares it.
    cluster: str | None = None


def allow(
    what: KindLike | Resource | str,
    *verbs: Verb,
    subresource: str = "",
    names: Iterable[str] = (),
    where: PermissionScope | Collection[str] | None = None,
    essential: bool = True,
    cluster: str | None = None,
) -> Permission:
    """Declare an access that a program needs: ``allow(PersistentVolumeClaim, "create", "patch")``.

    Args:
        what: a kind; a `Resource` if there is no class and the plural cannot be guessed; or a non-resource path, such
            as ``"/metrics"``.
        verbs: the verbs. Cached reads need only the permissions that the builder derives.
        subresource: the sub-resource, such as ``"status"``, instead of the object itself.
        names: only the objects of these names. The API server does not check names for create and deletecollection, and
            for list and watch only if the request has the field selector ``metadata.name=NAME``.
        where: by default the namespaces that the manager watches; always the whole cluster for cluster-scoped kinds.
        essential: False if the program also works without it: no controller waits for it then.
        cluster: the name of another cluster of the manager, or of a fleet for all of its clusters; by default the
            controller's own cluster.

    Raises:
        RbacError: there is no verb, a verb is unknown, or the first argument is neither a kind nor a path.
    """
    _check(what, verbs)
    if isinstance(what, str):
        rule = AccessRule(verbs=verbs, paths=(what,))
        return Permission(rule=rule, where=PermissionScope.CLUSTER, is_essential=essential, cluster=cluster)
    group, plural, is_namespaced = what if isinstance(what, Resource) else resource_of(what)
    resource = f"{plural}/{subresource}" if subresource else plural
    rule = AccessRule(verbs=verbs, groups=(group,), resources=(resource,), names=tuple(names))
    place = PermissionScope.CLUSTER if is_namespaced is False else _where(where)
    return Permission(rule=rule, where=place, is_essential=essential, cluster=cluster)


def _where(where: PermissionScope | Collection[str] | None) -> PermissionScope | frozenset[str]:
    if where is None or isinstance(where, PermissionScope):
        return where or PermissionScope.WATCHED
    return frozenset([where] if isinstance(where, str) else where)


def _check(what: KindLike | Resource | str, verbs: tuple[str, ...]) -> None:
    if unknown := sorted(set(verbs) - set(get_args(Verb))):
        raise RbacError(f"allow() takes verbs such as 'create' and 'patch', got {', '.join(map(repr, unknown))}")
    if not verbs:
        raise RbacError(f"allow() takes at least one verb, such as 'create'; got none for {what!r}")
    is_kind = isinstance(what, (GroupVersionKind, Resource)) or (
        isinstance(what, type) and (issubclass(what, KubernetesObject) or _is_model_class(what))
    )
    if not is_kind and not (isinstance(what, str) and what.startswith("/")):
        raise RbacError(f"allow() takes a kind, or a path such as '/metrics'; got {what!r}")


def _is_model_class(cls: type) -> bool:
    """Return whether a class is a kind without being one of pyctrl's: a model class of kubernetes_asyncio."""
    try:
        return bool(kind_of(cast(KindLike, cls)))
    except NotRegistered:
        return False


#: Needed by ``self.recorder`` to write Events. Not essential: without it only the Events are lost.
EVENTS: Permission = Permission(
    rule=AccessRule(verbs=("create", "patch"), groups=("events.k8s.io",), resources=("events",)),
    is_essential=False,
)

#: Needed for leader election: a Lease in the operator's own namespace.
LEADER_ELECTION: Permission = Permission(
    rule=AccessRule(verbs=("create", "get", "update"), groups=("coordination.k8s.io",), resources=("leases",)),
    where=PermissionScope.OWN,
)

#: Needed for sharding: the Leases of all replicas in the operator's own namespace, whose names are not known before.
SHARDING: Permission = Permission(
    rule=AccessRule(
        verbs=("create", "delete", "get", "list", "update"), groups=("coordination.k8s.io",), resources=("leases",)
    ),
    where=PermissionScope.OWN,
)


class Resource(NamedTuple):
    """Group and plural of a kind, as rules name it. ``namespaced`` is None if unknown, and then taken for true."""

    group: str
    plural: str
    namespaced: bool | None = None


def resource_of(kind: KindLike) -> Resource:
    """Return the resource of a kind, without a request to a server.

    It is known for classes and, from `pyctrl.kinds`, for built-in kinds. The plural of any other GroupVersionKind is
    guessed as Kubernetes does (k8s.io/apimachinery, UnsafeGuessKindToResource): pass a class where the guess is wrong.
    """
    gvk = kind_of(kind)
    info = getattr(kind, "resource", None)
    if info is not None:
        return Resource(gvk.group, info.plural, info.namespaced)
    builtin = BUILTIN_KINDS.get(gvk)
    if builtin is not None and builtin.plural:
        return Resource(gvk.group, builtin.plural, builtin.namespaced)
    return Resource(gvk.group, _guessed_plural(gvk.kind.lower()), None)


def _guessed_plural(singular: str) -> str:
    if singular.endswith("s"):
        return singular if singular == "endpoints" else f"{singular}es"
    return f"{singular[:-1]}ies" if singular.endswith("y") else f"{singular}s"
