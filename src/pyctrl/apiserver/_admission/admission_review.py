"""AdmissionReview: the request to a webhook, and the validation of its response."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pyctrl.apiserver._admission.attributes import CONNECT, CREATE, DELETE, Attributes, Kind
from pyctrl.apiserver._authn import user_info
from pyctrl.apiserver._request.options import DeleteOptions
from pyctrl.apiserver._resources.resource_type import with_type_meta
from pyctrl.apiserver._schema.schema import GoTypeInfo, SchemaNode
from pyctrl.apiserver._serializer.decoding import decode_json, json_kind
from pyctrl.apiserver._webhooks.review_response import InvalidReviewBody, decode_review

if TYPE_CHECKING:
    from pyctrl.apiserver._resources.resource_type import ResourceType
    from pyctrl.apiserver._schema.components import OpenAPIComponents

__all__ = [
    "VERSIONS",
    "InvalidReview",
    "VerifiedResponse",
    "admission_request_of",
    "admission_review_of",
    "operations_of",
    "verify_admission_response",
]


GROUP = "admission.k8s.io"
VERSIONS = ("v1", "v1beta1")
_OPTIONS = {CREATE: "CreateOptions", DELETE: "DeleteOptions"}
_LAST = ("object", "oldObject", "dryRun", "options")
_STATUS = "io.k8s.apimachinery.pkg.apis.meta.v1.Status"


class InvalidReview(Exception):
    """Raised for an invalid response. `is_readable`: it could be decoded as an AdmissionReview."""

    def __init__(self, why: str, *, is_readable: bool = True) -> None:
        super().__init__(why)
        self.is_readable = is_readable


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedResponse:
    """The validated response of a webhook."""

    allowed: bool
    status: dict[str, Any]
    patch: bytes = b""
    patch_type: str = ""
    warnings: list[str] = field(default_factory=list)
    annotations: Mapping[str, str] = field(default_factory=dict)


# -- request -----------------------------------------------------------------------------------------------------


def admission_review_of(
    attributes: Attributes,
    wanted: ResourceType,
    objects: tuple[dict[str, Any] | None, dict[str, Any] | None],
    *,
    version: str,
    uid: str,
) -> dict[str, Any]:
    """Return the AdmissionReview of a write as `wanted`, the version that `objects` (new and old) have."""
    new, old = (_shown(each, wanted, attributes) for each in objects)
    fields = {"uid": uid, **admission_request_of(attributes, wanted), "object": new, "oldObject": old}
    # kube-apiserver's order of keys
    order = (*(key for key in fields if key not in _LAST), *_LAST)
    request = {key: fields[key] for key in order}
    return {"kind": "AdmissionReview", "apiVersion": f"{GROUP}/{version}", "request": request}


def admission_request_of(attributes: Attributes, wanted: ResourceType) -> dict[str, Any]:
    """Return the AdmissionRequest of a write, without its uid and objects."""
    subresource = attributes.subresource
    parts: dict[str, Any] = {
        "kind": _kind(attributes.own_kind or Kind(wanted.group, wanted.version, wanted.kind)),
        "resource": _resource(wanted),
        "subResource": subresource,
        "requestKind": _kind(attributes.kind),
        "requestResource": _resource(attributes.resource),
        "requestSubResource": subresource,
        "name": attributes.name,
        "namespace": attributes.namespace,
    }
    return {
        **{name: part for name, part in parts.items() if part},
        "operation": attributes.operation,
        "userInfo": user_info(attributes.user),
        "dryRun": attributes.dry_run,
        "options": options_of(attributes),
    }


def _shown(obj: dict[str, Any] | None, wanted: ResourceType, attributes: Attributes) -> dict[str, Any] | None:
    if obj is None:
        return None
    if attributes.own_kind is None:
        return with_type_meta(obj, wanted)
    group, version, kind = attributes.own_kind
    rest = {key: value for key, value in obj.items() if key not in ("kind", "apiVersion")}
    return {"kind": kind, "apiVersion": f"{group}/{version}" if group else version, **rest}


def _kind(kind: Kind) -> dict[str, str]:
    return {"group": kind.group, "version": kind.version, "kind": kind.kind}


def _resource(resource: ResourceType) -> dict[str, str]:
    return {"group": resource.group, "version": resource.version, "resource": resource.plural}


def options_of(attributes: Attributes) -> dict[str, Any] | None:
    """Return the options of a write as in an AdmissionRequest; a connection has none."""
    if attributes.operation == CONNECT:
        return None
    options, query = attributes.options, attributes.request.query
    given: dict[str, Any] = {
        "kind": _OPTIONS.get(attributes.operation, "UpdateOptions"),
        "apiVersion": "meta.k8s.io/v1",
    }
    if isinstance(options, DeleteOptions):
        preconditions = {"uid": options.uid, "resourceVersion": options.resource_version}
        given["gracePeriodSeconds"] = options.grace_period_seconds
        given["preconditions"] = {name: value for name, value in preconditions.items() if value is not None} or None
        given["orphanDependents"] = options.orphan_dependents
        given["propagationPolicy"] = options.propagation if options.orphan_dependents is None else None
    given["dryRun"] = ["All"] if options.dry_run else None
    if not isinstance(options, DeleteOptions):
        given["fieldManager"], given["fieldValidation"] = query.get("fieldManager"), query.get("fieldValidation")
    return {name: value for name, value in given.items() if value is not None and value != ""}


# -- response ----------------------------------------------------------------------------------------------------


def verify_admission_response(
    answer: Any, *, version: str, uid: str, mutating: bool, components: OpenAPIComponents
) -> VerifiedResponse:
    """Decode and validate the response of a webhook.

    Raises:
        InvalidReview: It is not a valid response to the request.
    """
    review = _decoded(answer, version, components)
    response: dict[str, Any] | None = review.get("response")
    if response is None:
        raise InvalidReview("webhook response was absent")
    if version == "v1":
        _check(review, response, uid, mutating)
    patch = response.get("patch", "") if mutating else ""
    kind = response.get("patchType", "") if version == "v1" else "JSONPatch"
    return VerifiedResponse(
        allowed=response.get("allowed", False),
        status=response.get("status") or {},
        patch=base64.b64decode(patch),
        patch_type=kind if patch else "",
        warnings=response.get("warnings") or [],
        annotations=response.get("auditAnnotations") or {},
    )


def _decoded(answer: Any, version: str, components: OpenAPIComponents) -> dict[str, Any]:
    try:
        return decode_review(answer, _node(components), "AdmissionReview", GROUP, version, VERSIONS)
    except InvalidReviewBody as error:
        raise InvalidReview(str(error), is_readable=False) from None


def _check(review: dict[str, Any], response: dict[str, Any], uid: str, mutating: bool) -> None:
    """Validate the response by the rules of v1, which v1beta1 does not have."""
    if response.get("uid", "") != uid:
        raise InvalidReview(f'expected response.uid="{uid}", got "{response.get("uid", "")}"')
    kind, version = review.get("kind", ""), review.get("apiVersion", "")
    if (kind, version) != ("AdmissionReview", f"{GROUP}/v1"):
        group, slash, named = version.rpartition("/")
        got = f"{group}{slash or '/'}{named}, Kind={kind}"
        raise InvalidReview(f"expected webhook response of {GROUP}/v1, Kind=AdmissionReview, got {got}")
    patch, kind = bool(response.get("patch")), "patchType" in response
    if not mutating and patch:
        raise InvalidReview("validating webhook may not return response.patch")
    if not mutating and kind:
        raise InvalidReview("validating webhook may not return response.patchType")
    if patch and not kind:
        raise InvalidReview("webhook returned response.patch but not response.patchType")
    if kind and not patch:
        raise InvalidReview("webhook returned response.patchType but not response.patch")


def operations_of(patch: bytes) -> list[dict[str, Any]]:
    """Decode a JSON patch.

    Raises:
        InvalidReview: It is not a list of operations.
    """
    try:
        operations = decode_json(patch)
    except ValueError as error:
        raise InvalidReview(str(error)) from None
    if operations is None:
        return []
    if not isinstance(operations, list):
        raise InvalidReview(f"json: cannot unmarshal {json_kind(operations)} into Go value of type jsonpatch.Patch")
    for each in operations:
        if not isinstance(each, dict):
            raise InvalidReview(f"json: cannot unmarshal {json_kind(each)} into Go value of type jsonpatch.Operation")
    return operations


def _node(components: OpenAPIComponents) -> SchemaNode:
    """Return the Go type of an AdmissionReview, as far as responses use it."""
    text, flag = GoTypeInfo(name="string"), GoTypeInfo(name="bool")
    strings = SchemaNode(
        type="object", additional=SchemaNode(type="string", go=text), go=GoTypeInfo(name="map[string]string")
    )
    response = SchemaNode(
        type="object",
        go=GoTypeInfo(struct="AdmissionResponse", name="v1.AdmissionResponse"),
        properties={
            "uid": SchemaNode(type="string", go=GoTypeInfo(name="types.UID")),
            "allowed": SchemaNode(type="boolean", go=flag),
            "status": components.node("core_v1", _STATUS),
            "patch": SchemaNode(type="string", go=GoTypeInfo(name="[]uint8", scalar="bytes")),
            "patchType": SchemaNode(type="string", go=GoTypeInfo(name="v1.PatchType")),
            "auditAnnotations": strings,
            "warnings": SchemaNode(
                type="array", items=SchemaNode(type="string", go=text), go=GoTypeInfo(name="[]string")
            ),
        },
    )
    properties = {
        "kind": SchemaNode(type="string", go=text),
        "apiVersion": SchemaNode(type="string", go=text),
        "request": SchemaNode(open=True),
        "response": response,
    }
    return SchemaNode(
        type="object", properties=properties, go=GoTypeInfo(struct="AdmissionReview", name="v1.AdmissionReview")
    )
