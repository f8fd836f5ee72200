"""The containers of a pod with their paths, for validation and warnings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pyctrl.apiserver._registry.strategy import Object
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["containers_with_paths"]


def containers_with_paths(spec: Mapping[str, JSON], path: str) -> Iterator[tuple[str, Object]]:
    """Yield all containers of a pod with their paths."""
    for key in ("initContainers", "containers", "ephemeralContainers"):
        for index, container in enumerate(spec.get(key) or ()):
            yield f"{path}.{key}[{index}]", container
