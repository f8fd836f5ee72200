"""create, replace and patch: what a client sends becomes the stored object, or is refused.

Each verb is one transaction: read the live object, make the new one, have it admitted and checked, store it. Only
admission may wait, for webhooks; when the live object changed meanwhile, the transaction begins anew.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyctrl.apiserver._admission import CREATE, UPDATE, Attributes
from pyctrl.apiserver._apiextensions.conversion_webhook import ConvertedObject
from pyctrl.apiserver._endpoints.backend import (
    RESTStorage,
    check_kind,
    check_name_and_namespace,
    check_namespace_matches,
    check_patched_type_meta,
    check_type_meta,
    metadata_of,
)
from pyctrl.apiserver._endpoints.deletion import is_finished, is_namespace
from pyctrl.apiserver._errors import (
    Response,
    UndecodableBody,
    already_exists,
    bad_request,
    conflict,
    generate_name_conflict,
    invalid,
    invalid_value,
    method_not_allowed,
    not_found,
    unknown_error,
)
from pyctrl.apiserver._fieldmanager.apply import server_side_apply
from pyctrl.apiserver._fieldmanager.last_applied import update_last_applied
from pyctrl.apiserver._fieldmanager.managed_fields import update_managed_fields
from pyctrl.apiserver._fieldmanager.typed import check_configuration
from pyctrl.apiserver._meta.generation import same_content
from pyctrl.apiserver._meta.system_fields import (
    fill_system_fields,
    generated_name,
    keep_system_fields,
    wipe_system_fields,
)
from pyctrl.apiserver._patch.patcher import (
    APPLY,
    apply_patch_to_object,
    check_patch_type,
    decode_apply,
    patch_outcome_undecodable,
)
from pyctrl.apiserver._request.negotiation import object_response, value_response, with_type_meta
from pyctrl.apiserver._request.options import WriteOptions, parse_object_version, write_options
from pyctrl.apiserver._request.request import ResourceRequest
from pyctrl.apiserver._serializer.decoding import decode_strictly, media_type
from pyctrl.apiserver._storage.preconditions import check_storage_preconditions
from pyctrl.apiserver._storage.storage import StoredObject, api_version

if TYPE_CHECKING:
    from pyctrl.apiserver._registry.resources import ResourceRegistry

_REPEATED_OWNERS = (
    ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject "
    "such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: "
)

GENERATE_ATTEMPTS = 8  # kube-apiserver's own


@dataclass(slots=True, kw_only=True)
class UpdatedObject:
    """A new state for a live object, decoded and not yet checked."""

    new: dict[str, Any]
    old: dict[str, Any]
    options: WriteOptions
    is_tracked: bool = False  # whether the managed fields of the new state are those it is to have


class Writes:
    """The verbs that bring objects in."""

    def __init__(self, backend: RESTStorage) -> None:
        self._backend = backend

    # -- create ------------------------------------------------------------------------------------------------

    async def create(self, request: ResourceRequest) -> Response:
        """POST to a collection."""
        if request.resource.namespaced and not request.target.namespace:
            raise method_not_allowed()
        options = write_options(request.query, "CreateOptions")
        obj = self._decoded(request, options)
        check_namespace_matches(obj["metadata"], request)
        return await self.create_object(request, obj, options)

    async def create_object(
        self, request: ResourceRequest, obj: dict[str, Any], options: WriteOptions, *, applied: bool = False
    ) -> Response:
        """Create an object that was decoded, for POST and for an apply to a name that is free."""
        metadata, admission = obj["metadata"], self._backend.admission
        wipe_system_fields(metadata)
        if not applied:
            self._track(request, obj, None)
        name = metadata.get("name", "")
        attributes = Attributes(operation=CREATE, request=request, object=obj, name=name, options=options)
        await admission.mutate(attributes)
        obj = attributes.object or obj
        check_namespace_matches(obj["metadata"], request)
        self._backend.check_grant(request, obj)
        self._name(request, obj["metadata"])
        attributes.name = obj["metadata"].get("name", "")
        fill_system_fields(obj["metadata"], self._backend.random)
        settled = None if attributes.is_mutated_dynamically else request.settled
        request.resource.prepare_create(obj, warnings=request.warnings, settled=settled, user=request.user)
        self._backend.check_create(request)
        await admission.validate(attributes)
        form = await self._backend.conversions.stored_form(obj, request) if request.resource.converts else None
        return self._store_new(request, obj, options, form)

    def _store_new(
        self, request: ResourceRequest, obj: dict[str, Any], options: WriteOptions, form: ConvertedObject | None
    ) -> Response:
        """Store a new object, unless its name was taken, maybe while it was admitted."""
        resource, metadata = request.resource, obj["metadata"]
        if not options.dry_run:
            _check_unversioned(metadata)
        self._check_free(request, metadata)
        if options.dry_run:
            return value_response(with_type_meta(obj, resource), request.form, 201)
        return object_response(self._backend.put(obj, resource, form), resource, request.form, 201)

    def _decoded(self, request: ResourceRequest, options: WriteOptions) -> dict[str, Any]:
        """Read the object that a client sent, defaulted."""
        resource = request.resource
        obj, duplicates = decode_strictly(request.body, request.headers, resource.kind)
        check_type_meta(obj, resource, request.body)
        check_kind(obj, resource, self._backend.registry)
        _decode(obj, request, options, duplicates)
        return obj

    def _name(self, request: ResourceRequest, metadata: dict[str, Any]) -> None:
        """Generate a name, where one is wanted, that is free if luck allows."""
        prefix: str = metadata.get("generateName", "")
        if metadata.get("name") or not prefix:
            return
        collection = self._backend.collection(request.resource)
        for _ in range(GENERATE_ATTEMPTS):
            metadata["name"] = generated_name(prefix, self._backend.random)
            if collection.find(request.target.namespace, metadata["name"]) is None:
                return

    def _check_free(self, request: ResourceRequest, metadata: dict[str, Any]) -> None:
        target, name = request.target, metadata["name"]
        if self._backend.collection(request.resource).find(target.namespace, name) is not None:
            generated = metadata.get("generateName") and not request.target.name
            refuse = generate_name_conflict if generated else already_exists
            raise refuse(target.resource, name, target.group)

    # -- replace -----------------------------------------------------------------------------------------------

    async def replace(self, request: ResourceRequest) -> Response:
        """PUT to an object, or to its status."""
        options = write_options(request.query, "UpdateOptions")
        obj = self._decoded(request, options)
        check_name_and_namespace(obj["metadata"], request)
        if _is_made_by_put(request) and self._backend.find(request) is None:
            obj["metadata"].pop("resourceVersion", None)
            return await self.create_object(request, obj, options)

        def changed(stored: StoredObject, new: dict[str, Any] | None = None) -> UpdatedObject:
            new = self._decoded(request, options) if new is None else new
            check_name_and_namespace(new["metadata"], request)
            check_storage_preconditions(stored, request.resource, uid=new["metadata"].get("uid"))
            return UpdatedObject(new=new, old=stored.read(request.resource), options=options)

        stored = self._backend.live(request)
        return await self.update(request, stored, changed(stored, obj), changed)

    # -- patch -------------------------------------------------------------------------------------------------

    async def patch(self, request: ResourceRequest) -> Response:
        """PATCH an object, or its status, in any of the four kinds of patch."""
        media = media_type(request.headers, default="")
        options = write_options(request.query, "PatchOptions", is_apply=media == APPLY)
        if media == APPLY:
            return await self._apply(request, options)
        check_patch_type(request, media)

        def changed(stored: StoredObject) -> UpdatedObject:
            new, duplicates = apply_patch_to_object(stored.read(request.resource), request, media)
            try:
                check_patched_type_meta(new, request.resource)
                check_kind(new, request.resource, self._backend.registry)
                _decode(new, request, options, duplicates)
            except UndecodableBody as unfit:
                raise patch_outcome_undecodable(stored.read(request.resource), request, media, unfit) from None
            check_name_and_namespace(new["metadata"], request)
            return UpdatedObject(new=new, old=stored.read(request.resource), options=options)

        stored = self._backend.live(request)
        return await self.update(request, stored, changed(stored), changed)

    async def _apply(self, request: ResourceRequest, options: WriteOptions) -> Response:
        """Server-side apply: creates what is not there."""
        target, resource = request.target, request.resource
        patch, sent = _checked_patch(request, self._backend.registry)

        def merged(live: dict[str, Any] | None) -> dict[str, Any]:
            check_configuration(sent, resource)
            who, door = request.manager, target.subresource or None
            new = server_side_apply(
                live, patch, type=resource, field_manager=who, force=options.force, subresource=door
            )
            if live is not None:
                update_last_applied(new, live, sent, who)
            _decode(new, request, options, [], is_applied=True)
            return new

        def changed(stored: StoredObject) -> UpdatedObject:
            # What is merged shares parts with what it was merged from, and gets defaults there: `old` must not.
            new, old = merged(stored.read(resource)), stored.read(resource)
            return UpdatedObject(new=new, old=old, options=options, is_tracked=True)

        stored = self._backend.find(request)
        if stored is not None:
            return await self.update(request, stored, changed(stored), changed)
        if target.subresource:
            raise not_found(target.resource, target.name, target.group)
        made = merged(None)
        if uid := patch["metadata"].get("uid"):
            raise _apply_to_missing(request, uid)
        if not options.dry_run:
            made["metadata"].pop("resourceVersion", None)  # there is nothing that it could be the version of
        return await self.create_object(request, made, options, applied=True)

    # -- the common end of replace and patch -------------------------------------------------------------------

    async def update(
        self,
        request: ResourceRequest,
        stored: StoredObject,
        change: UpdatedObject,
        again: Callable[[StoredObject], UpdatedObject],
        *,
        admitted: bool = False,
    ) -> Response:
        """Have a new state admitted, check it against the live one, and store it.

        Args:
            again: makes the change for what is live then, when `stored` no longer is after admission.
            admitted: somebody was asked already, about the sub-resource that this comes from.
        """
        while True:
            await self._prepare(request, stored, change, admitted=admitted)
            form = None
            if request.resource.converts:
                form = await self._backend.conversions.stored_form(change.new, request)
            if self._backend.find(request) is stored:
                return self.commit(request, stored, change, form)
            stored = self._backend.live(request)
            change = again(stored)

    async def _prepare(
        self, request: ResourceRequest, stored: StoredObject, change: UpdatedObject, *, admitted: bool
    ) -> None:
        """Have a change mutated, brought into form and checked, and validated."""
        resource, new, old = request.resource, change.new, change.old
        if is_namespace(resource):
            new["spec"] = old.get("spec") or {}  # its finalizers have a door of their own, and there is nothing else
        if not change.is_tracked:
            self._track(request, new, old)
        admission, options = self._backend.admission, change.options
        attributes = Attributes(
            operation=UPDATE, request=request, object=new, old=old, name=stored.name, options=options
        )
        if not admitted:
            await admission.mutate(attributes)
            change.new = new = attributes.object or new
        keep_system_fields(new["metadata"], old["metadata"])
        self._backend.check_grant(request, new, old)
        self._check_version(request, new["metadata"].get("resourceVersion", ""), stored)
        new["metadata"]["resourceVersion"] = str(stored.version)
        resource.prepare_update(new, old, subresource=request.target.subresource or None, warnings=request.warnings)
        if not admitted:
            await admission.validate(attributes)

    @staticmethod
    def _check_version(request: ResourceRequest, text: str, stored: StoredObject) -> None:
        """Refuse a write for another version; most built-in kinds may be overwritten without naming one."""
        target, version = request.target, parse_object_version(text)
        if version:
            if version != stored.version:
                raise conflict(target.resource, stored.name, target.group)
        elif not request.resource.allows_unconditional_update:
            cause = invalid_value("metadata.resourceVersion", 0, "must be specified for an update")
            raise invalid(target.resource, stored.name, [cause], target.group)

    def commit(
        self, request: ResourceRequest, stored: StoredObject, change: UpdatedObject, form: ConvertedObject | None = None
    ) -> Response:
        """Store a new state that was checked, unless nothing changed; an object whose last finalizer went is gone."""
        resource, new = request.resource, change.new
        if is_finished(new, resource):
            if not change.options.dry_run:
                self._backend.collection(resource).remove(stored)
            return value_response(with_type_meta(new, resource), request.form)
        if same_content(new, change.old):
            return object_response(stored, resource, request.form)
        if change.options.dry_run:
            return value_response(with_type_meta(new, resource), request.form)
        return object_response(self._backend.put(new, resource, form), resource, request.form)

    def commit_subresource(self, request: ResourceRequest, stored: StoredObject, change: UpdatedObject) -> Response:
        """Store what a sub-resource made of an object by itself."""
        self._track(request, change.new, change.old)
        return self.commit(request, stored, change)

    def _track(self, request: ResourceRequest, new: dict[str, Any], old: dict[str, Any] | None) -> None:
        update_managed_fields(
            new,
            old,
            manager=request.manager,
            operation="Update",
            api_version=api_version(request.resource),
            subresource=request.target.subresource or None,
            type=request.resource,
            settled=request.settled,
        )


def _decode(
    obj: dict[str, Any],
    request: ResourceRequest,
    options: WriteOptions,
    duplicates: list[str],
    *,
    is_applied: bool = False,
) -> None:
    validation, warnings = options.field_validation, request.warnings
    resource = request.resource
    settled = resource.decode(
        obj, field_validation=validation, warnings=warnings, duplicates=duplicates, is_applied=is_applied
    )
    request.settled = settled
    if len(obj["metadata"].get("ownerReferences") or ()) > 1:
        _drop_repeated_owners(obj["metadata"], warnings)


def _drop_repeated_owners(metadata: dict[str, Any], warnings: list[str]) -> None:
    owners, repeated = list[Any](), list[str]()
    for owner in metadata["ownerReferences"]:
        if owner in owners:
            repeated.append(owner.get("uid", ""))
        else:
            owners.append(owner)
    metadata["ownerReferences"] = owners
    if repeated:
        warnings.append(f"{_REPEATED_OWNERS}{', '.join(repeated)}")


def _checked_patch(request: ResourceRequest, registry: ResourceRegistry) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read the body of an apply, whose kind, name and namespace are the URL's; give it complete, and as it was sent."""
    patch = decode_apply(request)
    check_kind(patch, request.resource, registry)
    metadata = metadata_of(patch, request.resource)
    if metadata.get("managedFields"):
        raise bad_request("metadata.managedFields must be nil")
    sent = {**patch, "metadata": dict(metadata)}
    metadata.setdefault("name", request.target.name)
    check_name_and_namespace(metadata, request)
    return patch, sent


def _check_unversioned(metadata: dict[str, Any]) -> None:
    """Refuse to create what says that it has a version; 0 and what is no number say nothing."""
    version = metadata.pop("resourceVersion", "")
    if version.isdecimal() and version.strip("0"):
        raise unknown_error("resourceVersion should not be set on objects to be created")


def _is_made_by_put(request: ResourceRequest) -> bool:
    return request.resource.allows_create_on_update and not request.target.subresource


def _apply_to_missing(request: ResourceRequest, uid: str) -> Exception:
    why = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
    return conflict(request.target.resource, request.target.name, request.target.group, why)
