"""Context of a request: what it sent, and what the filters found out for Warning headers and the audit log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from pyctrl._clock import now
from pyctrl._go.durations import duration_problem
from pyctrl.api import Access, RequestTarget
from pyctrl.apiserver._authn import Peer, User
from pyctrl.apiserver._errors import bad_request
from pyctrl.apiserver._request.negotiation import (
    MediaTypeOptions,
    Representation,
    negotiate_media_type,
    with_table_options,
)
from pyctrl.apiserver._request.request import QueryParameters, WouldBlock

if TYPE_CHECKING:
    from pyctrl.apiserver._resources.resource_type import ResourceType

__all__ = ["CONNECTED", "RequestContext", "accepted_form", "check_timeout", "is_long_running", "misses_namespace"]

_SELECTED = ("list", "watch", "deletecollection")  # the verbs whose access can be restricted by a field selector
#: Subresources whose response is what a pod, a service or a node sends.
CONNECTED = frozenset(("attach", "exec", "portforward", "proxy"))
_LONG_RUNNING = CONNECTED | {"log"}


class RequestContext(msgspec.Struct, eq=False):
    """One request, from the first filter to the audit log."""

    method: str
    path: str
    query: QueryParameters
    headers: Mapping[str, str]  # names in lower case
    body: bytes
    peer: Peer | None
    may_wait: bool = True
    sent_headers: Sequence[tuple[str, str]] = ()  # all of them, as the client has sent them
    target: RequestTarget | None = None  # None for a path that is no resource
    user: User | None = None  # the authenticated user
    impersonated_user: User | None = None  # the user after impersonation
    warnings: list[str] = []
    received: datetime = msgspec.field(default_factory=now)
    is_routed: bool = False  # a handler was found for it
    decision: str = ""  # of authorization: allow or forbid; "" before authorization
    reason: str = ""  # of the decision
    annotations: dict[str, str] = {}  # of the audit event, besides the decision
    panic: str = ""  # the exception that no handler expected, which is a bug of the server or of an embedded handler
    _access: Access | None = None

    def warn(self, text: str) -> None:
        """Add a warning to the response; "" is none."""
        if text:
            self.warnings.append(text)

    @property
    def access(self) -> Access:
        """The access that the request needs."""
        if self._access is None:
            found = Access.of_request(self.method, self.path, self.query.first)
            if found.verb in _SELECTED and (selector := self.query.get("fieldSelector")):
                found = found._replace(field_selector=selector)
            self._access = found
        return self._access

    @property
    def address(self) -> str:
        """The address of the client; "" in the same process."""
        return "" if self.peer is None else self.peer.address

    def must_wait(self, what: str) -> None:
        """Check that the request may wait for `what`.

        Raises:
            WouldBlock: It may not.
        """
        if not self.may_wait:
            raise WouldBlock(f"{self.method} {self.path} has to wait for {what}: await ApiServer.handle instead")


def check_timeout(context: RequestContext) -> None:
    """Refuse a `timeout` that is no duration; kube-apiserver does so before authentication."""
    text = context.query.get("timeout")
    if text and not is_long_running(context) and (problem := duration_problem(text)):
        raise bad_request(f"invalid timeout specified in the request URL - {problem}")


def is_long_running(context: RequestContext) -> bool:
    """Return whether a request has no time limit: a watch, or a stream from a pod or another server."""
    target = context.target
    if target is None:
        return False
    return target.subresource in _LONG_RUNNING or target.verb(context.method, context.query.first) == "watch"


def accepted_form(context: RequestContext, target: RequestTarget, resource: ResourceType) -> MediaTypeOptions:
    """Return the representation of a resource that the client accepts.

    Raises:
        StatusError: 406, the server does not have it; 400, it has, but not with these options.
    """
    if target.subresource in CONNECTED:
        return negotiate_media_type("")
    is_collection = context.method == "GET" and not target.name
    accept = context.headers.get("accept", "")
    produced = ("text/plain",) if target.subresource == "log" else ()
    form = negotiate_media_type(accept, may_stream=is_collection, is_custom=resource.is_custom, produced=produced)
    if form.shape is not Representation.TABLE:
        return form
    has_table = target.subresource in ("", "scale") or (target.subresource == "status" and resource.has_status_table)
    include = context.query.get("includeObject")
    return with_table_options(form, include, has_table=has_table and "" not in resource.rest)


def misses_namespace(context: RequestContext, target: RequestTarget, resource: ResourceType) -> bool:
    """Return whether the URL of a custom resource lacks its namespace, which only list and watch may leave out."""
    if target.namespace or not resource.namespaced or not resource.is_custom:
        return False
    return target.verb(context.method, context.query.first) not in ("list", "watch")
