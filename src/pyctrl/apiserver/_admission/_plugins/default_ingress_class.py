"""Admission plugin DefaultIngressClass: sets the default class of new Ingresses."""

from __future__ import annotations

from pyctrl.apiserver._admission._plugins.default_class import newest_default
from pyctrl.apiserver._admission.attributes import CREATE, Attributes
from pyctrl.apiserver._admission.chain import Plugin
from pyctrl.apiserver._storage.storage import Collection

__all__ = ["DefaultIngressClass"]


class DefaultIngressClass(Plugin):
    """Sets `ingressClassName` of new Ingresses without a class, if an ingress class is the default."""

    def __init__(self, classes: Collection) -> None:
        self._classes = classes

    def handles(self, group: str, resource: str) -> bool:
        """Return whether the resource is ingresses."""
        return (group, resource) == ("networking.k8s.io", "ingresses")

    def mutate(self, attributes: Attributes) -> None:
        """Set the class."""
        obj = attributes.object
        if attributes.operation != CREATE or attributes.subresource or obj is None:
            return
        spec = obj.setdefault("spec", {})
        annotations = obj["metadata"].get("annotations") or {}
        if spec.get("ingressClassName") is not None or "kubernetes.io/ingress.class" in annotations:
            return
        if name := newest_default(self._classes, "ingressclass.kubernetes.io/is-default-class"):
            spec["ingressClassName"] = name
