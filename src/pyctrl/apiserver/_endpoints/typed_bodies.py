"""Request bodies of other kinds than their resource: those of subresources, and DeleteOptions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pyctrl.apiserver._admission import Kind
from pyctrl.apiserver._errors import UndecodableBody, bad_request
from pyctrl.apiserver._resources.unserved_kinds import UNSERVED_KINDS
from pyctrl.apiserver._schema.typed import DecodeFailed, decode
from pyctrl.apiserver._serializer.decoding import decode_object, number_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyctrl.apiserver._request.request import ResourceRequest
    from pyctrl.apiserver._resources.served_resources import ServedResources
    from pyctrl.apiserver._schema.components import OpenAPIComponents

__all__ = [
    "BINDING",
    "EVICTION",
    "SCALE",
    "TOKEN_REQUEST",
    "check_kind_of",
    "decode_subresource_body",
    "decode_subresource_object",
    "not_registered_type",
    "read_delete_options",
]

SCALE: Final = Kind("autoscaling", "v1", "Scale")
EVICTION: Final = Kind("policy", "v1", "Eviction")
BINDING: Final = Kind("", "v1", "Binding")
TOKEN_REQUEST: Final = Kind("authentication.k8s.io", "v1", "TokenRequest")
DELETE_OPTIONS: Final = Kind("meta.k8s.io", "v1", "DeleteOptions")

_COMPONENTS = {
    SCALE: "io.k8s.api.autoscaling.v1.Scale",
    EVICTION: "io.k8s.api.policy.v1.Eviction",
    BINDING: "io.k8s.api.core.v1.Binding",
    DELETE_OPTIONS: "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions",
    TOKEN_REQUEST: "io.k8s.api.authentication.v1.TokenRequest",
}

# Older versions in the scheme: an Eviction of such a version is accepted, a Scale is not.
_OTHER_VERSIONS = {
    SCALE: frozenset(("extensions/v1beta1", "apps/v1beta1", "apps/v1beta2")),
    EVICTION: frozenset(("policy/v1beta1",)),
}

# Kinds that the scheme has without a version, so that any group version of them is known (AddUnversionedTypes).
_UNVERSIONED = frozenset(("APIGroup", "APIGroupList", "APIResourceList", "APIVersions", "Status"))
_OPTIONS = ("CreateOptions", "DeleteOptions", "GetOptions", "ListOptions", "PatchOptions", "UpdateOptions")
_META = frozenset((*_OPTIONS, "WatchEvent", *_UNVERSIONED))  # kinds of the Go package meta/v1

# DeleteOptions are decoded with another scheme, in which three kinds of options have no version.
_UNVERSIONED_OPTIONS = frozenset(("CreateOptions", "DeleteOptions", "UpdateOptions"))
_METADATA_KINDS = frozenset(("Table", "TableOptions", "PartialObjectMetadata", "PartialObjectMetadataList"))
_OF_OPTIONS = {"meta.k8s.io/v1": _META | _METADATA_KINDS, "meta.k8s.io/v1beta1": _METADATA_KINDS}

_SCHEME = "pkg/runtime/scheme.go:111"  # as kube-apiserver's errors name it


def decode_subresource_body(request: ResourceRequest, kind: Kind, registry: ServedResources) -> dict[str, Any]:
    """Decode a body of a subresource's own kind; kind and apiVersion may be absent.

    Raises:
        StatusError: 400, 413 or 415.
    """
    body = decode_object(request.body, request.headers, kind.kind)
    check_kind_of(body, kind, registry)
    return body


def check_kind_of(obj: Mapping[str, Any], wanted: Kind, registry: ServedResources) -> None:
    """Refuse an object of another kind or version than `wanted`, with the errors of kube-apiserver's decoder.

    Raises:
        StatusError: 400.
    """
    expected = f"{wanted.group}/{wanted.version}" if wanted.group else wanted.version
    kind, version = str(obj.get("kind") or wanted.kind), str(obj.get("apiVersion") or expected)
    if kind == wanted.kind:
        if version == expected or (wanted is EVICTION and version in _OTHER_VERSIONS[EVICTION]):
            return
        if version in _OTHER_VERSIONS.get(wanted, ()) or kind in UNSERVED_KINDS.get(version, ()):
            raise _version_mismatch(version, expected)
    short = version.rpartition("/")[2]
    if kind not in _UNVERSIONED and not registry.is_registered(version, kind):
        raise UndecodableBody(kind, short, _not_registered(kind, version), of=wanted.kind)
    _check_fits(obj, Kind(*_group_and_version(version), kind), wanted, registry)
    package = "v1" if kind in _META else short
    internal = wanted.group.partition(".")[0] or "core"
    reason = f"converting ({package}.{kind}) to ({internal}.{wanted.kind}): unknown conversion"
    raise UndecodableBody(kind, short, reason, of=wanted.kind)


def _check_fits(obj: Mapping[str, Any], kind: Kind, wanted: Kind, registry: ServedResources) -> None:
    """Check that an object decodes as its own kind, which comes before its conversion to the wanted one."""
    found = registry.by_kind(kind.group, kind.version, kind.kind)
    if kind in _COMPONENTS:
        node = registry.components.node("core_v1", _COMPONENTS[kind])
    elif found is not None and not found.is_custom:
        node = found.schema
    else:
        return
    try:
        decode(node, dict(obj), [])
    except DecodeFailed as failed:
        why, converted = str(failed), failed.converted
        raise UndecodableBody(kind.kind, kind.version, why, of=wanted.kind, converted=converted) from None


def _group_and_version(api_version: str) -> tuple[str, str]:
    group, _, version = api_version.rpartition("/")
    return group, version


def _version_mismatch(version: str, expected: str) -> Exception:
    return bad_request(f"the API version in the data ({version}) does not match the expected API version ({expected})")


def _not_registered(kind: str, version: str) -> str:
    return f'no kind "{kind}" is registered for version "{version}" in scheme "{_SCHEME}"'


def not_registered_type(kind: Kind) -> Exception:
    """400: all errors in the Scale of a custom resource are this one: its scheme does not have the kind."""
    return bad_request(f'no kind is registered for the type {kind.version}.{kind.kind} in scheme "{_SCHEME}"')


def read_delete_options(request: ResourceRequest, components: OpenAPIComponents) -> dict[str, Any]:
    """Decode DeleteOptions of any group version: clients send them with the group version of the resource.

    Raises:
        StatusError: 400, 413 or 415.
    """
    body = decode_object(request.body, request.headers, "")
    kind, version = body.get("kind") or DELETE_OPTIONS.kind, body.get("apiVersion") or "meta.k8s.io/v1"
    if kind != DELETE_OPTIONS.kind:
        if kind in _UNVERSIONED | _UNVERSIONED_OPTIONS | _OF_OPTIONS.get(version, frozenset()):
            raise bad_request(f"converting (v1.{kind}) to (v1.{DELETE_OPTIONS.kind}): unknown conversion")
        raise bad_request(_not_registered(kind, version))
    try:
        return decode_subresource_object(body, DELETE_OPTIONS, components, body=request.body)
    except UndecodableBody as unfit:
        raise bad_request(unfit.why) from None


def decode_subresource_object(
    obj: dict[str, Any],
    kind: Kind,
    components: OpenAPIComponents,
    unknown: list[str] | None = None,
    *,
    body: bytes = b"",
) -> dict[str, Any]:
    """Decode an object of a subresource's kind as its Go type does; paths of unknown fields are added to `unknown`.

    Args:
        body: The text of the object, if it has one, with the numbers that an error shows.

    Raises:
        StatusError: 400, it does not fit the type.
    """
    try:
        read: dict[str, Any] = decode(
            components.node("core_v1", _COMPONENTS[kind]), obj, [] if unknown is None else unknown
        )
    except DecodeFailed as failed:
        text = number_text(body, failed.place)
        why = failed.with_number(text) if text else str(failed)
        raise UndecodableBody(kind.kind, kind.version, why, converted=failed.converted) from None
    return read
