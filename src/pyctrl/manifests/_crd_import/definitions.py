"""Generates classes from definitions: the reverse of `definition`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyctrl.manifests._crd_import.classes import Classes, SourceClass
from pyctrl.manifests._crd_import.kinds import kind_class
from pyctrl.manifests._crd_import.source_layout import WIDTH, comment, docstring

__all__ = ["Imported", "import_definitions"]

_FIRST = ("typing",)  # standard library modules, imported in a separate block


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """The source of a module with the classes of definitions, and notes about parts that the classes cannot express."""

    code: str
    notes: tuple[str, ...]
    kinds: tuple[str, ...]


def import_definitions(definitions: Sequence[Mapping[str, Any]]) -> Imported:
    """Return the source of typed classes for definitions: one class for each version of a kind, and its parts.

    `definition` of the classes has the same structural schema, except for differences listed in `notes` and for parts
    that have a Kubernetes type, which is used instead. The definitions must be valid for a server.
    """
    classes = Classes()
    kinds: list[SourceClass] = []
    for definition in definitions:
        kinds += _kinds(definition, classes)
    return Imported(
        code="\n".join(_module(definitions, kinds, classes.found, classes)) + "\n",
        notes=tuple(dict.fromkeys(classes.notes)),
        kinds=tuple(each.name for each in kinds),
    )


def _kinds(definition: Mapping[str, Any], classes: Classes) -> Iterator[SourceClass]:
    versions = sorted(definition["spec"]["versions"], key=lambda each: not each.get("storage"))
    kind = definition["spec"]["names"]["kind"]
    for version in versions:
        suffix = "" if len(versions) == 1 else _capital(version["name"])
        classes.begin(kind, suffix)
        yield kind_class(definition, version, f"{kind}{suffix}", classes)


def _capital(version: str) -> str:
    """Return a version as class names have it: v1beta1 → V1Beta1."""
    return "".join(part.capitalize() for part in version.replace("alpha", " alpha").replace("beta", " beta").split())


def _module(
    definitions: Sequence[Mapping[str, Any]],
    kinds: Sequence[SourceClass],
    classes: Sequence[SourceClass],
    used: Classes,
) -> Iterator[str]:
    names = ", ".join(sorted({each["metadata"]["name"] for each in definitions}))
    yield from docstring(f"Classes of {names}.\n\nWritten by `pyctrl crd import` from the definition.", "")
    yield ""
    yield from _imports(used.imports)
    yield ""
    yield from ("__all__ = [", *(f'    "{each.name}",' for each in sorted(classes, key=lambda each: each.name)), "]")
    for note in dict.fromkeys(used.notes):
        yield ""
        yield from comment(f"Not in the classes: {note}")
    for each in classes:
        yield from ("", "")
        yield from each.lines()


def _imports(names: Mapping[str, set[str]]) -> Iterator[str]:
    own = sorted(module for module in names if module in _FIRST)
    others = sorted(module for module in names if module not in _FIRST)
    for modules in (own, others):
        for module in modules:
            flat = f"from {module} import {', '.join(sorted(names[module]))}"
            if len(flat) <= WIDTH:
                yield flat
            else:
                yield from (f"from {module} import (", *(f"    {name}," for name in sorted(names[module])), ")")
        if modules is own and own:
            yield ""
