"""The audit log: one `audit.k8s.io/v1` Event for every request that was answered, as kube-apiserver writes them.

Only the stage ResponseComplete is told: for a watch that is when it ends. What a level leaves out and how fields are
written were compared with a kube-apiserver 1.36 that logged to a file.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime
from enum import Enum
from random import Random
from typing import Any
from urllib.parse import urlencode

import msgspec

from pyctrl._clock import now
from pyctrl.apiserver._authn import User
from pyctrl.apiserver._errors import Response
from pyctrl.apiserver._meta.system_fields import new_uid
from pyctrl.apiserver._request.request_context import RequestContext


class AuditLevel(Enum):
    """How much of a request is written down."""

    METADATA = "Metadata"  # who, what, when, and how it ended
    REQUEST = "Request"  # and the object that was sent, but for what may be secret
    REQUEST_RESPONSE = "RequestResponse"  # and the one that was answered, of all resources


# What the audit policies of Kubernetes' documentation and of its GCE scripts log at Metadata.
_SENSITIVE = frozenset(
    (
        ("", "secrets", ""),
        ("", "configmaps", ""),
        ("", "serviceaccounts", "token"),
        ("authentication.k8s.io", "tokenreviews", ""),
    )
)


class AuditLog:
    """Writes an event for each request.

    At the level Request, Secrets, ConfigMaps, TokenReviews and tokens of service accounts are logged at Metadata, as by
    the policies that Kubernetes recommends; RequestResponse has everything.

    Args:
        write: takes one event as a line of JSON, its line feed included.
        random: where the ids of requests come from that bring none in ``Audit-ID``.
    """

    def __init__(
        self,
        write: Callable[[bytes], object],
        *,
        level: AuditLevel = AuditLevel.METADATA,
        random: Random | None = None,
    ) -> None:
        self._write = write
        self._level = level
        self._random = random or Random()

    def completed(self, exchange: RequestContext, answer: Response) -> Response:
        """Write the event of a request that was answered; of a stream when that has ended."""
        if isinstance(answer.body, bytes):
            self._record(exchange, answer)
            return answer
        return replace(answer, body=self._until_the_end(answer.body, exchange, answer))

    async def _until_the_end(
        self, body: AsyncGenerator[bytes, None], exchange: RequestContext, answer: Response
    ) -> AsyncGenerator[bytes, None]:
        try:
            async with aclosing(body) as chunks:
                async for chunk in chunks:
                    yield chunk
        finally:
            self._record(exchange, answer)

    def _record(self, exchange: RequestContext, answer: Response) -> None:
        sent, answered, ended = _decoded(exchange.body), _decoded(answer.body), now()
        query, level = urlencode(list(exchange.query)), self._level_of(exchange)
        event: dict[str, Any] = {
            "kind": "Event",
            "apiVersion": "audit.k8s.io/v1",
            "level": level.value,
            "auditID": exchange.headers.get("audit-id") or new_uid(self._random),
            "stage": "ResponseComplete",
            "requestURI": f"{exchange.path}?{query}" if query else exchange.path,
            "verb": exchange.target.verb(exchange.method, exchange.query.first)
            if exchange.target
            else exchange.method.lower(),
            **_who(exchange),
            "sourceIPs": [exchange.peer.address] if exchange.peer else None,
            "userAgent": exchange.headers.get("user-agent"),
            "objectRef": _object_ref(exchange, sent),
            "responseStatus": _status(answer, answered),
            **_objects(level, exchange, sent, answered),
            "requestReceivedTimestamp": _micro_time(exchange.received or ended),
            "stageTimestamp": _micro_time(ended),
            "annotations": _annotations(exchange) or None,
        }
        self._write(msgspec.json.encode({key: value for key, value in event.items() if value is not None}) + b"\n")

    def _level_of(self, exchange: RequestContext) -> AuditLevel:
        target = exchange.target
        if self._level is AuditLevel.REQUEST and target is not None:
            is_sensitive = (target.group, target.resource, target.subresource) in _SENSITIVE
            return AuditLevel.METADATA if is_sensitive else self._level
        return self._level


def _objects(level: AuditLevel, exchange: RequestContext, sent: Any, answered: Any) -> dict[str, Any]:
    if level is AuditLevel.METADATA or exchange.target is None:
        return {}
    objects = {"requestObject": sent}
    if level is AuditLevel.REQUEST_RESPONSE:
        objects["responseObject"] = answered
    return objects


def _verb(exchange: RequestContext) -> str:
    target, method = exchange.target, exchange.method
    return method.lower() if target is None else target.verb(method, exchange.query.first)


def _decoded(body: object) -> Any:
    """Decode a body that is JSON; what is not is left out of the log."""
    if not isinstance(body, bytes) or not body:
        return None
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _who(exchange: RequestContext) -> dict[str, Any]:
    """Tell who asked; of a request that authenticated as nobody an empty user."""
    if exchange.user is None:
        return {"user": {}}
    acting = exchange.acting
    impersonated = None if acting is None or acting is exchange.user else _shown(acting)
    return {"user": _shown(exchange.user), "impersonatedUser": impersonated}


def _shown(user: User) -> dict[str, Any]:
    fields = {"username": user.name, "uid": user.uid, "groups": list(user.groups)}
    return {key: value for key, value in fields.items() if value}


def _object_ref(exchange: RequestContext, sent: Any) -> dict[str, str] | None:
    target = exchange.target
    if target is None:
        return None
    metadata = sent.get("metadata") if isinstance(sent, dict) else None
    named = metadata.get("name") if isinstance(metadata, dict) and exchange.method == "POST" else None
    is_namespace = (target.group, target.resource) == ("", "namespaces")
    reference = {
        "resource": target.resource,
        "namespace": target.namespace or (target.name if is_namespace else ""),
        "name": target.name or (named if isinstance(named, str) else ""),
        "apiGroup": target.group,
        "apiVersion": target.version,
        "subresource": target.subresource,
    }
    return {key: value for key, value in reference.items() if value}


def _status(answer: Response, answered: Any) -> dict[str, Any]:
    """Give the code, and of an answer that is a Status all it says."""
    told = {}
    if isinstance(answered, dict) and answered.get("kind") == "Status":
        told = {key: answered[key] for key in ("status", "message", "reason", "details") if key in answered}
    return {"metadata": {}, **told, "code": answer.status}


def _annotations(exchange: RequestContext) -> dict[str, str]:
    if not exchange.decision:
        return exchange.annotations
    decided = {"authorization.k8s.io/decision": exchange.decision, "authorization.k8s.io/reason": exchange.reason}
    return {**decided, **exchange.annotations}


def _micro_time(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
