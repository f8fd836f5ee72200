"""Names: of fields and classes in Python, for what is called something else on the wire."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable
from types import new_class
from typing import Any

from pydantic.alias_generators import to_camel, to_snake

from pyctrl.api import KubernetesObject, Model

__all__ = ["class_name", "field_names", "guessed_names", "is_alias_of", "singular"]

# What a field must not be called: it would hide what its class needs, or what the annotations below it mean.
_TAKEN = frozenset({*keyword.kwlist, *dir(Model), "bool", "dict", "float", "int", "list", "str"})
_TAKEN_IN_KINDS = frozenset({*dir(KubernetesObject), "gvk", "resource"})
_SINGULARS = (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("shes", "sh"))
_NO_PLURALS = ("ss", "us", "is")


def field_names(wires: Iterable[str], *, is_kind: bool = False) -> dict[str, str]:
    """Give the name in Python of each field on the wire, of a whole object or of a part; no two are alike."""
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
    """Say whether a field of this name is called that on the wire without being told so."""
    return to_camel(name) == wire


def singular(word: str) -> str:
    """Guess what one of several is called: rules → rule, entries → entry, addresses → address."""
    if len(word) <= len("dns"):
        return word
    for plural, one in _SINGULARS:
        if word.lower().endswith(plural):
            return word[: -len(plural)] + one
    return word[:-1] if word.endswith("s") and not word.endswith(_NO_PLURALS) else word


def class_name(*words: str) -> str:
    """Make a class's name of words as they are on the wire: (HTTPRoute, backendRef) → HTTPRouteBackendRef."""
    parts = (part for word in words for part in re.split(r"[^0-9A-Za-z]+", word) if part)
    name = "".join(part[0].upper() + part[1:] for part in parts)
    return f"Type{name}" if not name or name[0].isdigit() else name


def guessed_names(kind: str) -> dict[str, str]:
    """Give the names that a class of a kind has when it does not say them."""
    guess: Any = new_class(kind, (KubernetesObject,), {"group": "guess.invalid", "version": "v1"})
    return {"plural": guess.resource.plural, "singular": guess.resource.singular}
