"""patch: JSON patch, merge patch, strategic merge patch and server-side apply to an object."""

from __future__ import annotations

from collections.abc import Collection
from copy import copy
from typing import Any

from pyctrl.apiserver._endpoints.backend import (
    RESTStorage,
    check_kind,
    check_name_and_namespace,
    check_patched_type_meta,
    metadata_of,
)
from pyctrl.apiserver._endpoints.create import CreateHandler
from pyctrl.apiserver._endpoints.request_object import decode_as_resource
from pyctrl.apiserver._endpoints.update import UpdatedObject, UpdateHandler
from pyctrl.apiserver._errors import Response, UndecodableBody, conflict, not_found
from pyctrl.apiserver._fieldmanager.apply import server_side_apply
from pyctrl.apiserver._fieldmanager.last_applied import update_last_applied
from pyctrl.apiserver._fieldmanager.typed import check_configuration, configuration_undecodable
from pyctrl.apiserver._patch.patcher import (
    APPLY,
    MERGE,
    STRATEGIC,
    apply_patch_to_object,
    check_patch_type,
    decode_apply,
    patch_outcome_undecodable,
    report_repeated_keys,
)
from pyctrl.apiserver._request.options import WriteOptions, write_options
from pyctrl.apiserver._request.request import ResourceRequest
from pyctrl.apiserver._schema.raw_json import without_texts
from pyctrl.apiserver._serializer.decoding import patch_type
from pyctrl.apiserver._storage.storage import StoredObject

__all__ = ["PatchHandler"]

_OF_STATUS = frozenset(("apiVersion", "kind", "metadata", "status"))  # what a write to the status may change


class PatchHandler:
    """Handler of patch."""

    def __init__(self, backend: RESTStorage, creates: CreateHandler, updates: UpdateHandler) -> None:
        self._backend = backend
        self._creates = creates
        self._updates = updates

    async def patch(self, request: ResourceRequest) -> Response:
        """PATCH an object, or its status, with any of the four patch types."""
        media = patch_type(request.headers)
        options = write_options(request.query, "PatchOptions", is_apply=media == APPLY)
        if media == APPLY:
            return await self._apply(request, options)
        check_patch_type(request, media)

        def changed(stored: StoredObject) -> UpdatedObject:
            live = stored.read(request.resource)
            new, duplicates = apply_patch_to_object(live, request, media)
            kept = _kept_fields(request, media, new, live)
            new = without_texts(new, request.resource.raw_paths)
            try:
                mismatch = check_patched_type_meta(new, request.resource)
                if not request.resource.is_custom:
                    check_kind(new, request.resource, self._backend.registry)
                if media == STRATEGIC:
                    _decode_converted(new, request, options, duplicates, kept=kept)
                else:
                    decode_as_resource(new, request, options, duplicates, kept=kept)
            except UndecodableBody as unfit:
                raise patch_outcome_undecodable(stored.read(request.resource), request, media, unfit) from None
            check_name_and_namespace(new["metadata"], request)
            if mismatch is not None and not request.target.subresource:
                raise mismatch
            old = live if kept else stored.read(request.resource)
            return UpdatedObject(new=new, old=old, options=options)

        stored = self._backend.live(request)
        return await self._updates.guaranteed_update(request, stored, changed(stored), changed)

    async def _apply(self, request: ResourceRequest, options: WriteOptions) -> Response:
        """Server-side apply, which creates an object that does not exist."""
        target, resource = request.target, request.resource
        patch, sent, repeated = _read_apply_configuration(request)

        def merged(live: dict[str, Any] | None) -> tuple[dict[str, Any], list[str]]:
            check_configuration(sent, resource)
            new = server_side_apply(
                live,
                patch,
                type=resource,
                field_manager=request.manager,
                force=options.force,
                subresource=target.subresource or None,
            )
            report_repeated_keys(request, repeated, options.field_validation)
            if live is not None:
                update_last_applied(new, live, sent, request.manager)
            try:
                dropped = _decode_converted(new, request, options, [], is_applied=True)
            except UndecodableBody as unfit:
                raise configuration_undecodable(sent, resource, unfit) from None
            check_name_and_namespace(new["metadata"], request)
            return new, dropped

        def changed(stored: StoredObject) -> UpdatedObject:
            # The merged object shares parts with its source and gets defaults there, so `old` is decoded separately.
            (new, dropped), old = merged(stored.read(resource)), stored.read(resource)
            changes_more = not target.subresource and any(_sets(sent, each) for each in dropped)
            return UpdatedObject(new=new, old=old, options=options, is_tracked=True, changes_more=changes_more)

        stored = self._backend.find(request)
        if stored is not None:
            return await self._updates.guaranteed_update(request, stored, changed(stored), changed)
        if target.subresource:
            raise not_found(target.resource, target.name, target.group)
        created, _ = merged(None)
        if uid := patch["metadata"].get("uid"):
            raise _apply_to_missing(request, uid)
        if not options.dry_run:
            created["metadata"].pop("resourceVersion", None)  # there is no live object that it could be a version of
        return await self._creates.create_object(request, created, options, is_tracked=True)


def _decode_converted(
    obj: dict[str, Any],
    request: ResourceRequest,
    options: WriteOptions,
    duplicates: list[str],
    *,
    is_applied: bool = False,
    kept: Collection[str] = (),
) -> list[str]:
    """Decode the result of a strategic merge patch or an apply, in which numbers of too many bits are truncated."""
    while True:
        try:
            return decode_as_resource(obj, request, options, duplicates, is_applied=is_applied, kept=kept)
        except UndecodableBody as unfit:
            if unfit.wrapped is None:
                raise
            (*above, last), number = unfit.wrapped
            parent: Any = obj
            for key in above:
                parent[key] = copy(parent[key])  # it may be a part of the live object
                parent = parent[key]
            parent[last] = number


def _sets(configuration: dict[str, Any], path: str) -> bool:
    """Return whether a configuration sets a field; those of list items are taken to be set."""
    value: Any = configuration
    for key in path.split("."):
        if "[" in path or not isinstance(value, dict):
            return True
        if key not in value:
            return False
        value = value[key]
    return True


def _kept_fields(request: ResourceRequest, media: str, new: dict[str, Any], live: dict[str, Any]) -> Collection[str]:
    """Return the fields that a merge patch or strategic merge patch of the status has left as in the live object.

    Only built-in kinds have any. They are not decoded again, and shared with the live object: what a write to the
    status does not change, the server puts back in any case.
    """
    if media not in (MERGE, STRATEGIC) or request.target.subresource != "status" or request.resource.is_custom:
        return ()
    return [key for key, each in new.items() if key not in _OF_STATUS and each is live.get(key)]


def _read_apply_configuration(request: ResourceRequest) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """Read the body of an apply and check its kind against the URL; name and namespace are checked after the merge.

    Metadata of another form are left for the check of the configuration.

    Returns:
        The configuration with its namespace filled in, the configuration as the client sent it, and errors about
        its repeated keys.
    """
    resource = request.resource
    patch, repeated = decode_apply(request, (resource.group, resource.version, resource.kind))
    metadata = patch.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        return patch, patch, repeated
    metadata = metadata_of(patch, resource)
    sent = {**patch, "metadata": dict(metadata)}
    if request.target.namespace and metadata.get("namespace") in (None, ""):
        metadata["namespace"] = request.target.namespace
    return patch, sent, repeated


def _apply_to_missing(request: ResourceRequest, uid: str) -> Exception:
    why = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
    return conflict(request.target.resource, request.target.name, request.target.group, why)
