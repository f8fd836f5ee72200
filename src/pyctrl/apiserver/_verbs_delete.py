"""delete and deletecollection: carry out what the rules of `_deletion` decide."""

from __future__ import annotations

from typing import Any

from pyctrl.apiserver._admission import DELETE, Attributes
from pyctrl.apiserver._answers import Answer, method_not_allowed, success
from pyctrl.apiserver._backend import Backend
from pyctrl.apiserver._deletion import Fate, begin_deletion, check_preconditions, effective_options, is_returned
from pyctrl.apiserver._forms import answer_object, answer_value, typed_first
from pyctrl.apiserver._options import DeleteOptions, delete_options, list_options
from pyctrl.apiserver._own_kinds import read_delete_options
from pyctrl.apiserver._request import Request
from pyctrl.apiserver._status import same_content
from pyctrl.apiserver._storage import Stored
from pyctrl.apiserver._verbs_read import Reads


class Deletes:
    """The verbs that take objects out."""

    def __init__(self, backend: Backend, reads: Reads) -> None:
        self._backend = backend
        self._reads = reads

    async def delete(self, request: Request) -> Answer:
        """DELETE an object: a Status when it is gone, the object when something still holds it."""
        return await self.delete_object(request, self._options(request))

    async def delete_object(self, request: Request, options: DeleteOptions, *, admitted: bool = False) -> Answer:
        """Delete the object that a request names; an eviction was admitted as such, its delete is not asked about."""
        while True:
            stored = self._backend.live(request)
            check_preconditions(stored, request.resource, options)
            if not admitted:
                await self._admit(request, stored, request.target.name, options)
            if self._backend.find(request) is stored:
                break
        obj, fate = self._delete_one(stored, request, options)
        if fate is Fate.MARKED_AND_GONE and not options.dry_run:
            await self._remove_marked(request, obj, None if admitted else request.target.name, options)
        return self._answer(request, stored, options, obj, fate)

    def _answer(
        self, request: Request, stored: Stored, options: DeleteOptions, obj: dict[str, Any], fate: Fate
    ) -> Answer:
        held = fate in (Fate.MARKED, Fate.UNCHANGED)
        if held or is_returned(request.resource):
            if held and not options.dry_run:
                return answer_object(self._backend.live(request), request.resource, request.form, _held_code(options))
            return answer_value(typed_first(obj, request.resource), request.form)
        target = request.target
        return answer_value(success(target.resource, target.name, target.group, stored.uid), request.form)

    async def delete_collection(self, request: Request) -> Answer:
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

    async def _delete_selected(self, request: Request, stored: Stored, options: DeleteOptions) -> None:
        """Delete one object of a collection, whatever it has become meanwhile."""
        live: Stored | None = stored
        while live is not None:
            check_preconditions(live, request.resource, options)
            await self._admit(request, live, "", options)
            now = self._backend.collection(request.resource).find(stored.namespace, stored.name)
            if now is live:
                obj, fate = self._delete_one(live, request, options)
                if fate is Fate.MARKED_AND_GONE and not options.dry_run:
                    await self._remove_marked(request, obj, "", options)
                return
            live = now

    async def _admit(self, request: Request, stored: Stored, name: str, options: DeleteOptions) -> None:
        """Ask whether an object may be deleted; a mutating webhook may refuse that, too, though nothing can change."""
        admission, old = self._backend.admission, None
        if admission.asks_outside:
            old = stored.read(request.resource)
            options = effective_options(old, request.resource, options)
        attributes = Attributes(operation=DELETE, request=request, object=None, old=old, name=name, options=options)
        await admission.mutate(attributes)
        await admission.validate(attributes)

    async def _remove_marked(
        self, request: Request, obj: dict[str, Any], name: str | None, options: DeleteOptions
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

    def _options(self, request: Request) -> DeleteOptions:
        if not request.body:
            return delete_options(request.query, None)
        return delete_options(request.query, read_delete_options(request, self._backend.registry.components))

    def _delete_one(self, stored: Stored, request: Request, options: DeleteOptions) -> tuple[dict[str, Any], Fate]:
        """Delete one live object, or mark it, and give its last state."""
        collection, resource = self._backend.collection(request.resource), request.resource
        obj, old = stored.read(resource), stored.read(resource)
        fate = begin_deletion(obj, resource, options)
        if options.dry_run or fate is Fate.UNCHANGED:
            return obj, fate
        if fate is Fate.GONE:
            obj["metadata"]["resourceVersion"] = str(collection.remove(stored).version)
            return obj, fate
        if not same_content(obj, old):
            self._backend.put_marked(obj, resource, stored)
        return obj, fate


def _held_code(options: DeleteOptions) -> int:
    return 202 if options.orphan_dependents is False else 200
