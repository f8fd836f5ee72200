"""Validation of a status that a client writes: counters, conditions and addresses of several kinds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from pyctrl._validation import names
from pyctrl.apiserver._errors import (
    FieldError,
    duplicate,
    field_forbidden,
    invalid_value,
    not_supported,
    required,
    too_long,
)
from pyctrl.apiserver._registry.field_validation import address, invalid_name, is_address, not_negative, text_of
from pyctrl.apiserver._registry.strategy import Object
from pyctrl.apiserver._schema.schema import JSON

__all__ = [
    "is_true",
    "validate_budget_status",
    "validate_conditions",
    "validate_counters",
    "validate_daemon_set_status",
    "validate_deployment_status",
    "validate_flow_status",
    "validate_ingress_status",
    "validate_load_balancer",
    "validate_policy_status",
    "validate_replica_set_status",
    "validate_stateful_set_status",
]

_Errors: TypeAlias = Iterator[FieldError]
_Validate: TypeAlias = Callable[[Object, Object | None], _Errors]
_IP_MODES = ("Proxy", "VIP")
_STATUSES = ("False", "True", "Unknown")
_LONGEST_REASON, _LONGEST_MESSAGE = 1024, 32 * 1024  # characters
_REASON = re.compile("[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?")
_NO_REASON = (
    "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric "
    "characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or "
    "'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is "
    "'[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')"
)


def _status(obj: Object | None) -> Mapping[str, JSON]:
    return (obj or {}).get("status") or {}


def is_true(obj: Object | None, kind: str) -> bool:
    """Return whether an object has a condition of a type with the status True."""
    found = _status(obj).get("conditions") or ()
    return any(each.get("type") == kind and each.get("status") == "True" for each in found)


# -- conditions --------------------------------------------------------------------------------------------------


def validate_conditions(conditions: Sequence[Mapping[str, JSON]], path: str) -> _Errors:
    """Check conditions of the type that kinds share (metav1.Condition)."""
    seen: set[str] = set()
    for index, condition in enumerate(conditions):
        where, kind = f"{path}[{index}]", text_of(condition, "type")
        if kind in seen:
            yield duplicate(f"{where}.type", kind)
        seen.add(kind)
        yield from _condition(condition, where)


def _condition(condition: Mapping[str, JSON], path: str) -> _Errors:
    yield from invalid_name(names.qualified_name, text_of(condition, "type"), f"{path}.type")
    if (status := text_of(condition, "status")) not in _STATUSES:
        yield not_supported(f"{path}.status", status, _STATUSES)
    if (generation := condition.get("observedGeneration") or 0) < 0:
        yield invalid_value(f"{path}.observedGeneration", generation, "must be greater than or equal to zero")
    if not condition.get("lastTransitionTime"):
        yield required(f"{path}.lastTransitionTime")
    reason = text_of(condition, "reason")
    if not reason:
        yield required(f"{path}.reason")
    else:
        if not _REASON.fullmatch(reason):
            yield invalid_value(f"{path}.reason", reason, _NO_REASON)
        if len(reason) > _LONGEST_REASON:
            yield too_long(f"{path}.reason", _LONGEST_REASON)
    if len(text_of(condition, "message")) > _LONGEST_MESSAGE:
        yield too_long(f"{path}.message", _LONGEST_MESSAGE)


def validate_budget_status(new: Object, _old: Object | None) -> _Errors:
    """Check the status of a PodDisruptionBudget."""
    status = _status(new)
    yield from validate_conditions(status.get("conditions") or (), "status.conditions")
    yield from not_negative(status, "status", "disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")


def validate_policy_status(new: Object, _old: Object | None) -> _Errors:
    """Check the status of an admission policy: the warnings of its expressions, and its conditions."""
    status = _status(new)
    for index, each in enumerate((status.get("typeChecking") or {}).get("expressionWarnings") or ()):
        path = f"status.typeChecking.expressionWarnings[{index}]"
        if not each.get("warning"):
            yield required(f"{path}.warning")
        if not text_of(each, "fieldRef").strip():
            yield required(f"{path}.fieldRef")
    yield from validate_conditions(status.get("conditions") or (), "status.conditions")


def validate_flow_status(new: Object, _old: Object | None) -> _Errors:
    """Check that each condition of a flow schema or a priority level has a type of its own."""
    seen: set[str] = set()
    for index, each in enumerate(_status(new).get("conditions") or ()):
        path, kind = f"status.conditions[{index}].type", text_of(each, "type")
        if kind in seen:
            yield duplicate(path, kind)
        seen.add(kind)
        if not kind:
            yield required(path)


# -- counters ----------------------------------------------------------------------------------------------------


def validate_counters(*keys: str) -> _Validate:
    """Return a function that checks that fields of the status are not negative."""

    def validate(new: Object, _old: Object | None) -> _Errors:
        yield from not_negative(_status(new), "status", *keys)

    return validate


def _at_most(status: Mapping[str, JSON], limit: str, keys: Sequence[str], shown: str) -> _Errors:
    most = status.get(limit) or 0
    for key in keys:
        if (count := status.get(key) or 0) > most:
            yield invalid_value(f"status.{key}", count, f"cannot be greater than {shown}")


def _not_decremented(new: Object, old: Object | None) -> _Errors:
    """Check that hashes of templates that collided are not forgotten."""
    before, count = _status(old).get("collisionCount"), _status(new).get("collisionCount")
    if before is not None and (count is None or count < before):
        yield invalid_value("status.collisionCount", count or 0, "cannot be decremented")


def validate_deployment_status(new: Object, old: Object | None) -> _Errors:
    """Check the counters of a Deployment."""
    status = _status(new)
    keys = ("observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas")
    yield from not_negative(status, "status", *keys, "unavailableReplicas", "terminatingReplicas", "collisionCount")
    yield from _at_most(
        status, "replicas", ("updatedReplicas", "readyReplicas", "availableReplicas"), "status.replicas"
    )
    yield from _at_most(status, "readyReplicas", ("availableReplicas",), "readyReplicas")
    yield from _not_decremented(new, old)


def validate_replica_set_status(new: Object, _old: Object | None) -> _Errors:
    """Check the counters of a ReplicaSet or a ReplicationController."""
    status, parts = _status(new), ("fullyLabeledReplicas", "readyReplicas", "availableReplicas")
    yield from not_negative(status, "status", "replicas", *parts, "observedGeneration", "terminatingReplicas")
    yield from _at_most(status, "replicas", parts, "status.replicas")
    yield from _at_most(status, "readyReplicas", ("availableReplicas",), "readyReplicas")


def validate_stateful_set_status(new: Object, old: Object | None) -> _Errors:
    """Check the counters of a StatefulSet."""
    status, parts = _status(new), ("readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas")
    yield from not_negative(status, "status", "replicas", *parts, "observedGeneration", "collisionCount")
    yield from _at_most(status, "replicas", parts, "status.replicas")
    yield from _at_most(status, "readyReplicas", ("availableReplicas",), "status.readyReplicas")
    yield from _not_decremented(new, old)


def validate_daemon_set_status(new: Object, old: Object | None) -> _Errors:
    """Check the counters of a DaemonSet."""
    keys = ("currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady")
    more = ("updatedNumberScheduled", "numberAvailable", "numberUnavailable", "collisionCount")
    yield from not_negative(_status(new), "status", *keys, "observedGeneration", *more)
    yield from _not_decremented(new, old)


# -- addresses ---------------------------------------------------------------------------------------------------


def validate_load_balancer(ingress: Sequence[Mapping[str, JSON]], path: str, *, needs_modes: bool = False) -> _Errors:
    """Check the addresses and host names of a load balancer. Only an address of a Service has, and needs, a mode."""
    for index, each in enumerate(ingress):
        if each.get("ip"):
            yield from address(each["ip"], f"{path}[{index}].ip")
        if (mode := each.get("ipMode")) is not None:
            yield from _ip_mode(mode, f"{path}[{index}].ipMode", has_ip=bool(each.get("ip")))
        elif needs_modes and each.get("ip"):
            yield required(f"{path}[{index}].ipMode", "must be specified when `ip` is set")
        if name := each.get("hostname"):
            where = f"{path}[{index}].hostname"
            yield from invalid_name(names.subdomain, name, where)
            if is_address(name):
                yield invalid_value(where, name, "must be a DNS name, not an IP address")


def _ip_mode(mode: str, path: str, *, has_ip: bool) -> _Errors:
    if not has_ip:
        yield field_forbidden(path, "may not be specified when `ip` is not set")
    elif mode not in _IP_MODES:
        yield not_supported(path, mode, _IP_MODES)


def validate_ingress_status(new: Object, _old: Object | None) -> _Errors:
    """Check the load balancer of an Ingress."""
    found = (_status(new).get("loadBalancer") or {}).get("ingress") or ()
    yield from validate_load_balancer(found, "status.loadBalancer.ingress")
