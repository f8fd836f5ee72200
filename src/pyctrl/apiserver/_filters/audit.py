"""Audit log: one `audit.k8s.io/v1` Event for every request, as kube-apiserver writes them.

Only the stage ResponseComplete is logged; a watch completes when it ends. Levels and fields match those of a
kube-apiserver 1.36 that logs to a file.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace
from enum import Enum
from random import Random
from typing import Any
from urllib.parse import urlencode

import msgspec

from pyctrl._clock import now
from pyctrl.api import format_micro_time
from pyctrl.apiserver._authn import User
from pyctrl.apiserver._errors import Response, Upgrade, UpgradedConnection
from pyctrl.apiserver._meta.system_fields import new_uid
from pyctrl.apiserver._request.request_context import RequestContext

__all__ = ["AuditLevel", "AuditLog"]


class AuditLevel(Enum):
    """The amount of data that is logged for a request."""

    METADATA = "Metadata"  # user, resource, verb, times, response status
    REQUEST = "Request"  # and the request body, except of sensitive resources
    REQUEST_RESPONSE = "RequestResponse"  # and request and response bodies of all resources


# The resources that the audit policies of Kubernetes' documentation and of its GCE scripts log at Metadata.
_SENSITIVE = frozenset(
    (
        ("", "secrets", ""),
        ("", "configmaps", ""),
        ("", "serviceaccounts", "token"),
        ("authentication.k8s.io", "tokenreviews", ""),
    )
)


class AuditLog:
    """Writer of one audit event for each request.

    At level Request, Secrets, ConfigMaps, TokenReviews and service account tokens are logged at Metadata, as by the
    policies that Kubernetes recommends. RequestResponse logs all bodies.

    Args:
        write: Takes one event as a line of JSON, including the line feed.
        random: Source of audit ids for requests without the header ``Audit-ID``.
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

    def completed(self, context: RequestContext, response: Response) -> Response:
        """Write the event of a request; of a stream or an upgraded connection, when it has ended."""
        if isinstance(response.body, bytes):
            self._record(context, response)
            return response
        if isinstance(response.body, Upgrade):
            return replace(response, body=self._record_after(response.body, context, response))
        return replace(response, body=self._record_at_end(response.body, context, response))

    async def _record_at_end(
        self, body: AsyncGenerator[bytes, None], context: RequestContext, response: Response
    ) -> AsyncGenerator[bytes, None]:
        try:
            async with aclosing(body) as chunks:
                async for chunk in chunks:
                    yield chunk
        finally:
            self._record(context, response)

    def _record_after(self, upgrade: Upgrade, context: RequestContext, response: Response) -> Upgrade:
        async def serve(connection: UpgradedConnection) -> None:
            try:
                await upgrade.serve(connection)
            finally:
                self._record(context, response)

        return Upgrade(serve)

    def _record(self, context: RequestContext, response: Response) -> None:
        request_object, response_object, ended = _decode_json(context.body), _decode_json(response.body), now()
        query, level = urlencode(list(context.query)), self._level_of(context)
        event: dict[str, Any] = {
            "kind": "Event",
            "apiVersion": "audit.k8s.io/v1",
            "level": level.value,
            "auditID": context.headers.get("audit-id") or new_uid(self._random),
            "stage": "ResponseComplete",
            "requestURI": f"{context.path}?{query}" if query else context.path,
            "verb": context.target.verb(context.method, context.query.first)
            if context.target
            else context.method.lower(),
            **_users(context),
            "sourceIPs": [context.peer.address] if context.peer else None,
            "userAgent": context.headers.get("user-agent"),
            "objectRef": _object_ref(context, request_object),
            "responseStatus": _status(response, response_object),
            **_objects(level, context, request_object, response_object),
            "requestReceivedTimestamp": format_micro_time(context.received),
            "stageTimestamp": format_micro_time(ended),
            "annotations": _annotations(context) or None,
        }
        self._write(msgspec.json.encode({key: value for key, value in event.items() if value is not None}) + b"\n")

    def _level_of(self, context: RequestContext) -> AuditLevel:
        target = context.target
        if self._level is AuditLevel.REQUEST and target is not None:
            is_sensitive = (target.group, target.resource, target.subresource) in _SENSITIVE
            return AuditLevel.METADATA if is_sensitive else self._level
        return self._level


def _objects(level: AuditLevel, context: RequestContext, request_object: Any, response_object: Any) -> dict[str, Any]:
    if level is AuditLevel.METADATA or context.target is None:
        return {}
    objects = {"requestObject": request_object}
    if level is AuditLevel.REQUEST_RESPONSE:
        objects["responseObject"] = response_object
    return objects


def _decode_json(body: object) -> Any:
    """Decode a JSON body; other bodies are not logged."""
    if not isinstance(body, bytes) or not body:
        return None
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _users(context: RequestContext) -> dict[str, Any]:
    """Return the users of a request; an empty user if its authentication failed."""
    if context.user is None:
        return {"user": {}}
    user = context.impersonated_user
    impersonated = None if user is None or user is context.user else _user_fields(user)
    return {"user": _user_fields(context.user), "impersonatedUser": impersonated}


def _user_fields(user: User) -> dict[str, Any]:
    fields = {"username": user.name, "uid": user.uid, "groups": list(user.groups)}
    return {key: value for key, value in fields.items() if value}


def _object_ref(context: RequestContext, request_object: Any) -> dict[str, str] | None:
    target = context.target
    if target is None:
        return None
    metadata = request_object.get("metadata") if isinstance(request_object, dict) else None
    named = metadata.get("name") if isinstance(metadata, dict) and context.method == "POST" else None
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


def _status(response: Response, response_object: Any) -> dict[str, Any]:
    """Return the response status: the code, and the fields of a Status body."""
    fields = {}
    if isinstance(response_object, dict) and response_object.get("kind") == "Status":
        fields = {
            key: response_object[key] for key in ("status", "message", "reason", "details") if key in response_object
        }
    return {"metadata": {}, **fields, "code": response.status}


def _annotations(context: RequestContext) -> dict[str, str]:
    if not context.decision:
        return context.annotations
    decided = {"authorization.k8s.io/decision": context.decision, "authorization.k8s.io/reason": context.reason}
    return {**decided, **context.annotations}
