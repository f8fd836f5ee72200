"""What the specs of pods are checked for beside their containers: volumes, places, users, names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pyctrl._validation import names
from pyctrl.apiserver._errors import FieldError, field_forbidden, invalid_value, not_supported, required
from pyctrl.apiserver._meta.validation import validate_labels
from pyctrl.apiserver._registry.container_validation import LARGEST_ID, ids
from pyctrl.apiserver._schema.schema import JSON

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
)  # in order
_NEEDS = {  # sources of volumes -> the field that they cannot be without
    "configMap": "name",
    "secret": "secretName",
    "hostPath": "path",
    "persistentVolumeClaim": "claimName",
}


def pod_rules(spec: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    """Check the spec of a pod or a template, beyond its containers."""
    for index, volume in enumerate(spec.get("volumes") or ()):
        yield from volume_rules(volume, f"{path}.volumes[{index}]")
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


def volume_rules(volume: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    """Check where the contents of a volume come from."""
    given = [key for key, value in volume.items() if key != "name" and value is not None]
    sources = sorted(given, key=lambda key: _SOURCES.index(key) if key in _SOURCES else len(_SOURCES))
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
    yield from ids(context, path, "fsGroup", "runAsGroup", "runAsUser")
    for index, group in enumerate(context.get("supplementalGroups") or ()):
        yield from ids({f"supplementalGroups[{index}]": group}, path, f"supplementalGroups[{index}]")


def _spread(constraints: Sequence[Mapping[str, JSON]], path: str) -> Iterator[FieldError]:
    for index, each in enumerate(constraints):
        where = f"{path}[{index}]"
        if (each.get("maxSkew") or 0) <= 0:
            yield invalid_value(f"{where}.maxSkew", each.get("maxSkew") or 0, "must be greater than zero")
        if not each.get("topologyKey"):
            yield required(f"{where}.topologyKey", "can not be empty")
        if each.get("whenUnsatisfiable") not in _UNSATISFIABLE:
            yield not_supported(f"{where}.whenUnsatisfiable", each.get("whenUnsatisfiable"), _UNSATISFIABLE)
