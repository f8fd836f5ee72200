"""Create or update, create or patch, create or apply: writes that are sent only when they change something."""

from __future__ import annotations

import copy
import inspect
import logging
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, TypeVar, cast

import msgspec

from pyctrl.api import Key, ObjectLike, as_object, controller_of, deep_copy, merge_patch_diff
from pyctrl.client._comparison.apply_diff import first_difference
from pyctrl.client._comparison.apply_memo import ApplyKey, ApplyMemo
from pyctrl.client._comparison.semantic_equality import without_empty
from pyctrl.client._interfaces import ReaderWriter
from pyctrl.client._requests.patch import MergePatch
from pyctrl.client._requests.resource_client import ResourceClient
from pyctrl.client._requests.write_requests import kind_and_key
from pyctrl.errors import AlreadyOwned, NotOwned

__all__ = ["OperationResult", "Written", "create_or_apply", "create_or_patch", "create_or_update"]

O = TypeVar("O", bound=ObjectLike)  # noqa: E741 - an object, typed or not

log = logging.getLogger("pyctrl.client")


class OperationResult(Enum):
    """Result of create-or-update, create-or-patch and create-or-apply; the values are controllerutil's."""

    NONE = "unchanged"  # nothing was sent, or the write changed nothing
    CREATED = "created"
    UPDATED = "updated"
    UPDATED_STATUS = "updatedStatus"  # the object and its status; only `create_or_patch`
    UPDATED_STATUS_ONLY = "updatedStatusOnly"  # only `create_or_patch`


@dataclass(frozen=True, slots=True)
class Written(Generic[O]):
    """The object as the server keeps it, and what was done to it."""

    object: O
    result: OperationResult


async def create_or_update(
    client: ReaderWriter,
    requests: ResourceClient,
    obj: O,
    mutate: Callable[[O], None],
    *,
    field_owner: str | None,
) -> Written[O]:
    """Create or update an object; see `Client.create_or_update`."""
    found = await _find(client, obj)
    if found is None:
        return await _create(client, obj, mutate, field_owner)
    before, after = _mutate(found, mutate)
    gvk, after_wire = as_object(obj).gvk, as_object(after).to_wire()
    if await _has_status(requests, obj):
        before, after_wire = _without_status(before), _without_status(after_wire)
    if without_empty(gvk, before) == without_empty(gvk, after_wire):
        return Written(found, OperationResult.NONE)
    return Written(await client.update(after, field_owner=field_owner), OperationResult.UPDATED)


async def create_or_patch(
    client: ReaderWriter,
    requests: ResourceClient,
    obj: O,
    mutate: Callable[[O], None],
    *,
    field_owner: str | None,
) -> Written[O]:
    """Create or patch an object; see `Client.create_or_patch`."""
    found = await _find(client, obj)
    if found is None:
        return await _create(client, obj, mutate, field_owner)
    before, after = _mutate(found, mutate)
    gvk = as_object(obj).gvk
    patch = merge_patch_diff(without_empty(gvk, before), without_empty(gvk, as_object(after).to_wire()))
    status = {"status": patch.pop("status")} if "status" in patch and await _has_status(requests, obj) else {}
    newest = found
    if patch:
        newest = await client.patch(after, MergePatch(patch), field_owner=field_owner)
    if status:
        newest = await client.status.patch(after, MergePatch(status), field_owner=field_owner)
    return Written(newest, _PATCHED[bool(patch), bool(status)])


async def create_or_apply(
    client: ReaderWriter,
    requests: ResourceClient,
    memo: ApplyMemo,
    wanted: O,
    *,
    field_owner: str | None,
    force: bool,
    adopt: bool,
) -> Written[O]:
    """Apply an object unless that changes nothing; see `Client.create_or_apply`."""
    live = await _find(client, wanted)
    await _check_controller(client, wanted, live, adopt=adopt)
    options = requests.options
    owner = field_owner or options.field_owner
    has_status = await _has_status(requests, wanted)
    target = as_object(wanted)
    gvk, desired = target.gvk, target.to_wire()
    if requests.has_mutators:  # they change the apply, too
        desired = msgspec.json.decode(requests.mutated(gvk, "apply", msgspec.json.encode(desired)))
    key = Key(target.key.namespace or options.namespace, target.key.name)
    apply_key = ApplyKey(gvk, key, owner)
    if live is not None:
        there = as_object(live).to_wire()
        field = first_difference(gvk, desired, there, field_owner=owner, has_status=has_status)
        if field is None or memo.is_applied(apply_key, desired, there, has_status=has_status):
            return Written(live, OperationResult.NONE)
        log.debug("object differs from what is applied", extra={"object": str(key), "field": field})
    answer = await client.apply(wanted, field_owner=field_owner, force=force)
    if not options.dry_run:
        memo.remember(apply_key, desired, as_object(answer).to_wire(), has_status=has_status)
    return Written(answer, _applied_result(live, answer))


async def _check_controller(client: ReaderWriter, wanted: O, live: O | None, *, adopt: bool) -> None:
    """Check that an object that exists has the controller of ``wanted``, if that has one."""
    controller = controller_of(wanted)
    if controller is None:
        return
    if live is None:
        live = await _find_past_cache(client, wanted)  # an apply cannot say that it is to create only
    if live is None:
        return
    present, name = controller_of(live), f"{live.kind} {as_object(live).key}"
    if present is None and not adopt:
        raise NotOwned(name, f"{controller.kind} {controller.name}")
    if present is not None and present.uid != controller.uid:
        raise AlreadyOwned(name, f"{present.kind} {present.name} ({present.uid})")


async def _find_past_cache(client: ReaderWriter, obj: O) -> O | None:
    """Return an object that the cache of a client does not have yet, by a list: who may watch may list."""
    live: ReaderWriter | None = getattr(client, "live", None)
    if live is None:
        return None  # the client has no cache
    kind, key = kind_and_key(obj)
    found = await live.list(kind, namespace=key.namespace or None, fields=f"metadata.name={key.name}")
    return cast(O | None, next(iter(found), None))


async def _find(client: ReaderWriter, obj: O) -> O | None:
    kind, key = kind_and_key(obj)
    if not key.name:
        raise ValueError(f"{obj.kind} has no name: set metadata.name, generateName cannot be looked up")
    return cast(O | None, await client.find(kind, key))


async def _create(client: ReaderWriter, obj: O, mutate: Callable[[O], None], field_owner: str | None) -> Written[O]:
    _, new = _mutate(obj, mutate)
    return Written(await client.create(new, field_owner=field_owner), OperationResult.CREATED)


async def _has_status(requests: ResourceClient, obj: ObjectLike) -> bool:
    return "status" in (await requests.mapping(kind_and_key(obj)[0])).subresources


_PATCHED = {
    (False, False): OperationResult.NONE,
    (True, False): OperationResult.UPDATED,
    (True, True): OperationResult.UPDATED_STATUS,
    (False, True): OperationResult.UPDATED_STATUS_ONLY,
}


def _applied_result(live: ObjectLike | None, answer: Any) -> OperationResult:
    if live is None:
        return OperationResult.CREATED
    is_same = live.metadata.resource_version == answer.metadata.resource_version
    return OperationResult.NONE if is_same else OperationResult.UPDATED


def _mutate(obj: O, mutate: Callable[[O], None]) -> tuple[dict[str, Any], O]:
    """Return the object's document before the change, and a changed copy of the object."""
    after = deep_copy(obj)
    assert after.metadata is not None  # untyped metadata is decoded here, before it is compared
    before = copy.deepcopy(as_object(after).to_wire())
    answer: object = mutate(after)  # type: ignore[func-returns-value]  # a coroutine function returns something
    if inspect.isawaitable(answer):
        getattr(answer, "close", lambda: None)()
        raise TypeError("mutate must be a plain function that changes its argument in place: await before this call")
    key, kind = Key.of(obj), as_object(obj).gvk
    if Key.of(after) != key or as_object(after).gvk != kind:
        raise ValueError(f"mutate must not change name, namespace or kind: it changed {key} to {Key.of(after)}")
    return before, after


def _without_status(document: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name != "status"}
