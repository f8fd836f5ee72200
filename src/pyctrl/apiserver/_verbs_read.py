"""get, list and watch: the rules of resourceVersion, pages and selectors over the storage."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pyctrl.api import RequestTarget
from pyctrl.apiserver._answers import Answer, Refused, bad_request, expired
from pyctrl.apiserver._backend import Backend
from pyctrl.apiserver._continue import INCONSISTENT, Place, read_token, write_token
from pyctrl.apiserver._forms import (
    Form,
    Shape,
    answer_bytes,
    answer_object,
    check_list_form,
    is_custom,
    list_item,
    metadata_only,
    table_of,
)
from pyctrl.apiserver._options import EXACT, ListOptions, list_options, parse_list_version, parse_version
from pyctrl.apiserver._request import Request
from pyctrl.apiserver._selecting import selection_of
from pyctrl.apiserver._storage import Collection, Compacted, Stored, api_version
from pyctrl.apiserver._watch import Selection, Watch, WatchPlan

if TYPE_CHECKING:
    from pyctrl.apiserver._resources import ResourceType

WATCH_SECONDS = 1800  # kube-apiserver's least; a watch without a timeout lasts up to twice as long

_TOO_OLD = "The resourceVersion for the provided list is too old."
_TOKEN_TOO_OLD = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without "
    "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. "
    "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or "
    "deleted between the time the first chunk was returned and now may show up in the list."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    """One page of a list."""

    items: list[Stored]
    version: int
    next_token: str = ""
    remaining: int | None = None  # told only without selectors, as kube-apiserver does


class Reads:
    """The verbs that change nothing."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    # -- get ---------------------------------------------------------------------------------------------------

    def get(self, request: Request) -> Answer:
        """GET one object. The present state satisfies every version that was not in the future."""
        parse_version(request.query.get("resourceVersion"))
        return answer_object(self._backend.live(request), request.resource, request.form)

    # -- list --------------------------------------------------------------------------------------------------

    def list(self, request: Request) -> Answer:
        """GET a collection."""
        return self.answer_list(request, self.select(request, list_options(request.query, watch=False)))

    def select(self, request: Request, options: ListOptions) -> Selected:
        """Find the objects that a list is about, one page of them."""
        selection = selection_of(request, options)
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

    def _place(self, options: ListOptions) -> Place | None:
        """Give where, and at which version, a list starts; None is the beginning of the present."""
        if options.continue_token:
            if options.resource_version not in ("", "0"):
                raise bad_request("specifying resource version is not allowed when using continue")
            return read_token(options.continue_token)
        version = parse_list_version(options.resource_version)
        exactly = options.match == EXACT or (options.limit and not options.match and version)
        return Place(version, "") if exactly and version else None

    def _too_old(self, options: ListOptions, place: Place | None) -> Refused:
        if not options.continue_token or place is None:
            return expired(_TOO_OLD)
        refusal = expired(_TOKEN_TOO_OLD)
        refusal.status["metadata"] = {"continue": write_token(INCONSISTENT, place.key.removesuffix("\0"))}
        return refusal

    def answer_list(self, request: Request, selected: Selected) -> Answer:
        """Encode a page of a list in the form asked for."""
        resource, form = request.resource, request.form
        check_list_form(resource, form)
        metadata: dict[str, Any] = {"resourceVersion": str(selected.version)}
        if selected.next_token or (is_custom(resource) and form.shape is Shape.WHOLE):
            metadata["continue"] = selected.next_token
        if selected.remaining is not None:
            metadata["remainingItemCount"] = selected.remaining
        if form.shape is Shape.TABLE:
            return answer_bytes(table_of(resource, selected.items, form, metadata), form)
        return answer_bytes(_encode_list(selected.items, resource, form, metadata), form)

    # -- watch -------------------------------------------------------------------------------------------------

    def watch(self, request: Request) -> Answer:
        """GET a collection (or one object of it) as a stream of its changes."""
        options = list_options(request.query, watch=True)
        if request.target.name:
            options = replace(options, field_selector=_only(options.field_selector, request.target))
        plan = self._plan(request, options)
        collection = self._backend.collection(request.resource)
        stream = Watch(self._backend.storage, collection, plan, self._backend.conversions)
        return Answer(status=200, headers=(("Content-Type", "application/json"),), body=stream.lines())

    def _plan(self, request: Request, options: ListOptions) -> WatchPlan:
        """Decide where a watch starts: with the present state, or after a version."""
        selection = selection_of(request, options)
        collection = self._backend.collection(request.resource)
        version = parse_version(options.resource_version) or 0
        streaming_list = options.send_initial_events
        begins_with_state = streaming_list if streaming_list is not None else version == 0
        initial: list[Stored] = []
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


def _after(objects: list[Stored], namespace: str, place: Place) -> int:
    """Find where a page starts: keys in tokens are relative to the namespace of the list."""
    key = f"{namespace}/{place.key}" if namespace else place.key
    return bisect_left(objects, key, key=lambda stored: stored.key)


def _page(
    objects: list[Stored], start: int, version: int, selection: Selection, resource: ResourceType, limit: int
) -> Selected:
    """Take a page from `start` on; when it is full and more objects follow, selected or not, a token says where."""
    if not selection.is_filtering:
        return _plain_page(objects, start, version, selection.namespace, limit)
    items: list[Stored] = []
    for stored in objects[start:] if start else objects:
        if limit and len(items) == limit:
            return Selected(items=items, version=version, next_token=_token(version, items[-1], selection.namespace))
        if selection.matches_selectors(stored, resource):
            items.append(stored)
    return Selected(items=items, version=version)


def _plain_page(objects: list[Stored], start: int, version: int, namespace: str, limit: int) -> Selected:
    end = start + limit if limit else len(objects)
    items = objects[start:end]
    remaining = len(objects) - start - len(items)
    if remaining <= 0:
        return Selected(items=items, version=version)
    token = _token(version, items[-1], namespace)
    return Selected(items=items, version=version, next_token=token, remaining=remaining)


def _token(version: int, last: Stored, namespace: str) -> str:
    return write_token(version, last.name if namespace else last.key)


def _encode_list(items: list[Stored], resource: ResourceType, form: Form, metadata: dict[str, Any]) -> bytes:
    """Join the encoded objects: a list of 10,000 decodes none of them."""
    import msgspec

    if form.shape is Shape.METADATA:
        head = {"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": metadata}
        parts = [metadata_only(stored.view(resource)) for stored in items]
        if not parts:
            return msgspec.json.encode({**head, "items": None})  # as Go writes the list that nothing was added to
    else:
        head = {"kind": resource.list_kind, "apiVersion": api_version(resource), "metadata": metadata}
        parts = [list_item(stored.view(resource), resource) for stored in items]
    opening = msgspec.json.encode(head)[:-1] + b',"items":['
    if not parts:
        return opening + b"]}"
    # Joined once: each further copy of 50 MB costs as much as joining it, in pages that the machine has to clear.
    parts[0] = opening + parts[0]
    parts[-1] += b"]}"
    return b",".join(parts)
