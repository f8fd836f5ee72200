"""The subresource ephemeralcontainers of pods: adds containers to a running pod.

The messages were observed on kube-apiserver 1.36.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from pyctrl._go.text import shown_value
from pyctrl._lazy_imports import lazy_function
from pyctrl.apiserver._errors import FieldError, field_forbidden
from pyctrl.apiserver._registry.go_structs import go_diff, go_struct
from pyctrl.apiserver._registry.strategy import Object, SubresourceStrategy
from pyctrl.apiserver._schema.schema import JSON

if TYPE_CHECKING:
    from pyctrl.apiserver._registry._pods.containers import validate_ephemeral_containers
    from pyctrl.apiserver._registry._pods.validation import pod_references
    from pyctrl.apiserver._registry._pods.volumes import validate_volumes
else:  # imported with the first object
    validate_ephemeral_containers = lazy_function(
        "pyctrl.apiserver._registry._pods.containers", "validate_ephemeral_containers"
    )
    pod_references = lazy_function("pyctrl.apiserver._registry._pods.validation", "pod_references")
    validate_volumes = lazy_function("pyctrl.apiserver._registry._pods.volumes", "validate_volumes")

__all__ = ["EPHEMERAL_CONTAINERS"]

_PATH = "spec.ephemeralContainers"


def _keep_all_but_ephemeral(new: Object, old: Object | None) -> None:
    """Put back everything but the ephemeral containers, the managed fields and the resourceVersion."""
    assert old is not None  # a subresource is never created
    containers = (new.get("spec") or {}).get("ephemeralContainers")
    kept = {key: new["metadata"][key] for key in ("managedFields", "resourceVersion") if key in new["metadata"]}
    new.update(old)
    new["metadata"] = {**old["metadata"], **kept}
    new["spec"] = {key: value for key, value in old["spec"].items() if key != "ephemeralContainers"}
    if containers:
        new["spec"]["ephemeralContainers"] = containers


def _validate_ephemeral(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check the ephemeral containers: existing ones are neither changed nor removed."""
    assert old is not None
    spec = new["spec"]
    others = (*spec["containers"], *(spec.get("initContainers") or ()))
    volumes, _ = validate_volumes(spec.get("volumes") or (), "spec.volumes", is_pod=True)
    containers = spec.get("ephemeralContainers") or ()
    yield from validate_ephemeral_containers(containers, others, _PATH, pod_references(spec, volumes))
    yield from _validate_kept(spec, old["spec"])


def _validate_kept(new: Mapping[str, JSON], old: Mapping[str, JSON]) -> Iterator[FieldError]:
    after = {each["name"]: each for each in new.get("ephemeralContainers") or ()}
    for before in old.get("ephemeralContainers") or ():
        subject = f"existing ephemeral containers {shown_value(before['name'])}"
        if before["name"] not in after:
            yield field_forbidden(_PATH, f"{subject} may not be removed\n")
        elif after[before["name"]] != before:
            shown = (go_struct("EphemeralContainer", each) for each in (before, after[before["name"]]))
            yield field_forbidden(_PATH, f"{subject} may not be changed{go_diff(*shown)}")


EPHEMERAL_CONTAINERS = SubresourceStrategy(keep=_keep_all_but_ephemeral, validate=_validate_ephemeral)
