"""Options of requests, and their query parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pyctrl.api import FieldSelector, LabelSelector, ShardSelector

if TYPE_CHECKING:
    from pyctrl.client._login.impersonation import Impersonation

__all__ = [
    "ClientOptions",
    "FieldValidation",
    "Fields",
    "Labels",
    "Preconditions",
    "Propagation",
    "Query",
    "Shards",
    "VersionMatch",
    "delete_options",
    "selection",
]

#: A selection by labels: a selector, its text, or labels that must be equal. None selects everything.
Labels: TypeAlias = LabelSelector | str | Mapping[str, str] | None
#: A selection by fields, in the same forms.
Fields: TypeAlias = FieldSelector | str | Mapping[str, str] | None
#: A selection by the hash of the uid or of the namespace: a selector or its text. None selects everything.
Shards: TypeAlias = ShardSelector | str | None
#: How the server treats fields that the kind does not have; its own default is to warn.
FieldValidation: TypeAlias = Literal["Ignore", "Warn", "Strict"]
#: How the objects are deleted that the deleted one owns.
Propagation: TypeAlias = Literal["Foreground", "Background", "Orphan"]
#: How a list's resource version is compared: the answer has exactly this version, or a later one as well.
VersionMatch: TypeAlias = Literal["Exact", "NotOlderThan"]

Query: TypeAlias = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientOptions:
    """Defaults of the requests of a client; a request that names an option overrides them.

    Attributes:
        namespace: the namespace of requests for namespaced kinds; requests that name another are refused. "" for none.
        dry_run: the server checks and answers writes, but keeps nothing.
        field_owner: the owner of the fields that are written.
        field_validation: see `FieldValidation`; None leaves it to the server.
        impersonate: the user as which requests are made.
    """

    namespace: str = ""
    dry_run: bool = False
    field_owner: str = "pyctrl"
    field_validation: FieldValidation | None = None
    impersonate: Impersonation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Preconditions:
    """UID and resource version that the object must still have; otherwise the server refuses with `Conflict`."""

    uid: str | None = None
    resource_version: str | None = None

    def to_wire(self) -> dict[str, str]:
        """Return the preconditions as the server reads them."""
        pairs = (("uid", self.uid), ("resourceVersion", self.resource_version))
        return {name: value for name, value in pairs if value is not None}


def selection(labels: Labels, fields: Fields, shards: Shards = None) -> Query:
    """Return the query parameters of selectors; none when they select everything. Raises SelectorError on bad text."""
    pairs = (("labelSelector", _labels(labels)), ("fieldSelector", _fields(fields)), ("shardSelector", _shards(shards)))
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


def _shards(shards: Shards) -> str:
    if shards is None:
        return ""
    return str(ShardSelector.parse(shards) if isinstance(shards, str) else shards)


def delete_options(
    *,
    propagation: Propagation | None,
    grace_period_seconds: int | None,
    preconditions: Preconditions | None,
    dry_run: bool,
) -> dict[str, Any]:
    """Return the body of a delete; empty when no option is set."""
    options = {
        "propagationPolicy": propagation,
        "gracePeriodSeconds": grace_period_seconds,
        "preconditions": preconditions.to_wire() if preconditions else None,
        "dryRun": ["All"] if dry_run else None,
    }
    given = {name: value for name, value in options.items() if value is not None}
    return {"apiVersion": "meta.k8s.io/v1", "kind": "DeleteOptions", **given} if given else {}
