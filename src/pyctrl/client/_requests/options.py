"""What requests can be told, and how it stands in the query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pyctrl.api import FieldSelector, LabelSelector

if TYPE_CHECKING:
    from pyctrl.client._login.impersonation import Impersonation

__all__ = [
    "ClientOptions",
    "FieldValidation",
    "Fields",
    "Labels",
    "Preconditions",
    "Propagation",
    "VersionMatch",
    "delete_options",
    "selection",
]

#: Which objects by label: a selector, its text, or labels that must be equal. None selects everything.
Labels: TypeAlias = LabelSelector | str | Mapping[str, str] | None
#: Which objects by field, in the same forms.
Fields: TypeAlias = FieldSelector | str | Mapping[str, str] | None
#: What the server does with fields that the kind does not have; its own default is to warn.
FieldValidation: TypeAlias = Literal["Ignore", "Warn", "Strict"]
#: What becomes of the objects that the deleted one owns.
Propagation: TypeAlias = Literal["Foreground", "Background", "Orphan"]
#: How a list's resource version is meant.
VersionMatch: TypeAlias = Literal["Exact", "NotOlderThan"]

Query: TypeAlias = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientOptions:
    """What holds for every request of a client, unless the request says otherwise.

    Attributes:
        namespace: the namespace of requests for namespaced kinds that name none; any other is refused. "" for none.
        dry_run: writes are checked and answered by the server, but nothing is kept.
        field_owner: who owns the fields that are written.
        field_validation: see `FieldValidation`; None leaves it to the server.
        impersonate: the user that requests are made as.
    """

    namespace: str = ""
    dry_run: bool = False
    field_owner: str = "pyctrl"
    field_validation: FieldValidation | None = None
    impersonate: Impersonation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Preconditions:
    """The object must still be this one, in this version, or nothing happens and `Conflict` is raised."""

    uid: str | None = None
    resource_version: str | None = None

    def to_wire(self) -> dict[str, str]:
        """Return what was given, as the server reads it."""
        pairs = (("uid", self.uid), ("resourceVersion", self.resource_version))
        return {name: value for name, value in pairs if value is not None}


def selection(labels: Labels, fields: Fields) -> Query:
    """Return the query that selects; nothing for what selects everything. Raises SelectorError on bad text."""
    pairs = (("labelSelector", _labels(labels)), ("fieldSelector", _fields(fields)))
    return tuple((name, text) for name, text in pairs if text)


def _labels(labels: Labels) -> str:
    if labels is None:
        return ""
    if isinstance(labels, str):
        return str(LabelSelector.parse(labels))
    return str(labels if isinstance(labels, LabelSelector) else LabelSelector.from_dict(labels))


def _fields(fields: Fields) -> str:
    if fields is None:
        return ""
    if isinstance(fields, str):
        return str(FieldSelector.parse(fields))
    return str(fields if isinstance(fields, FieldSelector) else FieldSelector.from_dict(fields))


def delete_options(
    *,
    propagation: Propagation | None,
    grace_period_seconds: int | None,
    preconditions: Preconditions | None,
    dry_run: bool,
) -> dict[str, Any]:
    """Return the body of a delete; empty when there is nothing to say."""
    options = {
        "propagationPolicy": propagation,
        "gracePeriodSeconds": grace_period_seconds,
        "preconditions": preconditions.to_wire() if preconditions else None,
        "dryRun": ["All"] if dry_run else None,
    }
    given = {name: value for name, value in options.items() if value is not None}
    return {"apiVersion": "meta.k8s.io/v1", "kind": "DeleteOptions", **given} if given else {}
