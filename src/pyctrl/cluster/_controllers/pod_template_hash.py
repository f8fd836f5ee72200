"""Hashes of pod templates, their encoding in names, and the comparison of templates."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pyctrl.cluster._controllers.go_dump import dump_for_hash
from pyctrl.kinds.core.v1 import PodTemplateSpec

__all__ = ["HASH_LABEL", "equal_ignore_hash", "fnv_1", "fnv_128a", "safe_encode_string", "template_hash"]

HASH_LABEL = "pod-template-hash"

_FNV_OFFSET, _FNV_PRIME, _FNV_MASK = 2166136261, 16777619, 0xFFFFFFFF  # of 32 bits (draft-eastlake-fnv)
_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"  # no vowels, no 0, 1, 3: never a word (apimachinery pkg/util/rand)


def template_hash(template: PodTemplateSpec, collisions: int) -> str:
    """Return the hash of a pod template, as kube-controller-manager computes it (controller.ComputeHash)."""
    document = {"metadata": _metadata(template), "spec": template.spec.to_wire()}
    metadata, start, spec = dump_for_hash("v1.PodTemplateSpec", document).encode().partition(b" Spec:")
    counted = collisions.to_bytes(8, "little") if collisions else b""  # nil before the first collision
    value = _FNV_OFFSET
    for part in (metadata, start + spec, counted):
        value = _fnv_1a(value, part)
    return safe_encode_string(str(value))


def equal_ignore_hash(a: PodTemplateSpec, b: PodTemplateSpec) -> bool:
    """Return whether two templates are equal apart from the hash label that ReplicaSets add."""
    return _metadata(a) == _metadata(b) and a.spec == b.spec


def _metadata(template: PodTemplateSpec) -> dict[str, Any]:
    wire = template.metadata.to_wire()
    labels = {key: value for key, value in wire.pop("labels", {}).items() if key != HASH_LABEL}
    return {**{key: value for key, value in wire.items() if value}, "labels": labels}


def _fnv_1a(value: int, data: bytes) -> int:
    """Return the 32-bit FNV-1a hash of data that follows other data, whose hash is given.

    Bytes change only the lowest byte before each multiplication, so that the other bytes of the hash are multiplied
    alone. What the lowest byte becomes is remembered: the templates of an operator often differ in their labels only.
    """
    low = value & 0xFF
    return (value - low) * pow(_FNV_PRIME, len(data), _FNV_MASK + 1) + _hash_after(low, data) & _FNV_MASK


@lru_cache(maxsize=512)  # each of some kilobytes
def _hash_after(value: int, data: bytes) -> int:
    for byte in data:
        value = (value ^ byte) * _FNV_PRIME & _FNV_MASK
    return value


def fnv_1(data: bytes) -> int:
    """Return the 32-bit FNV-1 hash."""
    value = _FNV_OFFSET
    for byte in data:
        value = value * _FNV_PRIME & _FNV_MASK ^ byte
    return value


def fnv_128a(data: bytes) -> int:
    """Return the 128-bit FNV-1a hash."""
    value = 0x6C62272E07BB014262B821756295C58D
    for byte in data:
        value = (value ^ byte) * ((1 << 88) + 0x13B) % (1 << 128)
    return value


def safe_encode_string(text: str) -> str:
    """Encode a text in letters and digits that form no words (rand.SafeEncodeString)."""
    return "".join(_ALPHABET[ord(letter) % len(_ALPHABET)] for letter in text)
