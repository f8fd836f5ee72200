"""Steps of a scenario that are manifests, edits and deletions, and how a user performs them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from pyctrl.api import GroupVersionKind, Key, as_object
from pyctrl.client import Client, MergePatch, Propagation
from pyctrl.errors import (
    AlreadyExists,
    ApiError,
    BadRequest,
    Forbidden,
    Invalid,
    NotFound,
    TransportError,
)
from pyctrl.simulation._manifest_diff import describe, merge_diff

__all__ = ["Delete", "ManifestStep", "play", "steps_of", "texts"]

Json = dict[str, Any]
Id = tuple[str, str, str, str]  # group, kind, namespace, name

PATIENCE = 60.0  # seconds for which a user repeats a command that may succeed later
PAUSE = 1.0  # seconds before the repetition

REFUSED = (Invalid, BadRequest, Forbidden)


@dataclass(frozen=True, slots=True)
class Delete:
    """Deletion of an object in a list of manifests.

    Attributes:
        name: Its name: ``NAME``, ``NAMESPACE/NAME`` or ``KIND NAMESPACE/NAME``.
        propagation: What happens to what it owns; by default as its kind defines.
    """

    name: str
    propagation: Propagation | None = None


@dataclass(frozen=True, slots=True)
class ManifestStep:
    """One command of the user.

    Attributes:
        manifest: The object as it is to be, or the one to delete.
        deletes: Whether it is deleted; otherwise it is created, or changed if the user has created it before.
        propagation: Of a deletion.
        base: The manifest to which changes go back, for the step in words.
        is_optional: Whether the step is left out if the server refuses it as invalid.
        rests: Whether the world rests after it.
    """

    manifest: Json
    deletes: bool = False
    propagation: Propagation | None = None
    base: Json | None = field(default=None, repr=False)
    is_optional: bool = False
    rests: bool = True

    @property
    def id(self) -> Id:
        """The identity of the object, whatever its version, and whether or not it names the default namespace."""
        group = self.manifest["apiVersion"].rpartition("/")[0]
        namespace, name = _key(self.manifest)
        return group, self.manifest["kind"], namespace or "default", name

    @property
    def name(self) -> str:
        """Its kind and name, for people."""
        namespace, name = _key(self.manifest)
        return f"{self.manifest['kind']} {namespace}/{name}" if namespace else f"{self.manifest['kind']} {name}"

    def text(self, before: Json | None) -> str:
        """Return the step in words, given the manifest as it was before; None if it is new."""
        if self.deletes:
            return f"delete {self.name}"
        return f"create {self.name}" if before is None else describe(before, self.manifest, self.name, self.base)


def steps_of(items: Iterable[Any]) -> Iterator[ManifestStep]:
    """Yield the steps of a list; see `pyctrl.simulation._scenarios.scenario_of`.

    Raises:
        TypeError: An item is no manifest, edit or deletion.
        ValueError: An edit or a deletion names an object that no manifest before it has.
    """
    known: dict[Id, Json] = {}
    for number, item in enumerate(items, 1):
        step = _step(item, known, f"item {number} of the scenario")
        if step.deletes:
            known.pop(step.id, None)
        else:
            known[step.id] = step.manifest
        yield step


def _step(item: Any, known: Mapping[Id, Json], place: str) -> ManifestStep:
    if isinstance(item, Delete):
        return ManifestStep(_find(item.name, known, place), deletes=True, propagation=item.propagation)
    if isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str) and isinstance(item[1], Mapping):
        return ManifestStep(_patched(_find(item[0], known, place), item[1]))
    try:
        manifest = deepcopy(dict(item) if isinstance(item, Mapping) else as_object(item).to_wire())
    except TypeError:
        raise TypeError(
            f"{place}: expected an object, a dict, a pair of a name and a patch, or Delete(name); got {item!r}"
        ) from None
    metadata = manifest.get("metadata")
    if not (
        manifest.get("apiVersion") and manifest.get("kind") and isinstance(metadata, dict) and metadata.get("name")
    ):
        raise TypeError(f"{place}: expected apiVersion, kind and metadata.name in the manifest; got {manifest!r}")
    manifest.pop("status", None)  # the operator's, and not kept by the server
    return ManifestStep(manifest, deletes=manifest.pop("$patch", "") == "delete")


def _find(text: str, known: Mapping[Id, Json], place: str) -> Json:
    """Return the manifest of a name; the text may leave out what is not needed."""
    kind, _, key = text.rpartition(" ")
    namespace, _, name = key.rpartition("/")
    found = [
        manifest
        for (_, its_kind, its_namespace, its_name), manifest in known.items()
        if its_name == name and namespace in ("", its_namespace) and kind.lower() in ("", its_kind.lower())
    ]
    if len(found) == 1:
        return found[0]
    names = ", ".join(ManifestStep(manifest).name for manifest in known.values())
    why = "there are several; add kind and namespace" if found else "no manifest before it has this name"
    raise ValueError(f"{place}: {text!r}: {why}. The objects so far: {names or 'none'}")


def _key(manifest: Mapping[str, Any]) -> tuple[str, str]:
    metadata = manifest["metadata"]
    return metadata.get("namespace") or "", metadata["name"]


def _patched(manifest: Json, patch: Mapping[str, Any]) -> Json:
    """Return the manifest with a JSON merge patch applied (RFC 7396)."""
    found = dict(manifest)
    for name, value in patch.items():
        if value is None:
            found.pop(name, None)
        elif isinstance(value, Mapping):
            before = found.get(name)
            found[name] = _patched(before if isinstance(before, dict) else {}, value)
        else:
            found[name] = deepcopy(value)
    return found


def texts(steps: Sequence[ManifestStep]) -> Iterator[str]:
    """Yield the steps in words, if the server refuses none."""
    known: dict[Id, Json] = {}
    for step in steps:
        yield step.text(known.pop(step.id, None))
        if not step.deletes:
            known[step.id] = step.manifest


async def play(steps: Sequence[ManifestStep], client: Client, settle: Callable[[str], Awaitable[None]]) -> None:
    """Perform steps one after the other.

    A command that fails for now (a broken connection, a server that is overloaded, an object of the name that is still
    being deleted) is repeated for up to a minute. The same steps give the same requests in each run, as long as the
    server answers the same.

    Raises:
        PyctrlError: A command failed, or the server refused a step that is not optional.
    """
    known: dict[Id, Json] = {}
    for step in steps:
        before = known.get(step.id)
        try:
            await _insist(step, before, client)
        except REFUSED:
            if not step.is_optional:
                raise
            continue
        known.pop(step.id, None)
        if not step.deletes:
            known[step.id] = step.manifest
        if step.rests:
            await settle(step.text(before))


async def _insist(step: ManifestStep, before: Json | None, client: Client) -> None:
    loop = asyncio.get_running_loop()
    ends_at, may_be_done = loop.time() + PATIENCE, False
    while True:
        try:
            await _perform(step, before, client)
        except (ApiError, TransportError) as error:
            if may_be_done and isinstance(error, (AlreadyExists, NotFound)):
                return
            if not _may_succeed_later(error, before) or loop.time() >= ends_at:
                raise
            may_be_done |= isinstance(error, TransportError)  # the answer was lost, and perhaps only that
        else:
            return
        await asyncio.sleep(PAUSE)


def _may_succeed_later(error: ApiError | TransportError, before: Json | None) -> bool:
    if isinstance(error, AlreadyExists):
        return before is None  # an object of the name may still be on its way out
    return isinstance(error, TransportError) or error.may_retry


async def _perform(step: ManifestStep, before: Json | None, client: Client) -> None:
    manifest = step.manifest
    gvk = GroupVersionKind.parse(manifest["apiVersion"], manifest["kind"])
    key = Key(*_key(manifest))
    if not key.namespace and (await client.discovery.mapping(gvk)).namespaced:
        key = Key("default", key.name)
    if step.deletes:
        await client.delete(gvk, key, propagation=step.propagation)
    elif before is None:
        metadata = manifest["metadata"] | ({"namespace": key.namespace} if key.namespace else {})
        await client.create(as_object({**manifest, "metadata": metadata}), field_validation="Strict")
    else:
        await client.patch(gvk, key, MergePatch(merge_diff(before, manifest)), field_validation="Strict")
