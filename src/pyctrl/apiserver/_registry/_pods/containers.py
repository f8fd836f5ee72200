"""Validation of the containers of pods and pod templates."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from pyctrl._go.text import shown_value
from pyctrl._validation import names
from pyctrl.api import Quantity
from pyctrl.apiserver._errors import FieldError, duplicate, field_forbidden, invalid_value, not_supported, required
from pyctrl.apiserver._registry.field_validation import NEGATIVE, not_negative, port, port_name_errors, port_number
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["LARGEST_ID", "validate_container", "validate_container_details", "validate_ids"]

_Container = Mapping[str, JSON]
LARGEST_ID = 2147483647  # of users and groups
_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_PROTOCOLS = ("SCTP", "TCP", "UDP")
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


def validate_container(
    container: Mapping[str, JSON], path: str, volumes: set[str], seen: set[str]
) -> Iterator[FieldError]:
    """Check name, image, ports, environment, mounts and resources of a container, and add its name to `seen`."""
    name = container.get("name", "")
    if not name:
        yield required(f"{path}.name")
    else:
        yield from (invalid_value(f"{path}.name", name, why) for why in names.label(name))
    if name and name in seen:
        yield duplicate(f"{path}.name", name)
    seen.add(name)
    image = container.get("image", "")
    if not image:
        yield required(f"{path}.image")
    elif image != image.strip():
        yield invalid_value(f"{path}.image", image, "must not have leading or trailing whitespace")
    if container.get("imagePullPolicy") not in _PULL_POLICIES:
        yield not_supported(f"{path}.imagePullPolicy", container.get("imagePullPolicy"), _PULL_POLICIES)
    yield from _ports(container.get("ports") or (), f"{path}.ports")
    yield from _environment(container.get("env") or (), f"{path}.env")
    for index, mount in enumerate(container.get("volumeMounts") or ()):
        yield from _mount(mount, f"{path}.volumeMounts[{index}]", volumes)
    yield from _resources(container.get("resources") or {}, f"{path}.resources")


def _ports(ports: JSON, path: str) -> Iterator[FieldError]:
    for index, each in enumerate(ports):
        where = f"{path}[{index}]"
        number = each.get("containerPort", 0)
        if number == 0:
            yield required(f"{where}.containerPort")
        elif not 1 <= number <= 65535:
            yield invalid_value(f"{where}.containerPort", number, "must be between 1 and 65535, inclusive")
        if each.get("protocol") not in _PROTOCOLS:
            yield not_supported(f"{where}.protocol", each.get("protocol"), _PROTOCOLS)


def _environment(variables: JSON, path: str) -> Iterator[FieldError]:
    for index, variable in enumerate(variables):
        where = f"{path}[{index}]"
        if not variable.get("name"):
            yield required(f"{where}.name")
        elif "=" in variable["name"]:
            yield invalid_value(
                f"{where}.name",
                variable["name"],
                "a valid environment variable name must consist only of printable ASCII characters other than '='",
            )
        if variable.get("value") and variable.get("valueFrom"):
            yield invalid_value(f"{where}.valueFrom", "", "may not be specified when `value` is not empty")


def _mount(mount: Mapping[str, JSON], path: str, volumes: set[str]) -> Iterator[FieldError]:
    name = mount.get("name", "")
    if not name:
        yield required(f"{path}.name")
    elif name not in volumes:
        yield FieldError("FieldValueNotFound", f"Not found: {shown_value(name)}", f"{path}.name")
    if not mount.get("mountPath"):
        yield required(f"{path}.mountPath")


def _resources(resources: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    limits = resources.get("limits") or {}
    for name, quantity in (resources.get("requests") or {}).items():
        if name in limits and Quantity(quantity) > Quantity(limits[name]):
            why = f"must be less than or equal to {name} limit of {limits[name]}"
            yield invalid_value(f"{path}.requests", quantity, why)


def validate_container_details(container: _Container, path: str, *, host_network: bool) -> Iterator[FieldError]:
    """Check the other fields of a container: probes, sources of environment variables, security context."""
    yield from _port_names(container.get("ports") or (), f"{path}.ports", host_network=host_network)
    for key in ("livenessProbe", "readinessProbe", "startupProbe"):
        if container.get(key) is not None:
            yield from _probe(container[key], f"{path}.{key}", only_one=key != "readinessProbe")
    for index, variable in enumerate(container.get("env") or ()):
        if variable.get("valueFrom") is not None:
            yield from _source(variable["valueFrom"], f"{path}.env[{index}].valueFrom")
    yield from _environments(container.get("envFrom") or (), f"{path}.envFrom")
    yield from _mounts(container.get("volumeMounts") or (), f"{path}.volumeMounts")
    yield from _quantities(container.get("resources") or {}, f"{path}.resources")
    yield from validate_ids(
        container.get("securityContext") or {}, f"{path}.securityContext", "runAsUser", "runAsGroup"
    )
    policy = container.get("terminationMessagePolicy")
    if policy and policy not in _POLICIES:
        yield not_supported(f"{path}.terminationMessagePolicy", policy, _POLICIES)


def validate_ids(context: Mapping[str, JSON], path: str, *keys: str) -> Iterator[FieldError]:
    """Check user and group ids."""
    for key in keys:
        if isinstance(context.get(key), int) and not 0 <= context[key] <= LARGEST_ID:
            yield invalid_value(f"{path}.{key}", context[key], f"must be between 0 and {LARGEST_ID}, inclusive")


def _port_names(ports: Sequence[Mapping[str, JSON]], path: str, *, host_network: bool) -> Iterator[FieldError]:
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
    present = [key for key in _SOURCES if source.get(key) is not None]
    if not present:
        listed = ", ".join(f"`{key}`" for key in _SOURCES[:-1])
        yield invalid_value(path, "", f"must specify one of: {listed} or `{_SOURCES[-1]}`")
    elif len(present) > 1:
        yield invalid_value(path, "", "may not have more than one field specified at a time")
    field, resource = source.get("fieldRef") or {}, source.get("resourceFieldRef") or {}
    field_path = field.get("fieldPath") or ""
    if "fieldRef" in present and not field_path:
        yield required(f"{path}.fieldRef.fieldPath")
    elif "fieldRef" in present and not _FIELDS.fullmatch(field_path):
        why = f"error converting fieldPath: field label not supported: {field_path}"
        yield invalid_value(f"{path}.fieldRef.fieldPath", field_path, why)
    name = resource.get("resource") or ""
    if "resourceFieldRef" in present and name not in _OF_RESOURCES and "hugepages-" not in name:
        where = f"{path}.resourceFieldRef.resource"
        yield not_supported(where, name, _OF_RESOURCES) if name else required(where)
    for key in ("configMapKeyRef", "secretKeyRef"):
        if key in present:
            yield from _key(source[key].get("key") or "", f"{path}.{key}.key")


def _key(key: str, path: str) -> Iterator[FieldError]:
    if not key:
        yield required(path)
    else:
        yield from (invalid_value(path, key, why) for why in names.config_key(key))


def _environments(sources: Sequence[Mapping[str, JSON]], path: str) -> Iterator[FieldError]:
    for index, each in enumerate(sources):
        present = [key for key in ("configMapRef", "secretRef") if each.get(key) is not None]
        if not present:
            yield invalid_value(path, "", "must specify one of: `configMapRef` or `secretRef`")
        elif len(present) > 1:
            yield invalid_value(path, "", "may not have more than one field specified at a time")
        for key in present:
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
