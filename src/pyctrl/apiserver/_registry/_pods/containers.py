"""Validation of the containers of pods and pod templates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

import msgspec

from pyctrl._go.text import shown_value
from pyctrl._validation import names
from pyctrl.apiserver._errors import (
    FieldError,
    duplicate,
    field_forbidden,
    invalid_value,
    not_supported,
    required,
    too_many,
)
from pyctrl.apiserver._registry._pods.environment import validate_environment
from pyctrl.apiserver._registry._pods.probes import PROBES, validate_lifecycle, validate_probe
from pyctrl.apiserver._registry._pods.resources import validate_container_resources
from pyctrl.apiserver._registry._pods.security import validate_container_security
from pyctrl.apiserver._registry._pods.volume_sources import pull_policy
from pyctrl.apiserver._registry.field_validation import (
    descending_path,
    no_backsteps,
    port_name_errors,
    port_number,
    required_name,
    text_of,
)
from pyctrl.apiserver._schema.schema import JSON

__all__ = [
    "PodReferences",
    "validate_containers",
    "validate_ephemeral_containers",
    "validate_init_containers",
]

_Container: TypeAlias = Mapping[str, JSON]
_Errors: TypeAlias = Iterator[FieldError]
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_POLICIES = ("File", "FallbackToLogsOnError")
_PROPAGATIONS = ("Bidirectional", "HostToContainer", "None")
_RESTARTS = ("Always", "Never", "OnFailure")
_RESTART_ACTIONS = ("Restart", "RestartAllContainers")
_MOST_RULES, _MOST_EXIT_CODES = 20, 255
_ONLY_SIDECARS = "may not be set for init containers without restartPolicy=Always"
_NOT_EPHEMERAL: Final = (  # in the order of the Go struct
    *("ports", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules"),
    *("livenessProbe", "readinessProbe", "startupProbe", "lifecycle"),
)


class PodReferences(msgspec.Struct, frozen=True, kw_only=True):
    """What the containers of a pod refer to."""

    volumes: Mapping[str, _Container]  # the valid ones
    claims: Sequence[str]
    restart_policy: str
    grace: int | None  # its terminationGracePeriodSeconds
    system: str | None  # its operating system
    host_users: bool


def validate_containers(containers: Sequence[_Container], path: str, pod: PodReferences) -> _Errors:
    """Check the containers of a pod."""
    if not containers:
        yield required(path)
    seen: set[str] = set()
    for index, container in enumerate(containers):
        where, name = f"{path}[{index}]", text_of(container, "name")
        yield from _container(container, where, pod)
        if name in seen:
            yield duplicate(f"{where}.name", name)
        seen.add(name)
        yield from _lifecycle_and_probes(container, where, pod)
        yield from _restart_rules(container, where)
    yield from _host_port_conflicts(containers, path)


def validate_init_containers(
    containers: Sequence[_Container], others: Sequence[_Container], path: str, pod: PodReferences
) -> _Errors:
    """Check the init containers of a pod; their names differ from those of the other containers."""
    seen = {text_of(each, "name") for each in others}
    for index, container in enumerate(containers):
        where, name = f"{path}[{index}]", text_of(container, "name")
        yield from _container(container, where, pod)
        if container.get("restartPolicy") is not None:
            yield from _restart_rules(container, where)
        elif container.get("restartPolicyRules"):
            yield required(f"{where}.restartPolicy", "must specify restartPolicy when restart rules are used")
        if name in seen:
            yield duplicate(f"{where}.name", name)
        elif name:
            seen.add(name)
        yield from _host_port_conflicts([container], path)
        if container.get("restartPolicy") == "Always":
            yield from _lifecycle_and_probes(container, where, pod)
            continue
        for key in ("lifecycle", *PROBES):
            if container.get(key) is not None:
                yield field_forbidden(f"{where}.{key}", _ONLY_SIDECARS)
        for number, each in enumerate(container.get("resizePolicy") or ()):
            if each.get("restartPolicy") == "RestartContainer":
                why = "must not be set to 'RestartContainer' for non-sidecar initContainers"
                yield invalid_value(f"{where}.resizePolicy[{number}].restartPolicy", each["restartPolicy"], why)


def validate_ephemeral_containers(
    containers: Sequence[_Container], others: Sequence[_Container], path: str, pod: PodReferences
) -> _Errors:
    """Check ephemeral containers; they have fewer fields."""
    targets = {text_of(each, "name") for each in others}
    seen = set(targets)
    for index, container in enumerate(containers):
        where, name = f"{path}[{index}]", text_of(container, "name")
        yield from _container(container, where, pod)
        yield from padded_image(container, where)
        if name in seen:
            yield duplicate(f"{where}.name", name)
        seen.add(name)
        target = text_of(container, "targetContainerName")
        if target and target not in targets:
            yield FieldError("FieldValueNotFound", f"Not found: {shown_value(target)}", f"{where}.targetContainerName")
        why = "cannot be set for an Ephemeral Container"
        yield from (field_forbidden(f"{where}.{key}", why) for key in _NOT_EPHEMERAL if _is_set(container, key))
        for number, mount in enumerate(container.get("volumeMounts") or ()):
            for key in ("subPath", "subPathExpr"):
                if mount.get(key):
                    yield field_forbidden(f"{where}.volumeMounts[{number}].{key}", why)


def _is_set(container: _Container, key: str) -> bool:
    """Return whether a field is set: one that is a pointer in Go may be empty."""
    return bool(container.get(key)) or (key in ("lifecycle", *PROBES) and container.get(key) is not None)


def padded_image(container: _Container, path: str) -> _Errors:
    """Check that the image of a pod's container has no spaces around it; templates may."""
    image = text_of(container, "image")
    if image != image.strip():
        yield invalid_value(f"{path}.image", image, "must not have leading or trailing whitespace")


def _container(container: _Container, path: str, pod: PodReferences) -> _Errors:
    yield from required_name(names.label, text_of(container, "name"), f"{path}.name")
    if not container.get("image"):
        yield required(f"{path}.image")
    policy = container.get("terminationMessagePolicy")
    if policy not in _POLICIES:
        yield not_supported(f"{path}.terminationMessagePolicy", policy, _POLICIES)
    yield from _ports(container.get("ports") or (), f"{path}.ports")
    yield from validate_environment(container, path)
    yield from _mounts(container, f"{path}.volumeMounts", pod)
    yield from _devices(container, f"{path}.volumeDevices", pod)
    yield from pull_policy(text_of(container, "imagePullPolicy"), f"{path}.imagePullPolicy")
    yield from validate_container_resources(container.get("resources") or {}, f"{path}.resources", pod.claims)
    yield from _resize_policies(container.get("resizePolicy") or (), f"{path}.resizePolicy", pod.restart_policy)
    context = container.get("securityContext") or {}
    yield from validate_container_security(context, f"{path}.securityContext", host_users=pod.host_users)


def _ports(ports: Sequence[_Container], path: str) -> _Errors:
    seen: set[str] = set()
    for index, each in enumerate(ports):
        where, name = f"{path}[{index}]", text_of(each, "name")
        if complaints := port_name_errors(name) if name else []:
            # upstream writes the number of the message into the index of the port
            yield from (invalid_value(f"{where}.name", name, why) for why in complaints)
        elif name and name in seen:
            yield duplicate(f"{where}.name", name)
        elif name:
            seen.add(name)
        if not each.get("containerPort"):
            yield required(f"{where}.containerPort")
        else:
            yield from port_number(each["containerPort"], f"{where}.containerPort")
        if each.get("hostPort"):
            yield from port_number(each["hostPort"], f"{where}.hostPort")
        if each.get("protocol") not in _PROTOCOLS:
            yield not_supported(f"{where}.protocol", each.get("protocol"), _PROTOCOLS)


def _host_port_conflicts(containers: Sequence[_Container], path: str) -> _Errors:
    seen: set[str] = set()
    for index, container in enumerate(containers):
        for number, each in enumerate(container.get("ports") or ()):
            if not each.get("hostPort"):
                continue
            text = f"{text_of(each, 'protocol')}/{text_of(each, 'hostIP')}/{each['hostPort']}"
            if text in seen:
                yield duplicate(f"{path}[{index}].ports[{number}].hostPort", text)
            seen.add(text)


def _mounts(container: _Container, path: str, pod: PodReferences) -> _Errors:
    devices = container.get("volumeDevices") or ()
    device_names = {text_of(each, "name") for each in devices}
    device_paths = {text_of(each, "devicePath") for each in devices}
    seen: set[str] = set()
    for index, mount in enumerate(container.get("volumeMounts") or ()):
        where, name, place = f"{path}[{index}]", text_of(mount, "name"), text_of(mount, "mountPath")
        if not name:
            yield required(f"{where}.name")
        if name not in pod.volumes:
            yield FieldError("FieldValueNotFound", f"Not found: {shown_value(name)}", f"{where}.name")
        if not place:
            yield required(f"{where}.mountPath")
        if place in seen:
            yield invalid_value(f"{where}.mountPath", place, "must be unique")
        seen.add(place)
        if name in device_names:
            yield invalid_value(f"{where}.name", name, "must not already exist in volumeDevices")
        if place in device_paths:
            yield invalid_value(f"{where}.mountPath", place, "must not already exist as a path in volumeDevices")
        yield from _mount_details(mount, container, path, where)


def _mount_details(mount: _Container, container: _Container, path: str, where: str) -> _Errors:
    below, expression = text_of(mount, "subPath"), text_of(mount, "subPathExpr")
    yield from descending_path(below, f"{path}.subPath")
    if below and expression:
        why = "subPathExpr and subPath are mutually exclusive"
        yield invalid_value(f"{where}.subPathExpr", expression, why)
    yield from descending_path(expression, f"{path}.subPathExpr")
    propagation = mount.get("mountPropagation")
    if propagation is not None and propagation not in _PROPAGATIONS:
        yield not_supported(f"{path}.mountPropagation", propagation, _PROPAGATIONS)
    if propagation == "Bidirectional" and not (container.get("securityContext") or {}).get("privileged"):
        why = "Bidirectional mount propagation is available only to privileged containers"
        yield field_forbidden(f"{path}.mountPropagation", why)
    recursive, where = mount.get("recursiveReadOnly"), f"{path}.recursiveReadOnly"
    if recursive in ("Enabled", "IfPossible"):
        if not mount.get("readOnly"):
            yield field_forbidden(where, "may only be specified when readOnly is true")
        if propagation not in (None, "None"):
            yield field_forbidden(where, "may only be specified when mountPropagation is None or not specified")
    elif recursive not in (None, "Disabled"):
        yield not_supported(where, recursive, ("Disabled", "Enabled", "IfPossible"))


def _devices(container: _Container, path: str, pod: PodReferences) -> _Errors:
    mounts = container.get("volumeMounts") or ()
    mount_names = {text_of(each, "name") for each in mounts}
    mount_paths = {text_of(each, "mountPath") for each in mounts}
    seen_names: set[str] = set()
    seen_paths: set[str] = set()
    for index, device in enumerate(container.get("volumeDevices") or ()):
        where, name, place = f"{path}[{index}]", text_of(device, "name"), text_of(device, "devicePath")
        yield from _device_name(name, f"{where}.name", seen_names, pod)
        if not place:
            yield required(f"{where}.devicePath")
        if place in seen_paths:
            yield invalid_value(f"{where}.devicePath", place, "must be unique")
        if any(no_backsteps(place, "")):
            yield invalid_value(f"{where}.devicePath", place, "can not contain backsteps ('..')")
        else:
            seen_paths.add(place)
        if name in mount_names:
            yield invalid_value(f"{where}.name", name, "must not already exist in volumeMounts")
        if place in mount_paths:
            yield invalid_value(f"{where}.devicePath", place, "must not already exist as a path in volumeMounts")
        if name:
            seen_names.add(name)


def _device_name(name: str, path: str, seen: set[str], pod: PodReferences) -> _Errors:
    volume = pod.volumes.get(name)
    if not name:
        yield required(path)
    if name in seen:
        yield invalid_value(path, name, "must be unique")
    if volume is None:
        yield FieldError("FieldValueNotFound", f"Not found: {shown_value(name)}", path)
    elif volume.get("persistentVolumeClaim") is None and volume.get("ephemeral") is None:
        why = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
        yield invalid_value(path, name, why)


def _resize_policies(policies: Sequence[_Container], path: str, of_pod: str) -> _Errors:
    seen: set[str] = set()
    for index, each in enumerate(policies):
        name, restart = text_of(each, "resourceName"), text_of(each, "restartPolicy")
        if name in seen:
            yield duplicate(f"{path}[{index}]", name)
        seen.add(name)
        for text, allowed in ((name, ("cpu", "memory")), (restart, ("NotRequired", "RestartContainer"))):
            if not text:
                yield required(path)
            elif text not in allowed:
                yield not_supported(path, text, allowed)
        if of_pod == "Never" and restart != "NotRequired":
            yield invalid_value(path, restart, "must be 'NotRequired' when pod `restartPolicy` is 'Never'")


def _restart_rules(container: _Container, path: str) -> _Errors:
    policy, rules = container.get("restartPolicy"), container.get("restartPolicyRules") or ()
    if policy is None:
        if rules:
            yield required(f"{path}.restartPolicy", "must specify restartPolicy when restart rules are used")
    elif policy not in _RESTARTS:
        yield not_supported(f"{path}.restartPolicy", policy, _RESTARTS)
    if len(rules) > _MOST_RULES:
        yield too_many(f"{path}.restartPolicyRules", len(rules), _MOST_RULES)
    for index, rule in enumerate(rules):
        where, codes = f"{path}.restartPolicyRules[{index}]", rule.get("exitCodes")
        if text_of(rule, "action") not in _RESTART_ACTIONS:
            yield not_supported(f"{where}.action", text_of(rule, "action"), _RESTART_ACTIONS)
        if codes is None:
            yield required(f"{where}.exitCodes", "must be specified")
            continue
        if text_of(codes, "operator") not in ("In", "NotIn"):
            yield not_supported(f"{where}.exitCodes.operator", text_of(codes, "operator"), ("In", "NotIn"))
        if len(codes.get("values") or ()) > _MOST_EXIT_CODES:
            yield too_many(f"{where}.exitCodes.values", len(codes["values"]), _MOST_EXIT_CODES)


def _lifecycle_and_probes(container: _Container, path: str, pod: PodReferences) -> _Errors:
    if container.get("lifecycle") is not None:
        yield from validate_lifecycle(container["lifecycle"], f"{path}.lifecycle", pod.grace, pod.system)
    for key in PROBES:
        if container.get(key) is not None:
            yield from validate_probe(key, container[key], f"{path}.{key}", pod.grace)
