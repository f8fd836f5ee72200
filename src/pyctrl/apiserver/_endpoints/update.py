"""update: PUT to an object, and the transaction that update, patch and subresources share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pyctrl.apiserver._admission import UPDATE, Attributes
from pyctrl.apiserver._endpoints.backend import RESTStorage, check_name_and_namespace
from pyctrl.apiserver._endpoints.create import CreateHandler
from pyctrl.apiserver._endpoints.graceful_deletion import is_finished
from pyctrl.apiserver._endpoints.object_converter import ConvertedObject
from pyctrl.apiserver._endpoints.request_object import read_request_object, track_managed_fields
from pyctrl.apiserver._endpoints.response_writers import object_response, unstored_response
from pyctrl.apiserver._errors import Response, conflict, invalid, invalid_value
from pyctrl.apiserver._meta.generation import same_content
from pyctrl.apiserver._meta.system_fields import keep_system_fields
from pyctrl.apiserver._request.options import WriteOptions, parse_object_version, write_options
from pyctrl.apiserver._request.request import ResourceRequest
from pyctrl.apiserver._resources.resource_type import ResourceType
from pyctrl.apiserver._storage.preconditions import check_absent_uid, check_storage_preconditions
from pyctrl.apiserver._storage.storage import StoredObject

__all__ = ["UpdateHandler", "UpdatedObject"]


@dataclass(slots=True, kw_only=True)
class UpdatedObject:
    """The new state of an object, decoded but not yet admitted and validated, and the state that it replaces."""

    new: dict[str, Any]
    old: dict[str, Any]
    options: WriteOptions
    is_tracked: bool = False  # whether server-side apply has already written the managed fields of `new`
    changes_more: bool = False  # fields that were dropped from `new` count as a change of the spec, too


class UpdateHandler:
    """Handler of update, and the transaction of every write to an object that exists.

    The transaction reads the live object, makes the new one, has it admitted and validated, and stores it. Only
    webhooks and long validations may wait. When the live object changed in the meantime, the transaction starts
    again.
    """

    def __init__(self, backend: RESTStorage, creates: CreateHandler) -> None:
        self._backend = backend
        self._creates = creates

    async def update(self, request: ResourceRequest) -> Response:
        """PUT to an object, or to its status."""
        options = write_options(request.query, "UpdateOptions")
        obj = read_request_object(request, options, self._backend.registry)
        check_name_and_namespace(obj["metadata"], request)
        is_create = request.resource.allows_create_on_update and not request.target.subresource
        if is_create and self._backend.find(request) is None:
            target = request.target
            check_absent_uid(request.resource, target.namespace or "", target.name, obj["metadata"].get("uid"))
            obj["metadata"].pop("resourceVersion", None)
            return await self._creates.create_object(request, obj, options)

        def changed(stored: StoredObject, new: dict[str, Any] | None = None) -> UpdatedObject:
            new = read_request_object(request, options, self._backend.registry) if new is None else new
            check_name_and_namespace(new["metadata"], request)
            check_storage_preconditions(stored, request.resource, uid=new["metadata"].get("uid"))
            return UpdatedObject(new=new, old=stored.read(request.resource), options=options)

        stored = self._backend.live(request)
        return await self.guaranteed_update(request, stored, changed(stored, obj), changed)

    async def guaranteed_update(
        self,
        request: ResourceRequest,
        stored: StoredObject,
        change: UpdatedObject,
        again: Callable[[StoredObject], UpdatedObject],
        *,
        admitted: bool = False,
    ) -> Response:
        """Have a new state admitted and validated, and store it.

        Args:
            again: Makes the change for the live object, when that is no longer `stored` after admission.
            admitted: Skip admission: the subresource that this update results from was admitted.
        """
        while True:
            await self._prepare(request, stored, change, admitted=admitted)
            converted = None
            if request.resource.converts:
                converted = await self._backend.conversions.stored_form(change.new, request)
            if self._backend.find(request) is stored:
                return self.commit(request, stored, change, converted)
            stored = self._backend.live(request)
            change = again(stored)

    async def _prepare(
        self, request: ResourceRequest, stored: StoredObject, change: UpdatedObject, *, admitted: bool
    ) -> None:
        """Run mutating admission, `prepare_update` and validating admission on a change."""
        resource, new, old = request.resource, change.new, change.old
        if not change.is_tracked:
            track_managed_fields(request, new, old)
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
        is_decoded = not admitted and not attributes.is_mutated_dynamically
        validation = resource.prepare_update(
            new,
            old,
            subresource=request.target.subresource or None,
            warnings=request.warnings,
            decoded_fields=request.decoded_fields if is_decoded else None,
            is_dry_run=options.dry_run,
        )
        if validation is not None:
            await request.off_the_loop(validation)
        if change.changes_more:
            new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1
        if not admitted:
            await admission.validate(attributes)

    @staticmethod
    def _check_version(request: ResourceRequest, text: str, stored: StoredObject) -> None:
        """Refuse a write for another version; most built-in kinds accept a write that names none."""
        target, version = request.target, parse_object_version(text)
        if version:
            if version != stored.version:
                raise conflict(target.resource, stored.name, target.group)
        elif not request.resource.allows_unconditional_update:
            cause = invalid_value("metadata.resourceVersion", 0, "must be specified for an update")
            raise invalid(target.resource, stored.name, [cause], target.group)

    def commit(
        self,
        request: ResourceRequest,
        stored: StoredObject,
        change: UpdatedObject,
        converted: ConvertedObject | None = None,
    ) -> Response:
        """Store a validated change, unless it changes nothing; remove an object that lost its last finalizer."""
        resource, new = request.resource, change.new
        if is_finished(new, resource):
            if not change.options.dry_run:
                self._backend.collection(resource).remove(stored)
            return unstored_response(new, resource, request.form)
        if same_content(new, change.old) and _is_stored_so(new, stored, resource):
            return object_response(stored, resource, request.form)
        if change.options.dry_run:
            return unstored_response(new, resource, request.form)
        return object_response(self._backend.put(new, resource, converted), resource, request.form)

    def commit_subresource(self, request: ResourceRequest, stored: StoredObject, change: UpdatedObject) -> Response:
        """Track and store what a subresource changed in an object."""
        track_managed_fields(request, change.new, change.old)
        return self.commit(request, stored, change)


def _is_stored_so(new: dict[str, Any], stored: StoredObject, resource: ResourceType) -> bool:
    """Return whether a custom object is stored as it is read; else a write that changes nothing stores it as read.

    They differ in defaults that are newer than the object, in fields that its schema no longer has, and in the version.
    """
    if not resource.is_custom or resource.converts or stored.is_stored_as_read(resource):
        return True
    return same_content(resource.stored(new), stored.decode())
