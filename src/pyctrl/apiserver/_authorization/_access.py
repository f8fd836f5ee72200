"""What a request wants to do, and how it is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyctrl.api import Access
from pyctrl.apiserver._answers import Refused, forbidden, quoted, refused

if TYPE_CHECKING:
    from pyctrl.apiserver._authentication import User
    from pyctrl.apiserver._exchange import Exchange

_ESCAPED = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def access_refused(access: Access, user: User, reason: str) -> Refused:
    """Refuse an access: 403, in kube-apiserver's words."""
    if not access.is_resource:
        message = f"forbidden: User {_quoted(user.name)} cannot {access.verb} path {_quoted(access.path)}"
        return refused(403, "Forbidden", f"{message}: {reason}" if reason else message, {})
    where = f"in the namespace {_quoted(access.namespace)}" if access.namespace else "at the cluster scope"
    resource, group = _quoted(access.shown_resource), _quoted(access.group)
    why = f"User {_quoted(user.name)} cannot {access.verb} resource {resource} in API group {group} {where}"
    return forbidden(access.resource, access.name, f"{why}: {reason}" if reason else why, access.group)


def access_of(exchange: Exchange) -> Access:
    """Tell what a request wants to do."""
    return Access.of_request(exchange.method, exchange.path, exchange.query.first)


def _quoted(text: str) -> str:
    return quoted(text.translate(_ESCAPED))
