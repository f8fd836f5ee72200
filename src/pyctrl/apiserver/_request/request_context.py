"""Context of a request: what it sent, and what the filters found out for Warning headers and the audit log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from pyctrl.api import RequestTarget
from pyctrl.apiserver._authn import Peer, User
from pyctrl.apiserver._request.request import QueryParameters, WouldBlock

__all__ = ["RequestContext"]


@dataclass(slots=True)
class RequestContext:
    """One request, from the first filter to the audit log."""

    method: str
    path: str
    query: QueryParameters
    headers: Mapping[str, str]  # names in lower case
    body: bytes
    peer: Peer | None
    may_wait: bool = True
    target: RequestTarget | None = None  # None for a path that is no resource
    user: User | None = None  # the authenticated user
    impersonated_user: User | None = None  # the user after impersonation
    warnings: list[str] = field(default_factory=list)
    received: datetime | None = None  # None without an audit log
    decision: str = ""  # of authorization: allow or forbid; "" before authorization
    reason: str = ""  # of the decision
    annotations: dict[str, str] = field(default_factory=dict)  # of the audit event, besides the decision

    def must_wait(self, what: str) -> None:
        """Check that the request may wait for `what`.

        Raises:
            WouldBlock: It may not.
        """
        if not self.may_wait:
            raise WouldBlock(f"{self.method} {self.path} has to wait for {what}: await ApiServer.handle instead")
