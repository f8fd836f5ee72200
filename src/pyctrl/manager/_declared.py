"""Controllers and webhooks that are wired by what their classes say: nobody has to write a function for it."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import ModuleType
from typing import Any

from pyctrl.api import kind_argument
from pyctrl.controller import Builder, Reconciler
from pyctrl.errors import CommandFailed
from pyctrl.manager._manager import Manager

__all__ = ["PREFIX", "Wire", "build", "candidates", "modules_of", "wire_declared", "wire_package"]

PREFIX = "add_"

Wire = Callable[..., object]


def wire_declared(module: ModuleType) -> Callable[[Manager], object] | None:
    """Return what wires the reconcilers that are found in a module, and the webhooks; None if there are none.

    A reconciler says what it looks after, ``class PodSetReconciler(Reconciler[PodSet])``, and with ``owns`` and
    ``watches`` what else there is to follow. Of webhooks, each `Defaulter` and `Validator` of a kind is taken, and
    each `Conversion`.
    """
    reconcilers = _reconcilers(vars(module).values())
    if not reconcilers:
        return None

    def wire(manager: Manager) -> None:
        build(manager, reconcilers)
        _wire_webhooks(vars(module).values(), manager)

    return wire


def wire_package(manager: Manager, package: ModuleType) -> None:
    """Wire whatever the modules of a package have: a new module is found, and nothing has to be entered anywhere.

    Each module is treated as ``pyctrl run`` treats a file. If it has functions whose names begin with ``add_``, they
    wire what it has; else its reconcilers are wired by what they say themselves, and its webhooks and conversions are
    served together with those of the other modules. What a module has imported from another does not count, nor do
    ``__main__`` and functions of the package itself, of which one may be what calls this.

        def add_shop(manager: Manager) -> None:
            wire_package(manager, shop)

    Raises:
        CommandFailed: a class cannot be made without arguments; says what to write.
        Exception: whatever importing a module fails with.
    """
    declared: list[object] = []
    for module in modules_of(package):
        functions = [each for each in candidates(module) if each.__module__ == module.__name__]
        if functions and module is not package:
            for function in functions:
                function(manager)
        else:
            declared += [each for each in vars(module).values() if _is_of(each, module)]
    build(manager, _reconcilers(declared))
    _wire_webhooks(declared, manager)


def build(manager: Manager, reconcilers: Sequence[type[Any]]) -> None:
    """Wire reconcilers that say themselves what they look after."""
    for reconciler in reconcilers:
        Builder(manager).build(_made(reconciler))


def candidates(module: ModuleType) -> Sequence[Wire]:
    """Return the functions of a module that look as if they wired controllers."""
    own = [each for name, each in vars(module).items() if name.startswith(PREFIX) and inspect.isfunction(each)]
    return [each for each in own if _takes_one(each)]


def _takes_one(function: Callable[..., object]) -> bool:
    required = [each for each in inspect.signature(function).parameters.values() if each.default is each.empty]
    return len(required) == 1


def modules_of(package: ModuleType) -> Iterator[ModuleType]:
    """Import a package's modules one by one, itself first; ``__main__`` is none of them. Of a module, give that one."""
    yield package
    for found in pkgutil.walk_packages(getattr(package, "__path__", ()), f"{package.__name__}."):
        if not found.name.endswith(".__main__"):
            yield importlib.import_module(found.name)


def _is_of(value: object, module: ModuleType) -> bool:
    """Whether a module has made a value, as far as that can be told: of what is no class it cannot."""
    return not isinstance(value, type) or value.__module__ == module.__name__


def _wire_webhooks(values: Iterable[object], manager: Manager) -> None:
    from pyctrl.webhook import Conversion, Defaulter, Validator, WebhookBuilder, Webhooks, WebhookServer  # if there

    values = list(values)
    webhooks = Webhooks()
    for handler in dict.fromkeys([*_classes(values, Defaulter), *_classes(values, Validator)]):
        kind = kind_argument(handler, Defaulter) or kind_argument(handler, Validator)
        if kind is not None:
            WebhookBuilder(webhooks).admits(kind).build(_made(handler))
    conversions = {id(each): each for each in values if isinstance(each, Conversion)}  # two modules may name one
    for each in conversions.values():
        webhooks.add_conversion(each)
    if webhooks.paths:
        manager.add(WebhookServer(webhooks))


def _reconcilers(values: Iterable[object]) -> Sequence[type[Any]]:
    return [each for each in _classes(values, Reconciler) if kind_argument(each, Reconciler) is not None]


def _classes(values: Iterable[object], base: type) -> Sequence[type[Any]]:
    """Return the program's own classes of a sort, in their order."""
    found = [each for each in values if isinstance(each, type) and issubclass(each, base)]
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
