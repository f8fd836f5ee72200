"""Validation of the specs of pods and of pod templates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import msgspec

from pyctrl._go.text import shown_value
from pyctrl._validation import names
from pyctrl.apiserver._errors import (
    FieldError,
    field_forbidden,
    invalid_value,
    not_supported,
    required,
    too_long,
)
from pyctrl.apiserver._meta.validation import validate_labels
from pyctrl.apiserver._registry._pods.container_paths import containers_with_paths
from pyctrl.apiserver._registry._pods.containers import (
    PodReferences,
    validate_containers,
    validate_ephemeral_containers,
    validate_init_containers,
)
from pyctrl.apiserver._registry._pods.resources import validate_container_resources, validate_pod_resources
from pyctrl.apiserver._registry._pods.scheduling import (
    validate_affinity,
    validate_gates,
    validate_spread,
    validate_tolerations,
)
from pyctrl.apiserver._registry._pods.security import validate_host_process, validate_os, validate_pod_security
from pyctrl.apiserver._registry._pods.volumes import validate_volumes
from pyctrl.apiserver._registry.field_validation import address, in_range, invalid_name, text_of
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["KnownSpecs", "pod_references", "validate_pod_spec"]

_Part: TypeAlias = Mapping[str, JSON]
_Errors: TypeAlias = Iterator[FieldError]
_RESTART_POLICIES = ("Always", "OnFailure", "Never")
_DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_MOST_NAMESERVERS, _MOST_SEARCHES, _LONGEST_SEARCH_LIST = 3, 32, 2048
_LARGEST_SECONDS = 2**31 - 1
_LONGEST_HOSTNAME = 64


class KnownSpecs:
    """Encoded specs that passed a check. They are not checked again: most pods have the spec of another."""

    LIMIT = 1024

    def __init__(self) -> None:
        self._specs: set[bytes] = set()

    def __contains__(self, spec: bytes) -> bool:
        return spec in self._specs

    def add(self, spec: bytes) -> None:
        """Remember a spec that passed."""
        if len(self._specs) == self.LIMIT:
            self._specs.clear()
        self._specs.add(spec)


_valid_specs = {is_pod: KnownSpecs() for is_pod in (False, True)}


def validate_pod_spec(spec: _Part, path: str, *, pod_name: str = "", is_pod: bool = False) -> _Errors:
    """Check the spec of a pod or a pod template, in the order of kube-apiserver.

    A spec that was valid is not checked again; writes of a status check it, too.
    """
    has_claims = any(each.get("ephemeral") for each in spec.get("volumes") or ())  # named after the pod
    encoded, valid = msgspec.json.encode(spec), _valid_specs[is_pod]
    if encoded in valid and not has_claims:
        return
    errors = list(_errors(spec, path, pod_name=pod_name, is_pod=is_pod))
    if not errors and not has_claims:
        valid.add(encoded)
    yield from errors


def _errors(spec: _Part, path: str, *, pod_name: str, is_pod: bool) -> _Errors:
    volumes, errors = validate_volumes(spec.get("volumes") or (), f"{path}.volumes", pod_name=pod_name, is_pod=is_pod)
    yield from errors
    yield from _claims(spec, f"{path}.resourceClaims")
    yield from _all_containers(spec, path, pod_references(spec, volumes))
    yield from validate_pod_resources(spec, path)
    if spec.get("hostNetwork"):
        yield from _host_ports(spec, f"{path}.containers", is_pod=is_pod)
    yield from _policies(spec, path)
    yield from validate_labels(spec.get("nodeSelector") or {}, f"{path}.nodeSelector")
    yield from validate_pod_security(spec, path)
    yield from validate_affinity(spec.get("affinity"), f"{path}.affinity")
    yield from _dns(spec, f"{path}.dnsConfig")
    yield from validate_gates(spec, path)
    yield from validate_spread(spec.get("topologySpreadConstraints") or (), f"{path}.topologySpreadConstraints")
    containers = list(containers_with_paths(spec, path))
    yield from validate_host_process(spec, containers, path)
    yield from _host_users(spec, path)
    yield from _names(spec, path)
    yield from validate_tolerations(spec.get("tolerations") or (), f"{path}.tolerations")
    yield from _host_aliases(spec, f"{path}.hostAliases")
    yield from _classes(spec, path)
    yield from validate_os(spec, containers, path)
    if (group := spec.get("schedulingGroup")) is not None:
        yield from _scheduling_group(group, f"{path}.schedulingGroup.podGroupName")
    yield from _file_keys(spec, containers)


def pod_references(spec: _Part, volumes: Mapping[str, _Part]) -> PodReferences:
    """Return what the containers of a pod refer to."""
    return PodReferences(
        volumes=volumes,
        claims=[each["name"] for each in spec.get("resourceClaims") or () if each.get("name")],
        restart_policy=text_of(spec, "restartPolicy"),
        grace=spec.get("terminationGracePeriodSeconds"),
        system=None if spec.get("os") is None else text_of(spec["os"], "name"),
        host_users=spec.get("hostUsers") is not False,
    )


def _all_containers(spec: _Part, path: str, pod: PodReferences) -> _Errors:
    containers, first = spec.get("containers") or (), spec.get("initContainers") or ()
    yield from validate_containers(containers, f"{path}.containers", pod)
    yield from validate_init_containers(first, containers, f"{path}.initContainers", pod)
    ephemeral = spec.get("ephemeralContainers") or ()
    yield from validate_ephemeral_containers(ephemeral, (*containers, *first), f"{path}.ephemeralContainers", pod)


def _claims(spec: _Part, path: str) -> _Errors:
    seen: set[str] = set()
    for index, claim in enumerate(spec.get("resourceClaims") or ()):
        name, where = text_of(claim, "name"), f"{path}[{index}]"
        if not name:
            yield required(f"{where}.name")
        elif name in seen:
            yield FieldError("FieldValueDuplicate", f"Duplicate value: {shown_value(name)}", f"{where}.name")
        else:
            yield from invalid_name(names.label, name, f"{where}.name")
            seen.add(name)
        sources = [claim.get(key) for key in ("resourceClaimName", "resourceClaimTemplateName")]
        shown = {"Name": name, "ResourceClaimName": sources[0], "ResourceClaimTemplateName": sources[1]}
        if None not in sources:
            why = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
            yield invalid_value(where, shown, why)
        if sources == [None, None]:
            yield invalid_value(where, shown, "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`")
        for key, source in zip(("resourceClaimName", "resourceClaimTemplateName"), sources, strict=True):
            if source is not None:
                yield from invalid_name(names.subdomain, source, f"{where}.{key}")


def _host_ports(spec: _Part, path: str, *, is_pod: bool) -> _Errors:
    for index, container in enumerate(spec.get("containers") or ()):
        for number, each in enumerate(container.get("ports") or ()):
            host = each.get("hostPort") or 0
            if (is_pod or host) and host != each.get("containerPort", 0):
                why = "must match `containerPort` when `hostNetwork` is true"
                yield invalid_value(f"{path}[{index}].ports[{number}].hostPort", host, why)


def _policies(spec: _Part, path: str) -> _Errors:
    for key, allowed in (("restartPolicy", _RESTART_POLICIES), ("dnsPolicy", _DNS_POLICIES)):
        if spec.get(key) not in allowed:
            yield not_supported(f"{path}.{key}", spec.get(key), allowed)


def _dns(spec: _Part, path: str) -> _Errors:
    config = spec.get("dnsConfig")
    if spec.get("dnsPolicy") == "None":
        if config is None:
            yield required(path, "must provide `dnsConfig` when `dnsPolicy` is None")
            return
        if not config.get("nameservers"):
            why = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            yield required(f"{path}.nameservers", why)
            return
    config = config or {}
    servers, searches = config.get("nameservers") or [], config.get("searches") or []
    if len(servers) > _MOST_NAMESERVERS:
        yield invalid_value(f"{path}.nameservers", servers, "must not have more than 3 nameservers")
    for index, server in enumerate(servers):
        yield from address(server, f"{path}.nameservers[{index}]")
    if len(searches) > _MOST_SEARCHES:
        yield invalid_value(f"{path}.searches", searches, "must not have more than 32 search paths")
    if len(" ".join(searches)) > _LONGEST_SEARCH_LIST:
        why = "must not have more than 2048 characters (including spaces) in the search list"
        yield invalid_value(f"{path}.searches", searches, why)
    for index, search in enumerate(searches):
        if search != ".":
            rule = names.subdomain_with_underscore
            yield from invalid_name(rule, search.removesuffix("."), f"{path}.searches[{index}]")
    for index, option in enumerate(config.get("options") or ()):
        if not option.get("name"):
            yield required(f"{path}.options[{index}]", "must not be empty")


def _host_users(spec: _Part, path: str) -> _Errors:
    if spec.get("hostUsers") is not False:
        return
    for key, shown in (("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")):
        if spec.get(key):
            yield field_forbidden(f"{path}.{shown}", "when `hostUsers` is false")
    for where, container in containers_with_paths(spec, path):
        if container.get("volumeDevices"):
            yield field_forbidden(f"{where}.volumeDevices", "when `hostUsers` is false")


def _names(spec: _Part, path: str) -> _Errors:
    if (override := spec.get("hostnameOverride")) is not None:
        yield from _hostname_override(spec, override, f"{path}.hostnameOverride")
    for key in ("serviceAccountName", "nodeName"):
        if name := text_of(spec, key):
            yield from invalid_name(names.subdomain, name, f"{path}.{key}")
    if (seconds := spec.get("activeDeadlineSeconds")) is not None:
        yield from in_range(seconds, 1, _LARGEST_SECONDS, f"{path}.activeDeadlineSeconds")
    for key in ("hostname", "subdomain"):
        if name := text_of(spec, key):
            yield from invalid_name(names.label, name, f"{path}.{key}")


def _hostname_override(spec: _Part, name: str, path: str) -> _Errors:
    for key in ("setHostnameAsFQDN", "hostNetwork"):
        if spec.get(key):
            yield field_forbidden(path, f"may not be specified when {key} is true")
    if len(name) > _LONGEST_HOSTNAME:
        yield too_long(path, _LONGEST_HOSTNAME)
    yield from invalid_name(names.subdomain, name, path)


def _host_aliases(spec: _Part, path: str) -> _Errors:
    for index, alias in enumerate(spec.get("hostAliases") or ()):
        yield from address(text_of(alias, "ip"), f"{path}[{index}].ip")
        for number, name in enumerate(alias.get("hostnames") or ()):
            yield from invalid_name(names.subdomain, name, f"{path}[{index}].hostnames[{number}]")


def _classes(spec: _Part, path: str) -> _Errors:
    if name := text_of(spec, "priorityClassName"):
        yield from invalid_name(names.subdomain, name, f"{path}.priorityClassName")
    if (runtime := spec.get("runtimeClassName")) is not None:
        yield from invalid_name(names.subdomain, runtime, f"{path}.runtimeClassName")
    if (policy := spec.get("preemptionPolicy")) is not None:
        if not policy:
            yield required(f"{path}.preemptionPolicy")
        elif policy not in ("PreemptLowerPriority", "Never"):
            yield not_supported(f"{path}.preemptionPolicy", policy, ("PreemptLowerPriority", "Never"))
    if (overhead := spec.get("overhead")) is not None:
        yield from validate_container_resources({"limits": overhead}, f"{path}.overhead", ())


def _scheduling_group(group: _Part, path: str) -> _Errors:
    name = group.get("podGroupName")
    if name is None:
        yield invalid_value(path, None, "must specify one of: `podGroupName`")
    else:
        yield from invalid_name(names.subdomain, name, path)


def _file_keys(spec: _Part, containers: Sequence[tuple[str, _Part]]) -> _Errors:
    volumes = {text_of(each, "name"): each for each in spec.get("volumes") or ()}
    for path, container in containers:
        for index, variable in enumerate(container.get("env") or ()):
            reference = (variable.get("valueFrom") or {}).get("fileKeyRef")
            if reference is None:
                continue
            name, where = text_of(reference, "volumeName"), f"{path}.env[{index}].valueFrom.fileKeyRef.volumeName"
            if name not in volumes:
                yield FieldError("FieldValueNotFound", f"Not found: {shown_value(name)}", where)
            elif volumes[name].get("emptyDir") is None:
                yield invalid_value(where, name, "referenced volume must be of type emptyDir")
