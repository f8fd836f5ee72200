"""Writes to the server: create, update, patch, apply and delete."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, overload

from typing_extensions import TypeVar

from pyctrl.api import Key, Kind, KindLike, ObjectLike, Unstructured, as_object
from pyctrl.client._requests.options import (
    Fields,
    FieldValidation,
    Labels,
    Preconditions,
    Propagation,
    Shards,
    selection,
)
from pyctrl.client._requests.patch import Patch
from pyctrl.client._requests.resource_client import Verbs
from pyctrl.client._requests.write_requests import (
    apply_request,
    create_request,
    decode_like,
    decode_written,
    delete_request,
    encode_whole,
    kind_and_key,
    patch_request,
    split_target,
    update_request,
)

__all__ = ["ObjectVerbs", "ObjectWriter"]

O = TypeVar("O", bound=ObjectLike)  # noqa: E741 - an object, typed or not
#: The type of an answer: that of the argument; Unstructured when a dict was passed.
A = TypeVar("A", bound=ObjectLike, default=Unstructured)


class ObjectVerbs(Verbs):
    """The verbs that objects and their status have in common. Arguments are never changed; the result is a new object.

    The options are the same everywhere, except that an apply has no ``field_validation``:

    - ``dry_run``: the server checks the write and returns its result without keeping it.
    - ``field_owner``: the owner of the fields that are written; the client's by default.
    - ``field_validation``: see `FieldValidation`; the client's by default.
    """

    _subresource = ""

    async def update(
        self,
        obj: O,
        *,
        dry_run: bool = False,
        field_owner: str | None = None,
        field_validation: FieldValidation | None = None,
    ) -> O:
        """Replace the object, or its status, and return the object as the server keeps it.

        Raises:
            Conflict: the object has changed since it was read. An object without resource version replaces any.
            NotFound: the object does not exist.
        """
        kind, key = kind_and_key(obj)
        request = update_request(
            self._requests.options,
            key,
            encode_whole(obj, f"update the {self._subresource} of" if self._subresource else "update"),
            subresource=self._subresource,
            dry_run=dry_run,
            field_owner=field_owner,
            field_validation=field_validation,
        )
        return decode_like(obj, await self._requests.write(kind, request))

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
        kind: Kind[O],
        key: Key,
        patch: Patch,
        /,
        *,
        dry_run: bool = False,
        field_owner: str | None = None,
        field_validation: FieldValidation | None = None,
    ) -> O: ...
    async def patch(
        self,
        target: Any,
        *arguments: Any,
        dry_run: bool = False,
        field_owner: str | None = None,
        field_validation: FieldValidation | None = None,
    ) -> Any:
        """Change a part of the object, or of its status, and return the object as the server keeps it.

        Takes an object and a patch, or a kind, a key and a patch: `MergePatch`, `JsonPatch`, `StrategicMergePatch`,
        or `merge_from` the object as it was.

        Raises:
            Conflict: the patch names a version or a value that the object no longer has.
            NotFound: the object does not exist.
        """
        (kind, key, obj), (patch,) = split_target(target, arguments, ("patch",))
        request = patch_request(
            self._requests.options,
            key,
            patch,
            obj,
            subresource=self._subresource,
            dry_run=dry_run,
            field_owner=field_owner,
            field_validation=field_validation,
        )
        return decode_written(kind, await self._requests.write(kind, request))

    async def apply(
        self, obj: A | dict[str, Any], *, field_owner: str | None = None, force: bool = False, dry_run: bool = False
    ) -> A:
        """Apply an object, or its status (server-side apply); an object that does not exist is created.

        Only the fields that are set in ``obj`` are owned and changed. Fields that this owner applied before and that
        are missing now are given up. ``managedFields`` is left out. An apply is always strict: unknown fields are
        refused.

        Args:
            obj: the fields to apply; typed, Unstructured, or a dict, which returns Unstructured.
            field_owner: see the class.
            force: take over fields of other owners instead of raising `Conflict`.
            dry_run: see the class.
        """
        wanted: Any = as_object(obj) if isinstance(obj, Mapping) else obj
        kind, key = kind_and_key(wanted)
        request = apply_request(
            self._requests.options,
            key,
            as_object(wanted),
            subresource=self._subresource,
            dry_run=dry_run,
            field_owner=field_owner,
            force=force,
        )
        answer: A = decode_like(wanted, await self._requests.write(kind, request))
        return answer


class ObjectWriter(ObjectVerbs):
    """The writes of `Client`."""

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
            AlreadyExists: an object of this name exists.
            Invalid: a field breaks the kind's rules.
            UnknownKind: the cluster does not serve the kind.
        """
        kind, key = kind_and_key(obj)
        request = create_request(
            self._requests.options,
            key,
            encode_whole(obj, "create"),
            dry_run=dry_run,
            field_owner=field_owner,
            field_validation=field_validation,
        )
        return decode_like(obj, await self._requests.write(kind, request))

    @overload
    async def delete(
        self,
        obj: ObjectLike,
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
        """Delete an object, given as object or as kind and key. An object with finalizers is only marked as deleted.

        Args:
            target: the object, or its kind.
            key: after a kind, the object's key.
            propagation: what happens to the objects that it owns; by default as the kind defines.
            grace_period_seconds: for pods; 0 deletes at once.
            preconditions: which object it must still be.
            dry_run: only check whether it would be deleted.

        Raises:
            NotFound: the object does not exist.
            Conflict: a precondition does not hold.
        """
        kind, key = (target, key) if key is not None else kind_and_key(target)
        request = delete_request(
            self._requests.options,
            key,
            propagation=propagation,
            grace_period_seconds=grace_period_seconds,
            preconditions=preconditions,
            dry_run=dry_run,
        )
        await self._requests.write(kind, request)

    async def delete_all_of(
        self,
        kind: KindLike,
        *,
        namespace: str | None = None,
        labels: Labels = None,
        fields: Fields = None,
        shard_selector: Shards = None,
        propagation: Propagation | None = None,
        grace_period_seconds: int | None = None,
        dry_run: bool = False,
    ) -> None:
        """Delete every object that matches. A namespaced kind needs ``namespace``: servers delete in one at a time."""
        request = delete_request(
            self._requests.options,
            Key(namespace or "", ""),
            selected=selection(labels, fields, shard_selector),
            propagation=propagation,
            grace_period_seconds=grace_period_seconds,
            dry_run=dry_run,
        )
        await self._requests.write(kind, request)
