"""Dependencies of a pod that must exist before its containers start: claims, ConfigMaps and Secrets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from pyctrl.api import Key
from pyctrl.client import Client
from pyctrl.cluster._pod_claims import pod_claim_keys
from pyctrl.kinds.core.v1 import ConfigMap, Container, PersistentVolumeClaim, Pod, Secret, Volume

__all__ = ["MissingDependency", "PodDependencies"]


@dataclass(frozen=True, slots=True)
class MissingDependency:
    """Reason and message of the waiting containers, and reason and message of the Event."""

    waiting: tuple[str, str]
    event: str
    message: str


class PodDependencies:
    """Looks up the dependencies of pods on the server."""

    def __init__(self, live: Client) -> None:
        self._live = live

    async def missing(self, pod: Pod) -> MissingDependency | None:
        """Return the first missing dependency, or None."""
        for key in pod_claim_keys(pod):
            claim = await self._live.find(PersistentVolumeClaim, key)
            if claim is None:
                return _mount_failure(f'persistentvolumeclaim "{key.name}" not found')
            if claim.status.phase != "Bound":
                return _mount_failure(f'PersistentVolumeClaim "{key.name}" is not bound')
        for volume in pod.spec.volumes:
            for kind, name in _sources(volume):
                if await self._live.find(kind, Key(pod.metadata.namespace, name)) is None:
                    source = _describe(kind, name)
                    return _mount_failure(f'MountVolume.SetUp failed for volume "{volume.name}" : {source} not found')
        for container in (*pod.spec.init_containers, *pod.spec.containers):
            for kind, name, key_ in _variables(container):
                found: ConfigMap | Secret | None = await self._live.find(
                    cast(Any, kind), Key(pod.metadata.namespace, name)
                )
                if found is None:
                    return _config_error(f"{_describe(kind, name)} not found")
                if key_ is not None and key_ not in found.data:
                    message = f"couldn't find key {key_} in {kind.__name__} {pod.metadata.namespace}/{name}"
                    return _config_error(message)
        return None


def _mount_failure(message: str) -> MissingDependency:
    return MissingDependency(("ContainerCreating", ""), "FailedMount", message)


def _config_error(message: str) -> MissingDependency:
    return MissingDependency(("CreateContainerConfigError", message), "Failed", f"Error: {message}")


def _describe(kind: type[ConfigMap | Secret], name: str) -> str:
    return f'{kind.__name__.lower()} "{name}"'


def _sources(volume: Volume) -> Iterator[tuple[type[ConfigMap | Secret], str]]:
    """Yield the ConfigMaps and Secrets that a volume requires."""
    if volume.config_map is not None and not volume.config_map.optional:
        yield ConfigMap, volume.config_map.name or ""
    if volume.secret is not None and not volume.secret.optional:
        yield Secret, volume.secret.secret_name or ""
    for source in volume.projected.sources if volume.projected is not None else ():
        if source.config_map is not None and not source.config_map.optional:
            yield ConfigMap, source.config_map.name or ""
        if source.secret is not None and not source.secret.optional:
            yield Secret, source.secret.name or ""


def _variables(container: Container) -> Iterator[tuple[type[ConfigMap | Secret], str, str | None]]:
    """Yield the ConfigMaps and Secrets that the environment of a container requires: kind, name, and key if any."""
    for source in container.env_from:
        if source.config_map_ref is not None and not source.config_map_ref.optional:
            yield ConfigMap, source.config_map_ref.name or "", None
        if source.secret_ref is not None and not source.secret_ref.optional:
            yield Secret, source.secret_ref.name or "", None
    for variable in container.env:
        value = variable.value_from
        if value is not None and value.config_map_key_ref is not None and not value.config_map_key_ref.optional:
            yield ConfigMap, value.config_map_key_ref.name or "", value.config_map_key_ref.key
        if value is not None and value.secret_key_ref is not None and not value.secret_key_ref.optional:
            yield Secret, value.secret_key_ref.name or "", value.secret_key_ref.key
