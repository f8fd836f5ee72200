"""Validation of the fields of a pod's spec that the scheduler reads: affinity, tolerations, spread, gates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from pyctrl._validation import names
from pyctrl.apiserver._errors import (
    FieldError,
    duplicate,
    field_forbidden,
    invalid_value,
    not_supported,
    required,
)
from pyctrl.apiserver._meta.validation import validate_selector
from pyctrl.apiserver._registry.field_validation import invalid_name, text_of
from pyctrl.apiserver._schema.schema import JSON

__all__ = [
    "taint_effect",
    "validate_affinity",
    "validate_gates",
    "validate_node_selector",
    "validate_spread",
    "validate_tolerations",
]

_Part: TypeAlias = Mapping[str, JSON]
_Errors: TypeAlias = Iterator[FieldError]
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_REQUIRED, _PREFERRED = (f"{how}DuringSchedulingIgnoredDuringExecution" for how in ("required", "preferred"))
_POSITIVE = "must be greater than zero"
_IN_RANGE = "must be in the range 1-100"
_NO_SELECTOR = "must not be specified when labelSelector is not set"


def taint_effect(effect: str, path: str) -> _Errors:
    """Check the effect of a taint."""
    if effect not in _EFFECTS:
        yield not_supported(path, effect, _EFFECTS)


def validate_tolerations(tolerations: Sequence[_Part], path: str) -> _Errors:
    """Check the tolerations of a pod."""
    for index, each in enumerate(tolerations):
        yield from _toleration(each, f"{path}[{index}]")


def _toleration(toleration: _Part, path: str) -> _Errors:
    key, operator, value, effect = (text_of(toleration, each) for each in ("key", "operator", "value", "effect"))
    if key:
        yield from invalid_name(names.qualified_name, key, f"{path}.key")
    elif operator != "Exists":
        why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        yield invalid_value(f"{path}.operator", operator, why)
    if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
        why = "effect must be 'NoExecute' when `tolerationSeconds` is set"
        yield invalid_value(f"{path}.effect", effect, why)
    if operator in ("", "Equal"):
        if found := names.label_value(value):
            yield invalid_value(f"{path}.operator", value, ";".join(found))
    elif operator == "Exists":
        if value:
            yield invalid_value(f"{path}.operator", value, "value must be empty when `operator` is 'Exists'")
    else:
        known = ("Equal", "Exists", "Lt", "Gt") if operator in ("Lt", "Gt") else ("Equal", "Exists")
        yield not_supported(f"{path}.operator", operator, known)
    if effect:
        yield from taint_effect(effect, f"{path}.effect")


def validate_gates(spec: _Part, path: str) -> _Errors:
    """Check readiness gates and scheduling gates."""
    for index, each in enumerate(spec.get("readinessGates") or ()):
        where = f"{path}.readinessGates[{index}].conditionType"
        yield from invalid_name(names.qualified_name, text_of(each, "conditionType"), where)
    seen: set[str] = set()
    for index, each in enumerate(spec.get("schedulingGates") or ()):
        name, where = text_of(each, "name"), f"{path}.schedulingGates[{index}]"
        yield from invalid_name(names.qualified_name, name, where)
        if name in seen:
            yield duplicate(where, name)
        seen.add(name)


# -- affinity ----------------------------------------------------------------------------------------------------


def validate_affinity(affinity: _Part | None, path: str) -> _Errors:
    """Check affinity to nodes and pods."""
    of_nodes = (affinity or {}).get("nodeAffinity") or {}
    where = f"{path}.nodeAffinity"
    if of_nodes.get(_REQUIRED) is not None:
        yield from validate_node_selector(of_nodes[_REQUIRED], f"{where}.{_REQUIRED}")
    for index, each in enumerate(of_nodes.get(_PREFERRED) or ()):
        yield from _weight(each, f"{where}.{_PREFERRED}[{index}].weight")
        preference = f"{where}.{_PREFERRED}[{index}].preference"
        yield from _node_term(each.get("preference") or {}, preference, check_values=False)
    for key in ("podAffinity", "podAntiAffinity"):
        yield from _pod_affinity((affinity or {}).get(key) or {}, f"{path}.{key}")


def validate_node_selector(selector: _Part, path: str) -> _Errors:
    """Check a node selector, of an affinity or of a volume."""
    terms = selector.get("nodeSelectorTerms")
    if not terms:
        yield required(f"{path}.nodeSelectorTerms", "must have at least one node selector term")
    for index, term in enumerate(terms or ()):
        yield from _node_term(term or {}, f"{path}.nodeSelectorTerms[{index}]", check_values=True)


def _node_term(term: _Part, path: str, *, check_values: bool) -> _Errors:
    for index, each in enumerate(term.get("matchExpressions") or ()):
        yield from _node_requirement(each, f"{path}.matchExpressions[{index}]", check_values=check_values)
    for index, each in enumerate(term.get("matchFields") or ()):
        yield from _node_field(each, f"{path}.matchFields[{index}]")


def _node_requirement(requirement: _Part, path: str, *, check_values: bool) -> _Errors:
    operator, values = text_of(requirement, "operator"), requirement.get("values") or ()
    if operator in ("In", "NotIn"):
        if not values:
            yield required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            yield field_forbidden(f"{path}.values", why)
    elif operator in ("Gt", "Lt"):
        if len(values) != 1:
            yield required(f"{path}.values", "must be specified single value when `operator` is 'Lt' or 'Gt'")
    else:
        yield invalid_value(f"{path}.operator", operator, "not a valid selector operator")
    yield from invalid_name(names.qualified_name, text_of(requirement, "key"), f"{path}.key")
    for index, value in enumerate(values if check_values else ()):
        yield from invalid_name(names.label_value, value, f"{path}.values[{index}]")


def _node_field(requirement: _Part, path: str) -> _Errors:
    operator, values = text_of(requirement, "operator"), requirement.get("values") or ()
    if operator not in ("In", "NotIn"):
        yield invalid_value(f"{path}.operator", operator, "not a valid selector operator")
    elif len(values) != 1:
        why = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        yield required(f"{path}.values", why)
    key = text_of(requirement, "key")
    if key != "metadata.name":
        yield invalid_value(f"{path}.key", key, "not a valid field selector key")
        return
    for index, value in enumerate(values):
        yield from invalid_name(names.subdomain, value, f"{path}.values[{index}]")


def _weight(weighted: _Part, path: str) -> _Errors:
    if not 1 <= (weighted.get("weight") or 0) <= 100:
        yield invalid_value(path, weighted.get("weight") or 0, _IN_RANGE)


def _pod_affinity(affinity: _Part, path: str) -> _Errors:
    for index, each in enumerate(affinity.get(_REQUIRED) or ()):
        yield from _pod_term(each or {}, f"{path}.{_REQUIRED}[{index}]")
    for index, each in enumerate(affinity.get(_PREFERRED) or ()):
        where = f"{path}.{_PREFERRED}[{index}]"
        yield from _weight(each, f"{where}.weight")
        yield from _pod_term(each.get("podAffinityTerm") or {}, f"{where}.podAffinityTerm")


def _pod_term(term: _Part, path: str) -> _Errors:
    for key in ("labelSelector", "namespaceSelector"):
        yield from validate_selector(term.get(key) or {}, f"{path}.{key}")
    for name in term.get("namespaces") or ():
        yield from invalid_name(names.label, name, f"{path}.namespace")
    yield from _label_keys(term, path)
    topology = text_of(term, "topologyKey")
    if not topology:
        yield required(f"{path}.topologyKey", "can not be empty")
    yield from invalid_name(names.qualified_name, topology, f"{path}.topologyKey")


def _label_keys(term: _Part, path: str) -> _Errors:
    selector, matched = term.get("labelSelector"), term.get("matchLabelKeys") or ()
    mismatched = term.get("mismatchLabelKeys") or ()
    for key, keys in (("matchLabelKeys", matched), ("mismatchLabelKeys", mismatched)):
        if keys and selector is None:
            yield field_forbidden(f"{path}.{key}", _NO_SELECTOR)
        for index, label in enumerate(keys if selector is not None else ()):
            yield from invalid_name(names.qualified_name, label, f"{path}.{key}[{index}]")
    seen = set((selector or {}).get("matchLabels") or ())
    for each in (selector or {}).get("matchExpressions") or ():
        label = text_of(each, "key")
        if label in matched and label in seen:
            where = f"{path}[{len(matched) - 1 - matched[::-1].index(label)}]"
            yield invalid_value(where, label, "exists in both matchLabelKeys and labelSelector")
        seen.add(label)
    for index, label in enumerate(matched):
        if label in mismatched:
            why = "exists in both matchLabelKeys and mismatchLabelKeys"
            yield invalid_value(f"{path}.matchLabelKeys[{index}]", label, why)


# -- topology spread ---------------------------------------------------------------------------------------------


def validate_spread(constraints: Sequence[_Part], path: str) -> _Errors:
    """Check topology spread constraints."""
    for index, each in enumerate(constraints):
        where = f"{path}[{index}]"
        if (each.get("maxSkew") or 0) <= 0:
            yield invalid_value(f"{where}.maxSkew", each.get("maxSkew") or 0, _POSITIVE)
        if not each.get("topologyKey"):
            yield required(f"{where}.topologyKey", "can not be empty")
        action = text_of(each, "whenUnsatisfiable")
        if action not in ("DoNotSchedule", "ScheduleAnyway"):
            yield not_supported(f"{where}.whenUnsatisfiable", action, ("DoNotSchedule", "ScheduleAnyway"))
        pair = (text_of(each, "topologyKey"), action)
        if any(
            (text_of(other, "topologyKey"), text_of(other, "whenUnsatisfiable")) == pair
            for other in constraints[index + 1 :]
        ):
            yield duplicate(f"{where}.{{topologyKey, whenUnsatisfiable}}", f"{{{pair[0]}, {pair[1]}}}")
        yield from _domains(each.get("minDomains"), action, f"{where}.minDomains")
        for key in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            if each.get(key) is not None and each[key] not in ("Honor", "Ignore"):
                yield not_supported(f"{where}.{key}", each[key], ("Honor", "Ignore"))
        yield from _label_keys(each, where)
        yield from validate_selector(each.get("labelSelector") or {}, f"{where}.labelSelector")


def _domains(count: int | None, action: str, path: str) -> _Errors:
    if count is None:
        return
    if count <= 0:
        yield invalid_value(path, count, _POSITIVE)
    if action != "DoNotSchedule":
        why = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}"
        yield invalid_value(path, count, why)
