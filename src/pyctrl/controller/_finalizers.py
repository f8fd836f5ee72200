"""The finalizers of an operator: they are added to objects, and clean up before the objects are deleted."""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from pyctrl.api import (
    Key,
    ObjectLike,
    add_finalizer,
    as_object,
    deep_copy,
    has_finalizer,
    is_deleting,
    merge_patch_diff,
    remove_finalizer,
)
from pyctrl.client import Client, MergePatch

__all__ = ["FinalizeHandler", "FinalizeResult", "Finalizers"]

T = TypeVar("T", bound=ObjectLike)


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalizeResult:
    """What finalizers have changed of an object. The changes are not written yet."""

    #: Whether metadata or spec changed: finalizers were added or removed.
    updated: bool = False
    #: Whether a handler changed the status.
    status_updated: bool = False
    #: Whether a handler waits for something, without a failure: its finalizer stays. Watch what it waits for, or check
    #: it again with ``Result.after``.
    waiting: bool = False


#: Cleans up after an object that is being deleted. It may change the object's status, and then returns a result that
#: says so; None means no change. When it raises, its finalizer stays, and so does the object.
FinalizeHandler: TypeAlias = Callable[[T], Awaitable[FinalizeResult | None]]


class Finalizers(Generic[T]):
    """The finalizers that an operator adds to objects of a kind, each with a handler that cleans up.

        finalizers = Finalizers[Database]()
        finalizers.register("demo.example.com/backup", take_backup)
        finalizers.register("demo.example.com/disk", delete_disk)

    and in ``reconcile``, before anything else::

        database = await finalizers.finalize_and_patch(self.client, database)
        if is_deleting(database):
            return

    Handlers run one after the other, in the order of registration. A handler runs again until its finalizer is removed
    on the server, so it must be idempotent. When a handler fails, its finalizer stays, the next handlers run
    nevertheless, and the reconcile is retried. A handler that has started something, such as a Job, and waits for its
    end returns ``FinalizeResult(waiting=True)``.
    """

    def __init__(self) -> None:
        self._handlers: dict[str, FinalizeHandler[T]] = {}

    def register(self, name: str, handler: FinalizeHandler[T]) -> None:
        """Add a finalizer.

        Raises:
            ValueError: the name is taken, or is not of the form ``example.com/name``, which servers require.
        """
        if name in self._handlers:
            raise ValueError(f"finalizer {name!r} is registered already")
        domain, slash, rest = name.partition("/")
        if not (domain and slash and rest) or "/" in rest:
            raise ValueError(f"invalid finalizer {name!r}: expected a domain and a name, as in example.com/backup")
        self._handlers[name] = handler

    async def finalize(self, obj: T) -> FinalizeResult:
        """Add the finalizers that an object lacks or, when it is being deleted, run the handlers of those that it has.

        It changes the object in place. The caller writes it, also when this raises. Finalizers that are not registered
        here are left alone.

        Raises:
            Exception: the error of the one handler that failed.
            ExceptionGroup: several handlers have failed.
        """
        result, errors = await self._finalize(obj)
        _raise(errors, obj)
        return result

    async def finalize_and_patch(self, client: Client, obj: T) -> T:
        """Call `finalize` on a copy, write the changes, and return the object as it is now.

        It sends a merge patch of the status and one of the metadata, each with the resource version. If the object has
        changed meanwhile, the server refuses them, and the next reconcile runs the handlers again. Reconcilers declare
        ``patch``, and ``patch`` of the kind's status if a handler changes it. The returned object may not exist any
        more.

        Raises:
            Conflict: the object has changed since it was read.
            Exception, ExceptionGroup: as `finalize`, after the changes of successful handlers are written.
        """
        after = deep_copy(obj)
        newest, version = obj, obj.metadata.resource_version
        before = copy.deepcopy(as_object(obj).to_wire())
        result, errors = await self._finalize(after)
        patch = merge_patch_diff(before, as_object(after).to_wire())
        status = {"status": patch.pop("status", {})}
        if result.status_updated:
            newest = await client.status.patch(after, _locked(status, version))
            version = newest.metadata.resource_version
        if result.updated:
            newest = await client.patch(after, _locked(patch, version))
        _raise(errors, obj)
        return newest

    async def _finalize(self, obj: T) -> tuple[FinalizeResult, list[Exception]]:
        if not is_deleting(obj):
            added = [add_finalizer(obj, name) for name in self._handlers]
            return FinalizeResult(updated=any(added)), []
        results: list[FinalizeResult] = []
        errors: list[Exception] = []
        for name in [name for name in self._handlers if has_finalizer(obj, name)]:
            try:
                result = await self._handlers[name](obj) or FinalizeResult()
            except Exception as error:  # noqa: BLE001 - raised after the other handlers have run
                error.add_note(f"raised by the finalizer {name}")
                errors.append(error)
            else:
                results.append(result)
                if not result.waiting:
                    results.append(FinalizeResult(updated=remove_finalizer(obj, name)))
        return FinalizeResult(
            updated=any(result.updated for result in results),
            status_updated=any(result.status_updated for result in results),
            waiting=any(result.waiting for result in results),
        ), errors


def _locked(patch: dict[str, Any], version: str) -> MergePatch:
    return MergePatch({**patch, "metadata": {**patch.get("metadata", {}), "resourceVersion": version}})


def _raise(errors: list[Exception], obj: ObjectLike) -> None:
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise ExceptionGroup(f"{len(errors)} finalizers of {obj.kind} {Key.of(obj)} failed", errors)
