"""delete and deletecollection: DELETE of an object or of a collection."""

from __future__ import annotations

from typing import Any

from pyctrl.apiserver._admission import DELETE, Attributes
from pyctrl.apiserver._endpoints.backend import RESTStorage
from pyctrl.apiserver._endpoints.graceful_deletion import (
    before_delete,
    check_preconditions,
    effective_options,
)
from pyctrl.apiserver._endpoints.list import ListHandler
from pyctrl.apiserver._endpoints.response_writers import object_response, unstored_response, value_response
from pyctrl.apiserver._endpoints.typed_bodies import read_delete_options
from pyctrl.apiserver._errors import Response, success_status
from pyctrl.apiserver._meta.generation import same_content
from pyctrl.apiserver._request.options import DeleteOptions, delete_options, list_options
from pyctrl.apiserver._request.request import ResourceRequest
from pyctrl.apiserver._resources.deletion_strategy import DeletionOutcome
from pyctrl.apiserver._storage.storage import StoredObject

__all__ = ["DeleteHandler"]


class DeleteHandler:
    """Handler of delete and deletecollection."""

    def __init__(self, backend: RESTStorage, lists: ListHandler) -> None:
        self._backend = backend
        self._lists = lists

    async def delete(self, request: ResourceRequest) -> Response:
        """DELETE an object: the response is a Status when it is gone, the object when finalizers or grace hold it."""
        options = self._options(request)
        _warn(request, options)
        return await self.delete_object(request, options)

    async def delete_object(
        self, request: ResourceRequest, options: DeleteOptions, *, admitted: bool = False
    ) -> Response:
        """Delete the object that a request names.

        Args:
            admitted: Skip admission: the eviction that this delete results from was admitted.
        """
        while True:
            stored = self._backend.live(request)
            check_preconditions(stored, request.resource, options)
            if not admitted:
                await self._admit(request, stored, request.target.name, options)
            if self._backend.find(request) is stored:
                break
        obj, outcome = self._delete_one(stored, request, options)
        if outcome is DeletionOutcome.MARKED_AND_GONE and not options.dry_run:
            await self._remove_marked(request, obj, None if admitted else request.target.name, options)
        return self._response(request, stored, options, obj, outcome)

    def _response(
        self,
        request: ResourceRequest,
        stored: StoredObject,
        options: DeleteOptions,
        obj: dict[str, Any],
        outcome: DeletionOutcome,
    ) -> Response:
        held = outcome in (DeletionOutcome.MARKED, DeletionOutcome.UNCHANGED)
        if held or request.resource.returns_deleted_object:
            if held and not options.dry_run:
                return object_response(self._backend.live(request), request.resource, request.form, _held_code(options))
            return unstored_response(obj, request.resource, request.form)
        target = request.target
        return value_response(success_status(target.resource, target.name, target.group, stored.uid), request.form)

    async def delete_collection(self, request: ResourceRequest) -> Response:
        """DELETE a collection: all selected objects. The response lists them as they were."""
        options = self._options(request)
        selected = self._lists.select(request, list_options(request.query, watch=False), is_paged=True)
        _warn(request, options)
        response = self._lists.response(request, selected)
        for stored in selected.items:
            await self._delete_selected(request, stored, options)
        return response

    async def _delete_selected(self, request: ResourceRequest, stored: StoredObject, options: DeleteOptions) -> None:
        """Delete one object of a collection, also if it changed after it was selected."""
        live: StoredObject | None = stored
        while live is not None:
            check_preconditions(live, request.resource, options, in_collection=True)
            await self._admit(request, live, "", options)
            current = self._backend.collection(request.resource).find(stored.namespace, stored.name)
            if current is live:
                obj, outcome = self._delete_one(live, request, options)
                if outcome is DeletionOutcome.MARKED_AND_GONE and not options.dry_run:
                    await self._remove_marked(request, obj, "", options)
                return
            live = current

    async def _admit(self, request: ResourceRequest, stored: StoredObject, name: str, options: DeleteOptions) -> None:
        """Run admission on a delete. Mutating webhooks may refuse it, though they have nothing to change."""
        admission, old = self._backend.admission, None
        if admission.has_dynamic_plugins:
            old = stored.read(request.resource)
            options = effective_options(old, request.resource, options)
        attributes = Attributes(
            operation=DELETE, request=request, object=None, old=old, name=name, stored=stored, options=options
        )
        await admission.mutate(attributes)
        await admission.validate(attributes)

    async def _remove_marked(
        self, request: ResourceRequest, obj: dict[str, Any], name: str | None, options: DeleteOptions
    ) -> None:
        """Remove an object that was just marked as deleted: a second deletion, which is admitted again.

        Args:
            name: The name in the request; None skips admission.
        """
        collection, metadata = self._backend.collection(request.resource), obj["metadata"]
        marked = collection.find(metadata.get("namespace", ""), metadata["name"])
        while marked is not None:
            if name is not None:
                await self._admit(request, marked, name, options)
            current = collection.find(marked.namespace, marked.name)
            if current is marked:
                metadata["resourceVersion"] = str(collection.remove(marked).version)
                return
            marked = current

    def _options(self, request: ResourceRequest) -> DeleteOptions:
        body = read_delete_options(request, self._backend.registry.components) if request.body else None
        return delete_options(request.query, body)

    def _delete_one(
        self, stored: StoredObject, request: ResourceRequest, options: DeleteOptions
    ) -> tuple[dict[str, Any], DeletionOutcome]:
        """Delete one live object or mark it as deleted; return its last state."""
        collection, resource = self._backend.collection(request.resource), request.resource
        obj, old = stored.read(resource), stored.read(resource)
        outcome = before_delete(obj, resource, options)
        if options.dry_run or outcome is DeletionOutcome.UNCHANGED:
            return obj, outcome
        if outcome is DeletionOutcome.GONE:
            obj["metadata"]["resourceVersion"] = str(collection.remove(stored).version)
            return obj, outcome
        if not same_content(obj, old):
            self._backend.put_metadata_change(obj, resource, stored)
        return obj, outcome


def _warn(request: ResourceRequest, options: DeleteOptions) -> None:
    if request.resource.delete_warning and not options.propagation:
        request.warnings.append(request.resource.delete_warning)


def _held_code(options: DeleteOptions) -> int:
    return 202 if options.orphan_dependents is False else 200
