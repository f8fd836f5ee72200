"""Writing, as a protocol: what a reconciler may ask of a live client and of a cached one alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeVar, overload

from pyctrl.api import GroupVersionKind, Key, KindLike, KubernetesObject, Unstructured
from pyctrl.client._requests.options import Fields, FieldValidation, Labels, Preconditions, Propagation
from pyctrl.client._requests.patch import Patch

__all__ = ["Reader", "StatusWriter", "Writer"]


T = TypeVar("T", bound=KubernetesObject)
O = TypeVar("O", bound=KubernetesObject | Unstructured)  # noqa: E741 - an object, typed or not


class StatusWriter(Protocol):
    """Writes the status of objects and nothing else of them."""

    async def update(self, obj: O, *, dry_run: bool = False, field_owner: str | None = None) -> O:
        """Replace the status."""
        ...

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

    @overload
    async def apply(
        self, obj: O, *, field_owner: str | None = None, force: bool = False, dry_run: bool = False
    ) -> O: ...
    @overload
    async def apply(
        self, obj: dict[str, Any], *, field_owner: str | None = None, force: bool = False, dry_run: bool = False
    ) -> Unstructured: ...


class Writer(Protocol):
    """Writes objects.

    Every method that has an answer returns the object as the server keeps it now; the argument is never changed.
    """

    @property
    def status(self) -> StatusWriter:
        """Writes to the status sub-resource."""
        ...

    async def create(
        self,
        obj: O,
        *,
        dry_run: bool = False,
        field_owner: str | None = None,
        field_validation: FieldValidation | None = None,
    ) -> O:
        """Create an object."""
        ...

    async def update(
        self,
        obj: O,
        *,
        dry_run: bool = False,
        field_owner: str | None = None,
        field_validation: FieldValidation | None = None,
    ) -> O:
        """Replace an object."""
        ...

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

    @overload
    async def apply(
        self, obj: O, *, field_owner: str | None = None, force: bool = False, dry_run: bool = False
    ) -> O: ...
    @overload
    async def apply(
        self, obj: dict[str, Any], *, field_owner: str | None = None, force: bool = False, dry_run: bool = False
    ) -> Unstructured: ...

    @overload
    async def delete(
        self,
        obj: KubernetesObject | Unstructured,
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


R = TypeVar("R", bound=KubernetesObject)


class Reader(Protocol):
    """Reads objects, live or from a cache.

    A class gives objects of that class, ``Metadata[...]`` of it only their metadata, and a GroupVersionKind gives
    `Unstructured`. Every object that is returned belongs to the caller.
    """

    @overload
    async def get(self, kind: type[R], key: Key) -> R: ...
    @overload
    async def get(self, kind: GroupVersionKind, key: Key) -> Unstructured: ...

    @overload
    async def find(self, kind: type[R], key: Key) -> R | None: ...
    @overload
    async def find(self, kind: GroupVersionKind, key: Key) -> Unstructured | None: ...

    @overload
    async def list(
        self, kind: type[R], *, namespace: str | None = None, labels: Labels = None, fields: Fields = None
    ) -> Sequence[R]: ...
    @overload
    async def list(
        self,
        kind: GroupVersionKind,
        *,
        namespace: str | None = None,
        labels: Labels = None,
        fields: Fields = None,
    ) -> Sequence[Unstructured]: ...
