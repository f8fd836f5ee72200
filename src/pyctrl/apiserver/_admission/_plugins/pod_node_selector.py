"""Admission plugin PodNodeSelector: an annotation of a namespace restricts the nodes of its pods."""

from __future__ import annotations

from pyctrl.apiserver._admission.attributes import CREATE, Attributes
from pyctrl.apiserver._admission.chain import Plugin
from pyctrl.apiserver._errors import internal_error, not_found
from pyctrl.apiserver._storage.storage import Collection

__all__ = ["PodNodeSelector"]


_ANNOTATION = "scheduler.alpha.kubernetes.io/node-selector"


class PodNodeSelector(Plugin):
    """Adds the node selector of the namespace to new pods."""

    def __init__(self, namespaces: Collection) -> None:
        self._namespaces = namespaces

    def handles(self, group: str, resource: str) -> bool:
        """Return whether the resource is pods."""
        return (group, resource) == ("", "pods")

    def mutate(self, attributes: Attributes) -> None:
        """Merge the node selectors; reject (403) a pod with another value for a label."""
        if attributes.operation != CREATE or attributes.subresource or attributes.object is None:
            return
        spec, wanted = attributes.object["spec"], self._selector(attributes.namespace)
        own = spec.get("nodeSelector") or {}
        if any(own.get(key, value) != value for key, value in wanted.items()):
            raise attributes.forbidden("pod node label selector conflicts with its namespace node label selector")
        if wanted:
            spec["nodeSelector"] = {**wanted, **own}

    def _selector(self, namespace: str) -> dict[str, str]:
        stored = self._namespaces.find("", namespace)
        if stored is None:
            raise not_found("namespaces", namespace)
        text = (stored.decode()["metadata"].get("annotations") or {}).get(_ANNOTATION) or ""
        selector: dict[str, str] = {}
        for part in text.split(",") if text else ():
            key, equals, value = part.partition("=")
            if not equals or "=" in value:
                raise internal_error(f"invalid selector: {text}")
            selector[key.strip()] = value.strip()
        return selector
