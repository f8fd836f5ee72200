"""Controllers and webhooks that are wired by what their classes say: nobody has to write a function for it."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import ModuleType
from typing import Any

from pyctrl._load_errors import loading
from pyctrl.api import kind_argument
from pyctrl.controller import Builder, Reconciler
from pyctrl.errors import CommandFailed, DuplicateName
from pyctrl.manager import Manager
from pyctrl.program._unused_reconcilers import check_declared, check_mentioned

__all__ = [
    "PREFIX",
    "SetupFunction",
    "build_declared",
    "declared_setup",
    "modules_of",
    "setup_functions",
    "setup_package",
]

PREFIX = "add_"

SetupFunction = Callable[..., object]


def declared_setup(module: ModuleType) -> Callable[[Manager], object] | None:
    """Return what wires the reconcilers that are found in a module, and the webhooks; None if there are none.

    A reconciler says what it looks after, ``class PodSetReconciler(Reconciler[PodSet])``, and with ``owns`` and
    ``watches`` what else there is to follow. Of webhooks, each `Defaulter` and `Validator` of a kind is taken, and
    each `Conversion`.

    Raises:
        CommandFailed: a reconciler of the module cannot be wired; says what to change, where.
    """
    check_declared([module])
    reconcilers = _reconcilers(vars(module).values())
    if not reconcilers:
        return None

    def wire(manager: Manager) -> None:
        build_declared(manager, reconcilers)
        _set_up_webhooks(vars(module).values(), manager)

    return wire


def setup_package(manager: Manager, package: ModuleType) -> None:
    """Wire whatever the modules of a package have: a new module is found, and nothing has to be entered anywhere.

    Each module is treated as ``pyctrl run`` treats a file. If it has functions whose names begin with ``add_``, they
    wire what it has; else its reconcilers are wired by what they say themselves, and its webhooks and conversions are
    served together with those of the other modules. What a module has imported from another does not count, nor do
    ``__main__`` and functions of the package itself, of which one may be what calls this.

        def add_shop(manager: Manager) -> None:
            setup_package(manager, shop)

    Raises:
        CommandFailed: a module cannot be imported, or a reconciler cannot be wired; says what to change, where.
        Exception: whatever a function of a module fails with.
    """
    declared: list[object] = []
    modules = list(modules_of(package))
    wiring = [each for each in modules if each is not package and _own_setup_functions(each)]
    check_declared([each for each in modules if each not in wiring], among=modules)
    check_mentioned(wiring, among=modules)
    for module in modules:
        if module in wiring:
            for function in _own_setup_functions(module):
                function(manager)
        else:
            declared += [each for each in vars(module).values() if _is_of(each, module)]
    build_declared(manager, _reconcilers(declared))
    _set_up_webhooks(declared, manager)


def build_declared(manager: Manager, reconcilers: Sequence[type[Any]]) -> None:
    """Wire reconcilers that say themselves what they look after.

    Raises:
        CommandFailed: one cannot be made, or two reconcile one kind; says what to change, where.
    """
    for reconciler in reconcilers:
        try:
            Builder(manager).build(_instance(reconciler))
        except DuplicateName as error:
            raise CommandFailed(_duplicate(error.name, reconciler, reconcilers)) from error


def _duplicate(name: str, reconciler: type[Any], others: Sequence[type[Any]]) -> str:
    from pyctrl._source_excerpts import class_excerpt  # here and below: only errors need it

    kind = kind_argument(reconciler, Reconciler)
    same = [each for each in others if each is not reconciler and kind_argument(each, Reconciler) is kind]
    text = (
        f"there is a controller {name!r} already, which would be the name of that of {reconciler.__name__}, too; "
        "leave one out, or wire it with a name of its own in a function: def add_controllers(manager: Manager) -> "
        f"None: Builder(manager).options(name=...).build({reconciler.__name__}())"
    )
    places = [str(place) for each in (*same[:1], reconciler) if (place := class_excerpt(each)) is not None]
    return "\n".join([text, *places])


def _own_setup_functions(module: ModuleType) -> Sequence[SetupFunction]:
    """Return the functions that wire, without those that the module has imported."""
    return [each for each in setup_functions(module) if each.__module__ == module.__name__]


def setup_functions(module: ModuleType) -> Sequence[SetupFunction]:
    """Return the functions of a module that look as if they wired controllers."""
    own = [each for name, each in vars(module).items() if name.startswith(PREFIX) and inspect.isfunction(each)]
    return [each for each in own if _takes_one(each)]


def _takes_one(function: Callable[..., object]) -> bool:
    required = [each for each in inspect.signature(function).parameters.values() if each.default is each.empty]
    return len(required) == 1


def modules_of(package: ModuleType) -> Iterator[ModuleType]:
    """Import a package's modules one by one, itself first; ``__main__`` is none of them. Of a module, give that one.

    Raises:
        CommandFailed: a module cannot be imported; says why, where.
    """
    yield package
    for found in pkgutil.walk_packages(getattr(package, "__path__", ()), f"{package.__name__}."):
        if not found.name.endswith(".__main__"):
            with loading(f"importing {found.name}"):
                module = importlib.import_module(found.name)
            yield module


def _is_of(value: object, module: ModuleType) -> bool:
    """Whether a module has made a value, as far as that can be told: of what is no class it cannot."""
    return not isinstance(value, type) or value.__module__ == module.__name__


def _set_up_webhooks(values: Iterable[object], manager: Manager) -> None:
    from pyctrl.webhook import Conversion, Defaulter, Validator, WebhookBuilder, Webhooks, WebhookServer  # if there

    values = list(values)
    webhooks = Webhooks()
    for handler in dict.fromkeys([*_classes(values, Defaulter), *_classes(values, Validator)]):
        kind = kind_argument(handler, Defaulter) or kind_argument(handler, Validator)
        if kind is not None:
            WebhookBuilder(webhooks).admits(kind).build(_instance(handler))
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
    return [each for each in dict.fromkeys(found) if not inspect.isabstract(each) and not _is_of_pyctrl(each)]


def _is_of_pyctrl(cls: type) -> bool:
    return cls.__module__.partition(".")[0] == "pyctrl"


def _instance(cls: type[Any]) -> Any:
    """Make a reconciler, or the handler of a webhook, of its class."""
    try:
        inspect.signature(cls).bind()
    except TypeError as error:
        from pyctrl._source_excerpts import class_excerpt

        place = class_excerpt(cls, "__init__")
        raise CommandFailed(
            f"{cls.__name__} cannot be made without arguments ({error}); give them defaults, or write a function that "
            "makes it and wires it: def add_controllers(manager: Manager) -> None: ..."
            + (f"\n{place}" if place is not None else "")
        ) from error
    except ValueError:  # it has no signature that can be known
        pass
    with loading(f"making {cls.__name__}"):
        return cls()
