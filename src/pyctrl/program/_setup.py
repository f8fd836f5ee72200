"""Setup of controllers and webhooks: by functions of a module, or by what its classes declare."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys
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
    "declares_reconcilers",
    "modules_of",
    "setup_functions",
    "setup_package",
]

PREFIX = "add_"

SetupFunction = Callable[..., object]


def declared_setup(module: ModuleType) -> Callable[[Manager], object] | None:
    """Return a setup function for the reconcilers and webhooks of a module; None without any.

    A reconciler declares its kind, ``class PodSetReconciler(Reconciler[PodSet])``, and other kinds with ``owns`` and
    ``watches``. Webhooks are each `Defaulter` and `Validator` of a kind, and each `Conversion`.

    Raises:
        CommandFailed: a reconciler cannot be set up; the message says what to change, and where.
    """
    values = list(vars(module).values())
    if not declares_reconcilers(module) and not _declares_webhooks(values):
        return None

    def setup(manager: Manager) -> None:
        build_declared(manager, _reconcilers(values))
        _set_up_webhooks(values, manager)

    return setup


def declares_reconcilers(module: ModuleType) -> bool:
    """Return whether a module has reconcilers that declare their kinds.

    Raises:
        CommandFailed: a reconciler cannot be set up; the message says what to change, and where.
    """
    check_declared([module])
    return bool(_reconcilers(vars(module).values()))


def setup_package(manager: Manager, package: ModuleType) -> None:
    """Set up the controllers and webhooks of all modules of a package, including new ones without a registration.

    Each module is treated as ``pyctrl run`` treats a file. Functions whose names begin with ``add_`` set it up.
    Without any, its reconcilers are set up by what they declare, and its webhooks and conversions are served together
    with those of the other modules. Imported names, ``__main__`` and functions of the package itself do not count,
    because one of the latter may be the caller.

        def add_shop(manager: Manager) -> None:
            setup_package(manager, shop)

    Raises:
        CommandFailed: a module cannot be imported, or a reconciler cannot be set up; the message says what to change.
        Exception: raised by a function of a module.
    """
    declared: list[object] = []
    modules = list(modules_of(package))
    with_functions = [each for each in modules if each is not package and _own_setup_functions(each)]
    check_declared([each for each in modules if each not in with_functions], among=modules)
    check_mentioned(with_functions, among=modules)
    for module in modules:
        if module in with_functions:
            for function in _own_setup_functions(module):
                function(manager)
        else:
            declared += [each for each in vars(module).values() if _is_of(each, module)]
    build_declared(manager, _reconcilers(declared))
    _set_up_webhooks(declared, manager)


def build_declared(manager: Manager, reconcilers: Sequence[type[Any]]) -> None:
    """Set up reconcilers by what their classes declare.

    Raises:
        CommandFailed: an instance cannot be created, or two reconcile one kind; the message says what to change.
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
        f"the controller of {reconciler.__name__} would have the name of another one, {name!r}; "
        "remove one, or give it another name in a function: def add_controllers(manager: Manager) -> "
        f"None: Builder(manager).options(name=...).build({reconciler.__name__}())"
    )
    places = [str(place) for each in (*same[:1], reconciler) if (place := class_excerpt(each)) is not None]
    return "\n".join([text, *places])


def _own_setup_functions(module: ModuleType) -> Sequence[SetupFunction]:
    """Return the setup functions of a module without imported ones."""
    return [each for each in setup_functions(module) if each.__module__ == module.__name__]


def setup_functions(module: ModuleType) -> Sequence[SetupFunction]:
    """Return the setup functions of a module: named ``add_…``, with one required argument."""
    own = [each for name, each in vars(module).items() if name.startswith(PREFIX) and inspect.isfunction(each)]
    return [each for each in own if _takes_one(each)]


def _takes_one(function: Callable[..., object]) -> bool:
    required = [each for each in inspect.signature(function).parameters.values() if each.default is each.empty]
    return len(required) == 1


def modules_of(package: ModuleType) -> Iterator[ModuleType]:
    """Import and yield a package and its modules except ``__main__``; for a module, yield only that.

    Raises:
        CommandFailed: a module cannot be imported; the message says why, and where.
    """
    yield package
    for found in pkgutil.walk_packages(getattr(package, "__path__", ()), f"{package.__name__}."):
        if not found.name.endswith(".__main__"):
            with loading(f"importing {found.name}"):
                module = importlib.import_module(found.name)
            yield module


def _is_of(value: object, module: ModuleType) -> bool:
    """Return whether a module defines a value. Instances do not tell, so they count."""
    return not isinstance(value, type) or value.__module__ == module.__name__


def _set_up_webhooks(values: Iterable[object], manager: Manager) -> None:
    from pyctrl.webhook import Conversion, Defaulter, Validator, WebhookBuilder, Webhooks, WebhookServer  # slow

    values = list(values)
    webhooks = Webhooks()
    for handler in dict.fromkeys([*_classes(values, Defaulter), *_classes(values, Validator)]):
        kind = kind_argument(handler, Defaulter) or kind_argument(handler, Validator)
        if kind is not None:
            WebhookBuilder(webhooks).admits(kind).build(_instance(handler))
    conversions = {id(each): each for each in values if isinstance(each, Conversion)}  # two modules may import one
    for each in conversions.values():
        webhooks.add_conversion(each)
    if webhooks.paths:
        manager.add(WebhookServer(webhooks))


def _declares_webhooks(values: Sequence[object]) -> bool:
    if "pyctrl.webhook" not in sys.modules:  # slow to import, and without it there are none
        return False
    from pyctrl.webhook import Conversion, Defaulter, Validator

    handlers = (*_classes(values, Defaulter), *_classes(values, Validator))
    return bool(handlers) or any(isinstance(each, Conversion) for each in values)


def _reconcilers(values: Iterable[object]) -> Sequence[type[Any]]:
    return [each for each in _classes(values, Reconciler) if kind_argument(each, Reconciler) is not None]


def _classes(values: Iterable[object], base: type) -> Sequence[type[Any]]:
    """Return the program's own concrete subclasses of a class, in order."""
    found = [each for each in values if isinstance(each, type) and issubclass(each, base)]
    return [each for each in dict.fromkeys(found) if not inspect.isabstract(each) and not _is_of_pyctrl(each)]


def _is_of_pyctrl(cls: type) -> bool:
    return cls.__module__.partition(".")[0] == "pyctrl"


def _instance(cls: type[Any]) -> Any:
    """Return an instance of a reconciler or webhook handler."""
    try:
        inspect.signature(cls).bind()
    except TypeError as error:
        from pyctrl._source_excerpts import class_excerpt

        place = class_excerpt(cls, "__init__")
        raise CommandFailed(
            f"{cls.__name__} cannot be created without arguments ({error}); give them defaults, or write a "
            "function that sets it up: def add_controllers(manager: Manager) -> None: ..."
            + (f"\n{place}" if place is not None else "")
        ) from error
    except ValueError:  # its signature is unknown
        pass
    with loading(f"creating {cls.__name__}"):
        return cls()
