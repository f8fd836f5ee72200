"""Sub-resources: the status, which answers with the object itself, and every other one by its name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias, TypeVar, overload

from pyctrl.api import GroupVersionKind, Key, KindLike, KubernetesObject, Object, Unstructured, decode
from pyctrl.client._requests.patch import Patch
from pyctrl.client._requests.resource_client import ResourceClient, WriteRequest
from pyctrl.client._requests.write_observers import WriteVerb
from pyctrl.client._requests.write_requests import (
    as_object,
    decode_like,
    decode_written,
    encode_whole,
    kind_and_key,
    send_apply,
    send_patch,
    split_target,
)

__all__ = ["HasSubResources", "StatusResource", "SubResource"]

T = TypeVar("T", bound=KubernetesObject)
A = TypeVar("A", bound=KubernetesObject)
#: What is sent: an object, or its document.
Body: TypeAlias = Object | Mapping[str, Any]
O = TypeVar("O", bound=KubernetesObject | Unstructured)  # noqa: E741 - an object, typed or not


class StatusResource:
    """The ``status`` of objects: writes change nothing but the status, and answer with the whole object."""

    def __init__(self, calls: ResourceClient) -> None:
        self._calls = calls

    @overload
    async def get(self, kind: type[T], key: Key) -> T: ...
    @overload
    async def get(self, kind: GroupVersionKind, key: Key) -> Unstructured: ...
    async def get(self, kind: KindLike, key: Key) -> Any:
        """Return an object; rarely needed, since reading the object gives its status too."""
        return decode(kind, await self._calls.read(kind, key, subresource="status"))

    async def update(self, obj: O, *, dry_run: bool = False, field_owner: str | None = None) -> O:
        """Replace the status by this object's. Raises Conflict when the object has changed since it was read."""
        kind, key = kind_and_key(obj)
        write = WriteRequest(
            verb="update",
            method="PUT",
            key=key,
            subresource="status",
            query=self._calls.options.write_query(dry_run, field_owner),
            body=encode_whole(obj, "update the status of"),
            dry_run=dry_run or self._calls.options.dry_run,
        )
        return decode_like(obj, await self._calls.write(kind, write))

    @overload
    async def patch(self, obj: O, patch: Patch, /, *, dry_run: bool = False, field_owner: str | None = None) -> O: ...
    @overload
    async def patch(
        self, kind: type[T], key: Key, patch: Patch, /, *, dry_run: bool = False, field_owner: str | None = None
    ) -> T: ...
    @overload
    async def patch(
        self,
        kind: GroupVersionKind,
        key: Key,
        patch: Patch,
        /,
        *,
        dry_run: bool = False,
        field_owner: str | None = None,
    ) -> Unstructured: ...
    async def patch(self, target: Any, *arguments: Any, dry_run: bool = False, field_owner: str | None = None) -> Any:
        """Change a part of the status; called as `Client.patch` is."""
        query = self._calls.options.write_query(dry_run, field_owner)
        send = send_patch(self._calls, target, arguments, query, dry_run=dry_run, subresource="status")
        return decode_written(*await send)

    @overload
    async def apply(
        self, obj: O, *, field_owner: str | None = None, force: bool = False, dry_run: bool = False
    ) -> O: ...
    @overload
    async def apply(
        self, obj: dict[str, Any], *, field_owner: str | None = None, force: bool = False, dry_run: bool = False
    ) -> Unstructured: ...
    async def apply(
        self, obj: Any, *, field_owner: str | None = None, force: bool = False, dry_run: bool = False
    ) -> Any:
        """Say how the status should be (server-side apply); called as `Client.apply` is."""
        wanted = as_object(obj)
        body = await send_apply(
            self._calls, wanted, field_owner=field_owner, force=force, dry_run=dry_run, subresource="status"
        )
        return decode_like(wanted, body)


class SubResource:
    """Any sub-resource by its name. Answers are Unstructured, or of the class given as ``answer``.

    Each method is called with an object, or with a kind and a key, as those of `Client` are:

        scale = await client.subresource("scale").get(Deployment, key, answer=Scale)
        await client.subresource("ephemeralcontainers").patch(pod, merge_from(before), answer=Pod)
    """

    def __init__(self, calls: ResourceClient, name: str) -> None:
        self._calls = calls
        self._name = name

    @overload
    async def get(self, obj: Object, /, *, answer: type[A]) -> A: ...
    @overload
    async def get(self, obj: Object, /) -> Unstructured: ...
    @overload
    async def get(self, kind: KindLike, key: Key, /, *, answer: type[A]) -> A: ...
    @overload
    async def get(self, kind: KindLike, key: Key, /) -> Unstructured: ...
    async def get(self, target: Any, *arguments: Any, answer: type[A] | None = None) -> A | Unstructured:
        """Return the sub-resource of an object."""
        kind, key, _ = split_target(target, arguments, ())
        return _answer(await self._calls.read(kind, key, subresource=self._name), answer)

    @overload
    async def create(
        self, obj: Object, body: Body, /, *, answer: type[A], dry_run: bool = False, field_owner: str | None = None
    ) -> A: ...
    @overload
    async def create(
        self, obj: Object, body: Body, /, *, dry_run: bool = False, field_owner: str | None = None
    ) -> Unstructured: ...
    @overload
    async def create(
        self,
        kind: KindLike,
        key: Key,
        body: Body,
        /,
        *,
        answer: type[A],
        dry_run: bool = False,
        field_owner: str | None = None,
    ) -> A: ...
    @overload
    async def create(
        self, kind: KindLike, key: Key, body: Body, /, *, dry_run: bool = False, field_owner: str | None = None
    ) -> Unstructured: ...
    async def create(
        self,
        target: Any,
        *arguments: Any,
        answer: type[A] | None = None,
        dry_run: bool = False,
        field_owner: str | None = None,
    ) -> A | Unstructured:
        """Post to the sub-resource of an object, such as ``eviction``, ``binding`` or ``token``."""
        return _answer(await self._write("create", "POST", target, arguments, dry_run, field_owner), answer)

    @overload
    async def update(
        self,
        obj: Object,
        body: Body = ...,
        /,
        *,
        answer: type[A],
        dry_run: bool = False,
        field_owner: str | None = None,
    ) -> A: ...
    @overload
    async def update(
        self, obj: Object, body: Body = ..., /, *, dry_run: bool = False, field_owner: str | None = None
    ) -> Unstructured: ...
    @overload
    async def update(
        self,
        kind: KindLike,
        key: Key,
        body: Body,
        /,
        *,
        answer: type[A],
        dry_run: bool = False,
        field_owner: str | None = None,
    ) -> A: ...
    @overload
    async def update(
        self, kind: KindLike, key: Key, body: Body, /, *, dry_run: bool = False, field_owner: str | None = None
    ) -> Unstructured: ...
    async def update(
        self,
        target: Any,
        *arguments: Any,
        answer: type[A] | None = None,
        dry_run: bool = False,
        field_owner: str | None = None,
    ) -> A | Unstructured:
        """Replace the sub-resource of an object, such as ``scale``; of ``approval`` the object itself is the body."""
        return _answer(await self._write("update", "PUT", target, arguments, dry_run, field_owner), answer)

    @overload
    async def patch(
        self, obj: Object, patch: Patch, /, *, answer: type[A], dry_run: bool = False, field_owner: str | None = None
    ) -> A: ...
    @overload
    async def patch(
        self, obj: Object, patch: Patch, /, *, dry_run: bool = False, field_owner: str | None = None
    ) -> Unstructured: ...
    @overload
    async def patch(
        self,
        kind: KindLike,
        key: Key,
        patch: Patch,
        /,
        *,
        answer: type[A],
        dry_run: bool = False,
        field_owner: str | None = None,
    ) -> A: ...
    @overload
    async def patch(
        self, kind: KindLike, key: Key, patch: Patch, /, *, dry_run: bool = False, field_owner: str | None = None
    ) -> Unstructured: ...
    async def patch(
        self,
        target: Any,
        *arguments: Any,
        answer: type[A] | None = None,
        dry_run: bool = False,
        field_owner: str | None = None,
    ) -> A | Unstructured:
        """Change a part of the sub-resource of an object; called as `Client.patch` is."""
        query = self._calls.options.write_query(dry_run, field_owner)
        _, body = await send_patch(self._calls, target, arguments, query, dry_run=dry_run, subresource=self._name)
        return _answer(body, answer)

    @overload
    async def apply(
        self,
        obj: Body,
        /,
        *,
        answer: type[A],
        field_owner: str | None = None,
        force: bool = False,
        dry_run: bool = False,
    ) -> A: ...
    @overload
    async def apply(
        self, obj: Body, /, *, field_owner: str | None = None, force: bool = False, dry_run: bool = False
    ) -> Unstructured: ...
    @overload
    async def apply(
        self,
        kind: KindLike,
        key: Key,
        body: Body,
        /,
        *,
        answer: type[A],
        field_owner: str | None = None,
        force: bool = False,
        dry_run: bool = False,
    ) -> A: ...
    @overload
    async def apply(
        self,
        kind: KindLike,
        key: Key,
        body: Body,
        /,
        *,
        field_owner: str | None = None,
        force: bool = False,
        dry_run: bool = False,
    ) -> Unstructured: ...
    async def apply(
        self,
        target: Any,
        *arguments: Any,
        answer: type[A] | None = None,
        field_owner: str | None = None,
        force: bool = False,
        dry_run: bool = False,
    ) -> A | Unstructured:
        """Say how the sub-resource should be (server-side apply).

        Called with an object it is what is applied, as by `Client.apply`; a sub-resource of another kind, such as a
        Scale, is given after the kind and the key of its object.
        """
        if arguments:
            kind, key, (body,) = split_target(target, arguments, ("body",))
            wanted, whose = as_object(body), (kind, key)
        else:
            wanted = as_object(target)
            whose = kind_and_key(wanted)
        sent = send_apply(
            self._calls,
            wanted,
            field_owner=field_owner,
            force=force,
            dry_run=dry_run,
            subresource=self._name,
            target=whose,
        )
        return _answer(await sent, answer)

    async def _write(
        self,
        verb: WriteVerb,
        method: str,
        target: Any,
        arguments: tuple[Any, ...],
        dry_run: bool,
        field_owner: str | None,
    ) -> bytes:
        if verb == "update" and not arguments and isinstance(target, (KubernetesObject, Unstructured)):
            arguments = (target,)
        kind, key, (body,) = split_target(target, arguments, ("body",))
        write = WriteRequest(
            verb=verb,
            method=method,
            key=key,
            subresource=self._name,
            query=self._calls.options.write_query(dry_run, field_owner),
            body=as_object(body).to_json(),
            dry_run=dry_run or self._calls.options.dry_run,
        )
        return await self._calls.write(kind, write)


class HasSubResources(Protocol):
    """A client through which sub-resources are reached."""

    def subresource(self, name: str) -> SubResource:
        """Return a sub-resource by its name."""
        ...


def _answer(body: bytes, answer: type[A] | None) -> A | Unstructured:
    return Unstructured.from_wire(body) if answer is None else answer.from_wire(body)
