"""What containers are checked for beside their names and images: ports, probes, environments, mounts, security."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from pyctrl._validation import names
from pyctrl.api import Quantity
from pyctrl.apiserver._errors import FieldError, duplicate, field_forbidden, invalid_value, not_supported, required
from pyctrl.apiserver._registry.field_validation import NEGATIVE, not_negative, port, port_name_errors, port_number
from pyctrl.apiserver._schema.schema import JSON

Container = Mapping[str, JSON]

LARGEST_ID = 2147483647  # of users and groups
_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc")
_TIMES = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
_SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")
_FIELDS = re.compile(
    r"metadata\.(name|namespace|uid|(annotations|labels)(\['.*'\])?)|spec\.(nodeName|serviceAccountName|restartPolicy)"
    r"|status\.(hostIP|hostIPs|podIP|podIPs|phase)"
)
_STANDARD = ("cpu", "memory", "ephemeral-storage")
_OF_RESOURCES = tuple(sorted(f"{part}.{name}" for part in ("limits", "requests") for name in _STANDARD))
_POLICIES = ("File", "FallbackToLogsOnError")


def container_rules(container: Container, path: str, *, host_network: bool) -> Iterator[FieldError]:
    """Check a container, beyond what operators get wrong first."""
    yield from _ports(container.get("ports") or (), f"{path}.ports", host_network=host_network)
    for key in ("livenessProbe", "readinessProbe", "startupProbe"):
        if container.get(key) is not None:
            yield from _probe(container[key], f"{path}.{key}", only_one=key != "readinessProbe")
    for index, variable in enumerate(container.get("env") or ()):
        if variable.get("valueFrom") is not None:
            yield from _source(variable["valueFrom"], f"{path}.env[{index}].valueFrom")
    yield from _environments(container.get("envFrom") or (), f"{path}.envFrom")
    yield from _mounts(container.get("volumeMounts") or (), f"{path}.volumeMounts")
    yield from _quantities(container.get("resources") or {}, f"{path}.resources")
    yield from ids(container.get("securityContext") or {}, f"{path}.securityContext", "runAsUser", "runAsGroup")
    policy = container.get("terminationMessagePolicy")
    if policy and policy not in _POLICIES:
        yield not_supported(f"{path}.terminationMessagePolicy", policy, _POLICIES)


def ids(context: Mapping[str, JSON], path: str, *keys: str) -> Iterator[FieldError]:
    """Numbers of users and groups."""
    for key in keys:
        if isinstance(context.get(key), int) and not 0 <= context[key] <= LARGEST_ID:
            yield invalid_value(f"{path}.{key}", context[key], f"must be between 0 and {LARGEST_ID}, inclusive")


def _ports(ports: Sequence[Mapping[str, JSON]], path: str, *, host_network: bool) -> Iterator[FieldError]:
    seen: set[str] = set()
    for index, each in enumerate(ports):
        where, name, host = f"{path}[{index}]", each.get("name") or "", each.get("hostPort") or 0
        if complaints := port_name_errors(name) if name else []:
            yield from (invalid_value(f"{where}.name", name, why) for why in complaints)
        elif name and name in seen:
            yield duplicate(f"{where}.name", name)
        seen.add(name)
        if host:
            yield from port_number(host, f"{where}.hostPort")
        if host and host_network and host != each.get("containerPort"):
            why = "must match `containerPort` when `hostNetwork` is true"
            yield invalid_value(f"{where}.hostPort", host, why)


def _probe(probe: Mapping[str, JSON], path: str, *, only_one: bool) -> Iterator[FieldError]:
    handlers = [key for key in _HANDLERS if probe.get(key) is not None]
    if not handlers:
        yield required(path, "must specify a handler type")
    for key in handlers[1:]:
        yield field_forbidden(f"{path}.{key}", "may not specify more than 1 handler type")
    for key in handlers[:1]:
        yield from _handler(key, probe[key], f"{path}.{key}")
    yield from not_negative(probe, path, *_TIMES)
    threshold = probe.get("successThreshold", 1)
    if only_one and threshold > 1:
        yield invalid_value(f"{path}.successThreshold", threshold, "must be 1")


def _handler(kind: str, handler: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    if kind == "exec":
        if not handler.get("command"):
            yield required(f"{path}.command")
        return
    yield from port(handler.get("port"), f"{path}.port")
    if kind == "httpGet" and handler.get("scheme") not in ("HTTP", "HTTPS"):
        yield not_supported(f"{path}.scheme", handler.get("scheme"), ("HTTP", "HTTPS"))


def _source(source: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    given = [key for key in _SOURCES if source.get(key) is not None]
    if not given:
        listed = ", ".join(f"`{key}`" for key in _SOURCES[:-1])
        yield invalid_value(path, "", f"must specify one of: {listed} or `{_SOURCES[-1]}`")
    elif len(given) > 1:
        yield invalid_value(path, "", "may not have more than one field specified at a time")
    field, resource = source.get("fieldRef") or {}, source.get("resourceFieldRef") or {}
    told = field.get("fieldPath") or ""
    if "fieldRef" in given and not told:
        yield required(f"{path}.fieldRef.fieldPath")
    elif "fieldRef" in given and not _FIELDS.fullmatch(told):
        why = f"error converting fieldPath: field label not supported: {told}"
        yield invalid_value(f"{path}.fieldRef.fieldPath", told, why)
    name = resource.get("resource") or ""
    if "resourceFieldRef" in given and name not in _OF_RESOURCES and "hugepages-" not in name:
        where = f"{path}.resourceFieldRef.resource"
        yield not_supported(where, name, _OF_RESOURCES) if name else required(where)
    for key in ("configMapKeyRef", "secretKeyRef"):
        if key in given:
            yield from _key(source[key].get("key") or "", f"{path}.{key}.key")


def _key(key: str, path: str) -> Iterator[FieldError]:
    if not key:
        yield required(path)
    else:
        yield from (invalid_value(path, key, why) for why in names.config_key(key))


def _environments(sources: Sequence[Mapping[str, JSON]], path: str) -> Iterator[FieldError]:
    for index, each in enumerate(sources):
        given = [key for key in ("configMapRef", "secretRef") if each.get(key) is not None]
        if not given:
            yield invalid_value(path, "", "must specify one of: `configMapRef` or `secretRef`")
        elif len(given) > 1:
            yield invalid_value(path, "", "may not have more than one field specified at a time")
        for key in given:
            name = each[key].get("name") or ""
            for why in names.subdomain(name) if name else ():
                yield invalid_value(f"{path}[{index}].{key}.name", name, why)


def _mounts(mounts: Sequence[Mapping[str, JSON]], path: str) -> Iterator[FieldError]:
    seen: set[str] = set()
    for index, mount in enumerate(mounts):
        place = mount.get("mountPath") or ""
        if place and place in seen:
            yield invalid_value(f"{path}[{index}].mountPath", place, "must be unique")
        seen.add(place)
        below = mount.get("subPath") or ""
        if below.startswith("/"):
            yield invalid_value(f"{path}.subPath", below, "must be a relative path")
        elif ".." in below.split("/"):
            yield invalid_value(f"{path}.subPath", below, "must not contain '..'")


def _quantities(resources: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    for part in ("limits", "requests"):
        for name, quantity in (resources.get(part) or {}).items():
            where = f"{path}.{part}[{name}]"
            if "/" not in name and name not in _STANDARD and not name.startswith("hugepages-"):
                yield invalid_value(where, name, "must be a standard resource type or fully qualified")
                yield invalid_value(where, name, "must be a standard resource for containers")
            if Quantity(quantity) < Quantity("0"):
                yield invalid_value(where, quantity, NEGATIVE)
