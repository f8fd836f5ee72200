"""create: POST to a collection."""

from __future__ import annotations

from typing import Any

from pyctrl.apiserver._admission import CREATE, Attributes
from pyctrl.apiserver._endpoints.backend import RESTStorage, check_namespace_matches
from pyctrl.apiserver._endpoints.object_converter import ConvertedObject
from pyctrl.apiserver._endpoints.request_object import read_request_object, track_managed_fields
from pyctrl.apiserver._endpoints.response_writers import object_response, unstored_response
from pyctrl.apiserver._endpoints.sibling_memo import SiblingMemo
from pyctrl.apiserver._errors import (
    Response,
    already_exists,
    forbidden,
    generate_name_conflict,
    unknown_error,
)
from pyctrl.apiserver._meta.system_fields import fill_system_fields, generated_name, wipe_system_fields
from pyctrl.apiserver._request.options import WriteOptions, write_options
from pyctrl.apiserver._request.request import ResourceRequest

__all__ = ["CreateHandler"]

_IS_TERMINATING = "create not allowed while custom resource definition is terminating"
GENERATE_ATTEMPTS = 8  # kube-apiserver's number


class CreateHandler:
    """Handler of create."""

    def __init__(self, backend: RESTStorage) -> None:
        self._backend = backend
        self._siblings = SiblingMemo()

    async def create(self, request: ResourceRequest) -> Response:
        """POST an object to a collection."""
        options = write_options(request.query, "CreateOptions")
        if (sibling := self._siblings.find(request, options)) is not None:
            return await self.create_object(request, sibling, options, is_tracked=True)
        obj = read_request_object(request, options, self._backend.registry)
        check_namespace_matches(obj["metadata"], request)
        return await self.create_object(request, obj, options)

    async def create_object(
        self, request: ResourceRequest, obj: dict[str, Any], options: WriteOptions, *, is_tracked: bool = False
    ) -> Response:
        """Create a decoded object: for POST, and for PUT or apply to a name that does not exist.

        Args:
            is_tracked: The managed fields are written already: by server-side apply, or with a sibling.
        """
        metadata, admission = obj["metadata"], self._backend.admission
        wipe_system_fields(metadata)
        if not is_tracked:
            track_managed_fields(request, obj, None)
            self._siblings.remember(request, options, obj)
        name = metadata.get("name", "")
        if request.resource.is_terminating:
            raise forbidden(request.target.resource, name, _IS_TERMINATING, request.target.group)
        attributes = Attributes(operation=CREATE, request=request, object=obj, name=name, options=options)
        await admission.mutate(attributes)
        obj = attributes.object or obj
        check_namespace_matches(obj["metadata"], request)
        self._backend.check_grant(request, obj)
        self._generate_name(request, obj["metadata"])
        attributes.name = obj["metadata"].get("name", "")
        fill_system_fields(obj["metadata"], self._backend.random)
        decoded_fields = None if attributes.is_mutated_dynamically else request.decoded_fields
        validation = request.resource.prepare_create(
            obj,
            warnings=request.warnings,
            decoded_fields=decoded_fields,
            user=request.user,
            is_dry_run=options.dry_run,
        )
        if validation is not None:
            await request.off_the_loop(validation)
        self._backend.check_create(request)
        await admission.validate(attributes)
        converted = await self._backend.conversions.stored_form(obj, request) if request.resource.converts else None
        return self._store(request, obj, options, converted)

    def _store(
        self, request: ResourceRequest, obj: dict[str, Any], options: WriteOptions, converted: ConvertedObject | None
    ) -> Response:
        """Store a new object, unless its name is taken. Another request may have taken it during admission."""
        resource, metadata = request.resource, obj["metadata"]
        if not options.dry_run:
            _check_no_resource_version(metadata)
        self._check_name_is_free(request, metadata)
        if options.dry_run:
            return unstored_response(obj, resource, request.form, 201)
        return object_response(self._backend.put(obj, resource, converted), resource, request.form, 201)

    def _generate_name(self, request: ResourceRequest, metadata: dict[str, Any]) -> None:
        """Set the name from generateName, if there is no name; the last attempt may be a name that is taken."""
        prefix: str = metadata.get("generateName", "")
        if metadata.get("name") or not prefix:
            return
        if not request.resource.appends_suffix:
            metadata["name"] = prefix
            return
        collection = self._backend.collection(request.resource)
        for _ in range(GENERATE_ATTEMPTS):
            metadata["name"] = generated_name(prefix, self._backend.random)
            if collection.find(request.target.namespace, metadata["name"]) is None:
                return

    def _check_name_is_free(self, request: ResourceRequest, metadata: dict[str, Any]) -> None:
        target, name = request.target, metadata["name"]
        taken = self._backend.collection(request.resource).find(target.namespace, name)
        if taken is not None:
            generated = metadata.get("generateName") and not request.target.name
            is_deleted = "deletionTimestamp" in taken.read(request.resource)["metadata"]
            refuse = generate_name_conflict if generated else already_exists
            raise refuse(target.resource, name, target.group, is_deleted=is_deleted)


def _check_no_resource_version(metadata: dict[str, Any]) -> None:
    """Refuse a new object that has a resourceVersion; 0 and text that is no number are ignored."""
    version = metadata.pop("resourceVersion", "")
    if version.isdecimal() and version.strip("0"):
        raise unknown_error("resourceVersion should not be set on objects to be created")
