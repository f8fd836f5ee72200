"""Validation of the specs of Jobs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from pyctrl._go.text import quoted
from pyctrl._validation import names
from pyctrl.apiserver._errors import (
    FieldError,
    duplicate,
    invalid_value,
    not_supported,
    required,
    too_long,
    too_many,
)
from pyctrl.apiserver._registry.field_validation import domain_prefixed_path, invalid_name, not_negative, text_of
from pyctrl.apiserver._registry.go_structs import go_struct
from pyctrl.apiserver._registry.pod_templates import validate_template
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["validate_job_spec"]

_Part: TypeAlias = Mapping[str, JSON]
_Errors: TypeAlias = Iterator[FieldError]
_COUNTS = ("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished")
_MOST = 100_000  # parallel pods and failed indexes of an Indexed Job
_MOST_OF_MANY = 10_000  # the same, if it has more than 100,000 completions
_MOST_RULES, _MOST_CODES, _LONGEST_MANAGER, _LONGEST_INDEXES = 20, 255, 63, 64 * 1024
_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_STATUSES = ("False", "True", "Unknown")


def validate_job_spec(spec: _Part, path: str) -> _Errors:
    """Check the spec of a Job or of a CronJob's template, without its selector."""
    yield from not_negative(spec, path, *_COUNTS, "backoffLimitPerIndex", "maxFailedIndexes")
    if spec.get("maxFailedIndexes") is not None and spec.get("backoffLimitPerIndex") is None:
        yield required(f"{path}.backoffLimitPerIndex", "when maxFailedIndexes is specified")
    if (manager := spec.get("managedBy")) is not None:
        yield from domain_prefixed_path(manager, f"{path}.managedBy")
        if len(manager) > _LONGEST_MANAGER:
            yield too_long(f"{path}.managedBy", _LONGEST_MANAGER)
    mode = spec.get("completionMode")
    if mode not in (None, "NonIndexed", "Indexed"):
        yield not_supported(f"{path}.completionMode", mode, ("NonIndexed", "Indexed"))
    if mode == "Indexed":
        yield from _indexed(spec, path)
    elif mode in (None, "NonIndexed"):
        for key in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if spec.get(key) is not None:
                yield invalid_value(f"{path}.{key}", spec[key], "requires indexed completion mode")
    yield from _policies(spec, path)
    yield from validate_template(spec["template"], f"{path}.template")
    yield from _restart_policy(spec, f"{path}.template.spec.restartPolicy")


def _indexed(spec: _Part, path: str) -> _Errors:
    completions, parallelism, failed = (spec.get(key) for key in ("completions", "parallelism", "maxFailedIndexes"))
    if completions is None:
        yield required(f"{path}.completions", "when completion mode is Indexed")
    if parallelism is not None and parallelism > _MOST:
        why = f"must be less than or equal to {_MOST} when completion mode is Indexed"
        yield invalid_value(f"{path}.parallelism", parallelism, why)
    if completions is not None and failed is not None and failed > completions:
        yield invalid_value(f"{path}.maxFailedIndexes", failed, "must be less than or equal to completions")
    if failed is not None and failed > _MOST:
        yield invalid_value(f"{path}.maxFailedIndexes", failed, f"must be less than or equal to {_MOST}")
    if completions is None or completions <= _MOST or spec.get("backoffLimitPerIndex") is None:
        return
    if failed is None:
        yield required(f"{path}.maxFailedIndexes", f"must be specified when completions is above {_MOST}")
    why = f"when completions are above {_MOST} and used with backoff limit per index"
    for key, value in (("parallelism", parallelism), ("maxFailedIndexes", failed)):
        if value is not None and value > _MOST_OF_MANY:
            yield invalid_value(f"{path}.{key}", value, f"must be less than or equal to {_MOST_OF_MANY} {why}")


def _policies(spec: _Part, path: str) -> _Errors:
    if (failure := spec.get("podFailurePolicy")) is not None:
        yield from _failure_policy(spec, failure, f"{path}.podFailurePolicy.rules")
    if (success := spec.get("successPolicy")) is not None:
        where = f"{path}.successPolicy"
        if spec.get("completionMode") == "Indexed":
            yield from _success_policy(spec, success, f"{where}.rules")
        else:
            yield invalid_value(where, go_struct("SuccessPolicy", success), "requires indexed completion mode")
    replacement = spec.get("podReplacementPolicy")
    allowed = ("Failed", "TerminatingOrFailed") if failure is None else ("Failed",)
    if replacement is not None and replacement not in allowed:
        yield not_supported(f"{path}.podReplacementPolicy", replacement, allowed)


def _failure_policy(spec: _Part, policy: _Part, path: str) -> _Errors:
    rules, pod = policy.get("rules") or (), spec["template"]["spec"]
    if len(rules) > _MOST_RULES:
        yield too_many(path, len(rules), _MOST_RULES)
    containers = {text_of(each, "name") for key in ("containers", "initContainers") for each in pod.get(key) or ()}
    for index, rule in enumerate(rules):
        where = f"{path}[{index}]"
        yield from _action(spec, text_of(rule, "action"), f"{where}.action")
        codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions") or ()
        if codes is not None:
            yield from _exit_codes(codes, f"{where}.onExitCodes", containers)
        yield from _conditions(conditions, f"{where}.onPodConditions")
        if codes is not None and conditions:
            yield _whole(where, "specifying both OnExitCodes and OnPodConditions is not supported")
        if codes is None and not conditions:
            yield _whole(where, "specifying one of OnExitCodes and OnPodConditions is required")


def _whole(path: str, why: str) -> FieldError:
    return FieldError("FieldValueInvalid", f"Invalid value: {why}", path)


def _valid_values(allowed: tuple[str, ...]) -> str:
    return f"valid values: [{' '.join(map(quoted, allowed))}]"


def _action(spec: _Part, action: str, path: str) -> _Errors:
    if not action:
        yield required(path, _valid_values(_ACTIONS))
    elif action == "FailIndex":
        if spec.get("backoffLimitPerIndex") is None:
            yield invalid_value(path, action, "requires the backoffLimitPerIndex to be set")
    elif action not in _ACTIONS:
        yield not_supported(path, action, _ACTIONS)


def _exit_codes(codes: _Part, path: str, containers: set[str]) -> _Errors:
    operator, values = text_of(codes, "operator"), codes.get("values")
    if not operator:
        yield required(f"{path}.operator", _valid_values(("In", "NotIn")))
    elif operator not in ("In", "NotIn"):
        yield not_supported(f"{path}.operator", operator, ("In", "NotIn"))
    name = codes.get("containerName")
    if name is not None and name not in containers:
        why = "must be one of the container or initContainer names in the pod template"
        yield invalid_value(f"{path}.containerName", name, why)
    where = f"{path}.values"
    if not values:
        yield invalid_value(where, values, "at least one value is required")
    elif len(values) > _MOST_CODES:
        yield too_many(where, len(values), _MOST_CODES)
    seen: set[int] = set()
    for index, value in enumerate(values or ()):
        if operator == "In" and value == 0:
            yield invalid_value(f"{where}[{index}]", value, "must not be 0 for the In operator")
        if value in seen:
            yield duplicate(f"{where}[{index}]", value)
        seen.add(value)
    if values and sorted(values) != values:
        yield invalid_value(where, values, "must be ordered")


def _conditions(patterns: JSON, path: str) -> _Errors:
    if len(patterns) > _MOST_RULES:
        yield too_many(path, len(patterns), _MOST_RULES)
    for index, each in enumerate(patterns):
        yield from invalid_name(names.qualified_name, text_of(each, "type"), f"{path}[{index}].type")
        status, where = text_of(each, "status"), f"{path}[{index}].status"
        if not status:
            yield required(where, _valid_values(_STATUSES))
        elif status not in _STATUSES:
            yield not_supported(where, status, _STATUSES)


def _success_policy(spec: _Part, policy: _Part, path: str) -> _Errors:
    rules = policy.get("rules") or ()
    if not rules:
        yield required(path, "at least one rules must be specified when the successPolicy is specified")
    if len(rules) > _MOST_RULES:
        yield too_many(path, len(rules), _MOST_RULES)
    for index, rule in enumerate(rules):
        yield from _success_rule(rule, f"{path}[{index}]", spec.get("completions") or 0)


def _success_rule(rule: _Part, path: str, completions: int) -> _Errors:
    count, indexes, total = rule.get("succeededCount"), rule.get("succeededIndexes"), 0
    if count is None and indexes is None:
        yield required(path, "at least one of succeededCount or succeededIndexes must be specified")
    if indexes is not None:
        if len(indexes) > _LONGEST_INDEXES:
            yield too_long(f"{path}.succeededIndexes", _LONGEST_INDEXES)
        try:
            total = _count_indexes(indexes, completions)
        except ValueError as error:
            why = f"error parsing succeededIndexes: {error}"
            yield invalid_value(f"{path}.succeededIndexes", indexes, why)
    if count is not None:
        where = f"{path}.succeededCount"
        yield from not_negative(rule, path, "succeededCount")
        if count > completions:
            why = f"must be less than or equal to {completions} (the number of specified completions)"
            yield invalid_value(where, count, why)
        if indexes is not None and count > total:
            why = (
                f"must be less than or equal to {total} (the number of indexes in the specified succeededIndexes field)"
            )
            yield invalid_value(where, count, why)


def _count_indexes(text: str, completions: int) -> int:
    """Return the number of indexes in intervals such as `1,3-5`.

    Raises:
        ValueError: The text is not a list of increasing intervals; the message is upstream's.
    """
    total, last = 0, -1
    for each in text.split(",") if text else ():
        limits = each.split("-")
        if len(limits) > 2:
            why = "violates the requirement that an index interval can have at most two parts separated by '-'"
            raise ValueError(f"the fragment {quoted(each)} {why}")
        first, end = (_index(limit, completions) for limit in (limits[0], limits[-1]))
        if len(limits) == 2 and first >= end:
            raise ValueError(f"non-increasing order, previous: {first}, current: {end}")
        if last >= first:
            raise ValueError(f"non-increasing order, previous: {last}, current: {first}")
        total += end - first + 1
        last = end
    return total


def _index(text: str, completions: int) -> int:
    digits = text.removeprefix("+")
    if not (digits.isascii() and digits.isdigit()):
        raise ValueError(f"cannot convert string to integer for index: {quoted(text)}")
    if int(digits) >= completions:
        raise ValueError(f"too large index: {quoted(text)}")
    return int(digits)


def _restart_policy(spec: _Part, path: str) -> _Errors:
    policy = spec["template"]["spec"].get("restartPolicy")
    if policy in ("Always", None, ""):
        yield required(path, 'valid values: "OnFailure", "Never"')
    elif policy not in ("OnFailure", "Never"):
        yield not_supported(path, policy, ("OnFailure", "Never"))
    elif spec.get("podFailurePolicy") is not None and policy != "Never":
        yield invalid_value(path, policy, 'only "Never" is supported when podFailurePolicy is specified')
