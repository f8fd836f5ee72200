"""Bases of the generated classes, which are built when they are first used."""

from pyctrl.api import KubernetesObject, Model

__all__ = ["Kind", "Part"]


class Part(Model, defer_build=True):
    """Base of what built-in kinds consist of."""


class Kind(KubernetesObject, defer_build=True):
    """Base of the built-in kinds."""
