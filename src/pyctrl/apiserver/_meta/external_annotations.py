"""Annotations that upstream's external types have and its internal ones do not.

Tables and `PartialObjectMetadata` have the metadata of the internal object.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from pyctrl.apiserver._schema.schema import JSON

__all__ = ["internal_metadata", "internal_metadata_json"]

#: By group and kind, the prefix of the annotations of its external types.
_PREFIXES: Final[Mapping[tuple[str, str], str]] = {
    ("apps", "DaemonSet"): "deprecated.daemonset.template.generation",
    ("autoscaling", "HorizontalPodAutoscaler"): "autoscaling.alpha.kubernetes.io/",
}


def internal_metadata(metadata: dict[str, JSON], api_version: str, kind: str) -> dict[str, JSON]:
    """Return the metadata of an object of a kind as its internal type has them."""
    prefix = _PREFIXES.get((api_version.rpartition("/")[0], kind))
    annotations = metadata.get("annotations") or {}
    if prefix is None or not any(key.startswith(prefix) for key in annotations):
        return metadata
    kept = {key: value for key, value in annotations.items() if not key.startswith(prefix)}
    return {
        key: kept if key == "annotations" else value for key, value in metadata.items() if kept or key != "annotations"
    }


def internal_metadata_json(metadata: bytes, api_version: str, kind: str) -> bytes:
    """Return encoded metadata as the internal type has them."""
    prefix = _PREFIXES.get((api_version.rpartition("/")[0], kind))
    if prefix is None or f'"{prefix}'.encode() not in metadata:
        return metadata
    return msgspec.json.encode(internal_metadata(msgspec.json.decode(metadata), api_version, kind))
