"""Backend of the handlers: storage, admission and authorization, and the checks of request bodies that verbs share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

import msgspec

from pyctrl._go.text import quoted
from pyctrl._validation import names
from pyctrl.api import Access
from pyctrl.apiserver._admission import AdmissionChain, Kind
from pyctrl.apiserver._authz import access_forbidden
from pyctrl.apiserver._endpoints.object_converter import ConvertedObject, ObjectConverter
from pyctrl.apiserver._endpoints.typed_bodies import check_kind_of
from pyctrl.apiserver._errors import (
    StatusError,
    UndecodableBody,
    bad_request,
    internal_error,
    invalid,
    invalid_value,
    not_found,
)
from pyctrl.apiserver._request.request import ResourceRequest
from pyctrl.apiserver._resources.resource_type import with_type_meta
from pyctrl.apiserver._schema.schema import NO_DEFAULT
from pyctrl.apiserver._serializer.decoding import json_kind, unrecognized_body
from pyctrl.apiserver._storage.encoding import encode_object
from pyctrl.apiserver._storage.storage import Collection, Storage, StoredObject

if TYPE_CHECKING:
    from pyctrl.apiserver._authz import Authorizer, EscalationCheck
    from pyctrl.apiserver._resources.resource_type import ResourceType
    from pyctrl.apiserver._resources.served_resources import ServedResources

__all__ = [
    "RESTStorage",
    "check_kind",
    "check_name_and_namespace",
    "check_namespace_matches",
    "check_patched_type_meta",
    "check_type_meta",
    "metadata_of",
]


@dataclass(frozen=True, slots=True)
class RESTStorage:
    """Storage, served resources, admission, authorization, randomness and enabled features of one server."""

    storage: Storage
    registry: ServedResources
    random: Random
    admission: AdmissionChain
    authorizer: Authorizer
    escalation: EscalationCheck | None  # None without RBAC
    conversions: ObjectConverter
    features: frozenset[str] = frozenset()

    def collection(self, resource: ResourceType) -> Collection:
        """Return the collection of a resource, which all its versions share."""
        return self.storage.collection(resource.storage_group, resource.plural)

    def find(self, request: ResourceRequest) -> StoredObject | None:
        """Return the object that a request names, or None when it does not exist.

        Raises:
            StatusError: 400, no object can have that name.
        """
        name = request.target.name
        if why := names.path_segment(name):
            raise bad_request(f"Name parameter invalid: {quoted(name)}: {';'.join(why)}")
        return self.collection(request.resource).find(request.target.namespace, name)

    def live(self, request: ResourceRequest) -> StoredObject:
        """Return the object that a request names.

        Raises:
            StatusError: 404, it does not exist; 400, as for `find`.
        """
        target, stored = request.target, self.find(request)
        if stored is None:
            raise not_found(target.resource, target.name, target.group)
        return stored

    def put(
        self, obj: dict[str, Any], resource: ResourceType, converted: ConvertedObject | None = None
    ) -> StoredObject:
        """Store an object under the next resource version.

        Args:
            converted: The object as a conversion webhook converted it, for resources that need one.
        """
        if resource.storage is resource:
            read_as = resource if _has_all_defaults(obj, resource) else None
            return self.collection(resource).put(with_type_meta(obj, resource), read_as)
        storage, collection = resource.storage, self.collection(resource)
        if converted is None:
            return collection.put(with_type_meta(resource.stored(obj), storage), storage)
        stored = collection.put(with_type_meta(converted.stored, storage), storage)
        converted.shown["metadata"]["resourceVersion"] = str(stored.version)
        stored.show_as(resource, encode_object(with_type_meta(converted.shown, resource)))
        return stored

    def put_metadata_change(self, obj: dict[str, Any], resource: ResourceType, old: StoredObject) -> StoredObject:
        """Store an object of which only metadata differs from its old state, as when it is being deleted."""
        if not resource.converts:
            return self.put(obj, resource)
        new = old.decode()
        texts = {key: value for key, value in new["metadata"].items() if key in ("labels", "annotations")}
        others = {key: value for key, value in obj["metadata"].items() if key not in ("labels", "annotations")}
        new["metadata"] = {**others, **texts}
        marked = self.collection(resource).put(new, None)
        marked.show_like(old)
        return marked

    def check_grant(self, request: ResourceRequest, new: dict[str, Any], old: dict[str, Any] | None = None) -> None:
        """Refuse a role or binding that grants more than the user has."""
        if self.escalation is not None:
            self.escalation.check(request, new, old)

    def check_create(self, request: ResourceRequest) -> None:
        """Refuse a PUT or PATCH that creates an object, if its user may not create it."""
        target, user = request.target, request.user
        if request.method == "POST" or user.is_administrator:
            return
        create = Access("create", target.group, target.resource, namespace=target.namespace, name=target.name)
        decision = self.authorizer.decide(user, create)
        if not decision.is_allowed:
            raise access_forbidden(create, user, decision.reason)


def check_type_meta(obj: dict[str, Any], resource: ResourceType, body: bytes) -> None:
    """Refuse the body of a custom resource without kind or apiVersion; built-in kinds may leave them out."""
    if not resource.is_custom:
        return
    if obj.get("kind") and obj.get("apiVersion"):
        return
    shown = body.decode("utf-8", "replace")
    if not obj.get("kind"):
        raise unrecognized_body(resource.kind, f"Object 'Kind' is missing in '{shown}'", body)
    raise _api_version_mismatch("", resource)


def check_patched_type_meta(obj: dict[str, Any], resource: ResourceType) -> StatusError | None:
    """Refuse the result of a patch whose kind or apiVersion is no text, or absent in a custom resource.

    Returns:
        422: a custom resource has another kind or version, which matters to whole objects only.
    """
    if resource.is_custom and not obj.get("kind"):
        shown = msgspec.json.encode(obj, order="sorted").decode()
        raise UndecodableBody(resource.kind, resource.version, f"Object 'Kind' is missing in '{shown}'")
    if resource.is_custom and not obj.get("apiVersion"):
        raise internal_error("Object 'apiVersion' is missing in 'object has no apiVersion field'")
    for key in ("apiVersion", "kind"):
        if type(obj.get(key, "")) is not str and obj[key] is not None:
            why = f"cannot unmarshal {json_kind(obj[key])} into Go struct field .{key} of type string"
            raise UndecodableBody(
                resource.kind, resource.version, f"couldn't get version/kind; json parse error: json: {why}"
            )
    if not resource.is_custom:
        return None
    kind, version = obj["kind"], obj["apiVersion"]
    if version.count("/") > 1:
        raise UndecodableBody(resource.kind, resource.version, f"unexpected GroupVersion string: {version}")
    pairs = ("kind", kind, resource.kind), ("apiVersion", version, resource.api_version)
    causes = [invalid_value(key, value, f"must be {wanted}") for key, value, wanted in pairs if value != wanted]
    return invalid(kind, _name_of(obj), causes, version.rpartition("/")[0]) if causes else None


def _name_of(obj: Mapping[str, Any]) -> str:
    """Return the name of an object that is not decoded; "" without one."""
    metadata = obj.get("metadata")
    return str(metadata.get("name") or "") if isinstance(metadata, dict) else ""


def check_kind(obj: dict[str, Any], resource: ResourceType, registry: ServedResources) -> None:
    """Refuse a body of another kind or version than the URL's; a body without them is accepted."""
    if not resource.is_custom:
        check_kind_of(obj, Kind(resource.group, resource.version, resource.kind), registry)
        return
    kind, version = obj.get("kind") or resource.kind, obj.get("apiVersion") or resource.api_version
    if kind != resource.kind or version != resource.api_version:
        raise _custom_mismatch(obj, resource)


def _api_version_mismatch(version: object, resource: ResourceType) -> StatusError:
    expected = resource.api_version
    return bad_request(f"the API version in the data ({version}) does not match the expected API version ({expected})")


def _custom_mismatch(obj: dict[str, Any], resource: ResourceType) -> StatusError:
    if obj.get("apiVersion") != resource.api_version:
        return _api_version_mismatch(obj.get("apiVersion"), resource)
    cause = invalid_value("kind", obj["kind"], f"must be {resource.kind}")
    return invalid(obj["kind"], _name_of(obj), [cause], resource.group)


def check_name_and_namespace(metadata: dict[str, Any], request: ResourceRequest) -> None:
    """Refuse a body whose name or namespace is not the URL's; fill in a namespace that is left out."""
    check_namespace_matches(metadata, request)
    name, wanted = metadata.get("name"), request.target.name
    if not name:
        raise bad_request(f"the name of the object ({wanted} based on URL) was undeterminable: name must be provided")
    if name != wanted:
        raise bad_request(f"the name of the object ({name}) does not match the name on the URL ({wanted})")


def check_namespace_matches(metadata: dict[str, Any], request: ResourceRequest) -> None:
    """Refuse a body whose namespace is not the URL's; fill in one that is left out."""
    namespace, wanted = metadata.get("namespace"), request.target.namespace
    if namespace == wanted:
        return
    if not wanted:
        metadata.pop("namespace", None)
    elif not namespace:
        metadata["namespace"] = wanted
    else:
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")


def metadata_of(obj: dict[str, Any], resource: ResourceType) -> dict[str, Any]:
    """Return the metadata of a body, added if it is absent.

    Raises:
        StatusError: 400, it is no JSON object.
    """
    metadata = obj.get("metadata")
    if metadata is None:
        metadata = obj["metadata"] = {}
    if not isinstance(metadata, dict):
        found = {str: "string", bool: "bool", list: "array"}.get(type(metadata), "number")
        where = f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}'
        reason = f"json: cannot unmarshal {found} into Go struct field {resource.kind}.metadata of type v1.ObjectMeta"
        raise bad_request(f"{where}: {reason}")
    return metadata


def _has_all_defaults(obj: Mapping[str, Any], resource: ResourceType) -> bool:
    """Return whether an object is read as it is stored: a new custom object has no status, even one with a default."""
    if not resource.is_custom or "status" in obj:
        return True
    status = resource.schema.properties.get("status")
    return status is None or status.default is NO_DEFAULT
