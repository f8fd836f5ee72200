"""Several finalizers of one operator: each is put on objects, and cleans up before they go."""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar, cast

from pyctrl.api import (
    KubernetesObject,
    Unstructured,
    add_finalizer,
    has_finalizer,
    is_deleting,
    merge_patch_diff,
    remove_finalizer,
)
from pyctrl.client import Client, MergePatch

__all__ = ["FinalizeHandler", "FinalizeResult", "Finalizers"]

T = TypeVar("T", bound=KubernetesObject | Unstructured)


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalizeResult:
    """What was changed of an object that finalizers were asked about; nothing of it is written yet."""

    #: Its metadata or spec: finalizers were added or removed.
    updated: bool = False
    #: Its status: a handler said so.
    status_updated: bool = False
    #: There is more to wait for: the finalizer stays, and nothing has failed. Said by a handler; of `Finalizers`, that
    #: one of them said so. What is waited for has to be watched, or asked for again with ``Result.after``.
    waiting: bool = False


#: Cleans up after an object that is being deleted. It may change the object's status and say so with its result;
#: None is a result that says nothing. When it raises, its finalizer stays and the object with it.
FinalizeHandler: TypeAlias = Callable[[T], Awaitable[FinalizeResult | None]]


class Finalizers(Generic[T]):
    """The finalizers that an operator puts on objects of a kind, each with what it does before the object goes.

        finalizers = Finalizers[Database]()
        finalizers.register("demo.example.com/backup", take_backup)
        finalizers.register("demo.example.com/disk", delete_disk)

    and in ``reconcile``, before anything else::

        database = await finalizers.finalize_and_patch(self.client, database)
        if is_deleting(database):
            return

    Handlers run one after the other, in the order in which they were registered. A handler runs again until its
    finalizer is gone from the server, so it must be harmless when there is nothing left to do. One that fails keeps
    its finalizer, does not keep the next ones from running, and is tried again with the reconcile. One that has begun
    something, such as a Job, and waits for its end returns ``FinalizeResult(waiting=True)``.
    """

    def __init__(self) -> None:
        self._handlers: dict[str, FinalizeHandler[T]] = {}

    def register(self, name: str, handler: FinalizeHandler[T]) -> None:
        """Add a finalizer.

        Raises:
            ValueError: the name is taken, or is not of the form ``example.com/name``, which servers ask for.
        """
        if name in self._handlers:
            raise ValueError(f"the finalizer {name!r} is registered already")
        domain, slash, rest = name.partition("/")
        if not (domain and slash and rest) or "/" in rest:
            raise ValueError(f"{name!r} cannot be a finalizer: expected a domain and a name, as in example.com/backup")
        self._handlers[name] = handler

    async def finalize(self, obj: T) -> FinalizeResult:
        """Add the finalizers that an object lacks or, when it is being deleted, run those that it has.

        The object is changed in place; writing it is up to the caller, even when this raises. Finalizers that are not
        registered here are left alone.

        Raises:
            Exception: the error of the one handler that failed.
            ExceptionGroup: several have failed.
        """
        result, errors = await self._finalize(obj)
        _raise(errors, obj)
        return result

    async def finalize_and_patch(self, client: Client, obj: T) -> T:
        """Do what `finalize` does to a copy, write what has changed, and return the object as it is now.

        Sent are a merge patch of the status and one of the metadata, which is refused when somebody has changed the
        object in the meantime; what was done is then done again by the next attempt. Reconcilers declare ``patch``,
        and ``patch`` of the kind's status when a handler changes it. The returned object need not exist any more.

        Raises:
            Conflict: the object has changed since it was read.
            Exception, ExceptionGroup: as `finalize`, after what succeeded is written.
        """
        after = cast(T, obj.deep_copy())
        newest, version = obj, obj.metadata.resource_version
        before = copy.deepcopy(obj.to_wire())
        result, errors = await self._finalize(after)
        patch = merge_patch_diff(before, after.to_wire())
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
            except Exception as error:  # noqa: BLE001 - raised when the others have had their turn
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


def _raise(errors: list[Exception], obj: KubernetesObject | Unstructured) -> None:
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise ExceptionGroup(f"{len(errors)} finalizers of {obj.kind} {obj.key} failed", errors)
