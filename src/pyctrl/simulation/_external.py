"""Fakes of systems outside of the cluster, whose calls take time and can fail, and whose state is judged.

class Buckets(External):
    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    async def create(self, name: str) -> None:
        self.names.add(name)

    async def delete(self, name: str) -> None:
        self.names.discard(name)
"""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Awaitable, Callable
from typing import Any, ClassVar, Protocol

__all__ = ["Caller", "External", "ExternalError", "Failure"]

Call = Callable[..., Awaitable[Any]]
Failure = Callable[[str], Exception]


class ExternalError(Exception):
    """Raised to the operator when a call of an `External` fails because the simulation says so."""


class Caller(Protocol):
    """Carries calls to an external system, as the world does."""

    async def call(self, name: str, text: str, effect: Callable[[], Awaitable[Any]], failure: Failure) -> Any:
        """Carry out one call, or let it fail with what ``failure`` makes of a message."""
        ...


class External:
    """A fake of a system outside of the cluster: a database, a cloud, a DNS zone.

    Each public async method is a call over the network. It takes time. The simulation lets it fail before its effect
    or after it (the answer is lost), be slow, or be done twice; a failed call raises `ExternalError`, or what
    `failure` returns. Public attributes are its state: they are compared with those of the run without faults. Every
    run has an instance of its own, made without arguments: see `World.external`.

    A subclass that defines ``__init__`` must call ``super().__init__()``. Outside of a simulation, calls are plain.
    """

    #: Names of public attributes that do not count as state, such as counters of calls.
    not_state: ClassVar[frozenset[str]] = frozenset()

    def __init__(self) -> None:
        self._caller: Caller | None = None

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name, value in list(vars(cls).items()):
            if not name.startswith("_") and inspect.iscoroutinefunction(value):
                setattr(cls, name, _carried(name, value))

    def failure(self, message: str) -> Exception:
        """Return the exception of a failed call. Override it to raise what the real client raises."""
        return ExternalError(message)

    def state(self) -> dict[str, Any]:
        """Return a copy of the public attributes. Override it if the state is elsewhere."""
        return {
            name: copy.deepcopy(value)
            for name, value in sorted(vars(self).items())
            if not name.startswith("_") and name not in self.not_state
        }

    def attach(self, caller: Caller) -> None:
        """Let a world carry the calls from now on."""
        self._caller = caller


def _carried(name: str, method: Call) -> Call:
    @functools.wraps(method)
    async def call(self: External, *args: Any, **kwargs: Any) -> Any:
        caller: Caller | None = getattr(self, "_caller", None)
        if caller is None:
            return await method(self, *args, **kwargs)
        given = ", ".join((*map(repr, args), *(f"{key}={value!r}" for key, value in kwargs.items())))
        effect = functools.partial(method, self, *args, **kwargs)
        return await caller.call(
            f"{type(self).__name__}.{name}", f"{type(self).__name__}.{name}({given})", effect, self.failure
        )

    return call
