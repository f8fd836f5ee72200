"""What a pod needs before its containers can start: claims, configuration and secrets that are there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from pyctrl.api import Key
from pyctrl.client import Client
from pyctrl.cluster._scheduler.scheduler import pod_claim_keys
from pyctrl.kinds.core.v1 import ConfigMap, Container, PersistentVolumeClaim, Pod, Secret, Volume

__all__ = ["MissingDependency", "PodDependencies"]


@dataclass(frozen=True, slots=True)
class MissingDependency:
    """Why the containers of a pod do not start yet: what the pod's status says, and what an Event tells."""

    waiting: tuple[str, str]
    event: str
    message: str


class PodDependencies:
    """Looks for what a pod mounts and reads, on the server."""

    def __init__(self, live: Client) -> None:
        self._live = live

    async def problem(self, pod: Pod) -> MissingDependency | None:
        """Return what is missing, if anything is."""
        for key in pod_claim_keys(pod):
            claim = await self._live.find(PersistentVolumeClaim, key)
            if claim is None:
                return _unmounted(f'persistentvolumeclaim "{key.name}" not found')
            if claim.status.phase != "Bound":
                return _unmounted(f'PersistentVolumeClaim "{key.name}" is not bound')
        for volume in pod.spec.volumes:
            for kind, name in _sources(volume):
                if await self._live.find(kind, Key(pod.metadata.namespace, name)) is None:
                    what = _called(kind, name)
                    return _unmounted(f'MountVolume.SetUp failed for volume "{volume.name}" : {what} not found')
        for container in (*pod.spec.init_containers, *pod.spec.containers):
            for kind, name, key_ in _variables(container):
                found: ConfigMap | Secret | None = await self._live.find(
                    cast(Any, kind), Key(pod.metadata.namespace, name)
                )
                if found is None:
                    return _misconfigured(f"{_called(kind, name)} not found")
                if key_ is not None and key_ not in found.data:
                    said = f"couldn't find key {key_} in {kind.__name__} {pod.metadata.namespace}/{name}"
                    return _misconfigured(said)
        return None


def _unmounted(message: str) -> MissingDependency:
    return MissingDependency(("ContainerCreating", ""), "FailedMount", message)


def _misconfigured(message: str) -> MissingDependency:
    return MissingDependency(("CreateContainerConfigError", message), "Failed", f"Error: {message}")


def _called(kind: type[ConfigMap | Secret], name: str) -> str:
    return f'{kind.__name__.lower()} "{name}"'


def _sources(volume: Volume) -> Iterator[tuple[type[ConfigMap | Secret], str]]:
    """Give what a volume must find to be mounted."""
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
    """Give what the variables of a container must find: a kind, a name, and maybe a key."""
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
