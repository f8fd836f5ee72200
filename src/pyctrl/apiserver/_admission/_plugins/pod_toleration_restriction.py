"""Admission plugin PodTolerationRestriction: annotations of a namespace set and restrict tolerations of its pods."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from pyctrl.apiserver._admission._plugins.tolerations import is_superset, merge_tolerations
from pyctrl.apiserver._admission.attributes import CREATE, Attributes
from pyctrl.apiserver._admission.chain import Plugin
from pyctrl.apiserver._errors import not_found, unknown_error
from pyctrl.apiserver._storage.storage import Collection

__all__ = ["PodTolerationConfiguration", "PodTolerationRestriction"]


_DEFAULT = "scheduler.alpha.kubernetes.io/defaultTolerations"
_WHITELIST = "scheduler.alpha.kubernetes.io/tolerationsWhitelist"
_MEMORY_PRESSURE = {"key": "node.kubernetes.io/memory-pressure", "operator": "Exists", "effect": "NoSchedule"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PodTolerationConfiguration:
    """The tolerations of pods in namespaces without annotations."""

    default: tuple[dict[str, Any], ...] = ()
    whitelist: tuple[dict[str, Any], ...] = ()


class PodTolerationRestriction(Plugin):
    """Adds the default tolerations of the namespace to new pods; rejects tolerations outside of its whitelist."""

    def __init__(self, namespaces: Collection, configuration: PodTolerationConfiguration) -> None:
        self._namespaces, self._configuration = namespaces, configuration

    def handles(self, group: str, resource: str) -> bool:
        """Return whether the resource is pods."""
        return (group, resource) == ("", "pods")

    def mutate(self, attributes: Attributes) -> None:
        """Add the tolerations; pods that are not BestEffort also tolerate memory pressure."""
        if attributes.subresource or attributes.object is None:
            return
        spec = attributes.object["spec"]
        extra = []
        if attributes.operation == CREATE:
            found = self._tolerations(attributes.namespace, _DEFAULT)
            extra = list(self._configuration.default) if found is None else found
        if not _is_best_effort(spec):
            extra = [*extra, _MEMORY_PRESSURE]
        if extra:
            spec["tolerations"] = merge_tolerations(spec.get("tolerations") or (), extra)

    def validate(self, attributes: Attributes) -> None:
        """Reject a pod with a toleration that the whitelist does not cover."""
        if attributes.subresource or attributes.object is None:
            return
        tolerations = attributes.object["spec"].get("tolerations") or ()
        whitelist = self._tolerations(attributes.namespace, _WHITELIST) if tolerations else []
        scope = "namespace" if whitelist is not None else "cluster"
        whitelist = list(self._configuration.whitelist) if whitelist is None else whitelist
        if whitelist and not all(any(is_superset(each, own) for each in whitelist) for own in tolerations):
            why = "pod tolerations (possibly merged with namespace default tolerations) conflict with its"
            raise unknown_error(f"{why} {scope} whitelist")

    def _tolerations(self, namespace: str, annotation: str) -> list[dict[str, Any]] | None:
        """Return the tolerations of an annotation; None without the annotation."""
        stored = self._namespaces.find("", namespace)
        if stored is None:
            raise not_found("namespaces", namespace)
        text = (stored.decode()["metadata"].get("annotations") or {}).get(annotation)
        if not text:
            return None if text is None else []
        try:
            found = json.loads(text)
        except ValueError as error:
            raise unknown_error(str(error)) from None
        return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _is_best_effort(spec: dict[str, Any]) -> bool:
    containers = (*(spec.get("containers") or ()), *(spec.get("initContainers") or ()))
    resources = [each.get("resources") or {} for each in containers]
    return not any(
        (each.get(part) or {}).keys() & {"cpu", "memory"} for each in resources for part in ("requests", "limits")
    )
