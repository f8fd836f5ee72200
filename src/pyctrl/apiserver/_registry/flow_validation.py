"""Validation of FlowSchemas and PriorityLevelConfigurations."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from pyctrl._validation import names
from pyctrl.apiserver._errors import FieldError, field_forbidden, invalid_value, not_supported, required
from pyctrl.apiserver._registry.field_validation import invalid_name, text_of
from pyctrl.apiserver._registry.strategy import Object
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["validate_flow_schema", "validate_priority_level"]

_Part: TypeAlias = Mapping[str, JSON]
_Errors: TypeAlias = Iterator[FieldError]
_HIGHEST_PRECEDENCE = 10_000
_DISTINGUISHERS = ("ByNamespace", "ByUser")
_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch")
_SUBJECTS: Final = {"ServiceAccount": "serviceAccount", "User": "user", "Group": "group"}
_MOST_QUEUES = 10_000_000
_MOST_HASH_BITS = 60


def validate_flow_schema(new: Object, _old: Object | None) -> _Errors:
    """Check a FlowSchema."""
    spec = new.get("spec") or {}
    precedence, path = spec.get("matchingPrecedence") or 0, "spec.matchingPrecedence"
    if precedence <= 0:
        yield invalid_value(path, precedence, "must be a positive value")
    if precedence > _HIGHEST_PRECEDENCE:
        yield invalid_value(path, precedence, f"must not be greater than {_HIGHEST_PRECEDENCE}")
    if precedence == 1 and new["metadata"].get("name") != "exempt":
        yield invalid_value(path, precedence, "only the schema named 'exempt' may have matchingPrecedence 1")
    method = spec.get("distinguisherMethod")
    if method is not None and text_of(method, "type") not in _DISTINGUISHERS:
        shown = {"Type": text_of(method, "type")}
        yield not_supported("spec.distinguisherMethod.type", shown, _DISTINGUISHERS)
    name = text_of(spec.get("priorityLevelConfiguration") or {}, "name")
    if name:
        yield from invalid_name(names.subdomain, name, "spec.priorityLevelConfiguration.name")
    else:
        yield required("spec.priorityLevelConfiguration.name", "must reference a priority level")
    for index, rule in enumerate(spec.get("rules") or ()):
        yield from _rule(rule, f"spec.rules[{index}]")


def _rule(rule: _Part, path: str) -> _Errors:
    for index, subject in enumerate(rule.get("subjects") or ()):
        yield from _subject(subject, f"{path}.subjects[{index}]")
    if not rule.get("subjects"):
        yield required(f"{path}.subjects", "subjects must contain at least one value")
    if not rule.get("resourceRules") and not rule.get("nonResourceRules"):
        yield required(path, "at least one of resourceRules and nonResourceRules has to be non-empty")
    for index, each in enumerate(rule.get("resourceRules") or ()):
        yield from _resource_rule(each, f"{path}.resourceRules[{index}]")
    for index, each in enumerate(rule.get("nonResourceRules") or ()):
        yield from _non_resource_rule(each, f"{path}.nonResourceRules[{index}]")


def _subject(subject: _Part, path: str) -> _Errors:
    kind = text_of(subject, "kind")
    if kind not in _SUBJECTS:
        yield not_supported(f"{path}.kind", kind, sorted(_SUBJECTS))
        return
    key = _SUBJECTS[kind]
    described, where = subject.get(key), f"{path}.{key}"
    if described is None:
        yield required(where, f"{key} is required when subject kind is '{kind}'")
    elif kind == "ServiceAccount":
        yield from _account(described, where)
    elif not described.get("name"):
        yield required(f"{where}.name")
    for other, field in _SUBJECTS.items():
        if other != kind and subject.get(field) is not None:
            yield field_forbidden(f"{path}.{field}", f"{field} is forbidden when subject kind is not '{other}'")


def _account(account: _Part, path: str) -> _Errors:
    name, namespace = text_of(account, "name"), text_of(account, "namespace")
    if not name:
        yield required(f"{path}.name")
    elif name != "*":
        yield from invalid_name(names.subdomain, name, f"{path}.name")
    if not namespace:
        yield required(f"{path}.namespace", "must specify namespace for service account")
    else:
        yield from invalid_name(names.label, namespace, f"{path}.namespace")


def _verbs(rule: _Part, path: str) -> _Errors:
    verbs = rule.get("verbs") or []
    if not verbs:
        yield required(f"{path}.verbs", "verbs must contain at least one value")
    elif "*" in verbs:
        if len(verbs) > 1:
            yield invalid_value(f"{path}.verbs", verbs, "if '*' is present, must not specify other verbs")
    elif not set(verbs) <= set(_VERBS):
        yield not_supported(f"{path}.verbs", verbs, _VERBS)


def _resource_rule(rule: _Part, path: str) -> _Errors:
    yield from _verbs(rule, path)
    for key, one, many in (("apiGroups", "api group", "api groups"), ("resources", "resource", "resources")):
        values = rule.get(key) or []
        if not values:
            yield required(f"{path}.{key}", f"resource rules must supply at least one {one}")
        elif len(values) > 1 and "*" in values:
            yield invalid_value(f"{path}.{key}", values, f"if '*' is present, must not specify other {many}")
    namespaces, where = rule.get("namespaces") or [], f"{path}.namespaces"
    if not namespaces and not rule.get("clusterScope"):
        yield required(where, "resource rules that are not cluster scoped must supply at least one namespace")
    elif "*" in namespaces:
        if len(namespaces) > 1:
            yield invalid_value(where, namespaces, "if '*' is present, must not specify other namespaces")
    else:
        for index, namespace in enumerate(namespaces):
            for why in names.label(namespace):
                text = f"each member of this list must be '*' or a DNS-1123 label; {why}"
                yield invalid_value(f"{where}[{index}]", namespace, text)


def _non_resource_rule(rule: _Part, path: str) -> _Errors:
    yield from _verbs(rule, path)
    urls, where = rule.get("nonResourceURLs") or [], f"{path}.nonResourceURLs"
    if not urls:
        yield required(where, "nonResourceURLs must contain at least one value")
    elif "*" in urls:
        if len(urls) > 1:
            yield invalid_value(where, urls, "if '*' is present, must not specify other non-resource URLs")
    else:
        for index, url in enumerate(urls):
            if why := _url_error(url):
                yield invalid_value(f"{where}[{index}]", url, why)


def _url_error(url: str) -> str:
    if not url:
        return "must not be empty"
    if url == "/":
        return ""
    if not url.startswith("/"):
        return "must start with slash"
    if " " in url:
        return "must not contain white-space"
    if "//" in url:
        return "must not contain double slash"
    wildcards = url.count("*")
    return "wildcard can only do suffix matching" if wildcards > 1 or (wildcards and not url.endswith("/*")) else ""


# -- PriorityLevelConfiguration ----------------------------------------------------------------------------------


def validate_priority_level(new: Object, _old: Object | None) -> _Errors:
    """Check a PriorityLevelConfiguration."""
    spec = new.get("spec") or {}
    kind, limited, exempt = text_of(spec, "type"), spec.get("limited"), spec.get("exempt")
    if (new["metadata"].get("name") == "exempt") != (kind == "Exempt"):
        yield invalid_value("spec.type", kind, "must be 'Exempt' if and only if `name` is 'exempt'")
    if kind == "Exempt":
        if limited is not None:
            yield field_forbidden("spec.limited", "must be nil if the type is not Limited")
        yield from _shares(exempt or {}, "spec.exempt")
    elif kind == "Limited":
        if exempt is not None:
            yield field_forbidden("spec.exempt", "must be nil if the type is Limited")
        if limited is None:
            yield required("spec.limited", "must not be empty when type is Limited")
        else:
            yield from _limited(limited, "spec.limited")
    else:
        yield not_supported("spec.type", kind, ("Exempt", "Limited"))


def _shares(level: _Part, path: str) -> _Errors:
    shares, percent = level.get("nominalConcurrencyShares") or 0, level.get("lendablePercent") or 0
    if shares < 0:
        yield invalid_value(f"{path}.nominalConcurrencyShares", shares, "must be a non-negative integer")
    if not 0 <= percent <= 100:
        yield invalid_value(f"{path}.lendablePercent", percent, "must be between 0 and 100, inclusive")


def _limited(level: _Part, path: str) -> _Errors:
    shares, percent = level.get("nominalConcurrencyShares") or 0, level.get("lendablePercent") or 0
    if shares < 0:
        yield invalid_value(f"{path}.nominalConcurrencyShares", shares, "must be a non-negative integer")
    yield from _limit_response(level.get("limitResponse") or {}, f"{path}.limitResponse")
    if not 0 <= percent <= 100:
        yield invalid_value(f"{path}.lendablePercent", percent, "must be between 0 and 100, inclusive")
    borrowed = level.get("borrowingLimitPercent") or 0
    if borrowed < 0:
        why = "if specified, must be a non-negative integer"
        yield invalid_value(f"{path}.borrowingLimitPercent", borrowed, why)


def _limit_response(response: _Part, path: str) -> _Errors:
    kind, queuing = text_of(response, "type"), response.get("queuing")
    if kind == "Reject":
        if queuing is not None:
            why = "must be nil if limited.limitResponse.type is not Limited"
            yield field_forbidden(f"{path}.queuing", why)
    elif kind == "Queue":
        if queuing is None:
            yield required(f"{path}.queuing", "must not be empty if limited.limitResponse.type is Limited")
        else:
            yield from _queuing(queuing, f"{path}.queuing")
    else:
        yield not_supported(f"{path}.type", kind, ("Queue", "Reject"))


def _queuing(queuing: _Part, path: str) -> _Errors:
    queues, hand, length = (queuing.get(key) or 0 for key in ("queues", "handSize", "queueLengthLimit"))
    if length <= 0:
        yield invalid_value(f"{path}.queueLengthLimit", length, "must be positive")
    if queues <= 0:
        yield invalid_value(f"{path}.queues", queues, "must be positive")
    elif queues > _MOST_QUEUES:
        yield invalid_value(f"{path}.queues", queues, f"must not be greater than {_MOST_QUEUES}")
    if hand <= 0:
        yield invalid_value(f"{path}.handSize", hand, "must be positive")
    elif hand > queues:
        yield invalid_value(f"{path}.handSize", hand, f"should not be greater than queues ({queues})")
    elif math.ceil(math.log2(queues) * hand) > _MOST_HASH_BITS:
        why = f"required entropy bits of deckSize {queues} and handSize {hand}"
        yield invalid_value(f"{path}.handSize", hand, f"{why} should not be greater than {_MOST_HASH_BITS}")
