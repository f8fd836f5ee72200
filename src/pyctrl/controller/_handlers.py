"""Handlers: functions from a change of an object to the requests that it causes.

Any function of an `ObjectChange`, async or not, is a handler. `for_object`, `for_owner` and `mapped` cover most
controllers. A handler returns requests instead of adding them to a queue, so that a test needs one assertion.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Iterable, Sized
from typing import Any, TypeAlias, TypeGuard

from typing_extensions import TypeIs, TypeVar

from pyctrl._backoff import until_next_poll
from pyctrl._log import RepeatedErrors
from pyctrl._time_slices import STEPS
from pyctrl.api import GroupVersionKind, KindLike, kind_of
from pyctrl.client import Discovery
from pyctrl.controller._object_change import ObjectChange
from pyctrl.controller._request import Request
from pyctrl.errors import PyctrlError, UnknownKind

__all__ = ["Handler", "OwnerHandler", "Requests", "for_object", "for_owner", "mapped", "no_requests"]

log = logging.getLogger("pyctrl.controller")

T = TypeVar("T", default=Any)

#: What a handler returns: requests, or an awaitable of requests.
Requests: TypeAlias = Iterable[Request] | Awaitable[Iterable[Request]]

#: A function from a change to requests. On an update it looks at old and new: a reference may have been removed.
Handler: TypeAlias = Callable[[ObjectChange[T]], Requests]


def for_object(change: ObjectChange) -> list[Request]:
    """Return the request for the object itself, in its cluster."""
    current = change.after or change.before
    assert current is not None  # a change has a state before or after it
    return [Request(current.namespace, current.name, change.cluster)]


def no_requests(_change: ObjectChange) -> list[Request]:
    """Return no request, for kinds that are only cached."""
    return []


def for_owner(owner: KindLike, *, every: bool = False, namespaced: bool | None = None) -> OwnerHandler:
    """Return a handler that requests the owner of the object, if the owner is of kind ``owner`` in any version.

    Args:
        owner: the kind to look for in the owner references.
        every: request each owner of that kind; by default only the one that is the controller.
        namespaced: whether that kind is namespaced; None looks it up: in the class, else in the discovery of the
            cluster.
    """
    return OwnerHandler(owner, every=every, namespaced=namespaced)


class OwnerHandler:
    """The handler that `for_owner` returns."""

    def __init__(self, owner: KindLike, *, every: bool = False, namespaced: bool | None = None) -> None:
        self.owner: GroupVersionKind = kind_of(owner)
        #: Whether the kind is namespaced; None until a `KindSource` has asked discovery, before its first change.
        self.namespaced: bool | None = namespaced if namespaced is not None else _scope(owner)
        self._every = every

    def __call__(self, change: ObjectChange) -> list[Request]:
        requests: dict[Request, None] = {}
        for state in change.records:
            for reference in state.owners:
                if self._is_owner(reference.api_version, reference.kind, reference.controller):
                    namespace = "" if self.namespaced is False else state.namespace
                    requests[Request(namespace, reference.name, change.cluster)] = None
        return list(requests)

    async def learn_scope(self, discovery: Discovery) -> None:
        """Ask discovery whether the owner is namespaced, unless it is known, until the cluster serves the kind."""
        repeated_errors, loop = RepeatedErrors(), asyncio.get_running_loop()
        begun, delay = loop.time(), 1.0
        while self.namespaced is None:
            try:
                self.namespaced = (await discovery.mapping(self.owner)).namespaced
            except PyctrlError as error:
                is_absent = isinstance(error, UnknownKind)  # the cache warns of that
                level = repeated_errors.level(str(error), logging.INFO if is_absent else logging.WARNING, loop.time())
                text = "Waiting to learn whether owners are namespaced: %s"
                log.log(level, text, error, extra={"kind": self.owner.kind})
                await asyncio.sleep(until_next_poll(loop.time() - begun) if is_absent else delay)
                delay = min(30.0, delay * 2)

    def _is_owner(self, api_version: str, kind: str, is_controller: bool | None) -> bool:
        if kind != self.owner.kind or not (self._every or is_controller):
            return False
        return api_version.rpartition("/")[0] == self.owner.group


def mapped(requests_of: Callable[[T], Requests]) -> Handler[T]:
    """Return a handler that requests what a function of the object returns; on updates of old and new, each once."""

    def handle(change: ObjectChange[T]) -> Requests:
        answers = [requests_of(state) for state in change.objects]
        now = [answer for answer in answers if not may_wait(answer)]
        return _each_once(now) if len(now) == len(answers) else _all_of(answers)

    return handle


def may_wait(requests: Requests) -> TypeIs[Awaitable[Iterable[Request]]]:
    """Return whether what a handler returned must be awaited."""
    return type(requests) is not list and inspect.isawaitable(requests)  # isawaitable is slow for a list


def are_few(requests: Requests) -> TypeGuard[Iterable[Request]]:
    """Return whether requests need no await and are few enough to be added in one step.

    A generator has no length and counts as many.
    """
    if type(requests) is list:  # nearly always
        return len(requests) <= STEPS
    return not may_wait(requests) and isinstance(requests, Sized) and len(requests) <= STEPS


async def _all_of(answers: Iterable[Requests]) -> Iterable[Request]:
    return _each_once([await answer if may_wait(answer) else answer for answer in answers])


def _each_once(answers: Iterable[Iterable[Request]]) -> list[Request]:
    return list(dict.fromkeys(request for answer in answers for request in answer))


def _scope(owner: KindLike) -> bool | None:
    resource = getattr(owner, "resource", None)
    return None if resource is None else bool(resource.namespaced)
