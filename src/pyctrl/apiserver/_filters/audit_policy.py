"""Audit policies: the rules of a policy file that select what is logged of a request, as in kube-apiserver."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from pyctrl._go.text import aggregate_messages
from pyctrl._validation import names
from pyctrl.apiserver._errors import FieldError, invalid_value, not_supported, required
from pyctrl.apiserver._request.request_context import RequestContext
from pyctrl.apiserver._serializer.yaml_reader import read_yaml

__all__ = ["AuditLevel", "AuditPolicy", "AuditStage", "RequestAuditConfig"]


class AuditLevel(Enum):
    """The amount of data that is logged for a request."""

    NONE = "None"  # the request is not logged
    METADATA = "Metadata"  # user, resource, verb, times, response status
    REQUEST = "Request"  # and the request body, except of sensitive resources
    REQUEST_RESPONSE = "RequestResponse"  # and request and response bodies of all resources


class AuditStage(Enum):
    """A moment of a request at which an event is logged."""

    REQUEST_RECEIVED = "RequestReceived"
    RESPONSE_STARTED = "ResponseStarted"  # of a stream, and of a request that could not be authenticated
    RESPONSE_COMPLETE = "ResponseComplete"
    PANIC = "Panic"


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestAuditConfig:
    """What is logged of one request."""

    level: AuditLevel
    omit_stages: frozenset[AuditStage] = frozenset()
    omit_managed_fields: bool = False


_VERSION: Final = "audit.k8s.io/v1"
_LEVELS: Final = tuple(each.value for each in AuditLevel)
_STAGES: Final = tuple(each.value for each in AuditStage)


class AuditPolicy:
    """The rules of an audit policy; the first one that matches a request applies.

    A request that no rule matches is not logged.
    """

    def __init__(self, policy: Mapping[str, Any]) -> None:
        self._rules: Sequence[Mapping[str, Any]] = policy.get("rules") or ()
        self._omit_stages = frozenset(map(AuditStage, policy.get("omitStages") or ()))
        self._omit_managed_fields = bool(policy.get("omitManagedFields"))

    @classmethod
    def read(cls, text: bytes) -> AuditPolicy:
        """Read a policy from YAML or JSON.

        Raises:
            ValueError: It is not an audit policy; the message is kube-apiserver's.
        """
        policy = read_yaml(text, [])
        if not isinstance(policy, dict):
            raise ValueError("failed decoding: expected an object of kind Policy")  # noqa: TRY004 (of a file's content)
        version, kind = policy.get("apiVersion") or "", policy.get("kind") or ""
        if version != _VERSION or kind != "Policy":
            group, _, name = version.rpartition("/")
            raise ValueError(f"unknown group version field {group}/{name}, Kind={kind} in policy")
        if errors := list(_validate(policy)):
            raise ValueError(aggregate_messages([f"{error.field}: {error.message}" for error in errors]))
        if not policy.get("rules"):
            raise ValueError("loaded illegal policy with 0 rules")
        return cls(policy)

    def evaluate(self, context: RequestContext) -> RequestAuditConfig:
        """Return what is logged of a request; its user is known, if it could be authenticated."""
        for rule in self._rules:
            if _matches(rule, context):
                omitted = rule.get("omitManagedFields")
                return RequestAuditConfig(
                    level=AuditLevel(rule["level"]),
                    omit_stages=self._omit_stages | frozenset(map(AuditStage, rule.get("omitStages") or ())),
                    omit_managed_fields=self._omit_managed_fields if omitted is None else bool(omitted),
                )
        return RequestAuditConfig(level=AuditLevel.NONE)


# -- matching ----------------------------------------------------------------------------------------------------


def _matches(rule: Mapping[str, Any], context: RequestContext) -> bool:
    user, target = context.user, context.target
    if (users := rule.get("users")) and (user is None or user.name not in users):
        return False
    if (groups := rule.get("userGroups")) and (user is None or not any(each in groups for each in user.groups)):
        return False
    verb = target.verb(context.method, context.query.first) if target else context.method.lower()
    if (verbs := rule.get("verbs")) and verb not in verbs:
        return False
    if rule.get("namespaces") or rule.get("resources"):
        return _matches_resource(rule, context)
    if urls := rule.get("nonResourceURLs"):
        return target is None and any(_matches_path(each, context.path) for each in urls)
    return True


def _matches_path(wanted: str, path: str) -> bool:
    return wanted in ("*", path) or (wanted.endswith("*") and path.startswith(wanted.rstrip("*")))


def _matches_resource(rule: Mapping[str, Any], context: RequestContext) -> bool:
    target = context.target
    if target is None:
        return False
    is_namespace = (target.group, target.resource) == ("", "namespaces")
    namespace = target.namespace or (target.name if is_namespace else "")
    if (namespaces := rule.get("namespaces")) and namespace not in namespaces:
        return False
    resources = rule.get("resources") or ()
    return not resources or any(_matches_group(each, target) for each in resources)


def _matches_group(wanted: Mapping[str, Any], target: Any) -> bool:
    if (wanted.get("group") or "") not in (target.group, "*"):
        return False
    if not wanted.get("resources"):
        return True
    if (named := wanted.get("resourceNames")) and target.name not in named:
        return False
    full = f"{target.resource}/{target.subresource}" if target.subresource else target.resource
    matching = {full, "*", f"{target.resource}/*"}
    if target.subresource:
        matching.add(f"*/{target.subresource}")
    return any(each in matching for each in wanted["resources"])


# -- validation --------------------------------------------------------------------------------------------------


def _validate(policy: Mapping[str, Any]) -> Iterator[FieldError]:
    yield from _validate_stages(policy.get("omitStages") or (), "omitStages")
    for index, rule in enumerate(policy.get("rules") or ()):
        yield from _validate_rule(rule, f"rules[{index}]")


def _validate_rule(rule: Mapping[str, Any], path: str) -> Iterator[FieldError]:
    level = rule.get("level") or ""
    if not level:
        yield required(f"{path}.level")
    elif level not in _LEVELS:
        yield not_supported(f"{path}.level", level, _LEVELS)
    urls, resources = rule.get("nonResourceURLs") or [], rule.get("resources") or []
    for index, url in enumerate(urls):
        where = f"{path}.nonResourceURLs[{index}]"
        if url == "*":
            continue
        if not url.startswith("/"):
            yield invalid_value(where, url, "non-resource URL rules must begin with a '/' character")
        if "*" in url[:-1]:
            yield invalid_value(where, url, "non-resource URL wildcards '*' must be the final character of the rule")
    for each in resources:
        group, named = each.get("group") or "", each.get("resourceNames") or []
        if group not in ("", "*") and (problems := names.subdomain(group)):
            yield invalid_value(f"{path}.resources.group", group, ",".join(problems))
        if named and not each.get("resources"):
            why = "using resourceNames requires at least one resource"
            yield invalid_value(f"{path}.resources.resourceNames", named, why)
    yield from _validate_stages(rule.get("omitStages") or (), f"{path}.omitStages")
    if urls and (resources or rule.get("namespaces")):
        why = "rules cannot apply to both regular resources and non-resource URLs"
        yield invalid_value(f"{path}.nonResourceURLs", urls, why)


def _validate_stages(stages: Sequence[str], path: str) -> Iterator[FieldError]:
    for index, stage in enumerate(stages):
        if stage not in _STAGES:
            yield invalid_value(f"{path}[{index}]", stage, f"allowed stages are {','.join(_STAGES)}")
