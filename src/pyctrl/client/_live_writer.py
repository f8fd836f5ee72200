"""Writing to the server: create, update, patch, apply, delete."""

from __future__ import annotations

from typing import Any, TypeVar, overload

import msgspec

from pyctrl.api import GroupVersionKind, Key, KindLike, KubernetesObject, Object, Unstructured
from pyctrl.client._requests.options import (
    Fields,
    FieldValidation,
    Labels,
    Preconditions,
    Propagation,
    delete_options,
    selection,
)
from pyctrl.client._requests.patch import Patch
from pyctrl.client._requests.resource_client import ResourceClient, WriteRequest
from pyctrl.client._requests.write_requests import (
    as_object,
    decode_like,
    decode_written,
    encode_whole,
    kind_and_key,
    send_apply,
    send_patch,
)

__all__ = ["LiveWriter"]

T = TypeVar("T", bound=KubernetesObject)
O = TypeVar("O", bound=KubernetesObject | Unstructured)  # noqa: E741 - an object, typed or not


class LiveWriter:
    """The writing half of `Client`. What is passed in is never changed; the answer is a new object."""

    def __init__(self, calls: ResourceClient) -> None:
        self._calls = calls

    async def create(
        self,
        obj: O,
        *,
        dry_run: bool = False,
        field_owner: str | None = None,
        field_validation: FieldValidation | None = None,
    ) -> O:
        """Create an object and return it as the server made it.

        Raises:
            AlreadyExists: the name is taken.
            Invalid: a field breaks the kind's rules.
            UnknownKind: the cluster does not serve the kind.
        """
        options = self._calls.options
        kind, key = kind_and_key(obj)
        write = WriteRequest(
            verb="create",
            method="POST",
            key=key,
            in_collection=True,
            query=options.write_query(dry_run, field_owner, field_validation),
            body=encode_whole(obj, "create"),
            dry_run=dry_run or options.dry_run,
        )
        return decode_like(obj, await self._calls.write(kind, write))

    async def update(
        self,
        obj: O,
        *,
        dry_run: bool = False,
        field_owner: str | None = None,
        field_validation: FieldValidation | None = None,
    ) -> O:
        """Replace an object by this one and return it as the server keeps it.

        Raises:
            Conflict: it has changed since this one was read. An object without resource version replaces any.
            NotFound: there is none.
        """
        options = self._calls.options
        kind, key = kind_and_key(obj)
        write = WriteRequest(
            verb="update",
            method="PUT",
            key=key,
            query=options.write_query(dry_run, field_owner, field_validation),
            body=encode_whole(obj, "update"),
            dry_run=dry_run or options.dry_run,
        )
        return decode_like(obj, await self._calls.write(kind, write))

    @overload
    async def patch(
        self,
        obj: O,
        patch: Patch,
        /,
        *,
        dry_run: bool = False,
        field_owner: str | None = None,
        field_validation: FieldValidation | None = None,
    ) -> O: ...
    @overload
    async def patch(
        self,
        kind: type[T],
        key: Key,
        patch: Patch,
        /,
        *,
        dry_run: bool = False,
        field_owner: str | None = None,
        field_validation: FieldValidation | None = None,
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
        field_validation: FieldValidation | None = None,
    ) -> Unstructured: ...
    async def patch(
        self,
        target: Any,
        *arguments: Any,
        dry_run: bool = False,
        field_owner: str | None = None,
        field_validation: FieldValidation | None = None,
    ) -> Any:
        """Change a part of an object and return it as the server keeps it.

        Takes an object and a patch, or a kind, a key and a patch: `MergePatch`, `JsonPatch`, `StrategicMergePatch`,
        or `merge_from` the object as it was.

        Raises:
            Conflict: the patch names a version or value that is no longer there.
            NotFound: there is no such object.
        """
        query = self._calls.options.write_query(dry_run, field_owner, field_validation)
        kind, body = await send_patch(self._calls, target, arguments, query, dry_run=dry_run)
        return decode_written(kind, body)

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
        """Say how an object should be (server-side apply); it is created when there is none.

        Only the fields that are set in ``obj`` are owned and changed; those that were applied by this owner before
        and are missing now are given up. ``managedFields`` is left out.

        Args:
            obj: typed, Unstructured, or a dict, which gives Unstructured.
            field_owner: whose fields these are; the client's by default.
            force: take over fields of other owners instead of raising `Conflict`.
            dry_run: only ask what would happen.
        """
        wanted = as_object(obj)
        body = await send_apply(self._calls, wanted, field_owner=field_owner, force=force, dry_run=dry_run)
        return decode_like(wanted, body)

    @overload
    async def delete(
        self,
        obj: Object,
        /,
        *,
        propagation: Propagation | None = None,
        grace_period_seconds: int | None = None,
        preconditions: Preconditions | None = None,
        dry_run: bool = False,
    ) -> None: ...
    @overload
    async def delete(
        self,
        kind: KindLike,
        key: Key,
        /,
        *,
        propagation: Propagation | None = None,
        grace_period_seconds: int | None = None,
        preconditions: Preconditions | None = None,
        dry_run: bool = False,
    ) -> None: ...
    async def delete(
        self,
        target: Any,
        key: Key | None = None,
        /,
        *,
        propagation: Propagation | None = None,
        grace_period_seconds: int | None = None,
        preconditions: Preconditions | None = None,
        dry_run: bool = False,
    ) -> None:
        """Delete an object, given as object or as kind and key. With finalizers it only begins to go.

        Args:
            target: the object, or its kind.
            key: which one, after a kind.
            propagation: what becomes of the objects that it owns; by default the kind's own way.
            grace_period_seconds: for pods; 0 is at once.
            preconditions: which object it must still be.
            dry_run: only ask whether it would be deleted.

        Raises:
            NotFound: there is none.
            Conflict: a precondition does not hold.
        """
        kind, key = (target, key) if key is not None else kind_and_key(target)
        is_dry_run = dry_run or self._calls.options.dry_run
        body = delete_options(
            propagation=propagation,
            grace_period_seconds=grace_period_seconds,
            preconditions=preconditions,
            dry_run=is_dry_run,
        )
        write = WriteRequest(
            verb="delete",
            method="DELETE",
            key=key,
            body=msgspec.json.encode(body) if body else None,
            dry_run=is_dry_run,
        )
        await self._calls.write(kind, write)

    async def delete_all_of(
        self,
        kind: KindLike,
        *,
        namespace: str | None = None,
        labels: Labels = None,
        fields: Fields = None,
        propagation: Propagation | None = None,
        grace_period_seconds: int | None = None,
        dry_run: bool = False,
    ) -> None:
        """Delete every object that matches. A namespaced kind needs a namespace: servers refuse it for all at once."""
        is_dry_run = dry_run or self._calls.options.dry_run
        body = delete_options(
            propagation=propagation, grace_period_seconds=grace_period_seconds, preconditions=None, dry_run=is_dry_run
        )
        write = WriteRequest(
            verb="delete_all_of",
            method="DELETE",
            key=Key(namespace or "", ""),
            in_collection=True,
            query=selection(labels, fields),
            body=msgspec.json.encode(body) if body else None,
            dry_run=is_dry_run,
        )
        await self._calls.write(kind, write)
