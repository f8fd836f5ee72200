"""Check for reconcilers that never run, and for reconcilers and webhooks that no setup function uses."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from pyctrl.api import kind_argument
from pyctrl.controller import Reconciler
from pyctrl.errors import CommandFailed

if TYPE_CHECKING:
    import ast

__all__ = ["check_class", "check_declared", "check_mentioned"]

# the method that a subclass must have, and its argument
_METHODS = {"reconcile": "request: Request", "reconcile_object": "obj"}


def check_declared(modules: Sequence[ModuleType], *, among: Sequence[ModuleType] = ()) -> None:
    """Check that reconcilers that are set up by what they declare are complete.

    A class with subclasses is a base, and may be incomplete. So may a class that code names, which may set it up.

    Args:
        modules: modules whose reconcilers are set up by what they declare.
        among: further modules that may name a class.

    Raises:
        CommandFailed: a reconciler names no kind or has no reconcile(); the message says what to write, and where.
    """
    incomplete = {cls: why for cls in _reconcilers_of(modules) if (why := _why_incomplete(cls))}
    for cls in _never_named(list(incomplete), (*modules, *among)):
        raise _setup_error(cls, *incomplete[cls])


def check_class(cls: type[Any]) -> None:
    """Check that a reconciler can be set up by what it declares. Raises CommandFailed."""
    if lack := _why_incomplete(cls):
        raise _setup_error(cls, *lack)


def check_mentioned(modules: Sequence[ModuleType], *, among: Sequence[ModuleType] = ()) -> None:
    """Check that code names all reconcilers and webhooks of modules with setup functions.

    A class that is named anywhere outside its own body may be set up there: under a condition, or by a helper.

    Args:
        modules: modules with setup functions.
        among: further modules that may name a class.

    Raises:
        CommandFailed: a class is never named; the message says what to write, and where.
    """
    for cls in _never_named(list(_webhooks_of(modules)), (*modules, *among)):
        text = f"no function of the program adds {cls.__name__}, so the API server would never call it"
        cure = f"write WebhookBuilder(webhooks).admits(KIND).build({cls.__name__}())"
        raise _setup_error(cls, f"{text}; {cure} and manager.add(WebhookServer(webhooks)) there, or remove it")
    for cls in _never_named(list(_reconcilers_of(modules)), (*modules, *among)):
        if inspect.isabstract(cls):
            raise _setup_error(cls, *_abstract(cls))
        text = f"no function of the program adds {cls.__name__}, so it would never run"
        cure = f"write Builder(manager).build({cls.__name__}()) in the setup function, or remove it"
        raise _setup_error(cls, f"{text}; {cure}")


def _never_named(classes: Sequence[type[Any]], modules: Sequence[ModuleType]) -> Iterator[type[Any]]:
    """Yield the classes without subclasses that no code of the modules names."""
    in_functions = {name for module in modules for name in _names_in_functions(module)} if classes else set()
    if all(cls.__name__ in in_functions for cls in classes):  # as in most programs: avoids parsing the sources
        return
    texts = [_source(module) for module in dict.fromkeys(modules)]
    if None in texts:  # an unreadable module may name any class
        return
    named = {name for text in texts if text is not None for name in _names_in_source(text)}
    yield from (cls for cls in classes if cls.__name__ not in named and not cls.__subclasses__())


def _why_incomplete(cls: type[Any]) -> tuple[str, str] | None:
    """Return what a reconciler lacks, and the name of a similar member; None if it is complete."""
    if inspect.isabstract(cls):
        return _abstract(cls)
    if kind_argument(cls, Reconciler) is not None:
        return None
    text = f"{cls.__name__} does not name the kind that it reconciles, so it would never run"
    cure = f"write class {cls.__name__}(Reconciler[KIND]), or set it up in a function: def add_controllers"
    return f"{text}; {cure}(manager: Manager) -> None: ...", ""


def _reconcilers_of(modules: Iterable[ModuleType]) -> Iterator[type[Any]]:
    """Yield the reconcilers that modules define, except those with a leading underscore."""
    yield from _classes_of(modules, (Reconciler,))


def _webhooks_of(modules: Iterable[ModuleType]) -> Iterator[type[Any]]:
    """Yield the defaulters and validators that modules define, except those with a leading underscore."""
    if "pyctrl.webhook" in sys.modules:  # else there are none, and importing it takes time
        from pyctrl.webhook import Defaulter, Validator

        yield from _classes_of(modules, (Defaulter, Validator))


def _classes_of(modules: Iterable[ModuleType], bases: tuple[type[Any], ...]) -> Iterator[type[Any]]:
    for module in modules:
        for name, value in vars(module).items():
            is_written_here = getattr(value, "__module__", "") == module.__name__ and not name.startswith("_")
            if is_written_here and isinstance(value, type) and issubclass(value, bases):
                yield value


def _names_in_functions(module: ModuleType) -> Iterator[str]:
    """Yield the names that the functions of a module use."""
    own = (each for each in vars(module).values() if isinstance(each, FunctionType))
    waiting = [each.__code__ for each in own if each.__module__ == module.__name__]
    while waiting:
        code = waiting.pop()
        yield from code.co_names
        waiting += [each for each in code.co_consts if isinstance(each, CodeType)]


def _abstract(cls: type[Any]) -> tuple[str, str]:
    """Return which methods an abstract class lacks, and the name of a similar one."""
    import difflib  # here and below: only errors need it

    missing = sorted(cls.__abstractmethods__)
    text = f"{cls.__name__} has no method {' and '.join(missing)}, so it cannot run"
    method = next((name for name in missing if name in _METHODS), None)
    if method is None:
        return f"{text}; write them, or name the class with _ if it is a base", ""
    methods = [name for name, value in vars(cls).items() if inspect.isfunction(value) and not name.startswith("__")]
    near = next(iter(difflib.get_close_matches(method, methods, n=1)), "")
    cure = f"rename {near} if that is it" if near else f"write async def {method}(self, {_METHODS[method]})"
    return f"{text}; {cure}", near


def _setup_error(cls: type[Any], text: str, member: str = "") -> CommandFailed:
    from pyctrl._source_excerpts import class_excerpt

    place = class_excerpt(cls, member)
    return CommandFailed(text if place is None else f"{text}\n{place}")


def _source(module: ModuleType) -> ast.Module | None:
    """Return the syntax tree of a module; None if its file cannot be read."""
    import ast

    try:
        return ast.parse(Path(module.__file__ or "").read_bytes())
    except (OSError, SyntaxError, ValueError):
        return None


def _names_in_source(tree: ast.AST, within: str = "") -> Iterator[str]:
    """Yield the names that the code uses, except the name of a class in its own body. Strings do not count."""
    import ast

    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Name | ast.Attribute):
            name = node.id if isinstance(node, ast.Name) else node.attr
            if name != within:
                yield name
        yield from _names_in_source(node, node.name if isinstance(node, ast.ClassDef) else within)
