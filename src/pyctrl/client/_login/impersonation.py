"""Impersonation headers, as of `kubectl --as`."""

from __future__ import annotations

import string
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote

from pyctrl.errors import ConfigError

__all__ = ["Impersonation"]

# RFC 7230's characters of a header name, without "%", which introduces an escape.
_HEADER_NAME = "!#$&'*+-.^_`|~" + string.digits + string.ascii_letters


@dataclass(frozen=True, slots=True, kw_only=True)
class Impersonation:
    """The user to impersonate. It takes permission to ``impersonate`` that user, and each group, uid and extra.

    A service account is ``system:serviceaccount:NAMESPACE:NAME``; without ``groups`` the server adds its own groups.
    """

    user: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.user:
            raise ConfigError("groups, uid or extra can be impersonated only together with a user; set user=")

    def headers(self) -> tuple[tuple[str, str], ...]:
        """Return the headers as pairs, with one Impersonate-Group for each group."""
        uid = (("Impersonate-Uid", self.uid),) if self.uid else ()
        groups = (("Impersonate-Group", group) for group in self.groups)
        extra = (
            (f"Impersonate-Extra-{quote(name, safe=_HEADER_NAME)}", value)
            for name, values in self.extra.items()
            for value in values
        )
        return (("Impersonate-User", self.user), *uid, *groups, *extra)
