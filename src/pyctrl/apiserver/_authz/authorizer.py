"""The authorizer interface, the union of authorizers, and the Forbidden error of a request."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol

from pyctrl._go.text import aggregate_messages, quoted
from pyctrl.api import Access, AccessRule
from pyctrl.apiserver._authn import User
from pyctrl.apiserver._errors import StatusError, forbidden, status_error

__all__ = [
    "EVERYTHING",
    "GROUP",
    "AlwaysAllowAuthorizer",
    "AlwaysAllowPathsAuthorizer",
    "Authorizer",
    "Decision",
    "RoleReference",
    "UnionAuthorizer",
    "access_forbidden",
]

GROUP = "rbac.authorization.k8s.io"

#: The rules of cluster-admin.
EVERYTHING = (
    AccessRule(verbs=("*",), groups=("*",), resources=("*",)),
    AccessRule(verbs=("*",), paths=("*",)),
)

_ESCAPED = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


class RoleReference(NamedTuple):
    """The role of a binding. Its str() is the error that the role does not exist."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind.lower()}.{GROUP} {quoted(self.name)} not found"


class Decision(NamedTuple):
    """The decision of an authorizer with its reason, in the words of access reviews and the audit log.

    Neither allowed nor denied is no opinion: the request is rejected unless another authorizer allows it.
    """

    is_allowed: bool
    reason: str = ""
    is_denied: bool = False
    error: str = ""  # why the authorizer could not decide


class Authorizer(Protocol):
    """Decides whether a user has an access, and lists the rules of a user."""

    def decide(self, user: User, access: Access) -> Decision: ...

    def unresolved(self, user: User) -> str:
        """Return why the `rules` of a user are incomplete; "" if they are complete."""
        ...

    def rules(self, user: User, namespace: str) -> tuple[list[AccessRule], list[RoleReference]]:
        """Return the rules of a user in a namespace ("": in all), and the bound roles that do not exist."""
        ...


class AlwaysAllowAuthorizer:
    """Authorizer that allows everything, for tests without access control."""

    def decide(self, user: User, access: Access) -> Decision:
        return Decision(is_allowed=True)

    def unresolved(self, user: User) -> str:
        return ""

    def rules(self, user: User, namespace: str) -> tuple[list[AccessRule], list[RoleReference]]:
        return list(EVERYTHING), []


class AlwaysAllowPathsAuthorizer:
    """Authorizer that allows some paths, such as those of health checks, and has no opinion of others."""

    def __init__(self, paths: Collection[str]) -> None:
        self._paths = frozenset(paths)

    def unresolved(self, user: User) -> str:
        return ""

    def decide(self, user: User, access: Access) -> Decision:
        return Decision(is_allowed=not access.is_resource and access.path in self._paths)

    def rules(self, user: User, namespace: str) -> tuple[list[AccessRule], list[RoleReference]]:
        return [AccessRule(verbs=("*",), paths=tuple(sorted(self._paths)))], []


class UnionAuthorizer:
    """Union of authorizers: the first that allows or denies decides. `system:masters` is always allowed."""

    def __init__(self, authorizers: Sequence[Authorizer]) -> None:
        self._authorizers = tuple(authorizers)

    def unresolved(self, user: User) -> str:
        """Return why the rules of a user are incomplete, for each authorizer that does not know all."""
        found = [why for each in self._authorizers if (why := each.unresolved(user))]
        return aggregate_messages(found) if found else ""

    def decide(self, user: User, access: Access) -> Decision:
        """Decide an access; without an opinion, return the reasons and errors of all authorizers."""
        if user.is_administrator:
            return Decision(is_allowed=True)
        reasons, errors = [], []
        for each in self._authorizers:
            decision = each.decide(user, access)
            if decision.is_allowed or decision.is_denied:
                return decision
            reasons += [decision.reason] if decision.reason else []
            errors += [decision.error] if decision.error else []
        error = aggregate_messages(errors) if errors else ""
        return Decision(is_allowed=False, reason="\n".join(reasons), error=error)

    def rules(self, user: User, namespace: str) -> tuple[list[AccessRule], list[RoleReference]]:
        """Return the rules of all authorizers."""
        found = [each.rules(user, namespace) for each in self._authorizers]
        return [rule for rules, _ in found for rule in rules], [role for _, absent in found for role in absent]


def access_forbidden(access: Access, user: User, reason: str) -> StatusError:
    """Return the 403 error of an access, in kube-apiserver's words."""
    if not access.is_resource:
        message = f"forbidden: User {_quoted(user.name)} cannot {access.verb} path {_quoted(access.path)}"
        return status_error(403, "Forbidden", f"{message}: {reason}" if reason else message, {})
    where = f"in the namespace {_quoted(access.namespace)}" if access.namespace else "at the cluster scope"
    resource, group = _quoted(access.shown_resource), _quoted(access.group)
    why = f"User {_quoted(user.name)} cannot {access.verb} resource {resource} in API group {group} {where}"
    return forbidden(access.resource, access.name, f"{why}: {reason}" if reason else why, access.group)


def _quoted(text: str) -> str:
    return quoted(text.translate(_ESCAPED))
