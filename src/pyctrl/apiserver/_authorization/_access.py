"""What somebody wants to do: a verb on a resource, or on a path that is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pyctrl.apiserver._answers import Refused, forbidden, quoted, refused
from pyctrl.apiserver._names import path_segment
from pyctrl.apiserver._request import guarded_target, verb_of

if TYPE_CHECKING:
    from pyctrl.apiserver._authentication import User
    from pyctrl.apiserver._exchange import Exchange

_NAME = "metadata.name="
_ESCAPED = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


class Access(NamedTuple):
    """One thing to be allowed or not, as RBAC and access reviews see it. A path has nothing but its verb."""

    verb: str
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""
    is_resource: bool = True

    @property
    def shown_resource(self) -> str:
        """The resource as rules name it: `pods`, `pods/log`."""
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource

    def forbidden(self, user: User, reason: str) -> Refused:
        """Refuse it: 403, in kube-apiserver's words."""
        if not self.is_resource:
            message = f"forbidden: User {_quoted(user.name)} cannot {self.verb} path {_quoted(self.path)}"
            return refused(403, "Forbidden", f"{message}: {reason}" if reason else message, {})
        where = f"in the namespace {_quoted(self.namespace)}" if self.namespace else "at the cluster scope"
        what = f"cannot {self.verb} resource {_quoted(self.shown_resource)} in API group {_quoted(self.group)} {where}"
        why = f"User {_quoted(user.name)} {what}"
        return forbidden(self.resource, self.name, f"{why}: {reason}" if reason else why, self.group)


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
