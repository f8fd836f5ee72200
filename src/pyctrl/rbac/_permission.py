"""What a program declares that it does: a rule, and where it is needed."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Literal, NamedTuple, TypeAlias, get_args

from pyctrl.api import AccessRule, GroupVersionKind, KindLike, KubernetesObject, kind_of
from pyctrl.errors import RbacError
from pyctrl.kinds import BUILTIN_KINDS

__all__ = ["EVENTS", "LEADER_ELECTION", "Permission", "PermissionScope", "Resource", "Verb", "allow", "resource_of"]


Verb: TypeAlias = Literal[
    "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "use", "bind", "escalate",
    "impersonate", "approve", "sign", "*"
]  # fmt: skip


class PermissionScope(Enum):
    """Where a permission is needed, when that is not in namespaces that are named."""

    #: Wherever the manager watches: in its namespaces, or everywhere if it is not restricted to some.
    WATCHED = "wherever the manager watches"
    #: In the namespace that the operator runs in.
    OWN = "in the operator's own namespace"
    #: In all namespaces, or of a kind that is in none: takes a ClusterRole.
    CLUSTER = "in the whole cluster"


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    """A rule, and where it is needed; `allow` makes the usual ones."""

    rule: AccessRule
    where: PermissionScope | frozenset[str] = PermissionScope.WATCHED
    #: Whether a controller waits until it has it. What it can do without is reviewed and told of all the same.
    is_essential: bool = True
    #: The cluster it is needed in: a name that the manager knows, also of a fleet; "" is the manager's own. None is
    #: where whoever declares it lives.
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
    """Declare that a program does something: ``allow(PersistentVolumeClaim, "create", "patch")``.

    Args:
        what: a kind, or a `Resource` where there is no class and the plural cannot be guessed; or a path that is no
            resource, such as ``"/metrics"``.
        verbs: what is done with it. Reading from the cache needs nothing more than what the builder derives.
        subresource: such as ``"status"``, instead of the object itself.
        names: only objects of these names. A right to create, list, watch or delete collections knows no names, but a
            list that is restricted to ``metadata.name=NAME`` counts as one of that name.
        where: by default wherever the manager watches; kinds without a namespace are always in the whole cluster.
        essential: False when the program works without, if not as well: no controller waits for it then.
        cluster: the name of another cluster of the manager, or of a fleet for all of its clusters; by default the one
            that the controller lives in.

    Raises:
        RbacError: there is no verb, or no such one; or it is neither a kind nor a path.
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
        raise RbacError(f"allow() takes at least one verb: what is done with {what!r}?")
    is_kind = isinstance(what, (GroupVersionKind, Resource)) or (
        isinstance(what, type) and issubclass(what, KubernetesObject)
    )
    if not is_kind and not (isinstance(what, str) and what.startswith("/")):
        raise RbacError(f"allow() takes a kind, or a path such as '/metrics'; got {what!r}")


#: What a reconciler needs to tell of what it did: ``self.recorder`` writes Events. Without, they are lost, and no more.
EVENTS: Permission = Permission(
    rule=AccessRule(verbs=("create", "patch"), groups=("events.k8s.io",), resources=("events",)),
    is_essential=False,
)

#: What electing a leader needs: a Lease in the operator's own namespace.
LEADER_ELECTION: Permission = Permission(
    rule=AccessRule(verbs=("create", "get", "update"), groups=("coordination.k8s.io",), resources=("leases",)),
    where=PermissionScope.OWN,
)


class Resource(NamedTuple):
    """What rules call a kind. ``namespaced`` is None where nobody knows, and then taken for true."""

    group: str
    plural: str
    namespaced: bool | None = None


def resource_of(kind: KindLike) -> Resource:
    """Return what rules call a kind. Asks no server.

    A class knows, and so does `pyctrl.kinds` of the built-in kinds. The plural of any other GroupVersionKind is
    guessed as Kubernetes does (k8s.io/apimachinery, UnsafeGuessKindToResource): give it a class where that is wrong.
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
