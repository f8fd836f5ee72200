"""Validation of pods: of new ones, and of the few changes that an update may make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from pyctrl.apiserver._errors import FieldError, field_forbidden, invalid_value, required
from pyctrl.apiserver._registry._pods.annotations import validate_pod_annotation_updates, validate_pod_annotations
from pyctrl.apiserver._registry._pods.containers import padded_image
from pyctrl.apiserver._registry._pods.profile_annotations import validate_profiles_match
from pyctrl.apiserver._registry._pods.scheduling import validate_tolerations
from pyctrl.apiserver._registry._pods.validation import validate_pod_spec
from pyctrl.apiserver._registry.field_validation import in_range, text_of
from pyctrl.apiserver._registry.go_structs import go_diff, go_struct
from pyctrl.apiserver._registry.strategy import Object
from pyctrl.apiserver._schema.defaulting import copied
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["validate_pod"]

_Part: TypeAlias = Mapping[str, JSON]
_Errors: TypeAlias = Iterator[FieldError]
_LARGEST_SECONDS = 2**31 - 1
_FROZEN = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)


def validate_pod(new: Object, old: Object | None) -> _Errors:
    """Check a pod; an update may change only a few fields of its spec."""
    yield from validate_pod_annotations(new, "metadata.annotations")
    yield from validate_pod_spec(new["spec"], "spec", pod_name=new["metadata"].get("name", ""), is_pod=True)
    yield from _account_tokens(new["spec"])
    for key in ("containers", "initContainers"):
        for index, container in enumerate(new["spec"].get(key) or ()):
            yield from padded_image(container, f"spec.{key}[{index}]")
    if old is None:
        yield from _only_new(new["spec"])
        yield from validate_profiles_match(new, "spec")
    else:
        yield from validate_pod_annotation_updates(new, old)
        yield from _change(new["spec"], old["spec"])


def _account_tokens(spec: _Part) -> _Errors:
    for index, volume in enumerate(spec.get("volumes") or () if not spec.get("serviceAccountName") else ()):
        for number, source in enumerate((volume.get("projected") or {}).get("sources") or ()):
            if source.get("serviceAccountToken") is not None:
                where = f"spec.volumes[{index}].projected.sources[{number}].serviceAccountToken"
                yield field_forbidden(where, "must not be specified when serviceAccountName is not set")


def _only_new(spec: _Part) -> _Errors:
    if spec.get("ephemeralContainers"):
        yield field_forbidden("spec.ephemeralContainers", "cannot be set on create")
    if spec.get("nodeName") and spec.get("schedulingGates"):
        yield field_forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared")


def _change(new: _Part, old: _Part) -> _Errors:
    for key in ("containers", "initContainers"):
        after, before = new.get(key) or (), old.get(key) or ()
        if len(after) != len(before):
            yield field_forbidden(f"spec.{key}", "pod updates may not add or remove containers")
            return
        for index, container in enumerate(after):
            if not container.get("image"):
                yield required(f"spec.{key}[{index}].image")
            yield from padded_image(container, f"spec.{key}[{index}]")
    deadline = list(_deadline(new.get("activeDeadlineSeconds"), old.get("activeDeadlineSeconds")))
    yield from deadline
    if deadline and new.get("activeDeadlineSeconds") is not None:
        return
    yield from _added_tolerations(new.get("tolerations") or (), old.get("tolerations") or ())
    known = {each.get("name") for each in old.get("schedulingGates") or ()}
    for index, gate in enumerate(new.get("schedulingGates") or ()):
        if gate.get("name", "") not in known:
            why = f"only deletion is allowed, but found new scheduling gate '{text_of(gate, 'name')}'"
            yield field_forbidden(f"spec.schedulingGates[{index}].name", why)
    rest = _unchanged(new, old)
    if old.get("schedulingGates"):
        yield from _gated(rest, old)
    if rest != old:
        yield field_forbidden("spec", _FROZEN + go_diff(go_struct("PodSpec", old), go_struct("PodSpec", rest)))


def _deadline(new: int | None, old: int | None) -> _Errors:
    path = "spec.activeDeadlineSeconds"
    if new is None:
        if old is not None:
            yield invalid_value(path, None, "must not update from a positive integer to nil value")
    elif not 0 <= new <= _LARGEST_SECONDS:
        yield from in_range(new, 0, _LARGEST_SECONDS, path)
    elif old is not None and old < new:
        yield invalid_value(path, new, "must be less than or equal to previous value")


def _added_tolerations(new: Sequence[_Part], old: Sequence[_Part]) -> _Errors:
    def identity(toleration: _Part) -> dict[str, JSON]:
        return {key: value for key, value in toleration.items() if key != "tolerationSeconds"}

    kept = [identity(each) for each in new]
    if any(identity(each) not in kept for each in old):
        why = "existing toleration can not be modified except its tolerationSeconds"
        yield field_forbidden("spec.tolerations", why)
    else:
        yield from validate_tolerations(new, "spec.tolerations")


def _unchanged(new: _Part, old: _Part) -> Object:
    """Return the new spec with the old values of the fields that may change."""
    rest: Object = copied(dict(new))
    for key in ("containers", "initContainers"):
        for container, before in zip(rest.get(key) or (), old.get(key) or (), strict=True):
            container["image"] = before.get("image", "")
    for key in ("activeDeadlineSeconds", "schedulingGates", "tolerations"):
        _put_back(rest, old, key)
    grace = "terminationGracePeriodSeconds"
    if (old.get(grace) or 0) < 0 and rest.get(grace) == 1:
        rest[grace] = old[grace]
    return rest


def _put_back(new: Object, old: _Part, key: str) -> None:
    new.pop(key, None)
    if key in old:
        new[key] = old[key]


def _gated(rest: Object, old: _Part) -> _Errors:
    """Check the selectors of a pod with scheduling gates, which may become narrower; put them back."""
    before, after = old.get("nodeSelector") or {}, rest.get("nodeSelector") or {}
    if any(after.get(key) != value for key, value in before.items()):
        why = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
        yield invalid_value("spec.nodeSelector", after or None, why)
    _put_back(rest, old, "nodeSelector")
    path = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
    old_terms, new_terms = (_node_terms(each) for each in (old, rest))
    if old_terms and len(old_terms) != len(new_terms):
        why = "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
        yield invalid_value(path, new_terms, why)
    else:
        for index, (was, now) in enumerate(zip(old_terms, new_terms, strict=False)):
            if not _only_adds(now, was):
                yield invalid_value(f"{path}[{index}]", now, "only additions are allowed (no mutations or deletions)")
    _put_back_node_affinity(rest, old)


def _node_terms(spec: _Part) -> Sequence[_Part]:
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    found: Sequence[_Part] = (affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}).get(
        "nodeSelectorTerms"
    ) or ()
    return found


def _only_adds(new: _Part, old: _Part) -> bool:
    keys = ("matchExpressions", "matchFields")
    if not any(old.get(key) for key in keys):
        return not any(new.get(key) for key in keys)
    return all((new.get(key) or [])[: len(old.get(key) or ())] == (old.get(key) or []) for key in keys)


def _put_back_node_affinity(rest: Object, old: _Part) -> None:
    was = (old.get("affinity") or {}).get("nodeAffinity")
    affinity = {key: value for key, value in (rest.get("affinity") or {}).items() if key != "nodeAffinity"}
    if was is not None:
        affinity["nodeAffinity"] = was
    if affinity or old.get("affinity") is not None:
        rest["affinity"] = affinity
    else:
        rest.pop("affinity", None)
