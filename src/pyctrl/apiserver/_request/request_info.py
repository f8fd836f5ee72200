"""One request on its way through the server, with what becomes known of it: for Warning headers and the audit log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from pyctrl.api import RequestTarget
from pyctrl.apiserver._authn import Peer, User
from pyctrl.apiserver._request.request import QueryParameters


@dataclass(slots=True)
class RequestContext:
    """What came in, and what the stations of the way have found out so far."""

    method: str
    path: str
    query: QueryParameters
    headers: Mapping[str, str]  # names in lower case
    body: bytes
    peer: Peer | None
    may_wait: bool = True
    target: RequestTarget | None = None  # None for what is no resource
    user: User | None = None  # who authenticated
    acting: User | None = None  # the user that impersonation made of them, or the same
    warnings: list[str] = field(default_factory=list)
    received: datetime | None = None  # None when nobody keeps an audit log
    decision: str = ""  # of authorization: allow or forbid; "" when it was not asked
    reason: str = ""  # for that decision
    annotations: dict[str, str] = field(default_factory=dict)  # of the audit event, besides the decision
