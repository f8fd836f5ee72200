"""Users and the groups that everybody knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

ADMINISTRATORS: Final = "system:masters"
AUTHENTICATED: Final = "system:authenticated"
ANONYMOUS_GROUP: Final = "system:unauthenticated"
ACCOUNT_PREFIX: Final = "system:serviceaccount:"
NODE_PREFIX: Final = "system:node:"
NODES: Final = "system:nodes"


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """The user of a request, as SelfSubjectReview tells it."""

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)

    @property
    def is_administrator(self) -> bool:
        """Whether no rule is asked about this user: a member of `system:masters` may do everything."""
        return ADMINISTRATORS in self.groups


class Peer(NamedTuple):
    """The other end of a connection, and as whom its client certificate identifies it, if it has shown one."""

    address: str
    user: User | None = None


ANONYMOUS: Final = User(name="system:anonymous", groups=(ANONYMOUS_GROUP,))
ADMIN: Final = User(name="kubernetes-admin", groups=(ADMINISTRATORS, AUTHENTICATED))


def add_authenticated_group(user: User) -> User:
    """Give a user that has proved who it is: one of `system:authenticated`."""
    if AUTHENTICATED in user.groups:
        return user
    return User(name=user.name, uid=user.uid, groups=(*user.groups, AUTHENTICATED), extra=user.extra)


def service_account_groups(namespace: str) -> tuple[str, ...]:
    """Give the groups that a service account has by itself."""
    return ("system:serviceaccounts", f"system:serviceaccounts:{namespace}")


def service_account_of(name: str) -> tuple[str, str] | None:
    """Give namespace and name of the service account that a user name means; None when it means none."""
    if not name.startswith(ACCOUNT_PREFIX):
        return None
    namespace, _, account = name.removeprefix(ACCOUNT_PREFIX).partition(":")
    return (namespace, account) if namespace and account and ":" not in account else None


def user_info(user: User) -> dict[str, Any]:
    """Tell a user as `UserInfo`."""
    extra = {key: list(values) for key, values in user.extra.items()}
    parts: dict[str, Any] = {"username": user.name, "uid": user.uid, "groups": list(user.groups), "extra": extra}
    return {name: value for name, value in parts.items() if value}


def user_of_certificate(certificate: Mapping[str, Any]) -> User | None:
    """Give the user that a verified client certificate is: the common name, in its organizations as groups.

    Args:
        certificate: as `ssl.SSLSocket.getpeercert` gives it.
    """
    subject = [pair for names in certificate.get("subject", ()) for pair in names]
    name = next((value for key, value in subject if key == "commonName"), "")
    groups = tuple(value for key, value in subject if key == "organizationName")
    return User(name=name, groups=(*groups, AUTHENTICATED)) if name else None
