"""Admission plugin ResourceQuota: rejects writes that exceed a quota of their namespace, and counts the others."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyctrl._quota import (
    IGNORED_RESOURCES,
    Evaluator,
    ResourceList,
    add_resources,
    evaluator_of,
    is_terminating,
    mask_resources,
    matches_scopes,
    read_resources,
    scope_requirements,
    subtract_resources,
    write_resources,
)
from pyctrl.apiserver._admission.attributes import CREATE, UPDATE, Attributes
from pyctrl.apiserver._admission.chain import Plugin
from pyctrl.apiserver._errors import unknown_error
from pyctrl.apiserver._fieldmanager.managed_fields import update_managed_fields
from pyctrl.apiserver._storage.storage import Storage

if TYPE_CHECKING:
    from pyctrl.apiserver._resources.served_resources import ServedResources

__all__ = ["LimitedResource", "ResourceQuota"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitedResource:
    """A resource that cannot be used without a quota for it.

    Attributes:
        contains: Parts of the names of what objects use, such as `.storageclass.storage.k8s.io/requests.storage`.
        scopes: Requirements of scopes, such as of pods with a priority class.
    """

    group: str
    resource: str
    contains: tuple[str, ...] = ()
    scopes: tuple[Mapping[str, Any], ...] = ()


class ResourceQuota(Plugin):
    """Enforces the quotas whose status the resource quota controller has filled in.

    The usage of an admitted write is added to the status of the quotas. The controller corrects it later if the write
    fails after admission.
    """

    def __init__(self, storage: Storage, registry: ServedResources, limited: Sequence[LimitedResource] = ()) -> None:
        self._quotas = storage.collection("", "resourcequotas")
        self._registry, self._limited = registry, limited

    def handles(self, group: str, resource: str) -> bool:
        """Return whether quotas count the resource."""
        return (group, resource) not in IGNORED_RESOURCES

    def validate(self, attributes: Attributes) -> None:
        """Reject (403) a write that exceeds a quota, or lacks what a quota requires; else add its usage."""
        target = attributes.request.target
        if not (self._limited or len(self._quotas)) or not target.namespace:
            return
        if attributes.operation not in (CREATE, UPDATE):
            return
        stored = self._quotas.current(target.namespace)
        if not (self._limited or stored) or not _is_measured(attributes):
            return
        evaluator, quotas = evaluator_of(target.group, target.resource), [each.decode() for each in stored]
        charged = _charged(evaluator, quotas, attributes)
        if self._limited and _changes_usage(evaluator, attributes):
            self._check_limited(evaluator, quotas, attributes)
        for quota, used in charged:
            if not attributes.dry_run:
                self._store(quota, used)

    def _check_limited(self, evaluator: Evaluator, quotas: Sequence[dict[str, Any]], attributes: Attributes) -> None:
        """Reject a write that uses something limited, for which there is no quota."""
        target, obj = attributes.request.target, attributes.object or {}
        of_resource = [each for each in self._limited if (each.group, each.resource) == (target.group, target.resource)]
        used = {
            name
            for each in of_resource
            for name, amount in evaluator.usage(obj).items()
            if amount > 0 and any(part in name for part in each.contains)
        }
        matched = [quota for quota in quotas if _matches(evaluator, quota, obj)]
        covered = {name for quota in matched for name in (quota.get("status") or {}).get("hard") or {}}
        if uncovered := sorted(used - covered):
            raise attributes.forbidden(f"insufficient quota to consume: {','.join(uncovered)}")
        scopes = [each for limited in self._limited for each in limited.scopes if evaluator.matches_scope(each, obj)]
        known = {
            each["scopeName"]
            for quota in quotas
            for each in scope_requirements(quota)
            if evaluator.matches_scope(each, obj)
        }
        if missing := [_shown_scope(each) for each in scopes if each["scopeName"] not in known]:
            raise unknown_error(f"insufficient quota to match these scopes: [{' '.join(missing)}]")

    def _store(self, quota: dict[str, Any], used: ResourceList) -> None:
        resource = self._registry.require("", "v1", "resourcequotas")
        new = copy.deepcopy(quota)
        new["status"]["used"] = write_resources(used)
        update_managed_fields(
            new,
            quota,
            manager="kube-apiserver",
            operation="Update",
            api_version=resource.api_version,
            subresource="status",
            type=resource,
        )
        self._quotas.put(new, resource)


def _is_measured(attributes: Attributes) -> bool:
    """Return whether a write can change the usage of its namespace."""
    target, new, old = attributes.request.target, attributes.object or {}, attributes.old
    is_update = attributes.operation == UPDATE
    evaluator = evaluator_of(target.group, target.resource)
    if not evaluator.updates:
        return not is_update and not target.subresource
    match target.resource, target.subresource:
        case "pods", "":
            return not is_update or (old is not None and is_terminating(old) != is_terminating(new))
        case "pods", "resize":
            return is_update
        case "persistentvolumeclaims", "status":
            return is_update
        case _, subresource:
            return not subresource


def _charged(
    evaluator: Evaluator, quotas: Iterable[dict[str, Any]], attributes: Attributes
) -> list[tuple[dict[str, Any], ResourceList]]:
    """Return the quotas whose usage a write changes, with their new usage."""
    obj, old = attributes.object or {}, attributes.old
    matched = [quota for quota in quotas if _matches(evaluator, quota, obj)]
    for quota in matched:
        _check_constraints(evaluator, quota, attributes)
    usage = evaluator.usage(obj)
    if negative := sorted(name for name, amount in usage.items() if amount < 0):
        raise attributes.forbidden(f"quota usage is negative for resource(s): {','.join(negative)}")
    charged: list[tuple[dict[str, Any], ResourceList]] = []
    for quota in matched:
        delta = usage
        if old is not None and _matches(evaluator, quota, old):
            delta = subtract_resources(usage, evaluator.usage(old))
        delta = {name: amount for name, amount in delta.items() if amount}
        status = quota.get("status") or {}
        requested = mask_resources(delta, status.get("hard") or {})
        if requested:
            charged.append((quota, _added(quota, requested, attributes)))
    return charged


def _changes_usage(evaluator: Evaluator, attributes: Attributes) -> bool:
    """Return whether a write uses more than the object did before."""
    usage = evaluator.usage(attributes.object or {})
    if attributes.old is not None:
        usage = subtract_resources(usage, evaluator.usage(attributes.old))
    return any(usage.values())


def _shown_scope(requirement: Mapping[str, Any]) -> str:
    """Return a requirement of a scope as Go prints it."""
    values = " ".join(requirement.get("values") or ())
    return f"{{{requirement['scopeName']} {requirement.get('operator') or ''} [{values}]}}"


def _matches(evaluator: Evaluator, quota: dict[str, Any], obj: dict[str, Any]) -> bool:
    hard = (quota.get("status") or {}).get("hard") or {}
    return any(evaluator.matches(name) for name in hard) and matches_scopes(evaluator, quota, obj)


def _check_constraints(evaluator: Evaluator, quota: dict[str, Any], attributes: Attributes) -> None:
    status, name = quota["status"], quota["metadata"]["name"]
    names = [each for each in status["hard"] if evaluator.matches(each)]
    if problem := evaluator.constraints(names, attributes.object or {}):
        raise attributes.forbidden(f"failed quota: {name}: {problem}")
    used = status.get("used") or {}
    if any(each not in used for each in names):
        raise attributes.forbidden(f"status unknown for quota: {name}, resources: {','.join(sorted(names))}")


def _added(quota: dict[str, Any], requested: ResourceList, attributes: Attributes) -> ResourceList:
    """Return the usage of a quota after a write."""
    hard, used = read_resources(quota["status"].get("hard")), read_resources(quota["status"].get("used"))
    new = add_resources(used, requested)
    exceeded = [name for name in requested if new[name] > hard[name]]
    if exceeded and attributes.subresource != "status":
        shown = ", ".join(
            f"{word}: {_shown(mask_resources(amounts, exceeded))}"
            for word, amounts in (("requested", requested), ("used", used), ("limited", hard))
        )
        raise attributes.forbidden(f"exceeded quota: {quota['metadata']['name']}, {shown}")
    return new


def _shown(resources: ResourceList) -> str:
    return ",".join(f"{name}={text}" for name, text in write_resources(resources).items())
