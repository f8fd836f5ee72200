"""Function tables: signatures as text with their Python implementations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

from pyctrl.cel._types import Type, list_of, map_of, opaque, optional_of, parameter, type_of

__all__ = ["Overload", "Table", "overloads", "read_type"]


Implementation: TypeAlias = Callable[..., Any]
#: Functions of a library: name -> (signature, implementation) pairs.
Table: TypeAlias = Mapping[str, Sequence[tuple[str, Implementation]]]

_SIMPLE = frozenset(
    ("bool", "int", "uint", "double", "string", "bytes", "null", "timestamp", "duration", "dyn", "any", "error")
)
_CONSTRUCTORS: Mapping[str, Callable[..., Type]] = {
    "list": list_of,
    "map": map_of,
    "optional_type": optional_of,
    "type": type_of,
}


@dataclass(frozen=True, eq=False)
class Overload:
    """One overload of a function. The first parameter of a method is its target."""

    function: str
    signature: str
    is_member: bool
    parameters: tuple[Type, ...]
    result: Type
    implementation: Implementation

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """Names of the type parameters."""
        found: dict[str, None] = {}
        for each in (*self.parameters, self.result):
            _collect(each, found)
        return tuple(found)


def overloads(*tables: Table) -> dict[str, tuple[Overload, ...]]:
    """Parse the signatures of function tables; overloads of the same name are joined."""
    found: dict[str, tuple[Overload, ...]] = {}
    for table in tables:
        for function, entries in table.items():
            read = tuple(_overload(function, signature, each) for signature, each in entries)
            found[function] = (*found.get(function, ()), *read)
    return found


def _overload(function: str, signature: str, implementation: Implementation) -> Overload:
    is_member = not signature.startswith("(")
    target, _, rest = signature.partition(".(") if is_member else ("", "", signature[1:])
    taken, _, given = rest.rpartition(") -> ")
    parameters = [*([target] if is_member else []), *_split(taken)]
    return Overload(function, signature, is_member, tuple(map(read_type, parameters)), read_type(given), implementation)


def _split(text: str) -> list[str]:
    found, depth, start = [], 0, 0
    for index, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == "," and not depth:
            found.append(text[start:index])
            start = index + 1
    return [*found, text[start:]] if text.strip() else []


@lru_cache(maxsize=1024)
def read_type(text: str) -> Type:
    """Parse a type: `int`, `list(A)`, `net.IP`; a single capital letter is a type parameter."""
    text = text.strip()
    name, bracket, rest = text.partition("(")
    inner = [read_type(each) for each in _split(rest[:-1])] if bracket else []
    if name in _SIMPLE:
        return Type(name)
    if len(name) == 1:
        return parameter(name)
    return _CONSTRUCTORS[name](*inner) if name in _CONSTRUCTORS else opaque(name)


def _collect(kind: Type, found: dict[str, None]) -> None:
    if kind.kind == "parameter":
        found[kind.name] = None
    for each in kind.parameters:
        _collect(each, found)
