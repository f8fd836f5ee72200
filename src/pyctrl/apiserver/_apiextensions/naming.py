"""Names of definitions: those that a definition gets, beside the others of its group (upstream's naming controller)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from pyctrl._go.text import shown_value
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["GroupNames", "NamesAccepted", "accept_names"]

NamesAccepted = tuple[str, str, str]  # status, reason and message of the condition

_EACH = (
    ("plural", "PluralConflict"),
    ("singular", "SingularConflict"),
    ("shortNames", "ShortNamesConflict"),
    ("kind", "KindConflict"),
    ("listKind", "ListKindConflict"),
)
_OF_KINDS = ("kind", "listKind")
_ALWAYS = ("plural", "kind")  # written when empty, too


def accept_names(
    requested: Mapping[str, JSON], accepted: Mapping[str, JSON], others: Iterable[Mapping[str, JSON]]
) -> tuple[dict[str, JSON], NamesAccepted]:
    """Return the accepted names of a definition, and the condition that says whether they are all that it requests.

    Args:
        requested: The names in its spec.
        accepted: The names in its status. It keeps those of which the requested one is taken.
        others: The accepted names of the other definitions of its group.
    """
    taken = [accepted, *others]
    kinds = {name for each in taken for name in _names(each, _OF_KINDS)}
    resources = {name for each in taken for name in _names(each, ("plural", "singular", "shortNames"))}
    new, condition = dict(accepted), ("True", "NoConflicts", "no conflicts found")
    for key, reason in _EACH:
        in_use = _in_use(requested.get(key), accepted.get(key), kinds if key in _OF_KINDS else resources)
        if in_use:
            condition = "False", reason, _message(in_use)  # of the last conflict, as upstream
        else:
            new[key] = requested.get(key)
    new["categories"] = requested.get("categories")
    ordered = {key: new.get(key) for key in (*(key for key, _ in _EACH), "categories")}
    return {key: value or "" for key, value in ordered.items() if value or key in _ALWAYS}, condition


def _in_use(wanted: JSON, own: JSON, taken: set[str]) -> list[str]:
    """Return the wanted names, one or a list, that are in use and not those that the definition has there."""
    if isinstance(wanted, list):
        return [each for each in wanted if each in taken and each not in (own or ())]
    return [wanted] if wanted in taken and wanted != own else []


def _message(names: list[str]) -> str:
    found = [f"{shown_value(name)} is already in use" for name in names]
    return found[0] if len(found) == 1 else f"[{', '.join(found)}]"


def _names(accepted: Mapping[str, JSON], keys: Iterable[str]) -> Iterator[str]:
    for key in keys:
        found = accepted.get(key) or ()
        yield from [found] if isinstance(found, str) else found


class GroupNames:
    """The accepted names of all definitions, by group."""

    def __init__(self) -> None:
        self._groups: dict[str, dict[str, _Definition]] = {}

    def put(self, name: str, data: bytes) -> list[str]:
        """Note a definition; return the others that wait for a name, if its accepted names have changed."""
        definition = _decode(data)
        group = self._groups.setdefault(definition.spec.group, {})
        before, group[name] = group.get(name), definition
        is_changed = before is not None and before.accepted != definition.accepted
        return self._waiting(definition.spec.group, name) if is_changed else []

    def remove(self, name: str, group: str) -> list[str]:
        """Forget a definition; return the others of its group that wait for a name."""
        self._groups.get(group, {}).pop(name, None)
        return self._waiting(group, name)

    def others(self, name: str, group: str) -> list[Mapping[str, JSON]]:
        """Return the accepted names of the other definitions of a group."""
        return [each.accepted for other, each in self._groups.get(group, {}).items() if other != name]

    def _waiting(self, group: str, name: str) -> list[str]:
        found = self._groups.get(group, {})
        return sorted(other for other, each in found.items() if other != name and each.is_waiting)


class _Condition(msgspec.Struct):
    type: str = ""
    status: str = ""


class _Status(msgspec.Struct, rename="camel"):
    accepted_names: dict[str, Any] | None = None
    conditions: list[_Condition] | None = None


class _Spec(msgspec.Struct):
    group: str = ""


class _Definition(msgspec.Struct):
    """What names depend on in a definition. The rest, its schemas, is large and not decoded."""

    spec: _Spec
    status: _Status | None = None

    @property
    def accepted(self) -> dict[str, JSON]:
        return (self.status and self.status.accepted_names) or {}

    @property
    def is_waiting(self) -> bool:
        conditions = (self.status and self.status.conditions) or ()
        return any((each.type, each.status) == ("NamesAccepted", "False") for each in conditions)


_decode = msgspec.json.Decoder(_Definition).decode
