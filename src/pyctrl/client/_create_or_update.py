"""Writing only when it is needed: create or update, create or patch, create or apply."""

from __future__ import annotations

import copy
import inspect
import logging
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, TypeVar, cast, overload

from pyctrl.api import Key, KubernetesObject, Unstructured, merge_patch_diff
from pyctrl.client._comparison.apply_diff import first_difference
from pyctrl.client._comparison.apply_memo import ApplyKey
from pyctrl.client._comparison.semantic_equality import without_empty
from pyctrl.client._live_reader import LiveReader
from pyctrl.client._live_writer import LiveWriter
from pyctrl.client._requests.patch import MergePatch
from pyctrl.client._requests.write_requests import as_object, kind_and_key
from pyctrl.client._subresources import StatusResource

__all__ = ["CreateOrUpdate", "OperationResult", "Written"]

O = TypeVar("O", bound=KubernetesObject | Unstructured)  # noqa: E741 - an object, typed or not

log = logging.getLogger("pyctrl.client")


class OperationResult(Enum):
    """What create-or-update, create-or-patch and create-or-apply did; the words are controllerutil's."""

    NONE = "unchanged"  # the object is as it should be; nothing was sent, or what was sent changed nothing
    CREATED = "created"
    UPDATED = "updated"
    UPDATED_STATUS = "updatedStatus"  # the object and its status; only `create_or_patch`
    UPDATED_STATUS_ONLY = "updatedStatusOnly"  # only `create_or_patch`


@dataclass(frozen=True, slots=True)
class Written(Generic[O]):
    """The object as it is now, and what was done to it."""

    object: O
    result: OperationResult


class CreateOrUpdate(LiveReader, LiveWriter):
    """The part of `Client` that reads first and writes only a difference.

    It reads with `find`: a cached client reads its cache. The kind must then be one that the cache watches
    (``.owns(Deployment)``), else `NotCovered` is raised. What is sent is ``create`` and ``update`` or ``patch``; a
    reconciler declares these.
    """

    async def create_or_update(
        self, obj: O, mutate: Callable[[O], None], *, field_owner: str | None = None
    ) -> Written[O]:
        """Bring an object to what ``mutate`` makes of it; an update is sent only when that changes something.

        ``mutate`` is called once: with the object as it is, or, when there is none, with a copy of ``obj``. It changes
        what it is given, in place, and nothing else. Of an object that is there, only name, namespace and kind of
        ``obj`` count. The status is neither compared nor written where it is a sub-resource.

        Args:
            obj: which object; also what to begin with. It stays as it is.
            mutate: sets the fields that matter, on the object it is given.
            field_owner: who owns the fields that are written.

        Raises:
            Conflict: somebody has changed it since it was read; the next attempt reads it anew.
            AlreadyExists: somebody has created it since; likewise.
            ValueError: ``mutate`` has changed the name or the namespace.
        """
        found = await self._find(obj)
        if found is None:
            return await self._create(obj, mutate, field_owner)
        before, after = _mutate(found, mutate)
        if await self._has_status(obj):
            before, after_wire = _without_status(before), _without_status(after.to_wire())
        else:
            after_wire = after.to_wire()
        if without_empty(obj.gvk, before) == without_empty(obj.gvk, after_wire):
            return Written(found, OperationResult.NONE)
        return Written(await self.update(after, field_owner=field_owner), OperationResult.UPDATED)

    async def create_or_patch(
        self, obj: O, mutate: Callable[[O], None], *, field_owner: str | None = None
    ) -> Written[O]:
        """Do as `create_or_update`, but send merge patches: of the object, of its status, or of both.

        What others change in the meantime is kept, except that lists are replaced whole; there is no `Conflict`. When
        the object is created its status is not written, as the server would leave it out.

        Raises:
            AlreadyExists: somebody has created it since it was read.
            NotFound: somebody has deleted it since; or the kind's status is no sub-resource and was changed.
            ValueError: ``mutate`` has changed the name or the namespace.
        """
        found = await self._find(obj)
        if found is None:
            return await self._create(obj, mutate, field_owner)
        before, after = _mutate(found, mutate)
        patch = merge_patch_diff(without_empty(obj.gvk, before), without_empty(obj.gvk, after.to_wire()))
        status = {"status": patch.pop("status")} if "status" in patch and await self._has_status(obj) else {}
        newest = found
        if patch:
            newest = await self.patch(after, MergePatch(patch), field_owner=field_owner)
        if status:
            newest = await StatusResource(self._calls).patch(after, MergePatch(status), field_owner=field_owner)
        return Written(newest, _PATCHED[bool(patch), bool(status)])

    @overload
    async def create_or_apply(self, obj: O, *, field_owner: str | None = None, force: bool = False) -> Written[O]: ...
    @overload
    async def create_or_apply(
        self, obj: dict[str, Any], *, field_owner: str | None = None, force: bool = False
    ) -> Written[Unstructured]: ...
    async def create_or_apply(self, obj: Any, *, field_owner: str | None = None, force: bool = False) -> Written[Any]:
        """Say how an object should be (server-side apply), and send that only when it may change something.

        Nothing is sent when the managed fields of the object show that this owner has exactly the fields that are
        stated, each with the value that is stated; what the server fills in, and what others own, is not looked at. An
        apply that changed nothing although it had to be sent, is not sent again until the object or what is stated
        changes. A kind that is cached without managed fields (``KindOptions(strip_managed_fields=True)``) is applied
        once for each version of the object.

        Args:
            obj: what is stated; typed, Unstructured, or a dict, which gives Unstructured.
            field_owner: whose fields these are; the client's by default.
            force: take over fields of other owners instead of raising `Conflict`.

        Raises:
            Conflict: another owner has one of the fields with another value, and ``force`` is not set.
        """
        wanted = as_object(obj)
        live = await self._find(wanted)
        options = self._calls.options
        owner = field_owner or options.field_owner
        has_status = await self._has_status(wanted)
        key = Key(wanted.key.namespace or options.namespace, wanted.key.name)
        apply_key = ApplyKey(wanted.gvk, key, owner)
        desired = wanted.to_wire()
        if live is not None:
            there = live.to_wire()
            field = first_difference(wanted.gvk, desired, there, field_owner=owner, has_status=has_status)
            if field is None or self._calls.settled.is_settled(apply_key, desired, there, has_status=has_status):
                return Written(live, OperationResult.NONE)
            log.debug("object differs from what is applied", extra={"object": str(key), "field": field})
        answer = await self.apply(wanted, field_owner=field_owner, force=force)
        if not options.dry_run:
            self._calls.settled.remember(apply_key, desired, answer.to_wire(), has_status=has_status)
        return Written(answer, _applied_result(live, answer))

    async def _find(self, obj: O) -> O | None:
        kind, key = kind_and_key(obj)
        if not key.name:
            raise ValueError(f"{obj.kind} has no name: to create or change an object one has to know which")
        return cast(O | None, await self.find(cast(Any, kind), key))

    async def _create(self, obj: O, mutate: Callable[[O], None], field_owner: str | None) -> Written[O]:
        _, new = _mutate(obj, mutate)
        return Written(await self.create(new, field_owner=field_owner), OperationResult.CREATED)

    async def _has_status(self, obj: KubernetesObject | Unstructured) -> bool:
        return "status" in (await self._calls.mapping(kind_and_key(obj)[0])).subresources


_PATCHED = {
    (False, False): OperationResult.NONE,
    (True, False): OperationResult.UPDATED,
    (True, True): OperationResult.UPDATED_STATUS,
    (False, True): OperationResult.UPDATED_STATUS_ONLY,
}


def _applied_result(live: KubernetesObject | Unstructured | None, answer: Any) -> OperationResult:
    if live is None:
        return OperationResult.CREATED
    is_same = live.metadata.resource_version == answer.metadata.resource_version
    return OperationResult.NONE if is_same else OperationResult.UPDATED


def _mutate(obj: O, mutate: Callable[[O], None]) -> tuple[dict[str, Any], O]:
    """Return an object as it is, as a document, and a copy of it that was changed."""
    after = cast(O, obj.deep_copy())
    assert after.metadata is not None  # untyped metadata is decoded here, before it is compared
    before = copy.deepcopy(after.to_wire())
    answer: object = mutate(after)  # type: ignore[func-returns-value]  # to tell those who pass a coroutine function
    if inspect.isawaitable(answer):
        getattr(answer, "close", lambda: None)()
        raise TypeError("mutate is a plain function that changes the object it is given; do what waits before it")
    if after.key != obj.key or after.gvk != obj.gvk:
        raise ValueError(f"mutate must leave name, namespace and kind alone: it made {after.key} of {obj.key}")
    return before, after


def _without_status(document: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name != "status"}
