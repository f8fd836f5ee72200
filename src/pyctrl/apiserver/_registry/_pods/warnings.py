"""Warnings about pods and pod templates that are valid."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias

import msgspec

from pyctrl._go.text import quoted
from pyctrl._validation import names
from pyctrl.api import Quantity
from pyctrl.apiserver._registry._pods.container_paths import containers_with_paths
from pyctrl.apiserver._registry._pods.profile_annotations import (
    is_profile_annotation,
    warnings_of_container_profiles,
    warnings_of_pod_profile,
)
from pyctrl.apiserver._registry._pods.validation import KnownSpecs
from pyctrl.apiserver._registry.field_validation import text_of
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["deprecation_of_label", "ip_warnings", "node_term_warnings", "warnings_of_pod", "warnings_of_template"]

_Part: TypeAlias = Mapping[str, JSON]
_Warnings: TypeAlias = Iterator[str]
_DEPRECATED_LABELS = {
    "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
    "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
    "failure-domain.beta.kubernetes.io/region": 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
    "failure-domain.beta.kubernetes.io/zone": 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
    "beta.kubernetes.io/instance-type": 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
    "app.kubernetes.io/created-by": "deprecated since v1.9",
    "scheduler.alpha.kubernetes.io/preferAvoidPods": "deprecated since v1.22; use Taints and Tolerations instead",
    "node-role.kubernetes.io/master": 'use "node-role.kubernetes.io/control-plane" instead',
}
_ANNOTATIONS = {
    "scheduler.alpha.kubernetes.io/critical-pod": 'non-functional in v1.16+; use the "priorityClassName" field instead',
    "security.alpha.kubernetes.io/sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
    "security.alpha.kubernetes.io/unsafe-sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
}
_VOLUMES = {
    "photonPersistentDisk": ("photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"),
    "gitRepo": ("gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"),
    "scaleIO": ("scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    "flocker": ("flocker", "deprecated in v1.22, non-functional in v1.25+"),
    "storageos": ("storageOS", "deprecated in v1.22, non-functional in v1.25+"),
    "quobyte": ("quobyte", "deprecated in v1.22, non-functional in v1.25+"),
    "glusterfs": ("glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    "cephfs": ("cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    "rbd": ("rbd", "deprecated in v1.28, non-functional in v1.31+"),
}
_WITH_FILES = ("configMap", "secret", "downwardAPI", "projected")
_REMEMBERED = 1024  # quantities
_NO_PODS = "a null labelSelector results in matching no pod"
_REQUIRED, _PREFERRED = (f"{how}DuringSchedulingIgnoredDuringExecution" for how in ("required", "preferred"))


def warnings_of_pod(pod: _Part) -> _Warnings:
    """Yield the warnings about a new pod."""
    if found := names.label(pod["metadata"].get("name", "")):
        why = "this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended"
        yield f"metadata.name: {why}: [{' '.join(found)}]"
    yield from _warnings(pod, "")


def warnings_of_template(template: _Part, path: str) -> _Warnings:
    """Yield the warnings about a pod template at a path."""
    yield from _warnings(template, f"{path}.")


def _warnings(pod: _Part, prefix: str) -> _Warnings:
    spec, annotations = pod.get("spec") or {}, (pod.get("metadata") or {}).get("annotations") or {}
    encoded = msgspec.json.encode(spec)
    is_annotated = any(key in _ANNOTATIONS or is_profile_annotation(key) for key in annotations)
    if encoded in _specs_without_warnings and not is_annotated:
        return
    warnings = list(_all_warnings(spec, annotations, prefix))
    if not warnings:
        _specs_without_warnings.add(encoded)
    yield from warnings


_specs_without_warnings = KnownSpecs()


def _all_warnings(spec: _Part, annotations: _Part, prefix: str) -> _Warnings:
    path = f"{prefix}spec"
    yield from _node_labels(spec, path)
    for index, each in enumerate(spec.get("topologySpreadConstraints") or ()):
        where, key = f"{path}.topologySpreadConstraints[{index}]", text_of(each, "topologyKey")
        if key in _DEPRECATED_LABELS:
            yield f"{where}.topologyKey: {key} is {_DEPRECATED_LABELS[key]}"
        if each.get("labelSelector") is None:
            yield f"{where}.labelSelector: {_NO_PODS}"
    for key, why in _ANNOTATIONS.items():
        if key in annotations:
            yield f"{prefix}metadata.annotations[{key}]: {why}"
    yield from _volumes(spec.get("volumes") or (), f"{path}.volumes")
    yield from _aliases_and_secrets(spec, path)
    yield from _fractions(spec.get("overhead") or {}, f"{path}.overhead")
    yield from warnings_of_pod_profile(spec, annotations, prefix)
    for where, container in containers_with_paths(spec, path):
        yield from warnings_of_container_profiles(container, spec, annotations, prefix)
        yield from _container(container, where)
    yield from _ports(spec, path)
    yield from _port_names(spec, path)
    if (spec.get("terminationGracePeriodSeconds") or 0) < 0:
        why = "must be >= 0; negative values are invalid and will be treated as 1"
        yield f"{path}.terminationGracePeriodSeconds: {why}"
    yield from _pod_affinity(spec.get("affinity") or {}, f"{path}.affinity")
    for index, server in enumerate((spec.get("dnsConfig") or {}).get("nameservers") or ()):
        yield from ip_warnings(server, f"{path}.dnsConfig.nameservers[{index}]")
    for index, alias in enumerate(spec.get("hostAliases") or ()):
        yield from ip_warnings(text_of(alias, "ip"), f"{path}.hostAliases[{index}].ip")


def _node_labels(spec: _Part, path: str) -> _Warnings:
    for key in spec.get("nodeSelector") or ():
        if key in _DEPRECATED_LABELS:
            yield f"{path}.nodeSelector[{key}]: {_DEPRECATED_LABELS[key]}"
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    where = f"{path}.affinity.nodeAffinity"
    for index, term in enumerate((affinity.get(_REQUIRED) or {}).get("nodeSelectorTerms") or ()):
        yield from node_term_warnings(term, f"{where}.{_REQUIRED}.nodeSelectorTerms[{index}]", check_values=False)
    for index, each in enumerate(affinity.get(_PREFERRED) or ()):
        preference = each.get("preference") or {}
        yield from node_term_warnings(preference, f"{where}.{_PREFERRED}[{index}].preference", check_values=True)


def node_term_warnings(term: _Part, path: str, *, check_values: bool) -> _Warnings:
    """Yield the warnings about a term of a node selector."""
    for index, each in enumerate(term.get("matchExpressions") or ()):
        key, where = text_of(each, "key"), f"{path}.matchExpressions[{index}]"
        if key in _DEPRECATED_LABELS:
            yield f"{where}.key: {key} is {_DEPRECATED_LABELS[key]}"
        for number, value in enumerate(each.get("values") or () if check_values else ()):
            yield from (f"{where}.values[{number}]: {value} is invalid, {why}" for why in names.label_value(value))


# -- volumes -----------------------------------------------------------------------------------------------------


def _volumes(volumes: Sequence[_Part], path: str) -> _Warnings:
    for index, volume in enumerate(volumes):
        for key in volume.keys() & _VOLUMES.keys():  # at most one, as the volume is valid
            shown, why = _VOLUMES[key]
            yield f"{path}[{index}].{shown}: {why}"
        template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate") or {}
        resources = (template.get("spec") or {}).get("resources") or {}
        for part in ("requests", "limits") if resources else ():
            where = f"{path}[{index}].ephemeral.volumeClaimTemplate.spec.resources.{part}"
            yield from _fraction(resources.get(part) or {}, "storage", where)
    for volume in volumes:
        if not volume.keys().isdisjoint(_WITH_FILES):
            yield from _overlaps(volume)


def _overlaps(volume: _Part) -> _Warnings:
    name = quoted(text_of(volume, "name"))
    for key, kind, object_key in (("configMap", "ConfigMap", "name"), ("secret", "Secret", "secretName")):
        if source := volume.get(key):
            subject = f"volume {name} ({kind} {quoted(text_of(source, object_key))}): overlapping paths: "
            yield from _collisions([(text_of(each, "path"), "") for each in source.get("items") or ()], subject)
    files = (volume.get("downwardAPI") or {}).get("items") or ()
    subject = f"volume {name} (DownwardAPI): overlapping paths: "
    yield from _collisions([(text_of(each, "path"), "") for each in files], subject)
    if (projected := volume.get("projected")) is None:
        return
    paths: list[tuple[str, str]] = []
    for source in projected.get("sources") or ():
        if not any(value is not None for value in source.values()):
            yield f"volume {name} (Projected) has no sources provided"
        paths += _projected_paths(source)
    yield from _collisions(paths, f"volume {name} (Projected): overlapping paths: ")


def _projected_paths(source: _Part) -> list[tuple[str, str]]:
    for key, kind in (("configMap", "ConfigMap"), ("secret", "Secret"), ("downwardAPI", "DownwardAPI")):
        part = source.get(key) or {}
        if part.get("items"):
            shown = kind if key == "downwardAPI" else f"{kind} {quoted(text_of(part, 'name'))}"
            return [(text_of(each, "path"), shown) for each in part["items"]]
    if (token := source.get("serviceAccountToken")) is not None:
        return [(text_of(token, "path"), "ServiceAccountToken")]
    return []


def _collisions(paths: Sequence[tuple[str, str]], subject: str) -> _Warnings:
    seen: list[tuple[str, str]] = []
    for path, source in paths:
        new = (path.rstrip("/"), source)
        for other in seen if new[0] else ():
            first, second = f"{new[0]}/", f"{other[0]}/"
            if other[0] and (first.startswith(second) or second.startswith(first)):
                yield f"{subject}{_shown(new)} with {_shown(other)}"
        seen.append(new)


def _shown(path: tuple[str, str]) -> str:
    return f"{quoted(path[0])} ({path[1]})" if path[1] else quoted(path[0])


# -- other fields ------------------------------------------------------------------------------------------------


def _aliases_and_secrets(spec: _Part, path: str) -> _Warnings:
    for key, field, what in (("hostAliases", "ip", "ip"), ("imagePullSecrets", "name", "name")):
        seen: set[str] = set()
        for index, each in enumerate(spec.get(key) or ()):
            value = text_of(each, field)
            if value in seen:
                yield f"{path}.{key}[{index}].{field}: duplicate {what} {quoted(value)}"
            seen.add(value)
    for index, each in enumerate(spec.get("imagePullSecrets") or ()):
        if not each.get("name"):
            yield f'{path}.imagePullSecrets[{index}].name: invalid empty name ""'


def _fractions(amounts: _Part, path: str) -> _Warnings:
    for name in ("memory", "ephemeral-storage"):
        yield from _fraction(amounts, name, path)


def _fraction(amounts: _Part, name: str, path: str) -> _Warnings:
    if name in amounts and _is_fraction(amounts[name]):
        yield f"{path}[{name}]: fractional byte value {quoted(amounts[name])} is invalid, must be an integer"


@lru_cache(maxsize=_REMEMBERED)
def _is_fraction(quantity: str) -> bool:
    return bool(Quantity(quantity).value % 1)


def _container(container: _Part, path: str) -> _Warnings:
    resources = container.get("resources") or {}
    for name in ("memory", "ephemeral-storage"):
        for part in ("limits", "requests"):
            if amounts := resources.get(part):
                yield from _fraction(amounts, name, f"{path}.resources.{part}")
    seen: set[str] = set()
    for index, variable in enumerate(container.get("env") or ()):
        name = text_of(variable, "name")
        if name in seen and not _appends_to_previous(variable, name):
            shown = quoted(name)
            yield f"{path}.env[{index}]: hides previous definition of {shown}, which may be dropped when using apply"
        seen.add(name)


def _appends_to_previous(variable: _Part, name: str) -> bool:
    """Return whether the value of a variable refers to an earlier variable of its name, and has other text."""
    value, reference = text_of(variable, "value"), f"$({name})"
    return variable.get("valueFrom") is None and value != reference and reference in value


def _ports(spec: _Part, path: str) -> _Warnings:
    seen: dict[tuple[int, str], list[tuple[str, str, int]]] = {}
    for where, container in containers_with_paths(spec, path):
        for index, each in enumerate(container.get("ports") or ()):
            ip, host = text_of(each, "hostIP"), each.get("hostPort") or 0
            here = f"{where}.ports[{index}]"
            if ip and not host:
                yield f"{here}: hostIP set without hostPort: {_go_port(each)}"
            others = seen.setdefault((each.get("containerPort") or 0, text_of(each, "protocol")), [])
            for there, other_ip, other_host in others:
                if (ip, host) == (other_ip, other_host):
                    yield f"{here}: duplicate port definition with {there}"
                elif not host or not other_host:
                    yield f"{here}: overlapping port definition with {there}"
                elif host == other_host and (not ip) != (not other_ip):
                    yield f"{here}: dangerously ambiguous port definition with {there}"
            others.append((here, ip, host))


def _go_port(port: _Part) -> str:
    values = (
        ("Name", text_of(port, "name")),
        ("HostPort", port.get("hostPort") or 0),
        ("ContainerPort", port.get("containerPort") or 0),
        ("Protocol", text_of(port, "protocol")),
        ("HostIP", text_of(port, "hostIP")),
    )
    return "{" + " ".join(f"{key}:{value}" for key, value in values) + "}"


def _port_names(spec: _Part, path: str) -> _Warnings:
    seen: dict[str, str] = {}
    for where, container in containers_with_paths(spec, path):
        for index, each in enumerate(container.get("ports") or ()):
            name, here = text_of(each, "name"), f"{where}.ports[{index}]"
            if name in seen:
                there = seen[name]
                why = f"services and probes that select ports by name will use {there}"
                yield f"{here}: duplicate port name {quoted(name)} with {there}, {why}"
            elif name:
                seen[name] = here


def _pod_affinity(affinity: _Part, path: str) -> _Warnings:
    for key in ("podAffinity", "podAntiAffinity"):
        of = affinity.get(key) or {}
        for index, term in enumerate(of.get(_REQUIRED) or ()):
            if term.get("labelSelector") is None:
                yield f"{path}.{key}.{_REQUIRED}[{index}].labelSelector: {_NO_PODS}"
        for index, each in enumerate(of.get(_PREFERRED) or ()):
            if (each.get("podAffinityTerm") or {}).get("labelSelector") is None:
                yield f"{path}.{key}.{_PREFERRED}[{index}].podAffinityTerm.labelSelector: {_NO_PODS}"


def deprecation_of_label(key: str) -> str:
    """Return why a label of nodes is deprecated; "" if it is not."""
    return _DEPRECATED_LABELS.get(key, "")


def ip_warnings(text: str, path: str) -> _Warnings:
    """Yield the warning about an IP address that is valid but not written as usual."""
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        return
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    if mapped is not None:
        yield f'{path}: non-standard IP address {quoted(text)} is invalid: use "{mapped}"'
    elif found.version == 6 and str(found) != text:
        yield f'{path}: IPv6 address {quoted(text)} should be in RFC 5952 canonical format ("{found}")'
