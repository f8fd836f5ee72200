"""Flow schemas and priority levels that every server has: `exempt` and `catch-all`, whose specs do not change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from pyctrl.apiserver._errors import FieldError, invalid_value
from pyctrl.apiserver._registry.field_validation import text_of
from pyctrl.apiserver._registry.strategy import Object
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["validate_mandatory_flow_schema", "validate_mandatory_priority_level"]

_Part: TypeAlias = Mapping[str, JSON]
_MANDATORY: Final = ("catch-all", "exempt")


def validate_mandatory_flow_schema(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check that the spec of a mandatory FlowSchema stays as it is."""
    name, spec = new["metadata"].get("name"), new.get("spec") or {}
    if name in _MANDATORY and old is not None and spec != old.get("spec"):
        yield invalid_value("spec", _shown_flow_schema(spec), f"spec of '{name}' must equal the fixed value")


def validate_mandatory_priority_level(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check that the spec of a mandatory priority level stays as it is, but for the shares of the exempt one."""
    name, spec = new["metadata"].get("name"), new.get("spec") or {}
    if name not in _MANDATORY or old is None:
        return
    free = ("exempt",) if name == "exempt" else ()
    if _without(spec, free) != _without(old.get("spec") or {}, free):
        what = "except the 'spec.exempt' field must" if free else "must"
        yield invalid_value("spec", _shown_priority_level(spec), f"spec of '{name}' {what} equal the fixed value")


def _without(spec: _Part, keys: tuple[str, ...]) -> dict[str, JSON]:
    return {key: value for key, value in spec.items() if key not in keys}


# -- specs as Kubernetes' internal Go types print --------------------------------------------------------------------


def _shown_priority_level(spec: _Part) -> JSON:
    limited, exempt = spec.get("limited"), spec.get("exempt")
    shown_limited = limited and {
        "NominalConcurrencyShares": limited.get("nominalConcurrencyShares", 0),
        "LimitResponse": _shown_limit_response(limited.get("limitResponse") or {}),
        "LendablePercent": limited.get("lendablePercent", 0),
        "BorrowingLimitPercent": limited.get("borrowingLimitPercent"),
    }
    shown_exempt = exempt and {
        "NominalConcurrencyShares": exempt.get("nominalConcurrencyShares", 0),
        "LendablePercent": exempt.get("lendablePercent", 0),
    }
    return {"Type": text_of(spec, "type"), "Limited": shown_limited, "Exempt": shown_exempt}


def _shown_limit_response(response: _Part) -> JSON:
    queuing = response.get("queuing")
    shown = queuing and {
        "Queues": queuing.get("queues", 0),
        "HandSize": queuing.get("handSize", 0),
        "QueueLengthLimit": queuing.get("queueLengthLimit", 0),
    }
    return {"Type": text_of(response, "type"), "Queuing": shown}


def _shown_flow_schema(spec: _Part) -> JSON:
    method = spec.get("distinguisherMethod")
    return {
        "PriorityLevelConfiguration": {"Name": text_of(spec.get("priorityLevelConfiguration") or {}, "name")},
        "MatchingPrecedence": spec.get("matchingPrecedence", 0),
        "DistinguisherMethod": method and {"Type": text_of(method, "type")},
        "Rules": [_shown_rule(each) for each in spec.get("rules") or ()] or None,
    }


def _shown_rule(rule: _Part) -> JSON:
    return {
        "Subjects": [_shown_subject(each) for each in rule.get("subjects") or ()] or None,
        "ResourceRules": [
            {
                "Verbs": each.get("verbs"),
                "APIGroups": each.get("apiGroups"),
                "Resources": each.get("resources"),
                "ClusterScope": bool(each.get("clusterScope")),
                "Namespaces": each.get("namespaces"),
            }
            for each in rule.get("resourceRules") or ()
        ]
        or None,
        "NonResourceRules": [
            {"Verbs": each.get("verbs"), "NonResourceURLs": each.get("nonResourceURLs")}
            for each in rule.get("nonResourceRules") or ()
        ]
        or None,
    }


def _shown_subject(subject: _Part) -> JSON:
    account = subject.get("serviceAccount")
    return {
        "Kind": text_of(subject, "kind"),
        "User": subject.get("user") and {"Name": text_of(subject["user"], "name")},
        "Group": subject.get("group") and {"Name": text_of(subject["group"], "name")},
        "ServiceAccount": account and {"Namespace": text_of(account, "namespace"), "Name": text_of(account, "name")},
    }
