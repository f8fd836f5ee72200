"""Types of expressions, formatted as by cel-go, and their unification by the checker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

__all__ = [
    "BOOL",
    "BYTES",
    "DOUBLE",
    "DURATION",
    "DYN",
    "ERROR",
    "INT",
    "NULL",
    "STRING",
    "TIMESTAMP",
    "UINT",
    "FieldType",
    "Substitution",
    "Type",
    "is_optional",
    "list_of",
    "map_of",
    "opaque",
    "optional_of",
    "parameter",
    "type_of",
]


@dataclass(frozen=True, slots=True, eq=False)
class Type:
    """A type. `name` identifies an object type, an opaque type or a type parameter."""

    kind: str
    name: str = ""
    parameters: tuple[Type, ...] = ()
    fields: Mapping[str, FieldType] = field(default_factory=dict, repr=False)  # of an object

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, Type)
            and self.kind == other.kind
            and self.name == other.name
            and self.parameters == other.parameters
        )

    def __hash__(self) -> int:
        return hash((self.kind, self.name, self.parameters))

    def __str__(self) -> str:
        name = self.name or self.kind
        if not self.parameters:
            return name
        return f"{name}({', '.join(str(each) for each in self.parameters)})"

    @property
    def is_dynamic(self) -> bool:
        """Whether the type is known at evaluation only, or belongs to a reported error, which is not reported again."""
        return self.kind in ("dyn", "error", "any")


class FieldType(NamedTuple):
    """A field of an object: its name in the data and its type."""

    key: str
    type: Type


BOOL = Type("bool")
INT = Type("int")
UINT = Type("uint")
DOUBLE = Type("double")
STRING = Type("string")
BYTES = Type("bytes")
NULL = Type("null")
TIMESTAMP = Type("timestamp")
DURATION = Type("duration")
DYN = Type("dyn")
ERROR = Type("error", "!error!")


def list_of(item: Type) -> Type:
    """Return `list(item)`."""
    return Type("list", "", (item,))


def map_of(key: Type, value: Type) -> Type:
    """Return `map(key, value)`."""
    return Type("map", "", (key, value))


def optional_of(value: Type) -> Type:
    """Return `optional_type(value)`."""
    return Type("opaque", "optional_type", (value,))


def type_of(value: Type) -> Type:
    """Return the type of a type."""
    return Type("type", "", (value,))


def opaque(name: str) -> Type:
    """Return a type that only functions can read, such as `kubernetes.Quantity`."""
    return Type("opaque", name)


def parameter(name: str) -> Type:
    """Return a type parameter, which each call of a function binds again."""
    return Type("parameter", name)


def is_optional(kind: Type) -> bool:
    """Return whether a type is `optional_type(...)`."""
    return kind.kind == "opaque" and kind.name == "optional_type"


class Substitution:
    """Bindings of type parameters, and assignability of types under them."""

    def __init__(self) -> None:
        self._known: dict[str, Type] = {}
        self._fresh = 0

    def fresh(self) -> Type:
        """Return a new type parameter."""
        self._fresh += 1
        return parameter(f"_var{self._fresh}")

    def apply(self, kind: Type, *, is_final: bool = False) -> Type:
        """Replace bound type parameters; with `is_final`, unbound ones become `dyn`."""
        if kind.kind == "parameter":
            found = self._known.get(kind.name)
            if found is not None:
                return self.apply(found, is_final=is_final)
            return DYN if is_final else kind
        if not kind.parameters:
            return kind
        inner = tuple(self.apply(each, is_final=is_final) for each in kind.parameters)
        return Type(kind.kind, kind.name, inner, kind.fields)

    def fits_all(self, given: list[Type], wanted: list[Type]) -> bool:
        """Apply `fits` to each pair; bindings are kept only if all pairs fit."""
        before = dict(self._known)
        if len(given) == len(wanted) and all(map(self._fits, given, wanted)):
            return True
        self._known = before
        return False

    def fits(self, given: Type, wanted: Type) -> bool:
        """Return whether a value of type `given` is assignable to `wanted`, and bind type parameters."""
        return self.fits_all([given], [wanted])

    def _fits(self, given: Type, wanted: Type) -> bool:
        if wanted.kind == "parameter":
            valid, is_known = self._bind(given, wanted)
            if valid or is_known:
                return valid
        if given.kind == "parameter":
            return self._bind(wanted, given)[0]
        if given.is_dynamic or wanted.is_dynamic:
            return True
        if "null" in (given.kind, wanted.kind):
            return _is_nullable(wanted if given.kind == "null" else given)
        if given.kind == "type":
            return wanted.kind == "type"
        if given.kind != wanted.kind or given.name != wanted.name:
            return False
        pairs = zip(given.parameters, wanted.parameters, strict=True)
        return all(self._fits(mine, theirs) for mine, theirs in pairs)

    def _bind(self, kind: Type, variable: Type) -> tuple[bool, bool]:
        """Bind a type parameter to a type; return whether it fits and whether the parameter was bound before."""
        if kind == variable:
            return True, True
        known = self._known.get(variable.name)
        if known is None:
            if self._mentions(kind, variable):
                return False, False
            self._known[variable.name] = kind
            return True, False
        if kind == known:
            return True, True
        if not self._fits(kind, known):
            return False, True
        general = kind if _is_more_general(kind, known) else known
        if not self._mentions(general, variable):
            self._known[variable.name] = general
        return True, True

    def _mentions(self, kind: Type, variable: Type) -> bool:
        if kind.kind == "parameter":
            if kind == variable:
                return True
            found = self._known.get(kind.name)
            return found is not None and self._mentions(found, variable)
        return any(self._mentions(each, variable) for each in kind.parameters)


def _is_nullable(kind: Type) -> bool:
    return kind.kind in ("null", "object", "opaque", "timestamp", "duration", "wrapper")


def _is_more_general(left: Type, right: Type) -> bool:
    """Return whether `left` is equal to `right` or less specific."""
    if left.is_dynamic or left.kind == "parameter":
        return True
    if right.is_dynamic or left.kind != right.kind or left.name != right.name:
        return False
    return all(map(_is_more_general, left.parameters, right.parameters))
