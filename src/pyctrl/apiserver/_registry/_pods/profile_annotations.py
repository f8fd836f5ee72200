"""Annotations of AppArmor and seccomp profiles, which the fields `appArmorProfile` and `seccompProfile` have replaced.

The server copies the AppArmor profiles of a new pod into the fields, compares annotations with fields, and does not let
AppArmor annotations change. Seccomp annotations have no effect; they must be valid and agree with the fields.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from pyctrl._go.text import quoted
from pyctrl.apiserver._errors import FieldError, field_forbidden, invalid_value
from pyctrl.apiserver._registry._pods.container_paths import containers_with_paths
from pyctrl.apiserver._registry.field_validation import descending_path
from pyctrl.apiserver._registry.strategy import Object
from pyctrl.apiserver._schema.schema import JSON

__all__ = [
    "APP_ARMOR",
    "copy_app_armor_profiles",
    "is_profile_annotation",
    "validate_profile_annotations",
    "validate_profiles_match",
    "warnings_of_app_armor",
    "warnings_of_container_profiles",
    "warnings_of_pod_profile",
]

_Part: TypeAlias = Mapping[str, JSON]
_Errors: TypeAlias = Iterator[FieldError]

APP_ARMOR: Final = "container.apparmor.security.beta.kubernetes.io/"
_SECCOMP_POD: Final = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP: Final = "container.seccomp.security.alpha.kubernetes.io/"
_RUNTIME_DEFAULT, _UNCONFINED, _LOCALHOST = "runtime/default", "unconfined", "localhost/"
_DOCKER_DEFAULT = "docker/default"  # of seccomp
_LONGEST_PROFILE = 4095  # bytes: PATH_MAX - 1
_DEPRECATED = 'deprecated since v1.30; use the "appArmorProfile" field instead'
_NOT_FUNCTIONAL = 'non-functional in v1.27+; use the "seccompProfile" field instead'


def is_profile_annotation(key: str) -> bool:
    """Return whether an annotation is one of a profile."""
    return key.startswith((APP_ARMOR, _SECCOMP, _SECCOMP_POD))


# -- new pods --------------------------------------------------------------------------------------------------


def copy_app_armor_profiles(pod: Object) -> None:
    """Copy the AppArmor profiles of annotations into fields of containers, as upstream's `applyAppArmorVersionSkew`."""
    pod_profile = _profile(pod["spec"], "appArmorProfile")
    for _, container, annotation in _annotated(pod):
        profile = _valid_profile(annotation)
        if profile is not None and profile != pod_profile:
            if container.get("securityContext") is None:
                container["securityContext"] = {}
            container["securityContext"]["appArmorProfile"] = profile


def warnings_of_app_armor(pod: _Part) -> Iterator[str]:
    """Yield the warnings about the annotations of a new pod whose profiles were not copied yet."""
    pod_profile = _profile(pod["spec"], "appArmorProfile")
    for key, _, annotation in _annotated(pod):
        profile = _valid_profile(annotation)
        if profile is None or profile != pod_profile:
            yield f"metadata.annotations[{key}]: {_DEPRECATED}"


def _annotated(pod: _Part) -> Iterator[tuple[str, Object, str]]:
    """Yield key, container and value of each AppArmor annotation of a container without the field."""
    annotations, spec = _annotations(pod), pod["spec"]
    if not annotations or (spec.get("os") or {}).get("name") == "windows":
        return
    for _, container in containers_with_paths(spec, "spec"):
        key = f"{APP_ARMOR}{container.get('name', '')}"
        if key in annotations and _profile(container, "appArmorProfile") is None:
            yield key, container, annotations[key]


def _valid_profile(annotation: str) -> dict[str, JSON] | None:
    profile = _app_armor_profile(annotation)
    local = (profile or {}).get("localhostProfile", "")
    return None if local != local.strip() or len(local.encode()) > _LONGEST_PROFILE else profile


def _app_armor_profile(annotation: str) -> dict[str, JSON] | None:
    """Return the field that an annotation stands for; None when it stands for none."""
    if annotation in (_UNCONFINED, _RUNTIME_DEFAULT):
        return {"type": "Unconfined" if annotation == _UNCONFINED else "RuntimeDefault"}
    local = annotation.removeprefix(_LOCALHOST)
    return {"type": "Localhost", "localhostProfile": local} if local and local != annotation else None


# -- templates -------------------------------------------------------------------------------------------------


def warnings_of_pod_profile(spec: _Part, annotations: _Part, prefix: str) -> Iterator[str]:
    """Yield the warning about the seccomp annotation of a pod or a template."""
    if _SECCOMP_POD in annotations and _profile(spec, "seccompProfile") is None:
        yield f"{prefix}metadata.annotations[{_SECCOMP_POD}]: {_NOT_FUNCTIONAL}"


def warnings_of_container_profiles(container: _Part, spec: _Part, annotations: _Part, prefix: str) -> Iterator[str]:
    """Yield the warnings about the annotations of a container; those of AppArmor for templates only."""
    name, where = container.get("name", ""), f"{prefix}metadata.annotations"
    if (key := f"{_SECCOMP}{name}") in annotations and _profile(container, "seccompProfile") is None:
        yield f"{where}[{key}]: {_NOT_FUNCTIONAL}"
    key = f"{APP_ARMOR}{name}"
    if not prefix or key not in annotations or _profile(container, "appArmorProfile") is not None:
        return
    pod_profile = _profile(spec, "appArmorProfile")
    if pod_profile is None or pod_profile != _app_armor_profile(annotations[key]):
        yield f"{where}[{key}]: {_DEPRECATED}"


# -- validation ------------------------------------------------------------------------------------------------


def validate_profile_annotations(annotations: Mapping[str, str], spec: _Part, path: str) -> _Errors:
    """Check the annotations themselves."""
    if _SECCOMP_POD in annotations:
        yield from _seccomp(annotations[_SECCOMP_POD], f"{path}.{_SECCOMP_POD}")
    for key, value in annotations.items():
        if key.startswith(_SECCOMP):
            yield from _seccomp(value, f"{path}.{key}")
    names = {container.get("name", "") for _, container in containers_with_paths(spec, "spec")}
    for key, value in annotations.items():
        if not key.startswith(APP_ARMOR):
            continue
        name = key.removeprefix(APP_ARMOR)
        if name not in names:
            yield invalid_value(f"{path}[{key}]", name, "container not found")
        if value not in ("", _RUNTIME_DEFAULT, _UNCONFINED) and not value.startswith(_LOCALHOST):
            yield invalid_value(f"{path}[{key}]", value, f"invalid AppArmor profile name: {quoted(value)}")


def _seccomp(value: str, path: str) -> _Errors:
    if value.startswith(_LOCALHOST):
        yield from descending_path(value.removeprefix(_LOCALHOST), path)
    elif value not in (_RUNTIME_DEFAULT, _DOCKER_DEFAULT, _UNCONFINED):
        yield invalid_value(path, value, "must be a valid seccomp profile")


def validate_profiles_match(holder: _Part, path: str) -> _Errors:
    """Check that the annotations of a new pod, or of a template, have the profiles of the fields."""
    annotations, spec = _annotations(holder), holder.get("spec") or {}
    if not any(is_profile_annotation(key) for key in annotations):
        return
    if (value := annotations.get(_SECCOMP_POD)) is not None:
        yield from _mismatch(value, _profile(spec, "seccompProfile"), f"{path}.securityContext", "seccomp")
    containers = list(containers_with_paths(spec, path))
    for where, container in containers:
        value = annotations.get(f"{_SECCOMP}{container.get('name', '')}")
        yield from _mismatch(value, _profile(container, "seccompProfile"), f"{where}.securityContext", "seccomp")
    if (spec.get("os") or {}).get("name") == "windows":
        return
    pod_profile = _profile(spec, "appArmorProfile")
    for where, container in containers:
        value = annotations.get(f"{APP_ARMOR}{container.get('name', '')}")
        profile = _profile(container, "appArmorProfile") or pod_profile
        yield from _mismatch(value, profile, f"{where}.securityContext", "apparmor")


def _mismatch(annotation: str | None, profile: _Part | None, path: str, noun: str) -> _Errors:
    if annotation is None or profile is None:
        return
    where = f"{path}.{'seccompProfile' if noun == 'seccomp' else 'appArmorProfile'}"
    same = {"Unconfined": [_UNCONFINED], "RuntimeDefault": [_RUNTIME_DEFAULT]}
    if noun == "seccomp":
        same["RuntimeDefault"].append(_DOCKER_DEFAULT)
    kind = profile.get("type")
    if kind == "Localhost" and annotation.startswith(_LOCALHOST):
        if annotation.removeprefix(_LOCALHOST) != profile.get("localhostProfile"):
            yield field_forbidden(f"{where}.localhostProfile", f"{noun} profile in annotation and field must match")
    elif kind == "Localhost" or (kind in same and annotation not in same[kind]):
        yield field_forbidden(f"{where}.type", f"{noun} type in annotation and field must match")


def _annotations(holder: _Part) -> Mapping[str, str]:
    found: Mapping[str, str] = (holder.get("metadata") or {}).get("annotations") or {}
    return found


def _profile(holder: _Part, key: str) -> dict[str, JSON] | None:
    found: dict[str, JSON] | None = (holder.get("securityContext") or {}).get(key)
    return found
