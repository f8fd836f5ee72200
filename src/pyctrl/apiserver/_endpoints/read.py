"""get, list and watch: the rules of resourceVersion, pages and selectors over the storage."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pyctrl.api import RequestTarget
from pyctrl.apiserver._endpoints.backend import RESTStorage
from pyctrl.apiserver._endpoints.list_selectors import read_selection
from pyctrl.apiserver._endpoints.watch import SelectionPredicate, WatchPlan, WatchServer
from pyctrl.apiserver._errors import Response, StatusError, bad_request, resource_expired
from pyctrl.apiserver._request.negotiation import (
    MediaTypeOptions,
    Representation,
    bytes_response,
    check_list_representation,
    encode_list_item,
    encode_table,
    is_custom,
    metadata_only,
    object_response,
)
from pyctrl.apiserver._request.options import EXACT, ListOptions, list_options, parse_list_version, parse_version
from pyctrl.apiserver._request.request import ResourceRequest
from pyctrl.apiserver._storage.continue_token import INCONSISTENT, ContinueToken, decode_continue, encode_continue
from pyctrl.apiserver._storage.storage import Collection, Compacted, StoredObject, api_version

if TYPE_CHECKING:
    from pyctrl.apiserver._registry.resources import ResourceType

WATCH_SECONDS = 1800  # kube-apiserver's least; a watch without a timeout lasts up to twice as long

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
    version: int
    next_token: str = ""
    remaining: int | None = None  # told only without selectors, as kube-apiserver does


class Reads:
    """The verbs that change nothing."""

    def __init__(self, backend: RESTStorage) -> None:
        self._backend = backend

    # -- get ---------------------------------------------------------------------------------------------------

    def get(self, request: ResourceRequest) -> Response:
        """GET one object. The present state satisfies every version that was not in the future."""
        parse_version(request.query.get("resourceVersion"))
        return object_response(self._backend.live(request), request.resource, request.form)

    # -- list --------------------------------------------------------------------------------------------------

    def list(self, request: ResourceRequest) -> Response:
        """GET a collection."""
        return self.answer_list(request, self.select(request, list_options(request.query, watch=False)))

    def select(self, request: ResourceRequest, options: ListOptions) -> ListResult:
        """Find the objects that a list is about, one page of them."""
        selection = read_selection(request, options)
        collection = self._backend.collection(request.resource)
        place = self._place(options)
        version = self._backend.storage.version if place is None or place.version == INCONSISTENT else place.version
        try:
            objects = collection.at(version, selection.namespace)
        except Compacted:
            raise self._too_old(options, place) from None
        start = 0 if place is None else _after(objects, selection.namespace, place)
        limit = 0 if options.resource_version == "0" else options.limit  # what is cached is given whole
        return _page(objects, start, version, selection, request.resource, limit)

    def _place(self, options: ListOptions) -> ContinueToken | None:
        """Give where, and at which version, a list starts; None is the beginning of the present."""
        if options.continue_token:
            if options.resource_version not in ("", "0"):
                raise bad_request("specifying resource version is not allowed when using continue")
            return decode_continue(options.continue_token)
        version = parse_list_version(options.resource_version)
        exactly = options.match == EXACT or (options.limit and not options.match and version)
        return ContinueToken(version, "") if exactly and version else None

    def _too_old(self, options: ListOptions, place: ContinueToken | None) -> StatusError:
        if not options.continue_token or place is None:
            return resource_expired(_TOO_OLD)
        refusal = resource_expired(_TOKEN_TOO_OLD)
        refusal.status["metadata"] = {"continue": encode_continue(INCONSISTENT, place.key.removesuffix("\0"))}
        return refusal

    def answer_list(self, request: ResourceRequest, selected: ListResult) -> Response:
        """Encode a page of a list in the form asked for."""
        resource, form = request.resource, request.form
        check_list_representation(resource, form)
        metadata: dict[str, Any] = {"resourceVersion": str(selected.version)}
        if selected.next_token or (is_custom(resource) and form.shape is Representation.WHOLE):
            metadata["continue"] = selected.next_token
        if selected.remaining is not None:
            metadata["remainingItemCount"] = selected.remaining
        if form.shape is Representation.TABLE:
            return bytes_response(encode_table(resource, selected.items, form, metadata), form)
        return bytes_response(_encode_list(selected.items, resource, form, metadata), form)

    # -- watch -------------------------------------------------------------------------------------------------

    def watch(self, request: ResourceRequest) -> Response:
        """GET a collection (or one object of it) as a stream of its changes."""
        options = list_options(request.query, watch=True)
        if request.target.name:
            options = replace(options, field_selector=_only(options.field_selector, request.target))
        plan = self._plan(request, options)
        collection = self._backend.collection(request.resource)
        stream = WatchServer(self._backend.storage, collection, plan, self._backend.conversions)
        return Response(status=200, headers=(("Content-Type", "application/json"),), body=stream.lines())

    def _plan(self, request: ResourceRequest, options: ListOptions) -> WatchPlan:
        """Decide where a watch starts: with the present state, or after a version."""
        selection = read_selection(request, options)
        collection = self._backend.collection(request.resource)
        version = parse_version(options.resource_version) or 0
        streaming_list = options.send_initial_events
        begins_with_state = streaming_list if streaming_list is not None else version == 0
        initial: list[StoredObject] = []
        start: int | Compacted = collection.end
        if begins_with_state:
            present = collection.current(selection.namespace)
            initial = [stored for stored in present if selection.matches_selectors(stored, request.resource)]
        elif version:
            start = _position(collection, version)
        return WatchPlan(
            resource=request.resource,
            selection=selection,
            form=request.form,
            initial=initial,
            initial_end=bool(streaming_list and options.bookmarks),
            version=self._backend.storage.version,
            start=start,
            after=0 if begins_with_state else version,
            bookmarks=options.bookmarks,
            seconds=self._seconds(options),
        )

    def _seconds(self, options: ListOptions) -> float:
        if options.timeout_seconds is not None and options.timeout_seconds > 0:
            return options.timeout_seconds
        return WATCH_SECONDS * (1 + self._backend.random.random())


def _position(collection: Collection, version: int) -> int | Compacted:
    try:
        return collection.position_after(version)
    except Compacted as lost:
        return lost


def _only(selector: str, target: RequestTarget) -> str:
    named = f"metadata.name={target.name}"
    return f"{selector},{named}" if selector else named


def _after(objects: list[StoredObject], namespace: str, place: ContinueToken) -> int:
    """Find where a page starts: keys in tokens are relative to the namespace of the list."""
    key = f"{namespace}/{place.key}" if namespace else place.key
    return bisect_left(objects, key, key=lambda stored: stored.key)


def _page(
    objects: list[StoredObject],
    start: int,
    version: int,
    selection: SelectionPredicate,
    resource: ResourceType,
    limit: int,
) -> ListResult:
    """Take a page from `start` on; when it is full and more objects follow, selected or not, a token says where."""
    if not selection.is_filtering:
        return _plain_page(objects, start, version, selection.namespace, limit)
    items: list[StoredObject] = []
    for stored in objects[start:] if start else objects:
        if limit and len(items) == limit:
            return ListResult(items=items, version=version, next_token=_token(version, items[-1], selection.namespace))
        if selection.matches_selectors(stored, resource):
            items.append(stored)
    return ListResult(items=items, version=version)


def _plain_page(objects: list[StoredObject], start: int, version: int, namespace: str, limit: int) -> ListResult:
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
    import msgspec

    if form.shape is Representation.METADATA:
        head = {"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": metadata}
        parts = [metadata_only(stored.view(resource)) for stored in items]
        if not parts:
            return msgspec.json.encode({**head, "items": None})  # as Go writes the list that nothing was added to
    else:
        head = {"kind": resource.list_kind, "apiVersion": api_version(resource), "metadata": metadata}
        parts = [encode_list_item(stored.view(resource), resource) for stored in items]
    opening = msgspec.json.encode(head)[:-1] + b',"items":['
    if not parts:
        return opening + b"]}"
    # Joined once: each further copy of 50 MB costs as much as joining it, in pages that the machine has to clear.
    parts[0] = opening + parts[0]
    parts[-1] += b"]}"
    return b",".join(parts)
