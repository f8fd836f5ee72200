"""Users, and the names and groups that Kubernetes reserves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

__all__ = [
    "ACCOUNT_PREFIX",
    "ADMIN",
    "ADMINISTRATORS",
    "ANONYMOUS",
    "ANONYMOUS_GROUP",
    "AUTHENTICATED",
    "NODES",
    "NODE_PREFIX",
    "Peer",
    "User",
    "add_authenticated_group",
    "node_of",
    "service_account_groups",
    "service_account_of",
    "user_info",
    "user_of_certificate",
]

ADMINISTRATORS: Final = "system:masters"
AUTHENTICATED: Final = "system:authenticated"
ANONYMOUS_GROUP: Final = "system:unauthenticated"
ACCOUNT_PREFIX: Final = "system:serviceaccount:"
NODE_PREFIX: Final = "system:node:"
NODES: Final = "system:nodes"


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """The user of a request."""

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)

    @property
    def is_administrator(self) -> bool:
        """Whether the user is a member of `system:masters`, which may do everything."""
        return ADMINISTRATORS in self.groups


class Peer(NamedTuple):
    """The client of a connection, and the user of its client certificate, if it sent one."""

    address: str
    user: User | None = None
    certificate: bytes = b""  # in DER form


ANONYMOUS: Final = User(name="system:anonymous", groups=(ANONYMOUS_GROUP,))
ADMIN: Final = User(name="kubernetes-admin", groups=(ADMINISTRATORS, AUTHENTICATED))


def add_authenticated_group(user: User) -> User:
    """Return the user as a member of `system:authenticated`."""
    if AUTHENTICATED in user.groups:
        return user
    return User(name=user.name, uid=user.uid, groups=(*user.groups, AUTHENTICATED), extra=user.extra)


def service_account_groups(namespace: str) -> tuple[str, ...]:
    """Return the groups of a service account."""
    return ("system:serviceaccounts", f"system:serviceaccounts:{namespace}")


def service_account_of(name: str) -> tuple[str, str] | None:
    """Return namespace and name of the service account of a user name; None for other user names."""
    if not name.startswith(ACCOUNT_PREFIX):
        return None
    namespace, _, account = name.removeprefix(ACCOUNT_PREFIX).partition(":")
    return (namespace, account) if namespace and account and ":" not in account else None


def node_of(user: User) -> str | None:
    """Return the name of a node's kubelet, which can be ""; None for other users."""
    is_node = user.name.startswith(NODE_PREFIX) and NODES in user.groups
    return user.name.removeprefix(NODE_PREFIX) if is_node else None


def user_info(user: User) -> dict[str, Any]:
    """Return a user as `UserInfo` of authentication.k8s.io/v1."""
    extra = {key: list(values) for key, values in user.extra.items()}
    parts: dict[str, Any] = {"username": user.name, "uid": user.uid, "groups": list(user.groups), "extra": extra}
    return {name: value for name, value in parts.items() if value}


def user_of_certificate(certificate: Mapping[str, Any]) -> User | None:
    """Return the user of a verified client certificate: its common name, with its organizations as groups.

    Args:
        certificate: As `ssl.SSLSocket.getpeercert` returns it.
    """
    subject = [pair for names in certificate.get("subject", ()) for pair in names]
    name = next((value for key, value in subject if key == "commonName"), "")
    groups = tuple(value for key, value in subject if key == "organizationName")
    return User(name=name, groups=(*groups, AUTHENTICATED)) if name else None
