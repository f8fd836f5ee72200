"""Admission plugin DefaultStorageClass: sets the default storage class of new claims."""

from __future__ import annotations

from pyctrl.apiserver._admission._plugins.default_class import newest_default
from pyctrl.apiserver._admission.attributes import CREATE, Attributes
from pyctrl.apiserver._admission.chain import Plugin
from pyctrl.apiserver._storage.storage import Collection

__all__ = ["DefaultStorageClass"]


_BETA_CLASS = "volume.beta.kubernetes.io/storage-class"
_IS_DEFAULT = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")


class DefaultStorageClass(Plugin):
    """Sets `storageClassName` of new claims without one, not even "", if a storage class is the default."""

    def __init__(self, classes: Collection) -> None:
        self._classes = classes

    def handles(self, group: str, resource: str) -> bool:
        """Return whether the resource is persistentvolumeclaims."""
        return (group, resource) == ("", "persistentvolumeclaims")

    def mutate(self, attributes: Attributes) -> None:
        """Set the storage class."""
        obj = attributes.object
        if attributes.operation != CREATE or attributes.subresource or obj is None:
            return
        annotations = obj["metadata"].get("annotations") or {}
        if _BETA_CLASS in annotations or obj["spec"].get("storageClassName") is not None:
            return
        if name := newest_default(self._classes, *_IS_DEFAULT):
            obj["spec"]["storageClassName"] = name
