"""Lazy imports of functions, and of the public names of a package (PEP 562), so that a program imports what it uses.

In the `__init__` of a package::

    if not TYPE_CHECKING:  # to a type checker, __getattr__ would mean that every name exists
        __getattr__, __dir__ = lazy_names(__name__, {"name": "_file"})
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

__all__ = ["lazy_function", "lazy_names", "lazy_search"]

ModuleHooks = tuple[Callable[[str], Any], Callable[[], list[str]]]


def lazy_function(module: str, name: str) -> Callable[..., Any]:
    """Return a function that imports another when it is first called."""
    found: Callable[..., Any] | None = None

    def call(*arguments: Any, **named: Any) -> Any:
        nonlocal found
        if found is None:
            found = getattr(import_module(module), name)
        return found(*arguments, **named)

    return call


def lazy_names(package: str, files: Mapping[str, str]) -> ModuleHooks:
    """Return `__getattr__` and `__dir__` of a package, for names in these modules of it."""

    def find(name: str) -> Any:
        if name not in files:
            raise _no_attribute(package, name)
        return getattr(import_module(f"{package}.{files[name]}"), name)

    return _hooks(package, find)


def lazy_search(package: str, files: Sequence[str]) -> ModuleHooks:
    """Return `__getattr__` and `__dir__` of a package for the names in its `__all__`, searched in modules in order.

    Each module imports those before it, so that the search imports only what the name needs.
    """

    def find(name: str) -> Any:
        if name not in sys.modules[package].__all__:
            raise _no_attribute(package, name)
        modules = (import_module(f"{package}.{file}") for file in files)
        return next(getattr(module, name) for module in modules if name in module.__all__)

    return _hooks(package, find)


def _hooks(package: str, find: Callable[[str], Any]) -> ModuleHooks:
    def get(name: str) -> Any:
        value = find(name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        module = sys.modules[package]
        return sorted({*vars(module), *module.__all__})

    return get, names


def _no_attribute(package: str, name: str) -> AttributeError:
    return AttributeError(f"module {package!r} has no attribute {name!r}")
