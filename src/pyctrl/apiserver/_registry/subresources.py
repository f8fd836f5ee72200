"""Sub-resources that are verbs: finalize a namespace, bind a pod, evict one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pyctrl.apiserver._admission import CREATE, UPDATE, Attributes, Kind
from pyctrl.apiserver._endpoints.backend import (
    RESTStorage,
    check_name_and_namespace,
    check_namespace_matches,
    metadata_of,
)
from pyctrl.apiserver._endpoints.delete import DeleteHandler
from pyctrl.apiserver._endpoints.graceful_deletion import check_preconditions
from pyctrl.apiserver._endpoints.response_writers import value_response
from pyctrl.apiserver._endpoints.typed_bodies import (
    BINDING,
    EVICTION,
    decode_subresource_body,
    decode_subresource_object,
)
from pyctrl.apiserver._endpoints.update import UpdatedObject, UpdateHandler
from pyctrl.apiserver._errors import Response, bad_request, conflict, method_not_allowed
from pyctrl.apiserver._meta.system_fields import keep_system_fields
from pyctrl.apiserver._registry.pod_binding import assign_pod, check_bindable, check_binding
from pyctrl.apiserver._registry.pod_eviction import add_disruption_target, check_and_decrement
from pyctrl.apiserver._request.options import WriteOptions, delete_options, write_options
from pyctrl.apiserver._request.request import ResourceRequest
from pyctrl.apiserver._serializer.decoding import decode_object
from pyctrl.apiserver._storage.preconditions import check_storage_preconditions


class Subresources:
    """What is posted to an object to have something done with it."""

    def __init__(self, backend: RESTStorage, updates: UpdateHandler, deletes: DeleteHandler) -> None:
        self._backend = backend
        self._updates = updates
        self._deletes = deletes

    async def finalize(self, request: ResourceRequest) -> Response:
        """PUT to a namespace's finalize: the one way to empty spec.finalizers."""
        if request.target.resource != "namespaces":
            raise method_not_allowed()
        options = write_options(request.query, "UpdateOptions")
        body = decode_object(request.body, request.headers, request.resource.kind)
        metadata = metadata_of(body, request.resource)
        check_name_and_namespace(metadata, request)
        stored = self._backend.live(request)
        if metadata.get("resourceVersion") not in (None, "", str(stored.version)):
            raise conflict("namespaces", stored.name)
        new, old = stored.read(request.resource), stored.read(request.resource)
        finalizers = (body.get("spec") or {}).get("finalizers")
        new["spec"] = {"finalizers": finalizers} if finalizers else {}
        keep_system_fields(new["metadata"], old["metadata"])
        attributes = Attributes(
            operation=UPDATE, request=request, object=new, old=old, name=stored.name, options=options
        )
        await self._admit(attributes)
        if self._backend.find(request) is not stored:
            raise conflict("namespaces", stored.name)
        change = UpdatedObject(new=attributes.object or new, old=old, options=options)
        return self._updates.commit_subresource(request, stored, change)

    async def _admit(self, attributes: Attributes) -> None:
        await self._backend.admission.mutate(attributes)
        await self._backend.admission.validate(attributes)

    async def _admitted(
        self,
        request: ResourceRequest,
        kind: Kind,
        obj: dict[str, Any],
        options: WriteOptions,
        check: Callable[[dict[str, Any]], None] = lambda _: None,
    ) -> dict[str, Any]:
        """Have the posting of an object of the sub-resource's own kind admitted, and give what became of it.

        Args:
            check: looks at the object after it was mutated, before it is validated.
        """
        obj = decode_subresource_object(obj, kind, self._backend.registry.components)
        metadata = metadata_of(obj, request.resource)
        check_namespace_matches(metadata, request)
        name = request.target.name or metadata.get("name", "")
        attributes = Attributes(
            operation=CREATE, request=request, object=obj, name=name, options=options, own_kind=kind
        )
        await self._backend.admission.mutate(attributes)
        check(attributes.object or obj)
        await self._backend.admission.validate(attributes)
        return attributes.object or obj

    async def bind(self, request: ResourceRequest) -> Response:
        """POST a Binding to a pod: it is scheduled."""
        return await self._bind(request, request)

    async def bind_named(self, request: ResourceRequest) -> Response:
        """POST a Binding to the collection of bindings: the pod of its name is scheduled, whatever its uid."""
        pods = self._backend.registry.find("", "v1", "pods")
        assert pods is not None  # a built-in kind
        return await self._bind(request, replace(request, resource=pods))

    async def _bind(self, request: ResourceRequest, pods: ResourceRequest) -> Response:
        """Bind a pod.

        Args:
            pods: the same request, for the resource of pods.
        """
        options = write_options(request.query, "CreateOptions")
        binding = decode_subresource_body(request, BINDING, self._backend.registry)

        def check(binding: dict[str, Any]) -> None:
            check_binding(binding, request.target.name or binding["metadata"].get("name", ""))

        binding = await self._admitted(request, BINDING, binding, options, check)
        metadata = binding["metadata"]
        uid = metadata.get("uid") if request.target.name else None
        target = request.target._replace(resource="pods", name=metadata["name"])
        pods = replace(pods, target=target)
        stored = self._backend.live(pods)
        check_storage_preconditions(stored, pods.resource, uid=uid, version=metadata.get("resourceVersion"))
        new, old = stored.read(pods.resource), stored.read(pods.resource)
        check_bindable(new)
        assign_pod(new, binding)
        self._updates.commit(pods, stored, UpdatedObject(new=new, old=old, options=options))
        status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}
        return value_response(status, request.form, 201)

    async def evict(self, request: ResourceRequest) -> Response:
        """POST an Eviction to a pod: it is deleted if its disruption budget can spare it.

        The deletion has the options that the eviction brings.
        """
        eviction = decode_subresource_body(request, EVICTION, self._backend.registry)
        if (eviction.get("metadata") or {}).get("name") not in (None, "", request.target.name):
            raise bad_request("name in URL does not match name in Eviction object")
        creation = write_options(request.query, "CreateOptions")
        eviction = await self._admitted(request, EVICTION, eviction, creation)
        options = delete_options(request.query, eviction.get("deleteOptions"))
        pod = self._backend.live(request).read(request.resource)
        check_preconditions(self._backend.live(request), request.resource, options)
        dry_run = creation.dry_run or options.dry_run
        check_and_decrement(self._backend, request, pod, dry_run=dry_run)
        if not dry_run:
            self._mark_evicted(request, creation)
        await self._deletes.delete_object(
            request, replace(options, dry_run=dry_run, resource_version=""), admitted=True
        )
        status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}
        return value_response(status, request.form, 201)

    def _mark_evicted(self, request: ResourceRequest, options: WriteOptions) -> None:
        stored = self._backend.live(request)
        new, old = stored.read(request.resource), stored.read(request.resource)
        if "deletionTimestamp" not in new["metadata"]:
            add_disruption_target(new)
            self._updates.commit_subresource(request, stored, UpdatedObject(new=new, old=old, options=options))
