"""Controllers and webhooks that are wired by what their classes say: nobody has to write a function for it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from pyctrl.api import kind_argument
from pyctrl.controller import Builder, Reconciler
from pyctrl.errors import CommandFailed
from pyctrl.manager._manager import Manager

__all__ = ["build", "wire_declared"]


def wire_declared(module: ModuleType) -> Callable[[Manager], object] | None:
    """Return what wires the reconcilers that are found in a module, and the webhooks; None if there are none.

    A reconciler says what it looks after, ``class PodSetReconciler(Reconciler[PodSet])``, and with ``owns`` and
    ``watches`` what else there is to follow. Of webhooks, each `Defaulter` and `Validator` of a kind is taken, and
    each `Conversion`.
    """
    reconcilers = [each for each in _classes(module, Reconciler) if kind_argument(each, Reconciler) is not None]
    if not reconcilers:
        return None

    def wire(manager: Manager) -> None:
        build(manager, reconcilers)
        _wire_webhooks(module, manager)

    return wire


def build(manager: Manager, reconcilers: Sequence[type[Any]]) -> None:
    """Wire reconcilers that say themselves what they look after."""
    for reconciler in reconcilers:
        Builder(manager).build(_made(reconciler))


def _wire_webhooks(module: ModuleType, manager: Manager) -> None:
    from pyctrl.webhook import Conversion, Defaulter, Validator, WebhookBuilder, Webhooks, WebhookServer  # if there

    webhooks = Webhooks()
    for handler in dict.fromkeys([*_classes(module, Defaulter), *_classes(module, Validator)]):
        kind = kind_argument(handler, Defaulter) or kind_argument(handler, Validator)
        if kind is not None:
            WebhookBuilder(webhooks).admits(kind).build(_made(handler))
    for each in vars(module).values():
        if isinstance(each, Conversion):
            webhooks.add_conversion(each)
    if webhooks.paths:
        manager.add(WebhookServer(webhooks))


def _classes(module: ModuleType, base: type) -> Sequence[type[Any]]:
    """Return the program's own classes of a sort, in the order of the module."""
    found = [each for each in vars(module).values() if isinstance(each, type) and issubclass(each, base)]
    return [each for each in dict.fromkeys(found) if not inspect.isabstract(each) and not _is_ours(each)]


def _is_ours(cls: type) -> bool:
    return cls.__module__.partition(".")[0] == "pyctrl"


def _made(cls: type[Any]) -> Any:
    try:
        return cls()
    except TypeError as error:
        raise CommandFailed(
            f"{cls.__name__} cannot be made without arguments ({error}); write a function that makes it and wires it: "
            "def add_controllers(manager: Manager) -> None: ..."
        ) from error
