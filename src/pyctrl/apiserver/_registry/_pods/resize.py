"""The subresource resize of pods: changes the resources of containers in place.

The messages and their order were observed on kube-apiserver 1.36.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from pyctrl._lazy_imports import lazy_function
from pyctrl.apiserver._errors import FieldError, field_forbidden, invalid_value
from pyctrl.apiserver._registry._pods.quality_of_service import quality_of_service
from pyctrl.apiserver._registry.strategy import Object, SubresourceStrategy
from pyctrl.apiserver._schema.schema import JSON

if TYPE_CHECKING:
    from pyctrl.apiserver._registry._pods.validation import validate_pod_spec
else:  # imported with the first resize
    validate_pod_spec = lazy_function("pyctrl.apiserver._registry._pods.validation", "validate_pod_spec")

__all__ = ["RESIZE"]

_Spec = Mapping[str, JSON]
_Container = Mapping[str, JSON]
_KEYS = ("containers", "initContainers")
_PARTS = ("limits", "requests")
_RESIZABLE = ("cpu", "memory")
_ONLY = "only cpu and memory resources"


def _keep_all_but_resources(new: Object, old: Object | None) -> None:
    """Put back everything but the resources and resize policies of containers, and the resources of the pod.

    Other containers than before are kept as they are, for the validation to refuse.
    """
    assert old is not None  # a subresource is never created
    spec, before = new["spec"], old["spec"]
    if all(len(spec.get(key) or ()) == len(before.get(key) or ()) for key in _KEYS):
        merged = {key: _merged(spec[key], before[key]) for key in _KEYS if spec.get(key)}
        own = {"resources": spec["resources"]} if spec.get("resources") is not None else {}
        new["spec"] = {**{key: value for key, value in before.items() if key != "resources"}, **merged, **own}
        new["status"] = old["status"]
    kept = {key: new["metadata"][key] for key in ("managedFields", "resourceVersion") if key in new["metadata"]}
    new["metadata"] = {**old["metadata"], **kept}


def _merged(new: Sequence[_Container], old: Sequence[_Container]) -> Sequence[_Container]:
    if any(one["name"] != other["name"] for one, other in zip(new, old, strict=True)):
        return new
    return [_with(before, after) for after, before in zip(new, old, strict=True)]


def _with(before: _Container, after: _Container) -> dict[str, JSON]:
    keys = ("resources", "resizePolicy")
    rest = {key: value for key, value in before.items() if key not in keys}
    return {**rest, **{key: after[key] for key in keys if key in after}}


def _validate_resize(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check the new resources against the old ones."""
    assert old is not None
    spec, before = new["spec"], old["spec"]
    if "kubernetes.io/config.mirror" in (old["metadata"].get("annotations") or {}):
        yield field_forbidden("[]", "static pods cannot be resized")
        return
    if (before.get("os") or {}).get("name") == "windows":
        yield field_forbidden("[]", "windows pods cannot be resized")
        return
    errors = [*validate_pod_spec(spec, "spec"), *_pod_errors(new, old)]
    order = list(_order_errors(spec, before))
    if not order:
        errors += _container_errors(spec, before)
        errors += _mutability_errors(spec, before)
    yield from (*errors, *order)


def _pod_errors(new: Object, old: Object) -> Iterator[FieldError]:
    spec, status = new["spec"], old.get("status") or {}
    if (status.get("qosClass") or quality_of_service(old["spec"])) != quality_of_service(spec):
        shown = (new.get("status") or {}).get("qosClass") or ""
        yield invalid_value("spec", shown, "Pod QOS Class may not change as a result of resizing")
    states = status.get("containerStatuses") or ()
    running = next((each for each in states if (each.get("state") or {}).get("running") is not None), None)
    if running is not None and running.get("resources") is None:
        yield field_forbidden("spec", "Pod running on node without support for resize")
    yield from _pod_level_errors(spec.get("resources"), old["spec"].get("resources"))
    if status.get("nodeAllocatableResourceClaimStatuses"):
        yield field_forbidden("spec", "pods with node allocatable resource claims cannot be resized")


def _pod_level_errors(new: JSON, old: JSON) -> Iterator[FieldError]:
    """Check the resources of the pod itself."""
    if old is not None and new is None:
        yield field_forbidden("spec.resources", "pod-level resources cannot be removed")
        return
    new, old = new or {}, old or {}
    yield from _removals(new, old, "spec.resources", "pod-level resource")
    if _fixed(new) != _fixed(old):
        yield field_forbidden("spec", f"{_ONLY} are mutable at pod-level")


def _order_errors(new: _Spec, old: _Spec) -> Iterator[FieldError]:
    for key in _KEYS:
        after, before = new.get(key) or (), old.get(key) or ()
        if len(after) != len(before):
            yield field_forbidden(f"spec.{key}", f"{key} may not be added or removed on resize")
            continue
        for index, (one, other) in enumerate(zip(after, before, strict=True)):
            if one.get("name") != other["name"]:
                yield field_forbidden(f"spec.{key}[{index}].name", f"{key} may not be renamed or reordered on resize")


def _container_errors(new: _Spec, old: _Spec) -> Iterator[FieldError]:
    """Check that no request and no limit is removed."""
    for key in reversed(_KEYS):
        for index, (after, before) in enumerate(zip(new.get(key) or (), old.get(key) or (), strict=True)):
            path = f"spec.{key}[{index}].resources"
            yield from _removals(after.get("resources") or {}, before.get("resources") or {}, path, "resource")


def _removals(new: _Container, old: _Container, path: str, subject: str) -> Iterator[FieldError]:
    for part in reversed(_PARTS):
        if (old.get(part) or {}).keys() - (new.get(part) or {}).keys():
            yield field_forbidden(f"{path}.{part}", f"{subject} {part} cannot be removed")


def _mutability_errors(new: _Spec, old: _Spec) -> Iterator[FieldError]:
    """Check that nothing but CPU and memory of the containers changes."""
    for after, before in zip(new["containers"], old["containers"], strict=True):
        if _masked(after) != _unmasked(before):
            yield field_forbidden("spec", f"{_ONLY} are mutable")
    pairs = zip(new.get("initContainers") or (), old.get("initContainers") or (), strict=True)
    for index, (after, before) in enumerate(pairs):
        path = f"spec.initContainers[{index}]"
        if _masked(after) != _unmasked(before):
            yield field_forbidden(path, f"{_ONLY} for init or sidecar containers are mutable")
        policies = [each.get("restartPolicy") for each in after.get("resizePolicy") or ()]
        if after.get("restartPolicy") != "Always" and after != before and "RestartContainer" in policies:
            why = "non-sidecar init containers with a resize policy of RestartContainer cannot be resized"
            yield field_forbidden(path, why)


def _masked(container: _Container) -> JSON:
    """Return a container without what a resize may change. Claims are lost, as upstream."""
    rest = {key: value for key, value in container.items() if key != "resources"}
    return rest, {part: values for part, values in _fixed(container.get("resources") or {}).items() if part in _PARTS}


def _unmasked(container: _Container) -> JSON:
    rest = {key: value for key, value in container.items() if key != "resources"}
    return rest, _fixed(container.get("resources") or {})


def _fixed(resources: _Container) -> dict[str, JSON]:
    """Return resources without CPU and memory, and without empty parts."""
    parts = {
        part: {name: amount for name, amount in values.items() if name not in _RESIZABLE} if part in _PARTS else values
        for part, values in resources.items()
        if values
    }
    return {part: values for part, values in parts.items() if values}


RESIZE = SubresourceStrategy(keep=_keep_all_but_resources, validate=_validate_resize)
