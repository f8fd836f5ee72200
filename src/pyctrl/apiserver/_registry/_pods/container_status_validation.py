"""Validation of the statuses of a pod's containers, which kubelets write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
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
from pyctrl.apiserver._registry.field_validation import invalid_name, text_of
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["validate_allocated_resources", "validate_extended_claim", "validate_state_changes"]

_Part: TypeAlias = Mapping[str, JSON]
_Errors: TypeAlias = Iterator[FieldError]
_HEALTH = ("Healthy", "Unhealthy", "Unknown")
_LONGEST_MESSAGE = 1024  # bytes, of a resource's health
_RESTARTED = "may not be transitioned to non-terminated state"
_NO_REQUEST = "must match one of the container's resource requests"
_NO_CLAIM = (
    "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or "
    "'claim:<claimName>' if request is empty"
)
_KINDS = (
    ("containerStatuses", "containers"),
    ("initContainerStatuses", "initContainers"),
    ("ephemeralContainerStatuses", "ephemeralContainers"),
)


# -- states ------------------------------------------------------------------------------------------------------


def validate_state_changes(status: _Part, before: _Part, spec: _Part) -> _Errors:
    """Check that no container runs again that has ended and is not to be restarted."""
    all_restart = _all_restart(spec)
    for key, kind in _KINDS[2:] if all_restart else _KINDS:
        containers = {text_of(each, "name"): each for each in spec.get(kind) or ()}
        now = {text_of(each, "name"): each for each in reversed(status.get(key) or ())}
        for index, old in enumerate(before.get(key) or ()):
            ended, new = _ended(old), now.get(text_of(old, "name"))
            if ended is None or new is None or _ended(new) is not None:
                continue
            container = containers.get(text_of(old, "name"))
            if kind == "ephemeralContainers" or container is None or not _restarts(container, spec, ended):
                yield field_forbidden(f"status.{key}[{index}].state", _RESTARTED)


def _ended(status: _Part) -> _Part | None:
    found: _Part | None = (status.get("state") or {}).get("terminated")
    return found


def _all_restart(spec: _Part) -> bool:
    """Return whether a rule of a container restarts all of them."""
    found = chain(spec.get("initContainers") or (), spec.get("containers") or ())
    rules = chain.from_iterable(each.get("restartPolicyRules") or () for each in found)
    return any(each.get("action") == "RestartAllContainers" for each in rules)


def _restarts(container: _Part, spec: _Part, ended: _Part) -> bool:
    """Return whether the container starts again, by its rules, its policy or that of the pod."""
    code = ended.get("exitCode") or 0
    for rule in container.get("restartPolicyRules") or ():
        codes = rule.get("exitCodes")
        if codes is not None and (code in (codes.get("values") or ())) == (codes.get("operator") == "In"):
            return True  # the only actions restart this container or all
    policy = container.get("restartPolicy") or spec.get("restartPolicy")
    return bool(policy == "Always" or (policy == "OnFailure" and code != 0))


# -- resources ---------------------------------------------------------------------------------------------------


def validate_allocated_resources(status: _Part, spec: _Part) -> _Errors:
    """Check the health of the resources of containers; ephemeral containers have none."""
    for key, kind in _KINDS[:2]:
        containers = {text_of(each, "name"): each for each in reversed(spec.get(kind) or ())}
        for index, each in enumerate(status.get(key) or ()):
            container = containers.get(text_of(each, "name"))
            for number, resource in enumerate(each.get("allocatedResourcesStatus") or ()):
                path = f"status.{key}[{index}].allocatedResourcesStatus[{number}]"
                if container is not None:
                    yield from _allocated_name(text_of(resource, "name"), container, f"{path}.name")
                yield from _health(resource.get("resources") or (), f"{path}.resources")
    for index, each in enumerate(status.get("ephemeralContainerStatuses") or ()):
        if each.get("allocatedResourcesStatus"):
            path = f"status.ephemeralContainerStatuses[{index}].allocatedResourcesStatus"
            yield field_forbidden(path, "must not be specified in container status")


def _allocated_name(name: str, container: _Part, path: str) -> _Errors:
    resources = container.get("resources") or {}
    if not name.startswith("claim:"):
        if name not in (resources.get("requests") or {}):
            yield invalid_value(path, name, _NO_REQUEST)
    elif name not in (
        "/".join((f"claim:{text_of(each, 'name')}", *filter(None, (each.get("request"),))))
        for each in resources.get("claims") or ()
    ):
        yield invalid_value(path, name, _NO_CLAIM)


def _health(resources: Sequence[_Part], path: str) -> _Errors:
    seen = set[str]()
    for index, each in enumerate(resources):
        if (health := text_of(each, "health")) not in _HEALTH:
            yield not_supported(f"{path}[{index}].health", health, _HEALTH)
        if (message := each.get("message")) == "":
            yield required(f"{path}[{index}].message", "must be non-empty if specified")
        elif message is not None and len(message.encode()) > _LONGEST_MESSAGE:
            yield too_long(f"{path}[{index}].message", _LONGEST_MESSAGE)
        if (identity := text_of(each, "resourceID")) in seen:
            yield duplicate(f"{path}[{index}].resourceID", identity)
        seen.add(identity)


# -- claims for extended resources -------------------------------------------------------------------------------


def validate_extended_claim(claim: _Part | None, spec: _Part) -> _Errors:
    """Check the claim that was made for a pod's extended resources."""
    if claim is None:
        return
    path = "status.extendedResourceClaimStatus"
    mappings = claim.get("requestMappings") or ()
    if not mappings:
        yield required(f"{path}.requestMappings", "at least one request mapping is required")
    yield from _mappings(mappings, spec, path)
    if name := text_of(claim, "resourceClaimName"):
        yield from invalid_name(names.subdomain, name, f"{path}.resourceClaimName")
    else:
        yield required(f"{path}.resourceClaimName")


def _mappings(mappings: Sequence[_Part], spec: _Part, path: str) -> _Errors:
    found = chain(spec.get("initContainers") or (), spec.get("containers") or ())
    containers, seen = {text_of(each, "name"): each for each in found}, set[tuple[str, ...]]()
    for index, each in enumerate(mappings):
        where, keys = f"{path}.requestMappings[{index}]", ("containerName", "resourceName", "requestName")
        values = tuple(text_of(each, key) for key in keys)
        container = containers.get(values[0])
        if container is None:
            why = "must match the name of an entry in spec.initContainers.name or spec.containers.name"
            yield invalid_value(f"{where}.containerName", values[0], why)
        elif values[1] not in ((container.get("resources") or {}).get("requests") or {}):
            why = (
                "must match the extended resource name of an entry in spec.initContainers.resources.requests or "
                "spec.containers.resources.requests"
            )
            yield invalid_value(f"{where}.resourceName", values[1], why)
        yield from invalid_name(names.label, values[2], f"{path}.requestName")
        if values in seen:
            yield from (duplicate(f"{where}.{key}", value) for key, value in zip(keys, values, strict=True))
        seen.add(values)
