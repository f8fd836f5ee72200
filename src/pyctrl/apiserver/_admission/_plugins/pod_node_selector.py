"""Admission plugin PodNodeSelector: an annotation of a namespace, or the configuration, restricts the nodes of pods."""

from __future__ import annotations

from collections.abc import Mapping

from pyctrl.apiserver._admission.attributes import CREATE, Attributes
from pyctrl.apiserver._admission.chain import Plugin
from pyctrl.apiserver._errors import internal_error, not_found
from pyctrl.apiserver._storage.storage import Collection

__all__ = ["PodNodeSelector"]


_DEFAULT = "clusterDefaultNodeSelector"
_ANNOTATION = "scheduler.alpha.kubernetes.io/node-selector"


class PodNodeSelector(Plugin):
    """Adds the node selector of the namespace to new pods.

    Args:
        selectors: The selector of namespaces without the annotation, under `clusterDefaultNodeSelector`, and the labels
            that the selectors of pods may have, by namespace.
    """

    def __init__(self, namespaces: Collection, selectors: Mapping[str, str]) -> None:
        self._namespaces, self._selectors = namespaces, selectors

    def handles(self, group: str, resource: str) -> bool:
        """Return whether the resource is pods."""
        return (group, resource) == ("", "pods")

    def mutate(self, attributes: Attributes) -> None:
        """Merge the node selectors; reject (403) a pod with another value for a label."""
        if attributes.operation != CREATE or attributes.subresource or attributes.object is None:
            return
        spec, wanted = attributes.object["spec"], self._wanted(attributes.namespace)
        own = spec.get("nodeSelector") or {}
        if any(own.get(key, value) != value for key, value in wanted.items()):
            raise attributes.forbidden("pod node label selector conflicts with its namespace node label selector")
        if wanted:
            spec["nodeSelector"] = {**wanted, **own}
        allowed = _read(self._selectors.get(attributes.namespace) or "")
        if allowed and not (spec.get("nodeSelector") or {}).items() <= allowed.items():
            raise attributes.forbidden("pod node label selector labels conflict with its namespace whitelist")

    def _wanted(self, namespace: str) -> dict[str, str]:
        stored = self._namespaces.find("", namespace)
        if stored is None:
            raise not_found("namespaces", namespace)
        text = (stored.decode()["metadata"].get("annotations") or {}).get(_ANNOTATION)
        return _read(self._selectors.get(_DEFAULT, "") if text is None else text)


def _read(text: str) -> dict[str, str]:
    """Return the labels of a selector such as `a=b,c=d`."""
    selector: dict[str, str] = {}
    for part in text.split(",") if text else ():
        key, equals, value = part.partition("=")
        if not equals or "=" in value:
            raise internal_error(f"invalid selector: {text}")
        selector[key.strip()] = value.strip()
    return selector
