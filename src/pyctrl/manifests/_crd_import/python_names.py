"""Python names of fields and classes."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable
from types import new_class
from typing import Any

from pydantic.alias_generators import to_camel, to_snake

from pyctrl.api import KubernetesObject, Model

__all__ = ["class_name", "field_names", "guessed_names", "is_alias_of", "singular"]

# Names that a field must not have: it would hide members of its class, or names in the annotations below it.
_TAKEN = frozenset({*keyword.kwlist, *dir(Model), "bool", "dict", "float", "int", "list", "str"})
_TAKEN_IN_KINDS = frozenset({*dir(KubernetesObject), "gvk", "resource"})
_SINGULARS = (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("shes", "sh"))
_NO_PLURALS = ("ss", "us", "is")


def field_names(wires: Iterable[str], *, is_kind: bool = False) -> dict[str, str]:
    """Map the wire names of fields, of a complete object or a part of one, to distinct Python names."""
    found: dict[str, str] = {}
    for wire in wires:
        name = _field_name(wire)
        while name in found.values() or name in _TAKEN or (is_kind and name in _TAKEN_IN_KINDS):
            name += "_"
        found[wire] = name
    return found


def _field_name(wire: str) -> str:
    name = re.sub(r"\W+", "_", to_snake(re.sub(r"[^\w]+", "_", wire))).strip("_") or "field"
    return f"field_{name}" if name[0].isdigit() else name


def is_alias_of(name: str, wire: str) -> bool:
    """Return whether a field of this name has that wire name without an explicit alias."""
    return to_camel(name) == wire


def singular(word: str) -> str:
    """Guess the singular of a word: rules → rule, entries → entry, addresses → address."""
    if len(word) <= len("dns"):
        return word
    for plural, one in _SINGULARS:
        if word.lower().endswith(plural):
            return word[: -len(plural)] + one
    return word[:-1] if word.endswith("s") and not word.endswith(_NO_PLURALS) else word


def class_name(*words: str) -> str:
    """Return a class name made of names on the wire: (HTTPRoute, backendRef) → HTTPRouteBackendRef."""
    parts = (part for word in words for part in re.split(r"[^0-9A-Za-z]+", word) if part)
    name = "".join(part[0].upper() + part[1:] for part in parts)
    return f"Type{name}" if not name or name[0].isdigit() else name


def guessed_names(kind: str) -> dict[str, str]:
    """Return the names that a class of a kind has if it does not declare them."""
    guess: Any = new_class(kind, (KubernetesObject,), {"group": "guess.invalid", "version": "v1"})
    return {"plural": guess.resource.plural, "singular": guess.resource.singular}
