"""Audit log: `audit.k8s.io/v1` Events of requests, as kube-apiserver writes them.

Without a policy one event is logged for each request, when it is complete; a watch completes when it ends. A policy
selects requests, levels and stages. Levels and fields match those of a kube-apiserver 1.36 that logs to a file.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime
from random import Random
from typing import Any, Final, Literal

import msgspec

from pyctrl._clock import now
from pyctrl._go.text import quoted
from pyctrl.api import format_micro_time
from pyctrl.apiserver._authn import User
from pyctrl.apiserver._errors import Response, Upgrade, UpgradedConnection
from pyctrl.apiserver._filters.audit_policy import AuditLevel, AuditPolicy, AuditStage, RequestAuditConfig
from pyctrl.apiserver._meta.system_fields import new_uid
from pyctrl.apiserver._request.request_context import RequestContext

__all__ = ["AuditLog"]


# The resources that the audit policies of Kubernetes' documentation and of its GCE scripts log at Metadata.
_SENSITIVE = frozenset(
    (
        ("", "secrets", ""),
        ("", "configmaps", ""),
        ("", "serviceaccounts", "token"),
        ("authentication.k8s.io", "tokenreviews", ""),
    )
)


#: Without a policy only the last stage is logged.
_WITHOUT_POLICY: Final = frozenset((AuditStage.REQUEST_RECEIVED, AuditStage.RESPONSE_STARTED))
_PANIC_STATUS: Final = {"metadata": {}, "status": "Failure", "reason": "InternalError", "code": 500}


class AuditLog:
    """Writer of the audit events of requests.

    Without a policy, at level Request, Secrets, ConfigMaps, TokenReviews and service account tokens are logged at
    Metadata, as by the policies that Kubernetes recommends. RequestResponse logs all bodies.

    Args:
        write: Takes one event as a line, including the line feed.
        level: The level of all requests, if there is no policy.
        policy: The rules that select level and stages of each request.
        format: `json`, or kube-apiserver's `legacy` text.
        random: Source of audit ids for requests without the header ``Audit-ID``.
    """

    def __init__(
        self,
        write: Callable[[bytes], object],
        *,
        level: AuditLevel = AuditLevel.METADATA,
        policy: AuditPolicy | None = None,
        format: Literal["json", "legacy"] = "json",
        random: Random | None = None,
    ) -> None:
        self._write = write
        self._level = level
        self._policy = policy
        self._encode = _legacy_line if format == "legacy" else msgspec.json.encode
        self._random = random or Random()

    def completed(self, context: RequestContext, response: Response) -> Response:
        """Write the events of a request; the last one of a stream or an upgraded connection when it has ended."""
        config = self._config_of(context) if self._policy is None else self._policy.evaluate(context)
        if config.level is AuditLevel.NONE:
            return response
        record = _Record(self, context, response, config, context.headers.get("audit-id") or new_uid(self._random))
        if context.user is None and self._policy is not None:
            record.write(AuditStage.RESPONSE_STARTED)  # as upstream: the only event of a failed authentication
            return response
        record.write(AuditStage.REQUEST_RECEIVED)
        if context.panic:
            record.write(AuditStage.PANIC)
            return response
        if isinstance(response.body, bytes):
            record.write(AuditStage.RESPONSE_COMPLETE)
            return response
        record.write(AuditStage.RESPONSE_STARTED)
        return replace(response, body=record.completed_after(response.body))

    def _config_of(self, context: RequestContext) -> RequestAuditConfig:
        level, target = self._level, context.target
        if level is AuditLevel.REQUEST and target is not None:
            is_sensitive = (target.group, target.resource, target.subresource) in _SENSITIVE
            level = AuditLevel.METADATA if is_sensitive else level
        return RequestAuditConfig(level=level, omit_stages=_WITHOUT_POLICY)

    def write(self, event: dict[str, Any]) -> None:
        """Write one event."""
        self._write(self._encode({key: value for key, value in event.items() if value is not None}) + b"\n")


class _Record:
    """The events of one request, which share their id."""

    def __init__(
        self, log: AuditLog, context: RequestContext, response: Response, config: RequestAuditConfig, audit_id: str
    ) -> None:
        self._log, self._context, self._response = log, context, response
        self._config, self._id = config, audit_id

    def write(self, stage: AuditStage) -> None:
        """Write the event of a stage, unless the policy omits it."""
        if stage in self._config.omit_stages:
            return
        context = self._context
        is_received = stage is AuditStage.REQUEST_RECEIVED
        query = context.query.text
        event: dict[str, Any] = {
            "kind": "Event",
            "apiVersion": "audit.k8s.io/v1",
            "level": self._config.level.value,
            "auditID": self._id,
            "stage": stage.value,
            "requestURI": f"{context.path}?{query}" if query else context.path,
            "verb": context.target.verb(context.method, context.query.first)
            if context.target
            else context.method.lower(),
            **_users(context, has_impersonated=not is_received),
            "sourceIPs": [context.peer.address] if context.peer else None,
            "userAgent": context.headers.get("user-agent"),
            "objectRef": _object_ref(context, has_body=not is_received),
            **({} if is_received else self._response_fields()),
            "requestReceivedTimestamp": format_micro_time(context.received),
            "stageTimestamp": format_micro_time(context.received if is_received else now()),
            "annotations": None if is_received else _annotations(context) or None,
        }
        self._log.write(event)

    def _response_fields(self) -> dict[str, Any]:
        found = _objects(self._config.level, self._context, self._response)
        if self._config.omit_managed_fields:
            found = {name: _without_managed_fields(each) for name, each in found.items()}
        if panic := self._context.panic:
            found.pop("responseObject", None)
            return {"responseStatus": {**_PANIC_STATUS, "message": f"APIServer panic'd: {panic}"}, **found}
        return {"responseStatus": _status(self._response), **found}

    def completed_after(self, body: AsyncGenerator[bytes, None] | Upgrade) -> AsyncGenerator[bytes, None] | Upgrade:
        """Return the body of a stream or upgraded connection that writes the last event at its end."""
        return self._upgraded(body) if isinstance(body, Upgrade) else self._streamed(body)

    async def _streamed(self, body: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
        try:
            async with aclosing(body) as chunks:
                async for chunk in chunks:
                    yield chunk
        except Exception as error:
            self._note_panic(error)
            raise
        finally:
            self._write_last()

    def _upgraded(self, upgrade: Upgrade) -> Upgrade:
        async def serve(connection: UpgradedConnection) -> None:
            try:
                await upgrade.serve(connection)
            except Exception as error:
                self._note_panic(error)
                raise
            finally:
                self._write_last()

        return Upgrade(serve)

    def _note_panic(self, error: Exception) -> None:
        if not isinstance(error, OSError):  # the connection is lost
            self._context.panic = f"{type(error).__name__}: {error}"

    def _write_last(self) -> None:
        self.write(AuditStage.PANIC if self._context.panic else AuditStage.RESPONSE_COMPLETE)


def _without_managed_fields(obj: Any) -> Any:
    """Return an object, a list or a table without the managed fields of its objects."""
    if not isinstance(obj, dict):
        return obj
    found = dict(obj)
    if isinstance(metadata := obj.get("metadata"), dict):
        found["metadata"] = {key: each for key, each in metadata.items() if key != "managedFields"}
    if isinstance(items := obj.get("items"), list):
        found["items"] = [_without_managed_fields(each) for each in items]
    if obj.get("kind") == "Table":
        rows = obj.get("rows") or ()
        found["rows"] = [{**row, "object": _without_managed_fields(row.get("object"))} for row in rows]
    return found


def _objects(level: AuditLevel, context: RequestContext, response: Response) -> dict[str, Any]:
    if level is AuditLevel.METADATA or context.target is None:
        return {}
    objects = {"requestObject": _decode_json(context.body)}
    if level is AuditLevel.REQUEST_RESPONSE:
        objects["responseObject"] = _decode_json(response.body)
    return objects


def _decode_json(body: object, of: Any = Any) -> Any:
    """Decode a JSON body, or the fields of it that a type has; None if it is not that. Other bodies are not logged."""
    if not isinstance(body, bytes) or not body:
        return None
    try:
        return msgspec.json.decode(body, type=of)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _users(context: RequestContext, *, has_impersonated: bool) -> dict[str, Any]:
    """Return the users of a request; an empty user if its authentication failed."""
    if context.user is None:
        return {"user": {}}
    user = context.impersonated_user if has_impersonated else None
    impersonated = None if user is None or user is context.user else _user_fields(user)
    return {"user": _user_fields(context.user), "impersonatedUser": impersonated}


def _user_fields(user: User) -> dict[str, Any]:
    fields = {"username": user.name, "uid": user.uid, "groups": list(user.groups)}
    return {key: value for key, value in fields.items() if value}


class _Metadata(msgspec.Struct, rename="camel", gc=False):
    """Metadata of an object that is created or replaced."""

    name: Any = ""
    uid: Any = ""
    resource_version: Any = ""


class _Body(msgspec.Struct, gc=False):
    """The fields of a request body that are logged at every level; the others are not decoded."""

    metadata: _Metadata


class _Status(msgspec.Struct, gc=False):
    """The fields of a response body that are logged at every level if it is a Status."""

    kind: Any = None
    status: Any = msgspec.UNSET
    message: Any = msgspec.UNSET
    reason: Any = msgspec.UNSET
    details: Any = msgspec.UNSET


def _object_ref(context: RequestContext, *, has_body: bool) -> dict[str, str] | None:
    target = context.target
    if target is None:
        return None
    metadata = _Metadata()
    if has_body and context.method in ("POST", "PUT"):  # a patch is not an object, and options have no names
        found: _Body | None = _decode_json(context.body, _Body)
        metadata = metadata if found is None else found.metadata
    is_namespace = (target.group, target.resource) == ("", "namespaces")
    reference = {
        "resource": target.resource,
        "namespace": target.namespace or (target.name if is_namespace else ""),
        "name": target.name or metadata.name,
        "uid": metadata.uid,
        "apiGroup": target.group,
        "apiVersion": target.version,
        "resourceVersion": metadata.resource_version,
        "subresource": target.subresource,
    }
    return {key: value for key, value in reference.items() if value and isinstance(value, str)}


def _status(response: Response) -> dict[str, Any]:
    """Return the response status: the code, and the fields of a Status body."""
    found: _Status | None = _decode_json(response.body, _Status)
    fields = {} if found is None or found.kind != "Status" else msgspec.structs.asdict(found)
    fields = {key: value for key, value in fields.items() if key != "kind" and value is not msgspec.UNSET}
    return {"metadata": {}, **fields, "code": response.status}


def _annotations(context: RequestContext) -> dict[str, str]:
    if not context.decision:
        return context.annotations
    decided = {"authorization.k8s.io/decision": context.decision, "authorization.k8s.io/reason": context.reason}
    return {**decided, **context.annotations}


# -- legacy format -----------------------------------------------------------------------------------------------


def _legacy_line(event: dict[str, Any]) -> bytes:
    """Return an event as kube-apiserver's line of text."""
    user, other = event["user"], event.get("impersonatedUser")
    fields = {
        "id": event["auditID"],
        "stage": event["stage"],
        "ip": (event.get("sourceIPs") or ["<unknown>"])[0],
        "method": event["verb"],
        "user": user.get("username", "<none>"),
        "groups": _groups(user.get("groups")) or "<none>",
        "as": other.get("username", "") if other else "<self>",
        "asgroups": (_groups(other.get("groups")) if other else "") or "<lookup>",
        "user-agent": event.get("userAgent", ""),
        "namespace": (event.get("objectRef") or {}).get("namespace", "<none>"),
        "uri": event["requestURI"],
    }
    status = event.get("responseStatus")
    code = str(status["code"]) if status else "<deferred>"
    received = datetime.fromisoformat(event["requestReceivedTimestamp"])
    shown = " ".join(f"{name}={quoted(value)}" for name, value in fields.items())
    return f'{_rfc3339(received)} AUDIT: {shown} response="{code}"'.encode()


def _groups(groups: list[str] | None) -> str:
    return ",".join(map(quoted, groups or ()))


def _rfc3339(received: datetime) -> str:
    """Return a time as in Go's RFC3339Nano: without trailing zeros."""
    whole = received.strftime("%Y-%m-%dT%H:%M:%S")
    fraction = f".{received.microsecond:06d}".rstrip("0") if received.microsecond else ""
    return f"{whole}{fraction}Z"
