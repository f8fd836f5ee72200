"""Resource client: requests of reads and writes by kind and key, and the paths of objects."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import cache
from typing import Any, TypeVar

import msgspec

from pyctrl._json import UNREADABLE
from pyctrl.api import (
    GroupVersionKind,
    GroupVersionResource,
    Key,
    Kind,
    KubernetesObject,
    Metadata,
    ObjectLike,
    Unstructured,
    is_metadata_only,
    kind_of,
)
from pyctrl.client._discovery.discovery import Discovery
from pyctrl.client._discovery.resource_mapping import ResourceMapping
from pyctrl.client._requests.dropped_status import report_dropped_status
from pyctrl.client._requests.options import ClientOptions, Query
from pyctrl.client._requests.write_observers import WriteMutator, WriteObserver, WriteVerb
from pyctrl.client._requests.write_requests import JSON, WriteRequest
from pyctrl.client._transport.rest_client import RESTClient
from pyctrl.client._transport.transport import REQUEST_TIMEOUT, Headers, HttpRequest, HttpStream
from pyctrl.errors import NotFound, NotRegistered, UnknownKind
from pyctrl.kinds import BUILTIN_KINDS

__all__ = ["ResourceClient", "Verbs", "checked_key", "declared_mapping", "path_for"]

O = TypeVar("O", bound=ObjectLike)  # noqa: E741 - an object, typed or not

NO_SUCH_PATH = "the server could not find the requested resource"  # in a served group; others answer without a Status


_WHOLE = ("create", "update", "apply")  # the verbs that write whole objects


class ResourceClient:
    """Sends the requests of one client. Typed kinds know their resource; only untyped ones need discovery.

    Args:
        rest: sends requests.
        discovery: knows the resources of untyped kinds.
        observers: notified of writes; derived clients share the list, which may change.
        mutators: change writes; as for the observers.
        options: defaults of every request.
    """

    def __init__(
        self,
        rest: RESTClient,
        discovery: Discovery,
        observers: list[WriteObserver],
        mutators: list[WriteMutator],
        options: ClientOptions,
    ) -> None:
        self.options = options
        self._rest = rest
        self._discovery = discovery
        self._observers, self._mutators = observers, mutators
        self._known_headers: dict[tuple[str, str | None], Headers] = {}

    def with_options(self, options: ClientOptions) -> ResourceClient:
        """Return a resource client with other options; connection, discovery and observers are shared."""
        return ResourceClient(self._rest, self._discovery, self._observers, self._mutators, options)

    async def mapping(self, kind: Kind[Any]) -> ResourceMapping:
        """Return the resource of a kind, from its class or from discovery."""
        return declared_mapping(kind) or await self._discovery.mapping(kind_of(kind))

    async def namespace_for(self, kind: Kind[Any], namespace: str | None) -> str | None:
        """Return the namespace of a read: the client's own, if it has one and the kind is namespaced.

        Raises:
            ValueError: the client is for another namespace.
        """
        if not self.options.namespace:
            return namespace
        mapping = await self.mapping(kind)
        return self._namespace(mapping, namespace or "") if mapping.namespaced else namespace

    async def read(self, kind: Kind[Any], key: Key, *, subresource: str = "", query: Query = ()) -> bytes:
        """Return the bytes of one object. Raises TypeError and ValueError for an invalid key."""
        key = checked_key(kind, key)
        mapping = await self.mapping(kind)
        path = path_for(mapping, self._namespace(mapping, key.namespace), key.name, subresource)
        accept = _accept(kind, "PartialObjectMetadata") if not subresource else JSON
        request = HttpRequest(method="GET", path=path, query=query, headers=self._headers(accept))
        return await self._answer(mapping, request, subresource)

    async def read_collection(
        self, kind: Kind[Any], namespace: str | None, *, query: Query, timeout: float = REQUEST_TIMEOUT
    ) -> bytes:
        """Return the bytes of a list."""
        mapping = await self.mapping(kind)
        path = path_for(mapping, self._namespace(mapping, namespace or ""))
        headers = self._headers(_accept(kind, "PartialObjectMetadataList"))
        request = HttpRequest(method="GET", path=path, query=query, headers=headers, timeout=timeout)
        return await self._answer(mapping, request)

    @asynccontextmanager
    async def watch(
        self, kind: Kind[Any], namespace: str | None, *, query: Query, timeout: float, idle_timeout: float
    ) -> AsyncIterator[HttpStream]:
        """Open the stream of a watch."""
        mapping = await self.mapping(kind)
        path = path_for(mapping, self._namespace(mapping, namespace or ""))
        headers = self._headers(_accept(kind, "PartialObjectMetadata"))
        request = HttpRequest(method="GET", path=path, query=query, headers=headers, timeout=timeout)
        async with AsyncExitStack() as stack:
            try:
                stream = await stack.enter_async_context(self._rest.stream(request, idle_timeout=idle_timeout))
            except NotFound as error:
                await self._check_served(error, mapping)
                raise
            yield stream

    async def write(self, kind: Kind[Any], write: WriteRequest) -> bytes:
        """Send a write, notify the observers, and return the answer's bytes. Raises as `read` does."""
        if not write.in_collection:
            checked_key(kind, write.key)
        mapping = await self.mapping(kind)
        key = Key(self._namespace(mapping, write.key.namespace), write.key.name)
        if self._mutators and write.body is not None and write.verb in _WHOLE and not write.subresource:
            write = msgspec.structs.replace(write, body=self.mutated(mapping.gvk, write.verb, write.body))
        request = self._write_request(mapping, key, write)
        if write.dry_run:
            return await self._answer(mapping, request, write.subresource)
        for observer in self._observers:
            observer.before(mapping.gvk, key)
        try:
            body = await self._answer(mapping, request, write.subresource)
        except BaseException as error:
            for observer in self._observers:
                observer.after(mapping.gvk, key, write.verb, None, error)
            raise
        name, is_object = _parse_written(write, mapping.gvk, body)
        written = Key(key.namespace, key.name or name)
        for observer in self._observers:
            observer.after(mapping.gvk, written, write.verb, body if is_object else None, None)
        if write.verb in ("update", "patch") and not write.subresource and "status" in mapping.subresources:
            report_dropped_status(mapping.gvk, key, write.verb, write.body, body)
        return body

    def mutated(self, gvk: GroupVersionKind, verb: WriteVerb, body: bytes) -> bytes:
        """Return the JSON that is written instead of that of an object."""
        for mutator in self._mutators:
            body = mutator.mutate(gvk, verb, body)
        return body

    @property
    def has_mutators(self) -> bool:
        """Whether writes are changed."""
        return bool(self._mutators)

    async def _answer(self, mapping: ResourceMapping, request: HttpRequest, subresource: str = "") -> bytes:
        try:
            return (await self._rest.send(request)).body
        except NotFound as error:
            await self._check_served(error, mapping, subresource)
            raise

    def _write_request(self, mapping: ResourceMapping, key: Key, write: WriteRequest) -> HttpRequest:
        if mapping.namespaced and not key.namespace:
            label = f"{mapping.gvk.kind} {key.name}".rstrip()
            raise ValueError(f"{label} is namespaced: pass its namespace, or use in_namespace(client, ...)")
        path = path_for(mapping, key.namespace, "" if write.in_collection else key.name, write.subresource)
        headers = self._headers(JSON, write.content_type if write.body is not None else None)
        return HttpRequest(method=write.method, path=path, query=write.query, headers=headers, body=write.body)

    def _headers(self, accept: str, content_type: str | None = None) -> Headers:
        """Return the headers of a request; there are few combinations, which are kept."""
        known = self._known_headers.get((accept, content_type))
        if known is None:
            pairs = [("Accept", accept)]
            if content_type:
                pairs.append(("Content-Type", content_type))
            if self.options.impersonate:
                pairs += self.options.impersonate.headers()
            known = self._known_headers[accept, content_type] = Headers(pairs)
        return known

    def _namespace(self, mapping: ResourceMapping, namespace: str) -> str:
        """Return the namespace of a request; a client for one namespace fills it in and refuses others."""
        own = self.options.namespace
        if not mapping.namespaced:
            return ""
        if own and namespace and namespace != own:
            raise ValueError(
                f"{mapping.gvk.kind} of namespace {namespace!r} was requested from a client for namespace {own!r}"
            )
        return namespace or own

    async def _check_served(self, error: NotFound, mapping: ResourceMapping, subresource: str = "") -> None:
        """Raise UnknownKind if the path does not exist; return if the object does not, which alone has a reason."""
        if error.reason and (error.details or error.message != NO_SUCH_PATH):
            return
        if subresource:
            raise UnknownKind(f"{mapping.gvk}, sub-resource {subresource}") from error
        self._discovery.forget(mapping.gvk)
        raise await self._discovery.explain(mapping.gvk) from error


class _WrittenMetadata(msgspec.Struct):
    name: str = ""


class _WrittenObject(msgspec.Struct, rename="camel"):
    """The part of an answer to a write that identifies the object."""

    api_version: str = ""
    kind: str = ""
    metadata: _WrittenMetadata = msgspec.field(default_factory=_WrittenMetadata)


def _parse_written(write: WriteRequest, gvk: GroupVersionKind, body: bytes) -> tuple[str, bool]:
    """Return the name in the answer, and whether the body is the written object or answers a delete."""
    if write.verb in ("delete", "delete_all_of"):
        return "", True
    try:
        answer = msgspec.json.decode(body, type=_WrittenObject)
    except UNREADABLE:
        return "", False
    return answer.metadata.name, (answer.api_version, answer.kind) == (gvk.api_version, gvk.kind)


def declared_mapping(kind: Kind[Any]) -> ResourceMapping | None:
    """Return the resource that a class declares; None for a GroupVersionKind, and for metadata of one.

    Raises:
        NotRegistered: the argument is no kind: a class without group and version, an object, a string.
    """
    if isinstance(kind, GroupVersionKind):
        return None
    if not isinstance(kind, type):
        raise NotRegistered(repr(kind))
    cls: type[KubernetesObject] = kind
    if not issubclass(cls, Metadata):
        return _mapping_of(cls)
    kind_of(cls)
    return _mapping_of.__wrapped__(cls) if "resource" in vars(cls) else None  # uncached: it may change


@cache  # used by every request
def _mapping_of(kind: type[KubernetesObject]) -> ResourceMapping | None:
    gvk, resource = kind_of(kind), getattr(kind, "resource", None)
    if resource is None:  # a model class of kubernetes_asyncio
        builtin = BUILTIN_KINDS.get(gvk)
        return None if builtin is None else _mapping_of(builtin.load(gvk.kind))
    return ResourceMapping(
        gvk=gvk,
        plural=resource.plural,
        namespaced=resource.namespaced,
        subresources=resource.subresources,
        singular=resource.singular,
        short_names=resource.short_names,
        categories=resource.categories,
    )


def _accept(kind: Kind[Any], form: str) -> str:
    return f"{JSON};as={form};g=meta.k8s.io;v=v1,{JSON}" if is_metadata_only(kind) else JSON


class Verbs:
    """Base of the classes whose methods make requests."""

    def __init__(self, requests: ResourceClient) -> None:
        self._requests = requests


def path_for(mapping: ResourceMapping, namespace: str = "", name: str = "", subresource: str = "") -> str:
    """Return the path of an object, or of the collection without a name; not escaped for a URL.

    A collection without a namespace covers all namespaces. The namespace of a cluster-scoped kind is left out, so that
    one key fits both scopes.

    Raises:
        ValueError: a namespaced object has no namespace, or a part contains a slash.
    """
    parts = [_root(mapping.gvk.group, mapping.gvk.version)]
    if mapping.namespaced and namespace:
        parts += ["namespaces", _checked_segment(namespace)]
    elif mapping.namespaced and name:
        raise ValueError(f"{mapping.gvk.kind} {name!r} needs a namespace: it is a namespaced kind")
    parts.append(mapping.plural)
    if name:
        parts.append(_checked_segment(name))
    if subresource:
        parts += [_checked_segment(part) for part in subresource.split("/")]
    return "/".join(parts)


@cache  # used by every request; one entry for each group version
def _root(group: str, version: str) -> str:
    return GroupVersionResource(group, version, "").path


def checked_key(kind: Kind[O], key: Any) -> Key:
    """Return the key, if it names one object.

    Raises:
        TypeError: it is not a `Key`, such as a name alone; the message names the argument to pass.
        ValueError: it has no name, which would be the path of a list, or a name that would lead to another path.
    """
    if not isinstance(key, Key):
        raise TypeError(f"expected a Key to name the {_kind_name(kind)}, got {_description(key)}: {_hint(key)}")
    if not key.name:
        raise ValueError(
            f"the key of a {_kind_name(kind)} must have a name, got {tuple(key)}: an empty one names a list"
        )
    _checked_segment(key.name)
    return key


def _checked_segment(text: str) -> str:
    """Return a part of a path. Raises ValueError for parts that client-go refuses: they would lead to another path."""
    if "/" in text or "%" in text or text in (".", ".."):
        raise ValueError(f"{text!r} cannot be a name: a name is not '.' or '..', and has no '/' or '%'")
    return text


def _kind_name(kind: Kind[O]) -> str:
    if isinstance(kind, GroupVersionKind):
        return kind.kind
    return getattr(kind, "__name__", repr(kind))


def _description(key: Any) -> str:
    text = repr(key) if isinstance(key, str | tuple) else "one"
    return f"{text} ({type(key).__name__})" if text != "one" else f"a {type(key).__name__}"


def _hint(key: Any) -> str:
    if isinstance(key, str):
        namespace, slash, name = key.rpartition("/")
        if slash:
            return f"pass Key({namespace!r}, {name!r})"
        return f"pass Key(namespace, {key!r}), or Key('', {key!r}) where the kind has no namespaces"
    if isinstance(key, KubernetesObject | Unstructured) or isinstance(getattr(key, "key", None), Key):
        return "pass its .key"
    return "pass Key(namespace, name)"
