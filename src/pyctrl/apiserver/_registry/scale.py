"""The subresource scale: a `Scale` over the replica fields of a workload or custom resource."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from pyctrl._validation import names
from pyctrl.api import LabelSelector
from pyctrl.apiserver._admission import UPDATE, Attributes
from pyctrl.apiserver._apiextensions.custom_type import CustomResourceType
from pyctrl.apiserver._endpoints.backend import check_name_and_namespace
from pyctrl.apiserver._endpoints.response_writers import value_response
from pyctrl.apiserver._endpoints.typed_bodies import (
    SCALE,
    check_kind_of,
    decode_subresource_body,
    decode_subresource_object,
    not_registered_type,
)
from pyctrl.apiserver._endpoints.update import UpdatedObject
from pyctrl.apiserver._errors import (
    Response,
    StatusError,
    UndecodableBody,
    conflict,
    internal_error,
    invalid,
    invalid_value,
    unknown_error,
)
from pyctrl.apiserver._fieldmanager.apply import server_side_apply
from pyctrl.apiserver._fieldmanager.managed_fields import update_managed_fields
from pyctrl.apiserver._fieldmanager.typed import check_configuration, configuration_undecodable
from pyctrl.apiserver._meta.validation import validate_metadata
from pyctrl.apiserver._patch.patcher import (
    APPLY,
    apply_patch_to_object,
    check_patch_type,
    decode_apply,
    patch_outcome_undecodable,
)
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource, RESTContext
from pyctrl.apiserver._registry.builtin_type import BuiltinResourceType
from pyctrl.apiserver._registry.scale_handler import API_VERSION, to_scale_managed_fields, write_parent_managed_fields
from pyctrl.apiserver._request.negotiation import Representation
from pyctrl.apiserver._request.options import WriteOptions, parse_object_version, write_options
from pyctrl.apiserver._request.request import ResourceRequest
from pyctrl.apiserver._serializer.decoding import patch_type
from pyctrl.apiserver._serializer.strict import report_unknown
from pyctrl.apiserver._storage.preconditions import check_storage_preconditions
from pyctrl.apiserver._storage.storage import StoredObject

if TYPE_CHECKING:
    from pyctrl.apiserver._resources.resource_type import ResourceType

__all__ = ["ScaleREST"]

_PATHS = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
_DESCRIBED = {
    "resource": "scales",
    "singularResource": "scale",
    "responseKind": {"kind": SCALE.kind},
    "scope": "Namespaced",
    "verbs": ["get", "patch", "update"],
}
_METADATA = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


class ScaleREST:
    """GET, PUT and PATCH of a Scale."""

    def __init__(self, context: RESTContext) -> None:
        self._backend = context.backend
        self._updates = context.updates
        self._type = BuiltinResourceType(
            BuiltinResource(group=SCALE.group, kind=SCALE.kind),
            SCALE.version,
            _DESCRIBED,
            context.backend.registry.components,
        )
        self._type.document = "core_v1"  # the document of the core group describes it

    def get(self, request: ResourceRequest) -> Response:
        """Return the Scale of an object."""
        stored, resource = self._backend.live(request), request.resource
        obj = stored.read(resource)
        if isinstance(resource, CustomResourceType) and _get(obj, path := _path(resource, "specReplicasPath")) is None:
            raise internal_error(f'the spec replicas field "{path}" does not exist')
        return _answered(_scale_of(obj, resource), request)

    async def replace(self, request: ResourceRequest) -> Response:
        """Write the replicas of a Scale into the object."""
        options = write_options(request.query, "UpdateOptions")
        try:
            body = self._sent(request)
            return await self._write(request, options, lambda _: body)
        except UndecodableBody:
            if not request.resource.is_custom:
                raise
            raise not_registered_type(SCALE) from None

    def _sent(self, request: ResourceRequest) -> dict[str, Any]:
        try:
            return decode_subresource_body(request, SCALE, self._backend.registry)
        except StatusError as error:
            if not request.resource.is_custom or error.code != 400:
                raise
            raise not_registered_type(SCALE) from None

    async def patch(self, request: ResourceRequest) -> Response:
        """Apply any of the four types of patch to a Scale, and write its replicas into the object."""
        media = patch_type(request.headers)
        options = write_options(request.query, "PatchOptions", is_apply=media == APPLY)
        if media == APPLY:
            patch = self._configuration(request)
            return await self._write(request, options, lambda live: self._applied(live, patch, request, options))
        check_patch_type(request, media)

        def patched(live: dict[str, Any]) -> dict[str, Any]:
            new, _ = apply_patch_to_object(live, request, media)
            try:
                if not request.resource.is_custom:
                    check_kind_of(new, SCALE, self._backend.registry)
                return self._decoded(new, request, options)
            except UndecodableBody as unfit:
                raise patch_outcome_undecodable(live, request, media, unfit) from None

        return await self._write(request, options, patched)

    def _configuration(self, request: ResourceRequest) -> dict[str, Any]:
        """Decode and check the body of an apply."""
        patch, _ = decode_apply(request, SCALE)
        check_configuration(patch, self._type)
        return patch

    def _applied(
        self, live: dict[str, Any], patch: dict[str, Any], request: ResourceRequest, options: WriteOptions
    ) -> dict[str, Any]:
        """Apply a patch to a live Scale. As upstream, apply cannot change the Scale of a custom resource."""
        if request.resource.is_custom and not live["metadata"].get("managedFields"):
            raise unknown_error(
                f"failed to create manager for existing fields: failed to convert live object (/; {API_VERSION}, "
                f"Kind=Scale) to proper version: request to convert CR to an invalid group/version: {API_VERSION}"
            )
        new = server_side_apply(
            live,
            patch,
            type=self._type,
            field_manager=request.manager,
            force=options.force,
            subresource=request.target.subresource,
        )
        if request.resource.is_custom and new.get("spec") != live["spec"]:
            place = f"{patch['metadata'].get('namespace', '')}/{patch['metadata'].get('name', '')}"
            raise unknown_error(
                f"failed to convert new object ({place}; {API_VERSION}, Kind=Scale) to proper version: "
                f"request to convert CR to an invalid group/version: {API_VERSION}"
            )
        try:
            return self._decoded(new, request, options)
        except UndecodableBody as unfit:
            raise configuration_undecodable(patch, self._type, unfit) from None

    async def _write(
        self, request: ResourceRequest, options: WriteOptions, make: Callable[[dict[str, Any]], dict[str, Any]]
    ) -> Response:
        """Write a changed Scale into the object.

        Args:
            make: Makes the new Scale from the live one; called again when the object changed meanwhile.
        """
        resource, admission = request.resource, self._backend.admission
        while True:
            stored = self._backend.live(request)
            old = _live_scale(stored, resource)
            sent = self._decoded(make(_live_scale(stored, resource)), request, options)
            if request.method == "PUT":
                check_storage_preconditions(stored, resource, uid=sent["metadata"].get("uid"))
            attributes = Attributes(
                operation=UPDATE,
                request=request,
                object=self._tracked(sent, old, request),
                old=old,
                name=stored.name,
                options=options,
                own_kind=SCALE,
            )
            await admission.mutate(attributes)
            change = self._scaled(request, stored, attributes.object or old, options)
            admitted = attributes.object or old
            attributes.object = _scale_of(change.new, resource)
            await admission.validate(attributes)
            if self._backend.find(request) is stored:
                break
        again = partial(self._scaled, request, scale=admitted, options=options)
        await self._updates.guaranteed_update(request, stored, change, again, admitted=True)
        written = change.new if options.dry_run else self._backend.live(request).read(resource)
        return _answered(_scale_of(written, resource), request)

    def _decoded(self, scale: dict[str, Any], request: ResourceRequest, options: WriteOptions) -> dict[str, Any]:
        """Decode a Scale and check that it names this object."""
        unknown: list[str] = []
        body = request.body if request.method == "PUT" else b""
        decoded = decode_subresource_object(scale, SCALE, self._backend.registry.components, unknown, body=body)
        check_name_and_namespace(decoded["metadata"], request)
        report_unknown(SCALE.kind, SCALE.version, unknown, (), options.field_validation, request.warnings)
        return decoded

    def _tracked(self, new: dict[str, Any], old: dict[str, Any], request: ResourceRequest) -> dict[str, Any]:
        """Update the managed fields of a Scale; an apply has done so."""
        if patch_type(request.headers) != APPLY:
            update_managed_fields(
                new,
                old,
                manager=request.manager,
                operation="Update",
                api_version=API_VERSION,
                subresource=request.target.subresource,
                type=self._type,
            )
        return new

    @staticmethod
    def _scaled(
        request: ResourceRequest, stored: StoredObject, scale: dict[str, Any], options: WriteOptions
    ) -> UpdatedObject:
        """Return the update of the object that a Scale requests."""
        resource, metadata = request.resource, scale["metadata"]
        replicas = (scale.get("spec") or {}).get("replicas", 0)
        if not resource.is_custom:  # the schema of a custom resource checks its replicas
            _check_built_in(request, stored, replicas, metadata)
        version = parse_object_version(metadata.get("resourceVersion") or "")
        if version and version != stored.version:
            raise conflict(request.target.resource, stored.name, request.target.group)
        new, old = stored.read(resource), stored.read(resource)
        path = _path(resource, "specReplicasPath")
        _set(new, path, replicas)
        write_parent_managed_fields(new["metadata"], metadata, _parts(path), resource.api_version)
        return UpdatedObject(new=new, old=old, options=options, is_tracked=True)


def _check_built_in(request: ResourceRequest, stored: StoredObject, replicas: int, metadata: dict[str, Any]) -> None:
    """Check metadata, replicas and uid; a custom resource has a schema for its replicas, and any uid is accepted."""
    causes = validate_metadata(metadata, namespaced=True, name_rule=names.subdomain, standard_finalizers=True)
    if replicas < 0:
        causes.append(invalid_value("spec.replicas", replicas, "must be greater than or equal to 0"))
    if causes:
        raise invalid("Scale", stored.name, causes, "autoscaling")
    uid = metadata.get("uid")
    if uid and uid != stored.uid:
        why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {stored.uid}"
        raise conflict(f"{request.target.resource}/scale", stored.name, request.target.group, why)


def _answered(scale: dict[str, Any], request: ResourceRequest) -> Response:
    form = request.form
    if form.shape is Representation.WHOLE:
        return value_response(scale, form)
    if form.shape is Representation.METADATA:
        partial = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": scale["metadata"]}
        return value_response(partial, form)
    from pyctrl.apiserver._endpoints.tables import convert_scale_to_table  # only kubectl requests tables

    is_custom = request.resource.is_custom
    table = convert_scale_to_table(scale, version=form.version, include=form.include, is_custom=is_custom)
    return value_response(table, form)


def _live_scale(stored: StoredObject, resource: ResourceType) -> dict[str, Any]:
    """Return the Scale of a live object with managed fields, which responses omit."""
    obj = stored.read(resource)
    scale = _scale_of(obj, resource)
    if entries := to_scale_managed_fields(obj["metadata"], _parts(_path(resource, "specReplicasPath"))):
        scale["metadata"]["managedFields"] = entries
    return scale


def _scale_of(obj: dict[str, Any], resource: ResourceType) -> dict[str, Any]:
    """Return the Scale of an object."""
    metadata = obj["metadata"]
    replicas = _get(obj, _path(resource, "specReplicasPath"))
    status: dict[str, Any] = {"replicas": _get(obj, _path(resource, "statusReplicasPath")) or 0}
    selector = _selector(obj, resource)
    if selector:
        status["selector"] = selector
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {name: metadata[name] for name in _METADATA if name in metadata},
        "spec": {"replicas": replicas} if replicas else {},
        "status": status,
    }


def _selector(obj: dict[str, Any], resource: ResourceType) -> str:
    if isinstance(resource, CustomResourceType):
        path = (resource.scale or {}).get("labelSelectorPath")
        return str(_get(obj, path) or "") if path else ""
    selector = (obj.get("spec") or {}).get("selector") or {}
    if resource.plural == "replicationcontrollers":
        return str(LabelSelector.from_dict(selector))
    return str(LabelSelector.from_wire(selector))


def _path(resource: ResourceType, name: str) -> str:
    paths = resource.scale if isinstance(resource, CustomResourceType) else None
    return (paths or _PATHS)[name]


def _parts(path: str) -> list[str]:
    return path.strip(".").split(".")


def _get(obj: Any, path: str) -> Any:
    for part in _parts(path):
        obj = obj.get(part) if isinstance(obj, dict) else None
    return obj


def _set(obj: dict[str, Any], path: str, value: Any) -> None:
    *parents, last = _parts(path)
    for part in parents:
        obj = obj.setdefault(part, {})
    obj[last] = value
