"""Classes for the objects in a schema; equal schemas share a class."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyctrl.manifests._crd_import.python_names import class_name, singular
from pyctrl.manifests._crd_import.source_layout import Expression, assignment, call, docstring, lay_out, literal

__all__ = ["ITEM", "KEY", "Classes", "SourceClass", "SourceField", "rule_marker"]

Schema = Mapping[str, Any]

ITEM, KEY = "[]", "*"  # steps of a path: any item of a list, the value of any key of a map

_API = "pyctrl.api"
_WHERE = {"Annotated": "typing", "Any": "typing", "Literal": "typing", "Field": "pydantic"}
_OF_USE = ("description", "default", "nullable")  # keywords of the place, not of the class
#: Names that a class must not have, because the module imports them.
_TAKEN = frozenset({*_WHERE, "Model", "CustomResource", "KubernetesObject"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceField:
    """One field of a class, and its description."""

    name: str
    annotation: Expression
    value: Expression | None = None
    description: str = ""

    def lines(self) -> Iterator[str]:
        """Yield its source lines."""
        yield from assignment(self.name, self.annotation, self.value, "    ")
        if self.description:
            yield from docstring(self.description, "    ")


@dataclass(slots=True, kw_only=True)
class SourceClass:
    """A class to be generated."""

    name: str
    bases: tuple[Expression, ...]
    description: str = ""
    fields: list[SourceField] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """Yield its source lines."""
        head = call(f"class {self.name}", *self.bases)
        yield from lay_out(head, after=":")
        if self.description:
            yield from docstring(self.description, "    ")
        elif not self.fields:
            yield "    pass"
        for index, each in enumerate(self.fields):
            if self.description or (index and self.fields[index - 1].description) or (index and each.description):
                yield ""
            yield from each.lines()


class Classes:
    """The classes found so far, their imports, and notes about parts that they cannot express."""

    def __init__(self) -> None:
        self.found: list[SourceClass] = []
        self.imports: dict[str, set[str]] = {}
        self.notes: list[str] = []
        self._by_schema: dict[str, SourceClass] = {}
        self._names: dict[str, str] = {}  # and the version that uses each
        self._kind = self._suffix = ""

    def begin(self, kind: str, suffix: str) -> None:
        """Start a kind: the names of its classes begin with its name, plus its version if another version has them."""
        self._kind, self._suffix = kind, suffix

    def use(self, name: str, module: str = "") -> str:
        """Import a name, from `pyctrl.api` unless it is known to be elsewhere."""
        self.imports.setdefault(module or _WHERE.get(name, _API), set()).add(name)
        return name

    def note(self, what: str, path: tuple[str, ...] = ()) -> None:
        """Note something that the classes cannot express, at the end of a path of fields."""
        place = ".".join(path).replace(f".{ITEM}", ITEM)
        self.notes.append(f"{what} of {place}" if place else what)

    def known(self, schema: Schema) -> SourceClass | None:
        """Return the class that was made for an equal schema; keywords of the place are ignored."""
        return self._by_schema.get(_key(schema))

    def new(self, schema: Schema, path: tuple[str, ...]) -> SourceClass:
        """Start a class for the schema at the end of a path of fields, under a free name."""
        made = SourceClass(name=self.name(path), bases=("Model",), description=schema.get("description") or "")
        self.use("Model")
        self._by_schema[_key(schema)] = made
        return made

    def name(self, path: tuple[str, ...]) -> str:
        """Return a free name: the kind and the last field, with more of the path if that is taken."""
        words = [
            singular(word) if below in (ITEM, KEY) else word
            for word, below in zip(path, (*path[1:], ""), strict=True)
            if word not in (ITEM, KEY)
        ]
        names = [class_name(self._kind, *words[-count:]) for count in range(1, len(words) + 1)]
        names = [f"{each}{self._suffix}" if self._is_of_other_version(each) else each for each in names]
        names += [f"{names[-1]}{number}" for number in range(2, len(self._names) + 3)]
        return self.reserve(next(each for each in names if each not in self._names and each not in _TAKEN))

    def _is_of_other_version(self, name: str) -> bool:
        return self._names.get(name, self._suffix) != self._suffix

    def reserve(self, name: str) -> str:
        """Reserve a name."""
        self._names[name] = self._suffix
        return name


def _key(schema: Schema) -> str:
    return json.dumps({key: value for key, value in schema.items() if key not in _OF_USE}, sort_keys=True)


def rule_marker(rule: Mapping[str, Any], classes: Classes) -> Expression:
    """Return the marker of one of ``x-kubernetes-validations``."""
    words = {"message": "message", "messageExpression": "message_expression", "reason": "reason"}
    words |= {"fieldPath": "field_path", "optionalOldSelf": "optional_old_self"}
    arguments = {ours: literal(rule[theirs]) for theirs, ours in words.items() if rule.get(theirs)}
    return call(classes.use("ValidationRule"), literal(rule["rule"]), **arguments)
