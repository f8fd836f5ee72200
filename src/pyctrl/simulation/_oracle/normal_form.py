"""Objects without what differs from run to run: identity, versions, times, and what the server or a node assigns."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from pyctrl.simulation._history import ObjectId
from pyctrl.simulation._oracle.mask import Mask
from pyctrl.simulation._oracle.names import TIME, CanonicalNames, Family, is_volatile
from pyctrl.simulation._run import State

__all__ = ["EXTERNAL", "NormalObject", "Normaliser"]

Json = dict[str, Any]

#: The resource under which the state of an external system is compared.
EXTERNAL = "external"

_METADATA = frozenset(
    (
        *("name", "generateName", "namespace", "uid", "resourceVersion", "creationTimestamp"),
        *("managedFields", "selfLink", "deletionGracePeriodSeconds"),
    )
)
# How often a Deployment rolled out is history, not its state: one rollout more with the same end is well.
_ANNOTATIONS = frozenset(
    (
        *("deployment.kubernetes.io/revision", "deployment.kubernetes.io/revision-history"),
        *("deprecated.daemonset.template.generation", "endpoints.kubernetes.io/last-change-trigger-time"),
    )
)
_DROPPED = frozenset(("restartCount", "collisionCount", "lastState", "containerID", "imageID"))
_ASSIGNED = frozenset(
    (
        *("nodeName", "podIP", "podIPs", "hostIP", "hostIPs", "clusterIP", "clusterIPs", "nodePort"),
        *("healthCheckNodePort", "pod-template-hash", "controller-revision-hash", "controller.kubernetes.io/hash"),
        *("pod-template-generation", "volume.kubernetes.io/selected-node"),
    )
)
_UNORDERED = frozenset(("endpoints", "addresses", "notReadyAddresses", "subsets"))
_GROUPS = frozenset(("", "apps", "batch", "policy", "autoscaling"))
_IGNORED = frozenset(
    (
        *("events", "events.events.k8s.io", "leases.coordination.k8s.io", "componentstatuses"),
        "controllerrevisions.apps",
    )
)
_ADDRESS_IN_MEMORY = re.compile(r" at 0x[0-9a-f]+")
_CACHED = 20_000  # objects; about 60 MB


@dataclass(frozen=True, slots=True)
class NormalObject:
    """An object in normal form.

    Attributes:
        object_id: Its real name.
        canonical: Its name in every run.
        tree: What counts, with sorted keys.
        content: The tree as JSON: equal for equal trees.
    """

    object_id: ObjectId
    canonical: ObjectId
    tree: Json
    content: bytes


@dataclass(slots=True)
class _Stripped:
    """An object without identity, versions and times. Texts that depend on the rest of the state are still in it."""

    tree: Json
    volatile: tuple[str, ...]
    finished: dict[tuple[str, ...], tuple[Json, bytes]] = field(default_factory=dict)


class Normaliser:
    """Brings the objects of states into normal form. It remembers objects, because few change from state to state.

    Args:
        mask: Paths that do not count.
        families: Objects with names that were learned to differ.
        prefixes: Prefixes of generated names, besides those that a state has.
    """

    def __init__(
        self,
        mask: Mask | None = None,
        families: frozenset[Family] = frozenset(),
        prefixes: frozenset[str] = frozenset(),
    ) -> None:
        self._mask = mask or Mask()
        self._families = families
        self._prefixes = prefixes
        self._known: dict[tuple[str, str], _Stripped] = {}

    def names(self, state: State) -> CanonicalNames:
        """Return the canonical names of a state."""
        return self.names_of(state.objects)

    def names_of(self, objects: Mapping[ObjectId, Json]) -> CanonicalNames:
        """Return the canonical names of objects."""
        return CanonicalNames(objects, self._families, self._prefixes)

    def normalise(self, state: State, names: CanonicalNames | None = None) -> Iterator[NormalObject]:
        """Yield every object and external system of a state that counts."""
        names = names or self.names(state)
        for object_id, obj in state.objects.items():
            if object_id.resource not in _IGNORED and not _is_old_revision(object_id, obj):
                yield self.one(object_id, obj, names)
        for name, external in state.externals.items():
            yield self.one(ObjectId(EXTERNAL, "", name), _plain(external), names)

    def one(self, object_id: ObjectId, obj: Json, names: CanonicalNames) -> NormalObject:
        """Return one object of a state in normal form."""
        canonical = names.canonical(object_id)
        stripped = self._strip(object_id.resource, obj)
        texts = {text: names.text(text) for text in stripped.volatile}
        key = (canonical.namespace, canonical.name, *texts.values())
        finished = stripped.finished.get(key)
        if finished is None:
            tree = self._mask.apply(canonical, _replace(stripped.tree, texts) if texts else stripped.tree)
            finished = stripped.finished[key] = tree, msgspec.json.encode(tree, order="sorted")
        return NormalObject(object_id, canonical, *finished)

    def _strip(self, resource: str, obj: Json) -> _Stripped:
        """Return an object without its identity. Objects that differ in it, and in times, are remembered as one."""
        if resource != EXTERNAL:
            obj = {**obj, "metadata": {key: item for key, item in obj["metadata"].items() if key not in _METADATA}}
        text = TIME.sub("<time>", msgspec.json.encode(obj).decode())
        known = self._known.get((resource, text))
        if known is None:
            if len(self._known) > _CACHED:
                self._known.clear()
            stripper = _Stripper(resource, msgspec.json.decode(text), self._families)
            known = self._known[resource, text] = _Stripped(stripper.strip(), tuple(sorted(stripper.volatile)))
        return known


class _Stripper:
    """Strips one object."""

    def __init__(self, resource: str, obj: Json, families: frozenset[Family]) -> None:
        _, _, group = resource.partition(".")
        self._resource = resource
        self._is_built_in = resource != EXTERNAL and (group in _GROUPS or group.endswith(".k8s.io"))
        self._generation = obj["metadata"].pop("generation", None) if resource != EXTERNAL else None
        self._families = families
        self._obj = obj
        self.volatile: set[str] = set()

    def strip(self) -> Json:
        """Return the object without what the cluster assigns, with sorted keys."""
        obj = self._obj
        if self._resource == EXTERNAL:
            return self._dict(obj)
        tree = {key: self._value(key, obj[key]) for key in sorted(obj) if key not in ("metadata", "status")}
        if metadata := self._metadata(obj["metadata"]):
            tree["metadata"] = metadata
        status = obj.get("status")
        if status and self._resource != "nodes":  # a node's is its heartbeat
            # an empty list says the same as its absence, which is what there is before the first write
            tree["status"] = {key: item for key, item in self._dict(status).items() if item not in (None, {}, [])}
        return {key: value for key, value in tree.items() if value not in (None, {}, [])}

    def _metadata(self, metadata: Json) -> Json:
        kept = {key: value for key, value in metadata.items() if value}
        if annotations := kept.pop("annotations", None):
            kept["annotations"] = {key: value for key, value in annotations.items() if key not in _ANNOTATIONS}
        for key in ("ownerReferences", "finalizers"):
            if key in kept:
                kept[key] = sorted(kept[key], key=_order)
        return {key: value for key, value in self._dict(kept).items() if value}

    def _dict(self, value: Json) -> Json:
        return {self._text(key): self._value(key, value[key]) for key in sorted(value) if not self._is_dropped(key)}

    def _is_dropped(self, key: str) -> bool:
        return self._is_built_in and key in _DROPPED

    def _value(self, key: str, value: Any) -> Any:
        if type(value) is str:
            return "*" if self._is_assigned(key, value) else self._text(value)
        if type(value) is dict:
            return self._dict(value)
        if type(value) is list:
            return "*" if self._is_built_in and key in _ASSIGNED else self._list(key, value)
        if key == "observedGeneration" and self._generation is not None:
            return _relative(value, self._generation)
        return "*" if self._is_built_in and key in _ASSIGNED else value

    def _list(self, key: str, value: list[Any]) -> list[Any]:
        items = [self._value("", item) for item in value]
        if items and all(type(item) is dict and "type" in item and "status" in item for item in items):
            return sorted(items, key=lambda item: str(item["type"]))  # conditions: their order has no meaning
        return sorted(items, key=_order) if self._is_built_in and key in _UNORDERED else items

    def _is_assigned(self, key: str, value: str) -> bool:
        if self._is_built_in and key in _ASSIGNED:
            return value not in ("", "None")  # a headless Service's
        return len(key) >= 15 and key.lower().replace("-", "").endswith("resourceversion")

    def _text(self, text: str) -> str:
        if len(text) > 4 and is_volatile(text, self._families):
            self.volatile.add(text)
        return text


def _relative(observed: Any, generation: Any) -> Any:
    """Return an observed generation as relative to that of its object: how far both have come is history."""
    if not isinstance(observed, int) or not isinstance(generation, int):
        return observed
    return "<current>" if observed == generation else "<behind>" if observed < generation else "<ahead>"


def _replace(value: Any, texts: Mapping[str, str]) -> Any:
    """Put canonical names into a tree. A list with generated names is sorted: so were the names, which differ."""
    if type(value) is str:
        return texts.get(value, value)
    if type(value) is dict:
        if texts.keys().isdisjoint(value):
            return {key: _replace(item, texts) for key, item in value.items()}
        return _numbered(
            sorted(((texts.get(key, key), _replace(item, texts)) for key, item in value.items()), key=_order)
        )
    if type(value) is list:
        items = [_replace(item, texts) for item in value]
        return sorted(items, key=_order) if items != value and any(map(_has_generated, items)) else items
    return value


def _numbered(pairs: list[tuple[str, Any]]) -> Json:
    """Return a dict of pairs with equal keys, which are numbered in the order of their values."""
    found: Json = {}
    for key, value in pairs:
        number = 1
        while (name := key if number == 1 else f"{key} {number}") in found:
            number += 1
        found[name] = value
    return found


def _has_generated(item: Any) -> bool:
    return b"*" in msgspec.json.encode(item)


def _order(item: Any) -> bytes:
    return msgspec.json.encode(item, order="sorted")


def _is_old_revision(object_id: ObjectId, obj: Json) -> bool:
    """Return whether a ReplicaSet is kept by its Deployment for a rollback only."""
    if object_id.resource != "replicasets.apps":
        return False
    owners = obj["metadata"].get("ownerReferences") or ()
    is_unused = not (obj.get("spec") or {}).get("replicas") and not (obj.get("status") or {}).get("replicas")
    return is_unused and any(owner.get("kind") == "Deployment" for owner in owners)


def _plain(value: Any) -> Any:
    """Return the state of an external system as JSON; sets are sorted."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {each.name: _plain(getattr(value, each.name)) for each in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {key if isinstance(key, str) else str(_plain(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(map(_plain, value), key=_order)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return _ADDRESS_IN_MEMORY.sub("", str(value))
