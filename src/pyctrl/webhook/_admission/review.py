"""Answers an AdmissionReview document by calling a handler, without a server."""

from __future__ import annotations

import base64
import logging
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from pyctrl._log import log_context
from pyctrl.errors import ApiError, BadRequest, DecodeError, Denied, Rejected
from pyctrl.webhook._admission.admission import AdmissionHandler, AdmissionRequest, AdmissionResponse, read_request

__all__ = ["review"]

log = logging.getLogger("pyctrl.webhook.admission")

API_VERSION = "admission.k8s.io/v1"


async def review(
    handler: AdmissionHandler, document: Mapping[str, Any], *, on_bug: Callable[[], None] | None = None
) -> dict[str, Any]:
    """Answer an AdmissionReview (v1) with an AdmissionReview.

    An exception of the handler becomes a response: `Denied` a 403, `Rejected` a 422 with its causes, `ApiError` its own
    Status, any other exception a 500 with its name; its traceback is logged and ``on_bug`` is called.

    Raises:
        BadRequest: the document is not an AdmissionReview of v1, or has no request.
    """
    request = _request_of(document)
    with log_context(**_facts(request)):
        response = await _response_of(handler, request, on_bug)
    return {"apiVersion": API_VERSION, "kind": "AdmissionReview", "response": _rendered(request, response)}


def _request_of(document: Mapping[str, Any]) -> AdmissionRequest:
    version, kind, request = document.get("apiVersion"), document.get("kind"), document.get("request")
    if (version, kind) != (API_VERSION, "AdmissionReview"):
        raise BadRequest(f"expected {API_VERSION}, Kind=AdmissionReview, got {version}, Kind={kind}")
    if not isinstance(request, Mapping):
        raise BadRequest("expected an AdmissionReview with a request; it has none")
    try:
        return read_request(request)
    except DecodeError as error:
        raise BadRequest(str(error)) from error


async def _response_of(
    handler: AdmissionHandler, request: AdmissionRequest, on_bug: Callable[[], None] | None
) -> AdmissionResponse:
    try:
        return await handler(request)
    except Denied as error:
        return AdmissionResponse(allowed=False, code=403, reason="Forbidden", message=str(error))
    except Rejected as error:
        message = f'{request.kind.group_kind} "{request.name}" is invalid: {error}'
        return AdmissionResponse(allowed=False, code=422, reason="Invalid", message=message, causes=error.causes)
    except ApiError as error:
        return AdmissionResponse(
            allowed=False, code=error.code or 500, reason=error.reason, message=error.message, status=error.status
        )
    except Exception as error:
        log.exception("Admission handler failed")
        if on_bug is not None:
            on_bug()
        return AdmissionResponse(allowed=False, code=500, reason="InternalError", message=_bug(error, request))


def _bug(error: Exception, request: AdmissionRequest) -> str:
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return f"the webhook failed: {text}; its log has more, with requestID={request.uid}"


def _rendered(request: AdmissionRequest, response: AdmissionResponse) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "uid": request.uid,
        "allowed": response.allowed,
        "status": _status(request, response),
    }
    if response.allowed and response.patch:
        answer["patch"] = base64.b64encode(msgspec.json.encode(response.patch)).decode()
        answer["patchType"] = "JSONPatch"
    if response.warnings:
        answer["warnings"] = list(response.warnings)
    if response.audit_annotations:
        answer["auditAnnotations"] = dict(response.audit_annotations)
    return answer


def _status(request: AdmissionRequest, response: AdmissionResponse) -> dict[str, Any]:
    if response.allowed:
        fields = {"code": response.code, "message": response.message}
    elif response.status:
        return {"metadata": {}, **response.status}
    else:
        fields = {"status": "Failure", "message": response.message, "reason": response.reason, "code": response.code}
    status: dict[str, Any] = {"metadata": {}, **{name: value for name, value in fields.items() if value}}
    if response.causes:
        causes = [{"reason": each.reason, "message": each.message, "field": each.field} for each in response.causes]
        status["details"] = {
            "name": request.name,
            "group": request.kind.group,
            "kind": request.kind.kind,
            "causes": causes,
        }
    return status


def _facts(request: AdmissionRequest) -> dict[str, object]:
    """Return the fields of log lines written while a request is handled, with controller-runtime's keys."""
    return {
        "webhookGroup": request.kind.group,
        "webhookKind": request.kind.kind,
        "namespace": request.namespace,
        "name": request.name,
        "resource": str(request.resource),
        "user": request.user.username,
        "requestID": request.uid,
    }
