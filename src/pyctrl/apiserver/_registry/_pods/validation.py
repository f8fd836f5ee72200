"""Validation of pods and of the specs of pod templates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pyctrl._validation import names
from pyctrl.apiserver._errors import FieldError, duplicate, field_forbidden, invalid_value, not_supported, required
from pyctrl.apiserver._meta.validation import validate_labels
from pyctrl.apiserver._registry._pods.containers import (
    LARGEST_ID,
    validate_container,
    validate_container_details,
    validate_ids,
)
from pyctrl.apiserver._registry.strategy import Object
from pyctrl.apiserver._schema.defaulting import copied
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["validate_pod", "validate_pod_spec", "volume_names"]

_RESTART_POLICIES = ("Always", "OnFailure", "Never")
_DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_OPERATORS = ("Equal", "Exists")
_UNSATISFIABLE = ("DoNotSchedule", "ScheduleAnyway")
_SOURCES = (
    "emptyDir",
    "hostPath",
    "gitRepo",
    "secret",
    "nfs",
    "iscsi",
    "persistentVolumeClaim",
    "configMap",
)  # in the order of kube-apiserver's errors
_NEEDS = {  # volume source -> its required field
    "configMap": "name",
    "secret": "secretName",
    "hostPath": "path",
    "persistentVolumeClaim": "claimName",
}


def validate_pod(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check a pod; an update may change only a few fields of its spec."""
    yield from validate_pod_spec(new["spec"], "spec")
    if old is None and new["spec"].get("ephemeralContainers"):
        yield field_forbidden("spec.ephemeralContainers", "cannot be set on create")
    if old is not None:
        yield from _lost_tolerations(new["spec"], old["spec"])
    if old is not None and _frozen(new["spec"]) != _frozen(old["spec"]):
        why = (
            "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
            "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
            "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
        )
        yield field_forbidden("spec", why)


def _lost_tolerations(new: Mapping[str, JSON], old: Mapping[str, JSON]) -> Iterator[FieldError]:
    """Check that existing tolerations are kept; only their seconds may change."""

    def identity(toleration: Mapping[str, JSON]) -> dict[str, JSON]:
        return {key: value for key, value in toleration.items() if key != "tolerationSeconds"}

    kept = [identity(each) for each in new.get("tolerations") or ()]
    if any(identity(each) not in kept for each in old.get("tolerations") or ()):
        why = "existing toleration can not be modified except its tolerationSeconds"
        yield field_forbidden("spec.tolerations", why)


def _frozen(spec: Mapping[str, JSON]) -> JSON:
    rest = copied({key: value for key, value in spec.items() if key not in ("activeDeadlineSeconds", "tolerations")})
    if spec.get("schedulingGates"):
        for key in ("nodeSelector", "affinity", "schedulingGates"):
            rest.pop(key, None)
    rest.pop("schedulingGates", None)
    for key in ("containers", "initContainers"):
        for container in rest.get(key) or ():
            container.pop("image", None)
    return rest


def validate_pod_spec(spec: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    """Check the spec of a pod or a pod template."""
    volumes = volume_names(spec)
    yield from _volumes(spec.get("volumes") or (), f"{path}.volumes")
    containers = spec.get("containers")
    if not containers:
        yield required(f"{path}.containers")
    seen: set[str] = set()
    for key in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(key) or ()):
            where = f"{path}.{key}[{index}]"
            yield from validate_container(container, where, volumes, seen)
            yield from validate_container_details(container, where, host_network=bool(spec.get("hostNetwork")))
    if spec.get("restartPolicy") not in _RESTART_POLICIES:
        yield not_supported(f"{path}.restartPolicy", spec.get("restartPolicy"), _RESTART_POLICIES)
    if spec.get("dnsPolicy") not in _DNS_POLICIES:
        yield not_supported(f"{path}.dnsPolicy", spec.get("dnsPolicy"), _DNS_POLICIES)
    yield from _pod_fields(spec, path)
    for name in ("nodeName", "serviceAccountName"):
        for why in names.subdomain(spec[name]) if spec.get(name) else ():
            yield invalid_value(f"{path}.{name}", spec[name], why)


def volume_names(spec: Mapping[str, JSON]) -> set[str]:
    """Return the names of the valid volumes, which containers can mount."""
    return {each.get("name", "") for each in spec.get("volumes") or () if not any(_volume_source(each, ""))}


def _volumes(volumes: JSON, path: str) -> Iterator[FieldError]:
    seen: set[str] = set()
    for index, volume in enumerate(volumes):
        name, where = volume.get("name", ""), f"{path}[{index}].name"
        if not name:
            yield required(where)
        else:
            yield from (invalid_value(where, name, why) for why in names.label(name))
        if name in seen:
            yield duplicate(where, name)
        seen.add(name)


def _pod_fields(spec: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    """Check the fields of a spec beside containers and volume names."""
    for index, volume in enumerate(spec.get("volumes") or ()):
        yield from _volume_source(volume, f"{path}.volumes[{index}]")
    yield from validate_labels(spec.get("nodeSelector") or {}, f"{path}.nodeSelector")
    for index, toleration in enumerate(spec.get("tolerations") or ()):
        yield from _toleration(toleration, f"{path}.tolerations[{index}]")
    yield from _security(spec.get("securityContext") or {}, f"{path}.securityContext")
    for name, rule in (("hostname", names.label), ("subdomain", names.label), ("priorityClassName", names.subdomain)):
        if text := spec.get(name):
            yield from (invalid_value(f"{path}.{name}", text, why) for why in rule(text))
    seconds = spec.get("activeDeadlineSeconds")
    if seconds is not None and not 1 <= seconds <= LARGEST_ID:
        why = f"must be between 1 and {LARGEST_ID}, inclusive"
        yield invalid_value(f"{path}.activeDeadlineSeconds", seconds, why)
    yield from _spread(spec.get("topologySpreadConstraints") or (), f"{path}.topologySpreadConstraints")


def _volume_source(volume: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    """Check the source of a volume."""
    present = [key for key, value in volume.items() if key != "name" and value is not None]
    sources = sorted(present, key=lambda key: _SOURCES.index(key) if key in _SOURCES else len(_SOURCES))
    for key in sources[1:]:
        yield field_forbidden(f"{path}.{key}", "may not specify more than 1 volume type")
    for key in sources[:1]:
        needed = _NEEDS.get(key)
        if needed and not volume[key].get(needed):
            yield required(f"{path}.{key}.{needed}")


def _toleration(toleration: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    key, operator = toleration.get("key") or "", toleration.get("operator") or ""
    value, effect = toleration.get("value") or "", toleration.get("effect") or ""
    if key:
        yield from (invalid_value(f"{path}.key", key, why) for why in names.qualified_name(key))
    elif operator != "Exists":
        why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        yield invalid_value(f"{path}.operator", operator, why)
    if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
        why = "effect must be 'NoExecute' when `tolerationSeconds` is set"
        yield invalid_value(f"{path}.effect", effect, why)
    if operator in ("", "Equal"):
        yield from (invalid_value(f"{path}.operator", value, why) for why in names.label_value(value))
    elif operator == "Exists" and value:
        yield invalid_value(f"{path}.operator", value, "value must be empty when `operator` is 'Exists'")
    elif operator != "Exists":
        yield not_supported(f"{path}.operator", operator, _OPERATORS)
    if effect and effect not in _EFFECTS:
        yield not_supported(f"{path}.effect", effect, _EFFECTS)


def _security(context: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    yield from validate_ids(context, path, "fsGroup", "runAsGroup", "runAsUser")
    for index, group in enumerate(context.get("supplementalGroups") or ()):
        yield from validate_ids({f"supplementalGroups[{index}]": group}, path, f"supplementalGroups[{index}]")


def _spread(constraints: Sequence[Mapping[str, JSON]], path: str) -> Iterator[FieldError]:
    for index, each in enumerate(constraints):
        where = f"{path}[{index}]"
        if (each.get("maxSkew") or 0) <= 0:
            yield invalid_value(f"{where}.maxSkew", each.get("maxSkew") or 0, "must be greater than zero")
        if not each.get("topologyKey"):
            yield required(f"{where}.topologyKey", "can not be empty")
        if each.get("whenUnsatisfiable") not in _UNSATISFIABLE:
            yield not_supported(f"{where}.whenUnsatisfiable", each.get("whenUnsatisfiable"), _UNSATISFIABLE)
