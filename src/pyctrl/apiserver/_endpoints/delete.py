"""delete and deletecollection: carry out what the rules of `_deletion` decide."""

from __future__ import annotations

from typing import Any

from pyctrl.apiserver._admission import DELETE, Attributes
from pyctrl.apiserver._endpoints.backend import RESTStorage
from pyctrl.apiserver._endpoints.deletion import (
    DeletionOutcome,
    before_delete,
    check_preconditions,
    effective_options,
)
from pyctrl.apiserver._endpoints.read import Reads
from pyctrl.apiserver._endpoints.typed_bodies import read_delete_options
from pyctrl.apiserver._errors import Response, method_not_allowed, success_status
from pyctrl.apiserver._meta.generation import same_content
from pyctrl.apiserver._request.negotiation import object_response, value_response, with_type_meta
from pyctrl.apiserver._request.options import DeleteOptions, delete_options, list_options
from pyctrl.apiserver._request.request import ResourceRequest
from pyctrl.apiserver._storage.storage import StoredObject


class Deletes:
    """The verbs that take objects out."""

    def __init__(self, backend: RESTStorage, reads: Reads) -> None:
        self._backend = backend
        self._reads = reads

    async def delete(self, request: ResourceRequest) -> Response:
        """DELETE an object: a Status when it is gone, the object when something still holds it."""
        return await self.delete_object(request, self._options(request))

    async def delete_object(
        self, request: ResourceRequest, options: DeleteOptions, *, admitted: bool = False
    ) -> Response:
        """Delete the object that a request names; an eviction was admitted as such, its delete is not asked about."""
        while True:
            stored = self._backend.live(request)
            check_preconditions(stored, request.resource, options)
            if not admitted:
                await self._admit(request, stored, request.target.name, options)
            if self._backend.find(request) is stored:
                break
        obj, fate = self._delete_one(stored, request, options)
        if fate is DeletionOutcome.MARKED_AND_GONE and not options.dry_run:
            await self._remove_marked(request, obj, None if admitted else request.target.name, options)
        return self._answer(request, stored, options, obj, fate)

    def _answer(
        self,
        request: ResourceRequest,
        stored: StoredObject,
        options: DeleteOptions,
        obj: dict[str, Any],
        fate: DeletionOutcome,
    ) -> Response:
        held = fate in (DeletionOutcome.MARKED, DeletionOutcome.UNCHANGED)
        if held or request.resource.returns_deleted_object:
            if held and not options.dry_run:
                return object_response(self._backend.live(request), request.resource, request.form, _held_code(options))
            return value_response(with_type_meta(obj, request.resource), request.form)
        target = request.target
        return value_response(success_status(target.resource, target.name, target.group, stored.uid), request.form)

    async def delete_collection(self, request: ResourceRequest) -> Response:
        """DELETE a collection: everything that the selectors select, answered as it was."""
        target = request.target
        if request.resource.namespaced and not target.namespace:
            raise method_not_allowed()
        options = self._options(request)
        selected = self._reads.select(request, list_options(request.query, watch=False))
        answer = self._reads.answer_list(request, selected)
        for stored in selected.items:
            await self._delete_selected(request, stored, options)
        return answer

    async def _delete_selected(self, request: ResourceRequest, stored: StoredObject, options: DeleteOptions) -> None:
        """Delete one object of a collection, whatever it has become meanwhile."""
        live: StoredObject | None = stored
        while live is not None:
            check_preconditions(live, request.resource, options)
            await self._admit(request, live, "", options)
            now = self._backend.collection(request.resource).find(stored.namespace, stored.name)
            if now is live:
                obj, fate = self._delete_one(live, request, options)
                if fate is DeletionOutcome.MARKED_AND_GONE and not options.dry_run:
                    await self._remove_marked(request, obj, "", options)
                return
            live = now

    async def _admit(self, request: ResourceRequest, stored: StoredObject, name: str, options: DeleteOptions) -> None:
        """Ask whether an object may be deleted; a mutating webhook may refuse that, too, though nothing can change."""
        admission, old = self._backend.admission, None
        if admission.has_dynamic_plugins:
            old = stored.read(request.resource)
            options = effective_options(old, request.resource, options)
        attributes = Attributes(operation=DELETE, request=request, object=None, old=old, name=name, options=options)
        await admission.mutate(attributes)
        await admission.validate(attributes)

    async def _remove_marked(
        self, request: ResourceRequest, obj: dict[str, Any], name: str | None, options: DeleteOptions
    ) -> None:
        """Remove what was marked a moment ago; that is a second deletion, which is asked about again.

        Args:
            name: of the request; None when nobody is asked.
        """
        collection, metadata = self._backend.collection(request.resource), obj["metadata"]
        marked = collection.find(metadata.get("namespace", ""), metadata["name"])
        while marked is not None:
            if name is not None:
                await self._admit(request, marked, name, options)
            now = collection.find(marked.namespace, marked.name)
            if now is marked:
                metadata["resourceVersion"] = str(collection.remove(marked).version)
                return
            marked = now

    def _options(self, request: ResourceRequest) -> DeleteOptions:
        if not request.body:
            return delete_options(request.query, None)
        return delete_options(request.query, read_delete_options(request, self._backend.registry.components))

    def _delete_one(
        self, stored: StoredObject, request: ResourceRequest, options: DeleteOptions
    ) -> tuple[dict[str, Any], DeletionOutcome]:
        """Delete one live object, or mark it, and give its last state."""
        collection, resource = self._backend.collection(request.resource), request.resource
        obj, old = stored.read(resource), stored.read(resource)
        fate = before_delete(obj, resource, options)
        if options.dry_run or fate is DeletionOutcome.UNCHANGED:
            return obj, fate
        if fate is DeletionOutcome.GONE:
            obj["metadata"]["resourceVersion"] = str(collection.remove(stored).version)
            return obj, fate
        if not same_content(obj, old):
            self._backend.put_metadata_change(obj, resource, stored)
        return obj, fate


def _held_code(options: DeleteOptions) -> int:
    return 202 if options.orphan_dependents is False else 200
