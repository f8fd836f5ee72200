"""Functions that wait until objects meet a condition, by watching: no polling, no cache."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing
from typing import Any, Generic, TypeVar

from pyctrl.api import Key, Kind, KindLike, ObjectLike, as_object, redacted
from pyctrl.client._client import Client
from pyctrl.client._requests.options import Fields, Labels
from pyctrl.client._requests.resource_client import checked_key
from pyctrl.errors import Gone, StreamBroken

__all__ = ["wait_for", "wait_for_list", "wait_until_gone"]

O = TypeVar("O", bound=ObjectLike)  # noqa: E741 - an object, typed or not


async def wait_for(
    client: Client,
    kind: Kind[O],
    key: Key,
    condition: Callable[[O], bool] = lambda _: True,
    *,
    timeout: float | None = 30.0,
) -> O:
    """Wait until an object exists and meets ``condition``, and return it.

    ``podset = await wait_for(client, PodSet, key, lambda podset: len(podset.status.nodes) == 3)`` waits for a status.
    By default the object only has to exist.

    Args:
        timeout: seconds; None waits forever.

    Raises:
        TimeoutError: the condition was not met in time; the message shows the objects as last seen.
        PyctrlError: the list or the watch was refused.
    """
    selectors = _select_one(kind, key)
    found = await _wait(client, kind, lambda found: bool(found) and condition(found[0]), selectors, timeout)
    return found[0]


async def wait_until_gone(client: Client, kind: KindLike, key: Key, *, timeout: float | None = 30.0) -> None:
    """Wait until the object does not exist. Raises as `wait_for` does."""
    await _wait(client, kind, lambda found: not found, _select_one(kind, key), timeout)


def _select_one(kind: Kind[Any], key: Key) -> dict[str, Any]:
    namespace, name = checked_key(kind, key)
    return {"namespace": namespace or None, "fields": {"metadata.name": name}}


async def wait_for_list(
    client: Client,
    kind: Kind[O],
    condition: Callable[[Sequence[O]], bool],
    *,
    namespace: str | None = None,
    labels: Labels = None,
    fields: Fields = None,
    timeout: float | None = 30.0,
) -> list[O]:
    """Wait until the selected objects, sorted by key, meet ``condition``, and return them.

    Raises as `wait_for` does.
    """
    return await _wait(client, kind, condition, {"namespace": namespace, "labels": labels, "fields": fields}, timeout)


async def _wait(
    client: Client,
    kind: Kind[O],
    condition: Callable[[list[O]], bool],
    selectors: dict[str, Any],
    timeout: float | None,
) -> list[O]:
    view = _ObjectWatch(client, kind, condition, selectors)
    try:
        async with asyncio.timeout(timeout):
            return await view.wait()
    except TimeoutError:
        raise TimeoutError(f"the condition was not met within {timeout:g} s; last seen: {view}") from None


class _ObjectWatch(Generic[O]):
    """The selected objects as last seen: a list, and the watch that follows it."""

    def __init__(
        self, client: Client, kind: Kind[O], condition: Callable[[list[O]], bool], selectors: dict[str, Any]
    ) -> None:
        self._client, self._kind, self._condition, self._selectors = client, kind, condition, selectors
        self._objects: dict[Key, O] = {}

    async def wait(self) -> list[O]:
        """Return the objects as soon as they meet the condition; when a watch ends, list again."""
        while True:
            listed = await self._client.list(self._kind, **self._selectors)
            self._objects = {Key.of(obj): obj for obj in listed}
            try:
                if self._holds() or await self._follow(listed.resource_version):
                    return self._sorted()
            except (Gone, StreamBroken):
                continue

    async def _follow(self, version: str) -> bool:
        watch = self._client.watch(self._kind, resource_version=version, bookmarks=False, **self._selectors)
        async with aclosing(watch):
            async for event in watch:
                if event.type == "DELETED":
                    self._objects.pop(Key.of(event.object), None)
                else:
                    self._objects[Key.of(event.object)] = event.object
                if self._holds():
                    return True
        return False

    def _holds(self) -> bool:
        return bool(self._condition(self._sorted()))

    def _sorted(self) -> list[O]:
        return [self._objects[key] for key in sorted(self._objects)]

    def __str__(self) -> str:
        return "; ".join(repr(redacted(as_object(obj).to_wire())) for obj in self._sorted())[:2000] or "nothing"
