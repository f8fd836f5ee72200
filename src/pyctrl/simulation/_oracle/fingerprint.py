"""Fingerprint: a hash of a state that is equal for states that differ in identity only."""

from __future__ import annotations

from collections.abc import Collection
from hashlib import blake2b

from pyctrl.simulation._history import ObjectId
from pyctrl.simulation._oracle.normal_form import Normaliser
from pyctrl.simulation._run import State

__all__ = ["fingerprint"]

_NORMALISER = Normaliser()  # of states without a reference; keeps the objects that it has seen


def fingerprint(
    state: State, normaliser: Normaliser | None = None, unstable: Collection[ObjectId] = frozenset()
) -> str:
    """Return a hash of what a state is in every run, independent of seed, uids, versions, times and generated names.

    Args:
        state: The world at rest.
        normaliser: That of a `Reference`, which knows what else differs between runs.
        unstable: Canonical names of objects that do not count.
    """
    normal = (normaliser or _NORMALISER).normalise(state)
    found = sorted((each.canonical, each.content) for each in normal if each.canonical not in unstable)
    digest = blake2b(digest_size=16)
    for canonical, content in found:
        digest.update(f"{canonical}\n{len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()
