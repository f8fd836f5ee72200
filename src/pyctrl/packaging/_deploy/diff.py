"""The changes that applying objects would make in a cluster, found with server-side dry runs."""

from __future__ import annotations

import difflib
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pyctrl.api import GroupVersionKind, Key
from pyctrl.client import Client
from pyctrl.errors import ApiError, CommandFailed, NotFound, UnknownKind
from pyctrl.packaging._deploy.deployer import OWNER
from pyctrl.rbac import to_yaml

__all__ = ["ObjectDiff", "changes"]

Object = dict[str, Any]

_SERVERS = ("creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid")


@dataclass(frozen=True, slots=True)
class ObjectDiff:
    """The change that applying an object would make.

    Attributes:
        kind: the kind of the object.
        key: its namespace and name.
        is_new: whether the object does not exist yet.
        diff: the change in the format of `diff -u`, in YAML.
    """

    kind: str
    key: Key
    is_new: bool
    diff: str


async def changes(client: Client, objects: Iterable[Object]) -> AsyncIterator[ObjectDiff]:
    """Yield the change of each object that would be created or updated.

    Raises:
        CommandFailed: the cluster would reject an object; the message says which, and why.
    """
    for obj in objects:
        gvk = GroupVersionKind.parse(obj["apiVersion"], obj["kind"])
        key = Key(obj["metadata"].get("namespace", ""), obj["metadata"]["name"])
        before, after = await _before(client, gvk, key), await _after(client, obj, gvk, key)
        if before != after:
            text = _unified(f"{gvk.kind} {key}", before, after)
            yield ObjectDiff(gvk.kind, key, before is None, text)


async def _before(client: Client, gvk: GroupVersionKind, key: Key) -> Object | None:
    try:
        found = await client.find(gvk, key)
    except UnknownKind:
        return None
    return _plain(found.to_wire()) if found is not None else None


async def _after(client: Client, obj: Object, gvk: GroupVersionKind, key: Key) -> Object:
    """Return the object after a dry run; the object itself if its namespace or kind does not exist yet."""
    try:
        return _plain((await client.apply(obj, field_owner=OWNER, force=True, dry_run=True)).to_wire())
    except (NotFound, UnknownKind):
        return _plain(obj)
    except ApiError as error:
        raise CommandFailed(f"the cluster would reject {gvk.kind} {key}: {error}") from error


def _plain(obj: Mapping[str, Any]) -> Object:
    """Return an object without the fields that the server sets."""
    metadata = {name: value for name, value in obj["metadata"].items() if name not in _SERVERS}
    return {name: value for name, value in obj.items() if name != "status"} | {"metadata": metadata}


def _unified(name: str, before: Object | None, after: Object) -> str:
    old, new = [to_yaml([_sorted(each)]).splitlines(keepends=True) if each else [] for each in (before, after)]
    return "".join(difflib.unified_diff(old, new, f"{name} (cluster)" if before else "/dev/null", f"{name} (program)"))


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(each) for each in value] if isinstance(value, list) else value
