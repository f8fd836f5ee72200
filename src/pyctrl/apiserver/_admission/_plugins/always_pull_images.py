"""Admission plugin AlwaysPullImages: every image is pulled with the credentials of its pod."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyctrl._go.text import aggregate_messages
from pyctrl.apiserver._admission.attributes import UPDATE, Attributes
from pyctrl.apiserver._admission.chain import Plugin
from pyctrl.apiserver._errors import not_supported, unknown_error

__all__ = ["AlwaysPullImages"]


class AlwaysPullImages(Plugin):
    """Sets the pull policy Always for all containers and image volumes of pods."""

    def handles(self, group: str, resource: str) -> bool:
        """Return whether the resource is pods."""
        return (group, resource) == ("", "pods")

    def mutate(self, attributes: Attributes) -> None:
        """Set the pull policies."""
        if not _is_ignored(attributes):
            for where, key, _ in _images((attributes.object or {})["spec"]):
                where[key] = "Always"

    def validate(self, attributes: Attributes) -> None:
        """Reject another pull policy, which a webhook may have set."""
        if _is_ignored(attributes):
            return
        causes = [
            not_supported(path, where.get(key) or "", ("Always",))
            for where, key, path in _images((attributes.object or {})["spec"])
            if where.get(key) != "Always"
        ]
        errors = [attributes.forbidden(f"{cause.field}: {cause.message}") for cause in causes]
        if errors:
            raise unknown_error(aggregate_messages(str(error) for error in errors))


def _images(spec: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str, str]]:
    """Yield the objects with a pull policy, the name of its field, and the path of the field."""
    for kind in ("initContainers", "containers", "ephemeralContainers"):
        for index, container in enumerate(spec.get(kind) or ()):
            yield container, "imagePullPolicy", f"spec.{kind}[{index}].imagePullPolicy"
    for index, volume in enumerate(spec.get("volumes") or ()):
        if image := volume.get("image"):
            yield image, "pullPolicy", f"spec.volumes[{index}].image.pullPolicy"


def _is_ignored(attributes: Attributes) -> bool:
    """Return whether a write is no write of a pod, or an update without new images."""
    new, old = attributes.object, attributes.old
    if attributes.subresource or new is None:
        return True
    return attributes.operation == UPDATE and old is not None and _names(new) <= _names(old)


def _names(pod: dict[str, Any]) -> set[str]:
    return {where.get("image") or "" for where, key, _ in _images(pod["spec"]) if key == "imagePullPolicy"}
