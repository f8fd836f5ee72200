"""Admission plugin DefaultTolerationSeconds: pods tolerate a node that is not ready or unreachable for five minutes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyctrl.apiserver._admission.attributes import Attributes
from pyctrl.apiserver._admission.chain import Plugin

__all__ = ["DefaultTolerationSeconds"]


_SECONDS = 300  # kube-apiserver's default
_TAINTS = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


class DefaultTolerationSeconds(Plugin):
    """Adds tolerations of the taints `not-ready` and `unreachable` to pods without them."""

    def handles(self, group: str, resource: str) -> bool:
        """Return whether the resource is pods."""
        return (group, resource) == ("", "pods")

    def mutate(self, attributes: Attributes) -> None:
        """Add the tolerations that are missing."""
        if attributes.subresource or attributes.object is None:
            return
        spec = attributes.object["spec"]
        tolerations = spec.get("tolerations") or []
        missing = [key for key in _TAINTS if not any(_is_tolerated(each, key) for each in tolerations)]
        if missing:
            added: list[dict[str, Any]] = [
                {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": _SECONDS}
                for key in missing
            ]
            spec["tolerations"] = [*tolerations, *added]


def _is_tolerated(toleration: Mapping[str, Any], key: str) -> bool:
    return toleration.get("key") in (key, None, "") and toleration.get("effect") in ("NoExecute", None, "")
