"""Acting as somebody else: the headers of `kubectl --as` replace the user of a request."""

from __future__ import annotations

from collections.abc import Mapping

from ._answers import bad_request, forbidden
from ._auth import ADMINISTRATORS, ANONYMOUS_GROUP, AUTHENTICATED, User

USER, GROUP, UID = "impersonate-user", "impersonate-group", "impersonate-uid"
ACCOUNT_PREFIX = "system:serviceaccount:"


def impersonated(user: User, headers: Mapping[str, str]) -> User:
    """Give whom a request is made as: ``user``, unless its headers name another.

    Groups, if there are several, are separated by newlines.

    Raises:
        Refused: 403, the user is no administrator; 400, there are groups or a uid without a user.
    """
    name, uid = headers.get(USER, ""), headers.get(UID, "")
    groups = tuple(headers[GROUP].split("\n")) if GROUP in headers else ()
    if not name:
        if groups or uid:
            raise bad_request("groups or a uid are impersonated without impersonating a user")
        return user
    if ADMINISTRATORS not in user.groups:
        why = f'User "{user.name}" cannot impersonate resource "users" in API group "" at the cluster scope'
        raise forbidden("users", name, why)
    return User(name=name, uid=uid, groups=_completed(name, groups or _groups_of(name)))


def _groups_of(name: str) -> tuple[str, ...]:
    """Give the groups that a service account has by itself."""
    if not name.startswith(ACCOUNT_PREFIX):
        return ()
    namespace = name.removeprefix(ACCOUNT_PREFIX).partition(":")[0]
    return ("system:serviceaccounts", f"system:serviceaccounts:{namespace}")


def _completed(name: str, groups: tuple[str, ...]) -> tuple[str, ...]:
    own = ANONYMOUS_GROUP if name == "system:anonymous" else AUTHENTICATED
    return groups if own in groups else (*groups, own)
