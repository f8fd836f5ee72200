"""Reader and Writer: the protocols of a client, live or cached, that a reconciler depends on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, overload

from typing_extensions import TypeVar

from pyctrl.api import Key, Kind, KindLike, ObjectLike, Unstructured
from pyctrl.client._requests.options import Fields, FieldValidation, Labels, Preconditions, Propagation
from pyctrl.client._requests.patch import Patch

__all__ = ["Reader", "ReaderWriter", "StatusWriter", "Writer"]

O = TypeVar("O", bound=ObjectLike)  # noqa: E741 - an object, typed or not
A = TypeVar("A", bound=ObjectLike, default=Unstructured)


class Reader(Protocol):
    """Reads objects, live or from a cache.

    A class returns objects of that class, ``Metadata[...]`` of it only their metadata, and a GroupVersionKind
    `Unstructured`. Every returned object belongs to the caller.
    """

    async def get(self, kind: Kind[O], key: Key) -> O:
        """Return an object. Raises NotFound when it does not exist."""
        ...

    async def find(self, kind: Kind[O], key: Key) -> O | None:
        """Return an object, or None when it does not exist."""
        ...

    async def list(
        self, kind: Kind[O], *, namespace: str | None = None, labels: Labels = None, fields: Fields = None
    ) -> Sequence[O]:
        """Return the objects that match, of all namespaces unless one is named."""
        ...


class StatusWriter(Protocol):
    """Writes the status of objects and nothing else of them."""

    async def update(
        self,
        obj: O,
        *,
        dry_run: bool = False,
        field_owner: str | None = None,
        field_validation: FieldValidation | None = None,
    ) -> O:
        """Replace the status, or as a `Writer` the object."""
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
        kind: Kind[O],
        key: Key,
        patch: Patch,
        /,
        *,
        dry_run: bool = False,
        field_owner: str | None = None,
        field_validation: FieldValidation | None = None,
    ) -> O: ...

    async def apply(
        self, obj: A | dict[str, Any], *, field_owner: str | None = None, force: bool = False, dry_run: bool = False
    ) -> A:
        """Apply the status, or as a `Writer` the object (server-side apply)."""
        ...


class Writer(StatusWriter, Protocol):
    """Writes objects: `update`, `patch` and `apply` as of a `StatusWriter`, but for the object itself.

    Every method with an answer returns the object as the server keeps it; arguments are never changed.
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


class ReaderWriter(Reader, Writer, Protocol):
    """Reads and writes: `Client` and `CachedClient`."""
