"""list: GET of a collection, with selectors, pages and older resource versions."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from pyctrl.api import ShardSelector
from pyctrl.apiserver._endpoints.backend import RESTStorage
from pyctrl.apiserver._endpoints.list_selectors import SelectionPredicate, read_selection
from pyctrl.apiserver._endpoints.response_writers import (
    bytes_response,
    check_list_representation,
    encode_list_item,
    encode_table,
    metadata_only,
)
from pyctrl.apiserver._errors import Response, StatusError, bad_request, resource_expired
from pyctrl.apiserver._request.negotiation import MediaTypeOptions, Representation
from pyctrl.apiserver._request.options import EXACT, ListOptions, list_options, parse_list_version
from pyctrl.apiserver._request.request import ResourceRequest
from pyctrl.apiserver._storage.continue_token import INCONSISTENT, ContinueToken, decode_continue, encode_continue
from pyctrl.apiserver._storage.storage import Compacted, StoredObject

if TYPE_CHECKING:
    from pyctrl.apiserver._resources.resource_type import ResourceType

__all__ = ["ListHandler", "ListResult"]

_TOO_OLD = "The resourceVersion for the provided list is too old."
_TOKEN_TOO_OLD = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without "
    "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. "
    "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or "
    "deleted between the time the first chunk was returned and now may show up in the list."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListResult:
    """One page of a list."""

    items: list[StoredObject]
    version: int  # 0: the storage of the resource has no versions
    next_token: str = ""
    remaining: int | None = None  # None with selectors of labels or fields, as in kube-apiserver
    shards: ShardSelector | None = None  # the selector that was applied


class ListHandler:
    """Handler of list."""

    def __init__(self, backend: RESTStorage) -> None:
        self._backend = backend

    def list(self, request: ResourceRequest) -> Response:
        """GET a collection."""
        return self.response(request, self.select(request, list_options(request.query, watch=False)))

    def select(self, request: ResourceRequest, options: ListOptions, *, is_paged: bool = False) -> ListResult:
        """Return the selected objects, one page of them.

        Args:
            is_paged: Whether a resource version is meant exactly, as with a limit: kube-apiserver deletes by pages.
        """
        selection = read_selection(request, options, self._backend.features)
        collection = self._backend.collection(request.resource)
        token = self._start(options, is_paged=is_paged or bool(options.limit))
        version = self._backend.storage.version if token is None or token.version == INCONSISTENT else token.version
        try:
            objects = collection.at(version, selection.namespace)
        except Compacted:
            raise self._too_old(options, token) from None
        start = 0 if token is None else _after(objects, selection.namespace, token)
        limit = 0 if options.resource_version == "0" else options.limit  # a list from the cache is never paged
        return _page(objects, start, version, selection, request.resource, limit)

    def _start(self, options: ListOptions, *, is_paged: bool) -> ContinueToken | None:
        """Return the position and version at which a list starts; None is the beginning of the current state."""
        if options.continue_token:
            if options.resource_version not in ("", "0"):
                raise bad_request("specifying resource version is not allowed when using continue")
            return decode_continue(options.continue_token)
        version = parse_list_version(options.resource_version)
        exactly = options.match == EXACT or (is_paged and not options.match and version)
        return ContinueToken(version, "") if exactly and version else None

    def _too_old(self, options: ListOptions, token: ContinueToken | None) -> StatusError:
        if not options.continue_token or token is None:
            return resource_expired(_TOO_OLD)
        refusal = resource_expired(_TOKEN_TOO_OLD)
        refusal.status["metadata"] = {"continue": encode_continue(INCONSISTENT, token.key.removesuffix("\0"))}
        return refusal

    def response(self, request: ResourceRequest, selected: ListResult) -> Response:
        """Return a response with a page of a list."""
        resource, form = request.resource, request.form
        check_list_representation(resource, form)
        metadata: dict[str, Any] = {"resourceVersion": str(selected.version)} if selected.version else {}
        if selected.next_token or (resource.is_custom and form.shape is Representation.WHOLE):
            metadata["continue"] = selected.next_token
        if selected.remaining is not None:
            metadata["remainingItemCount"] = selected.remaining
        if selected.shards is not None and not resource.is_custom and form.shape is Representation.WHOLE:
            metadata["shardInfo"] = {"selector": str(selected.shards)}  # other lists have no field for it upstream
        if form.shape is Representation.TABLE:
            return bytes_response(encode_table(resource, selected.items, form, metadata), form)
        return bytes_response(_encode_list(selected.items, resource, form, metadata), form)


def _after(objects: list[StoredObject], namespace: str, token: ContinueToken) -> int:
    """Return the index at which a page starts. The key of a token is relative to the namespace of the list."""
    key = f"{namespace}/{token.key}" if namespace else token.key
    return bisect_left(objects, key, key=lambda stored: stored.key)


def _page(
    objects: list[StoredObject],
    start: int,
    version: int,
    selection: SelectionPredicate,
    resource: ResourceType,
    limit: int,
) -> ListResult:
    """Return a page from `start` on, with a token if it is full and more objects follow, selected or not."""
    if not selection.is_filtering:
        return _unfiltered_page(objects, start, version, selection.namespace, limit)
    items: list[StoredObject] = []
    if selection.name is not None:
        limit = 0  # one object at most, which kube-apiserver reads by its key
    for stored in objects[start:] if start else objects:
        if limit and len(items) == limit:
            # The count of kube-apiserver does not consider the shard selector.
            remaining = None if selection.has_attributes else len(objects) - start - limit
            token = _token(version, items[-1], selection.namespace)
            return ListResult(
                items=items, version=version, next_token=token, remaining=remaining, shards=selection.shards
            )
        if selection.matches_selectors(stored, resource):
            items.append(stored)
    return ListResult(items=items, version=version, shards=selection.shards)


def _unfiltered_page(objects: list[StoredObject], start: int, version: int, namespace: str, limit: int) -> ListResult:
    end = start + limit if limit else len(objects)
    items = objects[start:end]
    remaining = len(objects) - start - len(items)
    if remaining <= 0:
        return ListResult(items=items, version=version)
    token = _token(version, items[-1], namespace)
    return ListResult(items=items, version=version, next_token=token, remaining=remaining)


def _token(version: int, last: StoredObject, namespace: str) -> str:
    return encode_continue(version, last.name if namespace else last.key)


def _encode_list(
    items: list[StoredObject], resource: ResourceType, form: MediaTypeOptions, metadata: dict[str, Any]
) -> bytes:
    """Join the encoded objects: a list of 10,000 decodes none of them."""
    if form.shape is Representation.METADATA:
        head = {"kind": "PartialObjectMetadataList", "apiVersion": f"meta.k8s.io/{form.version}", "metadata": metadata}
        parts = [metadata_only(stored.view(resource), form.version) for stored in items]
        if not parts:
            return msgspec.json.encode({**head, "items": None})  # Go writes null for the empty list here
    else:
        head = {"kind": resource.list_kind, "apiVersion": resource.api_version, "metadata": metadata}
        parts = [encode_list_item(stored.view(resource), resource) for stored in items]
    opening = msgspec.json.encode(head)[:-1] + b',"items":['
    if not parts:
        return opening + b"]}"
    # Joined once: each further copy of 50 MB costs as much as joining it, in pages that the machine has to clear.
    parts[0] = opening + parts[0]
    parts[-1] += b"]}"
    return b",".join(parts)
