"""Impersonation: the headers of `kubectl --as` replace the user of a request.

A *constrained* mode requires `impersonate:MODE` on the identity and `impersonate-on:MODE:VERB` on the accessed
resource. The legacy mode requires `impersonate` on the identity only. As in kube-apiserver, modes are tried in order,
starting with the last successful one of the user; if all fail, the first error is returned.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from enum import Enum
from functools import lru_cache
from urllib.parse import unquote

from pyctrl._go.text import quoted
from pyctrl._validation import names
from pyctrl.api import Access
from pyctrl.apiserver._authn import (
    ADMINISTRATORS,
    ANONYMOUS,
    ANONYMOUS_GROUP,
    AUTHENTICATED,
    NODE_PREFIX,
    NODES,
    REPEATED,
    User,
    service_account_groups,
    service_account_of,
)
from pyctrl.apiserver._authz import Authorizer, access_forbidden
from pyctrl.apiserver._errors import StatusError, bad_request

__all__ = ["ImpersonationFilter", "is_repeated"]


USER, GROUP, UID = "impersonate-user", "impersonate-group", "impersonate-uid"
EXTRA = "impersonate-extra-"

_AUTHENTICATION = "authentication.k8s.io"
_NODE_NAME = "authentication.kubernetes.io/node-name"
_MANY = 4  # from this number of groups or extra values on, access to all of them is checked first
_EXTRA_PATH = re.compile(r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+")


class ImpersonationMode(Enum):
    """Impersonation modes, in the order in which they are tried."""

    ASSOCIATED_NODE = "associated-node"  # a service account impersonates the node that its pod runs on
    ARBITRARY_NODE = "arbitrary-node"
    SERVICE_ACCOUNT = "serviceaccount"
    USER_INFO = "user-info"  # users that are neither nodes nor service accounts
    LEGACY = ""

    @property
    def verb(self) -> str:
        """The verb required on the identity."""
        return f"impersonate:{self.value}" if self.value else "impersonate"

    @property
    def group(self) -> str:
        """The API group of users and groups."""
        return _AUTHENTICATION if self.value else ""


class ImpersonationFilter:
    """Filter that replaces the user of a request by the impersonated one."""

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer
        self._last: dict[str, ImpersonationMode] = {}  # by user name

    def impersonate(self, user: User, headers: Mapping[str, str], access: Callable[[], Access]) -> User:
        """Return the impersonated user; ``user`` for a request without impersonation headers.

        Args:
            access: Returns the access that the request needs.

        Raises:
            StatusError: 403, the impersonation is not allowed; 400, the headers have no user name.
        """
        wanted = _wanted(headers)
        if wanted is None:
            return user
        last, first_error = self._last.get(user.name), None
        for mode in sorted(ImpersonationMode, key=lambda mode: mode is not last):
            if not _applies(mode, wanted, user):
                continue
            try:
                self._check(mode, user, wanted, access())
            except StatusError as error:
                first_error = first_error or error
                continue
            self._last[user.name] = mode
            return _with_default_groups(wanted, mode)
        assert first_error is not None  # the legacy mode applies to every identity
        raise first_error

    def _check(self, mode: ImpersonationMode, user: User, wanted: User, access: Access) -> None:
        if mode is not ImpersonationMode.LEGACY:
            self._require(user, access._replace(verb=f"impersonate-on:{mode.value}:{access.verb}"))
        self._require(user, _identity(mode, wanted.name))
        if wanted.uid:
            self._require(user, Access(mode.verb, _AUTHENTICATION, "uids", name=wanted.uid))
        self._check_groups(mode, user, wanted.groups)
        self._check_extra(mode, user, wanted.extra)

    def _check_groups(self, mode: ImpersonationMode, user: User, groups: Iterable[str]) -> None:
        group = Access(mode.verb, mode.group, "groups")
        if mode is not ImpersonationMode.LEGACY:
            if "" in groups:
                raise access_forbidden(group, user, "impersonating the empty string group is not allowed")
            if ADMINISTRATORS in groups:
                why = f"impersonating the {ADMINISTRATORS} group is not allowed"
                raise access_forbidden(group._replace(name=ADMINISTRATORS), user, why)
        self._require_each(mode, user, [group._replace(name=name) for name in groups], group._replace(name="*"))

    def _check_extra(self, mode: ImpersonationMode, user: User, extra: Mapping[str, tuple[str, ...]]) -> None:
        value = Access(mode.verb, _AUTHENTICATION, "userextras")
        if mode is not ImpersonationMode.LEGACY and (why := _extra_error(extra)):
            raise access_forbidden(value, user, why)
        wanted = [value._replace(subresource=key, name=name) for key, values in extra.items() for name in values]
        self._require_each(mode, user, wanted, value._replace(subresource="*", name="*"))

    def _require_each(self, mode: ImpersonationMode, user: User, wanted: list[Access], everything: Access) -> None:
        is_many = mode is not ImpersonationMode.LEGACY and len(wanted) >= _MANY
        if is_many and self._authorizer.decide(user, everything).is_allowed:
            return
        for access in wanted:
            self._require(user, access)

    def _require(self, user: User, access: Access) -> None:
        decision = self._authorizer.decide(user, access)
        if not decision.is_allowed:
            raise access_forbidden(access, user, decision.reason)


def is_repeated(header: str) -> bool:
    """Return whether a header is one of those that impersonate with several values."""
    return header == GROUP or header.startswith(EXTRA)


@lru_cache(maxsize=256)  # a client sends the same headers again and again
def _are_plain(headers: tuple[str, ...]) -> bool:
    """Return whether no header impersonates."""
    return not any(header in (USER, UID) or is_repeated(header) for header in headers)


def _wanted(headers: Mapping[str, str]) -> User | None:
    """Return the user in the impersonation headers; None without such headers."""
    if _are_plain(tuple(headers)):
        return None
    name, uid = headers.get(USER, ""), headers.get(UID, "")
    groups = tuple(headers[GROUP].split(REPEATED)) if GROUP in headers else ()
    extra: dict[str, tuple[str, ...]] = {}
    for header, values in headers.items():
        if header.startswith(EXTRA):
            extra[unquote(header.removeprefix(EXTRA))] = tuple(values.split(REPEATED))
    wanted = User(name=name, uid=uid, groups=groups, extra=extra)
    if name:
        return wanted
    if uid or groups or extra:
        raise bad_request(f"requested {_go(wanted)} without impersonating a user name")
    return None


def _go(user: User) -> str:
    """Format a user as Go's `%#v`."""
    extra = "map[string][]string(nil)"
    if user.extra:
        pairs = ", ".join(f"{quoted(key)}:{_go_list(values)}" for key, values in sorted(user.extra.items()))
        extra = f"map[string][]string{{{pairs}}}"
    parts = f"Name:{quoted(user.name)}, UID:{quoted(user.uid)}, Groups:{_go_list(user.groups)}, Extra:{extra}"
    return f"&user.DefaultInfo{{{parts}}}"


def _go_list(values: tuple[str, ...]) -> str:
    return f"[]string{{{', '.join(map(quoted, values))}}}" if values else "[]string(nil)"


def _applies(mode: ImpersonationMode, wanted: User, user: User) -> bool:
    """Return whether a mode applies to the wanted identity."""
    node, is_account = _node(wanted.name), service_account_of(wanted.name) is not None
    is_bare = not (wanted.uid or wanted.groups or wanted.extra)
    if mode is ImpersonationMode.ASSOCIATED_NODE:
        own = user.extra.get(_NODE_NAME, ())
        return is_bare and bool(node) and service_account_of(user.name) is not None and own == (node,)
    if mode is ImpersonationMode.ARBITRARY_NODE:
        return is_bare and bool(node)
    if mode is ImpersonationMode.SERVICE_ACCOUNT:
        return is_bare and is_account
    return mode is ImpersonationMode.LEGACY or (not node and not is_account)


def _node(name: str) -> str:
    node = name.removeprefix(NODE_PREFIX)
    return node if name.startswith(NODE_PREFIX) and not names.subdomain(node) else ""


def _identity(mode: ImpersonationMode, name: str) -> Access:
    """Return the access that is required to impersonate a user name."""
    if account := service_account_of(name):
        return Access(mode.verb, mode.group, "serviceaccounts", namespace=account[0], name=account[1])
    if mode is ImpersonationMode.ASSOCIATED_NODE:
        return Access(mode.verb, mode.group, "nodes", name="*")
    if mode is not ImpersonationMode.LEGACY and (node := _node(name)):
        return Access(mode.verb, mode.group, "nodes", name=node)
    return Access(mode.verb, mode.group, "users", name=name)


def _extra_error(extra: Mapping[str, tuple[str, ...]]) -> str:
    """Return why extra values cannot be impersonated in a constrained mode; "" if they can."""
    for key, values in extra.items():
        if not key:
            return "impersonating the empty string key in extra is not allowed"
        domain, _, path = key.partition("/")
        if names.subdomain(domain) or not _EXTRA_PATH.fullmatch(path):
            wrong = f'extra.key: Invalid value: {quoted(key)}: must be a domain-prefixed path (such as "acme.io/foo")'
            return f"impersonating an invalid key in extra is not allowed: {wrong}"
        if "" in values:
            return "impersonating the empty string value in extra is not allowed"
    return ""


def _with_default_groups(wanted: User, mode: ImpersonationMode) -> User:
    """Add the groups that an identity has implicitly."""
    groups = wanted.groups
    if mode in (ImpersonationMode.ASSOCIATED_NODE, ImpersonationMode.ARBITRARY_NODE):
        groups = (NODES,)
    elif not groups and (account := service_account_of(wanted.name)):
        groups = service_account_groups(account[0])
    own = ANONYMOUS_GROUP if wanted.name == ANONYMOUS.name else AUTHENTICATED
    if own in groups or (own is AUTHENTICATED and ANONYMOUS_GROUP in groups):
        return replace(wanted, groups=groups)
    return replace(wanted, groups=(*groups, own))
