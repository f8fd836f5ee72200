"""What a request wants to do, and how it is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyctrl.api import Access
from pyctrl.apiserver._answers import Refused, forbidden, quoted, refused
from pyctrl.apiserver._names import path_segment
from pyctrl.apiserver._request import guarded_target, verb_of

if TYPE_CHECKING:
    from pyctrl.apiserver._authentication import User
    from pyctrl.apiserver._exchange import Exchange

_NAME = "metadata.name="
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
    target = guarded_target(exchange.path)
    verb = verb_of(exchange.method, target, exchange.query)
    if target is None:
        return Access(verb, path=exchange.path, is_resource=False)
    return Access(
        verb=verb,
        group=target.group,
        resource=target.resource,
        subresource=target.subresource,
        namespace=target.namespace or (target.name if target.resource == "namespaces" else ""),
        name=target.name or (_selected(exchange) if verb in ("list", "watch") else ""),
    )


def _selected(exchange: Exchange) -> str:
    """Give the one name that a field selector leaves: who may have that object may list and watch it so."""
    for term in exchange.query.get("fieldSelector").split(","):
        if term.startswith(_NAME):
            name = term.removeprefix(_NAME).removeprefix("=")
            return "" if path_segment(name) else name
    return ""


def _quoted(text: str) -> str:
    return quoted(text.translate(_ESCAPED))
