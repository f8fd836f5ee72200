"""Annotations that upstream's external types have and its internal ones do not.

Tables and `PartialObjectMetadata` have the metadata of the internal object.
"""

from __future__ import annotations

from typing import Final

import msgspec

from pyctrl.apiserver._schema.schema import JSON

__all__ = ["internal_metadata", "internal_metadata_json"]

_PREFIXES: Final = ("deprecated.daemonset.template.generation", "autoscaling.alpha.kubernetes.io/")
_NEEDLES: Final = tuple(f'"{each}'.encode() for each in _PREFIXES)


def internal_metadata(metadata: dict[str, JSON]) -> dict[str, JSON]:
    """Return the metadata of an object as its internal type has them."""
    annotations = metadata.get("annotations") or {}
    kept = {key: value for key, value in annotations.items() if not key.startswith(_PREFIXES)}
    if len(kept) == len(annotations):
        return metadata
    return {
        key: kept if key == "annotations" else value for key, value in metadata.items() if kept or key != "annotations"
    }


def internal_metadata_json(metadata: bytes) -> bytes:
    """Return encoded metadata as the internal type has them."""
    if not any(each in metadata for each in _NEEDLES):
        return metadata
    return msgspec.json.encode(internal_metadata(msgspec.json.decode(metadata)))
