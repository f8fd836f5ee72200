"""Admission plugin LimitRanger: applies the defaults and limits of a namespace's LimitRanges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from pyctrl._go.text import aggregate_messages
from pyctrl._quota import add_resources, pod_resources
from pyctrl.api import Quantity
from pyctrl.apiserver._admission.attributes import CREATE, UPDATE, Attributes
from pyctrl.apiserver._admission.chain import Plugin
from pyctrl.apiserver._storage.storage import Collection

__all__ = ["LimitRanger"]


_ANNOTATION = "kubernetes.io/limit-ranger"
_Resources: TypeAlias = Mapping[str, Quantity]


class LimitRanger(Plugin):
    """Sets default requests and limits of new pods; rejects pods and claims outside of the limits."""

    def __init__(self, limit_ranges: Collection) -> None:
        self._limit_ranges = limit_ranges

    def handles(self, group: str, resource: str) -> bool:
        """Return whether the resource is pods or persistentvolumeclaims."""
        return not group and resource in ("pods", "persistentvolumeclaims")

    def mutate(self, attributes: Attributes) -> None:
        """Set the requests and limits that containers of a pod leave out, and name them in an annotation."""
        if attributes.request.target.resource == "pods":
            for limits in self._limits(attributes):
                _default_pod(attributes.object or {}, limits)

    def validate(self, attributes: Attributes) -> None:
        """Reject (403) an object outside of the limits of a LimitRange; the message has all reasons."""
        validate = _pod_problems if attributes.request.target.resource == "pods" else _claim_problems
        for limits in self._limits(attributes):
            if problems := list(validate(attributes.object or {}, limits)):
                raise attributes.forbidden(aggregate_messages(problems))

    def _limits(self, attributes: Attributes) -> Iterator[list[dict[str, Any]]]:
        """Yield the limits of each LimitRange that applies to a write."""
        if not len(self._limit_ranges) or not _is_limited(attributes):
            return
        for stored in self._limit_ranges.current(attributes.namespace):
            yield (stored.decode().get("spec") or {}).get("limits") or []


def _is_limited(attributes: Attributes) -> bool:
    if ((attributes.old or {}).get("metadata") or {}).get("deletionTimestamp"):
        return False
    is_pod, operation = attributes.request.target.resource == "pods", attributes.operation
    if attributes.subresource:
        return is_pod and attributes.subresource == "resize" and operation == UPDATE
    return operation == CREATE or (operation == UPDATE and not is_pod)


# -- defaults --------------------------------------------------------------------------------------------------


def _default_pod(pod: dict[str, Any], limits: list[dict[str, Any]]) -> None:
    requests: dict[str, str] = {}
    maxima: dict[str, str] = {}
    for limit in limits:
        if limit.get("type") == "Container":
            requests.update(limit.get("defaultRequest") or {})
            maxima.update(limit.get("default") or {})
    notes: list[str] = []
    for key, word in (("containers", "container"), ("initContainers", "init container")):
        for container in pod["spec"].get(key) or ():
            for part, defaults, kind in (("requests", requests, "request"), ("limits", maxima, "limit")):
                if added := _set_missing(container, part, defaults):
                    notes.append(f"{', '.join(added)} {kind} for {word} {container.get('name') or ''}")
    if notes:
        metadata = pod["metadata"]
        text = f"LimitRanger plugin set: {'; '.join(notes)}"
        metadata["annotations"] = {**(metadata.get("annotations") or {}), _ANNOTATION: text}


def _set_missing(container: dict[str, Any], part: str, defaults: Mapping[str, str]) -> list[str]:
    """Set the resources that a container leaves out; return their names."""
    resources: dict[str, Any] = container.get("resources") or {}
    given = resources.get(part) or {}
    added = sorted(name for name in defaults if name not in given)
    if added:
        container["resources"] = {**resources, part: {**given, **{name: defaults[name] for name in added}}}
    return added


# -- limits ----------------------------------------------------------------------------------------------------


def _pod_problems(pod: dict[str, Any], limits: list[dict[str, Any]]) -> Iterator[str]:
    spec = pod["spec"]
    for limit in limits:
        if limit.get("type") == "Container":
            for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
                resources = container.get("resources") or {}
                yield from _problems(limit, _quantities(resources, "requests"), _quantities(resources, "limits"))
        elif limit.get("type") == "Pod":
            yield from _problems(limit, pod_resources(spec, "requests"), pod_resources(spec, "limits"))


def _claim_problems(claim: dict[str, Any], limits: list[dict[str, Any]]) -> Iterator[str]:
    requests = _quantities(claim["spec"].get("resources") or {}, "requests")
    for limit in limits:
        if limit.get("type") == "PersistentVolumeClaim":
            yield from _below_minimum(limit, requests, {})
            for name, most in _sorted(limit, "max"):
                what = f"maximum {name} usage per PersistentVolumeClaim is {most}"
                if name not in requests:
                    yield f"{what}.  No request is specified"
                elif requests[name] > most:
                    yield f"{what}, but request is {requests[name]}"


def _problems(limit: dict[str, Any], requests: _Resources, limits: _Resources) -> Iterator[str]:
    yield from _below_minimum(limit, requests, limits)
    for name, most in _sorted(limit, "max"):
        what = f"maximum {name} usage per {limit['type']} is {most}"
        if name not in limits:
            yield f"{what}.  No limit is specified"
        elif limits[name] > most:
            yield f"{what}, but limit is {limits[name]}"
        elif name in requests and requests[name] > most:
            yield f"{what}, but request is {requests[name]}"
    for name, most in _sorted(limit, "maxLimitRequestRatio"):
        yield from _ratio_problems(
            f"{name} max limit to request ratio per {limit['type']} is {most}", name, most, requests, limits
        )


def _below_minimum(limit: dict[str, Any], requests: _Resources, limits: _Resources) -> Iterator[str]:
    for name, least in _sorted(limit, "min"):
        what = f"minimum {name} usage per {limit['type']} is {least}"
        if name not in requests:
            yield f"{what}.  No request is specified"
        elif requests[name] < least:
            yield f"{what}, but request is {requests[name]}"
        elif name in limits and limits[name] < least:
            yield f"{what}, but limit is {limits[name]}"


def _ratio_problems(what: str, name: str, most: Quantity, requests: _Resources, limits: _Resources) -> Iterator[str]:
    request, limit = requests.get(name), limits.get(name)
    if not request:
        yield f"{what}, but no request is specified or request is 0"
    elif not limit:
        yield f"{what}, but no limit is specified or limit is 0"
    elif limit.value > request.value * most.value:
        yield f"{what}, but provided ratio is {float(limit.value / request.value):f}"


def _sorted(limit: dict[str, Any], bound: str) -> list[tuple[str, Quantity]]:
    return [(name, Quantity(text)) for name, text in sorted((limit.get(bound) or {}).items())]


def _quantities(resources: Mapping[str, Any], part: str) -> _Resources:
    return add_resources({}, resources.get(part) or {})
