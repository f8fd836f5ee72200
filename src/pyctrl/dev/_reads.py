"""Reads of an object's last reconcile, and the objects whose last reconcile has read an object."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyctrl.api import GroupVersionKind, Key
from pyctrl.controller import Controller, ReadView, Request

__all__ = ["ReadRow", "object_id", "readers_of", "reads_of"]

#: Group, kind, namespace and name: an object in any version of its kind.
ObjectId = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRow:
    """Something that the last reconcile of an object has read; see `pyctrl.controller.Subscriptions`.

    Attributes:
        text: the object or the list: ``Secret default/db``.
        is_missing: whether it is an object that does not exist.
        others: other objects whose last reconcile has read the same object: ``WebApp default/shop``.
    """

    text: str
    is_missing: bool = False
    others: tuple[str, ...] = ()


def reads_of(
    controllers: Sequence[Controller], controller: str, request: Request, existing: Collection[ObjectId]
) -> tuple[ReadRow, ...]:
    """Return what the last reconcile of a request has read, in the order of the reads."""
    found = [view for each in controllers if each.name == controller for view in each.subscriptions.reads_of(request)]
    own = {_name(each, request) for each in controllers if each.name == controller}
    return tuple(_row(controllers, view, own, existing) for view in found)


def readers_of(
    controllers: Sequence[Controller], kind: GroupVersionKind, key: Key, cluster: str = ""
) -> tuple[str, ...]:
    """Return the objects whose last reconcile has read an object, alone or in a list."""
    return tuple(
        _name(each, request)
        for each in controllers
        for request in each.subscriptions.readers_of(kind, key, cluster=cluster)
    )


def object_id(obj: Mapping[str, Any]) -> ObjectId:
    """Return the id of an object in the form of JSON."""
    group = str(obj["apiVersion"]).rpartition("/")[0]
    return group, str(obj["kind"]), str(obj["metadata"].get("namespace", "")), str(obj["metadata"]["name"])


def _row(
    controllers: Sequence[Controller], view: ReadView, own: Collection[str], existing: Collection[ObjectId]
) -> ReadRow:
    if view.name is None:
        return ReadRow(text=str(view))
    namespace = view.namespace or ""
    readers = readers_of(controllers, view.kind, Key(namespace, view.name), view.cluster)
    is_known = not view.cluster  # objects of other clusters are not listed
    return ReadRow(
        text=str(view),
        is_missing=is_known and (view.kind.group, view.kind.kind, namespace, view.name) not in existing,
        others=tuple(reader for reader in readers if reader not in own),
    )


def _name(controller: Controller, request: Request) -> str:
    return f"{controller.kind.kind if controller.kind is not None else controller.name} {request}"
