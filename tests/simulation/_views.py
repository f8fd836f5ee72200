"""Comparison of the operator's cache with the server, through every kind of read."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from pyctrl.api import Key
from pyctrl.cache import Cache
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.simulation import World
from tests.simulation._checks import Findings, owners_of
from tests.simulation._operators import KINDS
from tests.simulation._user import NAMESPACES

Json = dict[str, Any]

LONGEST_SILENCE = timedelta(seconds=100)  # bookmarks come once a minute, and a silent watch is replaced after 90 s


async def check_views(world: World) -> None:
    """Compare all reads of each process with the server, once the cluster is idle."""
    for process in world.processes:
        assert process.manager is not None, "the operator does not run"
        cache, mirrors = process.manager.cache, world.external(Findings).mirrors_of(process.manager)
        assert not cache.problems, f"the cache has problems: {cache.problems}"
        for statistics in cache.statistics():
            assert not statistics.own_writes, f"own writes of {statistics.kind} have never come back"
            assert statistics.age is not None
            assert statistics.age < LONGEST_SILENCE, f"nothing heard of {statistics.kind} for {statistics.age}"
        for kind in KINDS:
            for namespace in NAMESPACES:
                served = world.states.wire_objects(kind.gvk.group, kind.resource.plural, namespace)
                await _check_reads(cache, kind, namespace, served)
                told = {key: state for key, state in mirrors[kind].objects.items() if key.namespace == namespace}
                assert told == _states(served), f"subscribers of {kind.__name__} were told otherwise than the server"


async def _check_reads(cache: Cache, kind: type[Any], namespace: str, served: list[Json]) -> None:
    listed = await cache.list(kind, namespace=namespace)
    states = {one.key: (one.metadata.uid, int(one.metadata.resource_version)) for one in listed}
    assert states == _states(served), f"the cache of {kind.__name__} in {namespace} differs from the server"
    owners = [(uid, one) for one in served for uid in owners_of(one)]
    await _check_index(cache, kind, namespace, "owner", owners)
    if kind is ConfigMap:
        flocks = [(one["metadata"].get("labels", {}).get("flock", ""), one) for one in served]
        await _check_index(cache, kind, namespace, "flock", flocks)


async def _check_index(
    cache: Cache, kind: type[Any], namespace: str, index: str, expected: list[tuple[str, Json]]
) -> None:
    for value in {value for value, _ in expected}:
        found = await cache.list(kind, namespace=namespace, index=(index, value))
        keys = {key_of(one) for other, one in expected if other == value}
        assert {one.key for one in found} == keys, f"index {index} of {kind.__name__} finds others for {value!r}"


def _states(served: list[Json]) -> dict[Key, tuple[str, int]]:
    return {key_of(one): (one["metadata"]["uid"], int(one["metadata"]["resourceVersion"])) for one in served}


def key_of(found: Json) -> Key:
    """Return the key of an object in JSON."""
    return Key(found["metadata"].get("namespace", ""), found["metadata"]["name"])
