"""Sub-resources of objects: the status, which answers with the object itself, and any other by its name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias, overload

from typing_extensions import TypeVar

from pyctrl.api import (
    Key,
    Kind,
    KindLike,
    KubernetesObject,
    ObjectLike,
    Unstructured,
    as_object,
    decode,
    is_openapi_model,
)
from pyctrl.client._object_writer import ObjectVerbs
from pyctrl.client._requests.options import FieldValidation
from pyctrl.client._requests.patch import Patch
from pyctrl.client._requests.resource_client import ResourceClient, Verbs
from pyctrl.client._requests.write_requests import (
    WriteRequest,
    WriteTarget,
    apply_request,
    create_request,
    kind_and_key,
    patch_request,
    split_target,
    update_request,
)

__all__ = ["HasSubResources", "StatusResource", "SubResource"]

O = TypeVar("O", bound=ObjectLike)  # noqa: E741 - an object, typed or not
#: The type of an answer: the class passed as ``answer``, else Unstructured.
A = TypeVar("A", bound=ObjectLike, default=Unstructured)
#: What is sent: an object, or its document.
Body: TypeAlias = ObjectLike | Mapping[str, Any]


class StatusResource(ObjectVerbs):
    """The ``status`` of objects: writes change nothing but the status, and answer with the whole object."""

    _subresource = "status"

    async def get(self, kind: Kind[O], key: Key) -> O:
        """Return an object; rarely needed, since reading the object returns its status too."""
        return decode(kind, await self._requests.read(kind, key, subresource="status"))


class SubResource(Verbs):
    """Any sub-resource, by its name. Answers are Unstructured, or of the class passed as ``answer``.

    Each method is called with an object, or with a kind and a key, and has the options of `Client`'s:

        scale = await client.subresource("scale").get(Deployment, key, answer=Scale)
        await client.subresource("ephemeralcontainers").patch(pod, merge_from(before), answer=Pod)
    """

    def __init__(self, requests: ResourceClient, name: str) -> None:
        super().__init__(requests)
        self._name = name

    @overload
    async def get(self, obj: ObjectLike, /, *, answer: type[A] | None = None) -> A: ...
    @overload
    async def get(self, kind: KindLike, key: Key, /, *, answer: type[A] | None = None) -> A: ...
    async def get(self, target: Any, *arguments: Any, answer: type[Any] | None = None) -> Any:
        """Return the sub-resource of an object."""
        (kind, key, _), _ = split_target(target, arguments, ())
        return _decode(await self._requests.read(kind, key, subresource=self._name), answer)

    @overload
    async def create(
        self,
        obj: ObjectLike,
        body: Body,
        /,
        *,
        answer: type[A] | None = None,
        dry_run: bool = False,
        field_owner: str | None = None,
        field_validation: FieldValidation | None = None,
    ) -> A: ...
    @overload
    async def create(
        self,
        kind: KindLike,
        key: Key,
        body: Body,
        /,
        *,
        answer: type[A] | None = None,
        dry_run: bool = False,
        field_owner: str | None = None,
        field_validation: FieldValidation | None = None,
    ) -> A: ...
    async def create(
        self,
        target: Any,
        *arguments: Any,
        answer: type[Any] | None = None,
        dry_run: bool = False,
        field_owner: str | None = None,
        field_validation: FieldValidation | None = None,
    ) -> Any:
        """Post to the sub-resource of an object, such as ``eviction``, ``binding`` or ``token``."""
        where, (body,) = split_target(target, arguments, ("body",))
        request = create_request(
            self._requests.options,
            where.key,
            as_object(body).to_json(),
            subresource=self._name,
            dry_run=dry_run,
            field_owner=field_owner,
            field_validation=field_validation,
        )
        return await self._write(where, request, answer)

    @overload
    async def update(
        self,
        obj: ObjectLike,
        body: Body = ...,
        /,
        *,
        answer: type[A] | None = None,
        dry_run: bool = False,
        field_owner: str | None = None,
        field_validation: FieldValidation | None = None,
    ) -> A: ...
    @overload
    async def update(
        self,
        kind: KindLike,
        key: Key,
        body: Body,
        /,
        *,
        answer: type[A] | None = None,
        dry_run: bool = False,
        field_owner: str | None = None,
        field_validation: FieldValidation | None = None,
    ) -> A: ...
    async def update(
        self,
        target: Any,
        *arguments: Any,
        answer: type[Any] | None = None,
        dry_run: bool = False,
        field_owner: str | None = None,
        field_validation: FieldValidation | None = None,
    ) -> Any:
        """Replace the sub-resource of an object, such as ``scale``; of ``approval`` the object itself is the body."""
        if not arguments and (isinstance(target, (KubernetesObject, Unstructured)) or is_openapi_model(target)):
            arguments = (target,)
        where, (body,) = split_target(target, arguments, ("body",))
        request = update_request(
            self._requests.options,
            where.key,
            as_object(body).to_json(),
            subresource=self._name,
            dry_run=dry_run,
            field_owner=field_owner,
            field_validation=field_validation,
        )
        return await self._write(where, request, answer)

    @overload
    async def patch(
        self,
        obj: ObjectLike,
        patch: Patch,
        /,
        *,
        answer: type[A] | None = None,
        dry_run: bool = False,
        field_owner: str | None = None,
        field_validation: FieldValidation | None = None,
    ) -> A: ...
    @overload
    async def patch(
        self,
        kind: KindLike,
        key: Key,
        patch: Patch,
        /,
        *,
        answer: type[A] | None = None,
        dry_run: bool = False,
        field_owner: str | None = None,
        field_validation: FieldValidation | None = None,
    ) -> A: ...
    async def patch(
        self,
        target: Any,
        *arguments: Any,
        answer: type[Any] | None = None,
        dry_run: bool = False,
        field_owner: str | None = None,
        field_validation: FieldValidation | None = None,
    ) -> Any:
        """Change a part of the sub-resource of an object; called as `Client.patch` is."""
        where, (patch,) = split_target(target, arguments, ("patch",))
        request = patch_request(
            self._requests.options,
            where.key,
            patch,
            where.obj,
            subresource=self._name,
            dry_run=dry_run,
            field_owner=field_owner,
            field_validation=field_validation,
        )
        return await self._write(where, request, answer)

    @overload
    async def apply(
        self,
        obj: Body,
        /,
        *,
        answer: type[A] | None = None,
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
        answer: type[A] | None = None,
        field_owner: str | None = None,
        force: bool = False,
        dry_run: bool = False,
    ) -> A: ...
    async def apply(
        self,
        target: Any,
        *arguments: Any,
        answer: type[Any] | None = None,
        field_owner: str | None = None,
        force: bool = False,
        dry_run: bool = False,
    ) -> Any:
        """Apply to the sub-resource of an object (server-side apply).

        Called with an object, that object is applied, as by `Client.apply`. A sub-resource of another kind, such as
        a Scale, is passed after the kind and the key of the object that has it.
        """
        if arguments:
            where, (body,) = split_target(target, arguments, ("body",))
            wanted = as_object(body)
        else:
            wanted = as_object(target)
            where = WriteTarget(*kind_and_key(wanted), wanted)
        request = apply_request(
            self._requests.options,
            where.key,
            wanted,
            subresource=self._name,
            dry_run=dry_run,
            field_owner=field_owner,
            force=force,
        )
        return await self._write(where, request, answer)

    async def _write(self, where: WriteTarget, request: WriteRequest, answer: type[Any] | None) -> Any:
        return _decode(await self._requests.write(where.kind, request), answer)


class HasSubResources(Protocol):
    """A client through which sub-resources are reached."""

    def subresource(self, name: str) -> SubResource:
        """Return a sub-resource by its name."""
        ...


def _decode(body: bytes, answer: type[Any] | None) -> Any:
    return Unstructured.from_wire(body) if answer is None else decode(answer, body)
