"""Ingresses and IngressClasses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pyctrl._go.text import quoted
from pyctrl._validation import names
from pyctrl.apiserver._errors import FieldError, field_forbidden, invalid_value, not_supported, required, too_long
from pyctrl.apiserver._meta.validation import MetadataCheck
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.field_validation import (
    domain_prefixed_path,
    invalid_name,
    is_address,
    port,
    port_number,
    required_name,
    text_of,
)
from pyctrl.apiserver._registry.status_validation import validate_ingress_status
from pyctrl.apiserver._registry.strategy import Object, Strategy
from pyctrl.apiserver._registry.table_cells import NONE, Cells, load_balancer_addresses, spec_of, status_of
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["RESOURCES"]

_LONGEST_CONTROLLER: Final = 250

_Part = Mapping[str, JSON]
_CLASS_ANNOTATION = "kubernetes.io/ingress.class"
_MOST_HOSTS = 3  # in a table
_PATH_TYPES = ("Exact", "ImplementationSpecific", "Prefix")
_BAD_IN_PATH = ("//", "/./", "/../", "%2f", "%2F")
_BAD_AT_END = ("/..", "/.")
_WILDCARD = r"\*\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_NO_WILDCARD = (
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of "
    "lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', "
    f"regex used for validation is '{_WILDCARD}')"
)


def _validate_ingress(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check hosts, paths and backends; of a new Ingress also that its annotation names its class."""
    spec = new.get("spec") or {}
    if not spec.get("rules") and spec.get("defaultBackend") is None:
        yield invalid_value("spec", None, "either `defaultBackend` or `rules` must be specified")
    if spec.get("defaultBackend") is not None:
        yield from _backend(spec["defaultBackend"], "spec.defaultBackend")
    for index, rule in enumerate(spec.get("rules") or ()):
        yield from _rule(rule, f"spec.rules[{index}]")
    for index, each in enumerate(spec.get("tls") or ()):
        yield from _tls(each, f"spec.tls[{index}]")
    if spec.get("ingressClassName") is not None:
        yield from invalid_name(names.subdomain, spec["ingressClassName"], "spec.ingressClassName")
        named = (new["metadata"].get("annotations") or {}).get(_CLASS_ANNOTATION, spec["ingressClassName"])
        if old is None and named != spec["ingressClassName"]:
            why = "must match `ingressClassName` when both are specified"
            yield invalid_value(f"annotations.{_CLASS_ANNOTATION}", named, why)


def _tls(each: _Part, path: str) -> Iterator[FieldError]:
    for index, host in enumerate(each.get("hosts") or ()):
        yield from _host(host, f"{path}.hosts[{index}]")
    name = each.get("secretName") or ""
    for why in names.subdomain(name) if name else ():
        yield invalid_value(f"{path}.secretName", name, why)


def _host(host: str, path: str) -> Iterator[FieldError]:
    if "*" in host:
        if not re.fullmatch(_WILDCARD, host):
            yield invalid_value(path, host, _NO_WILDCARD)
    else:
        yield from (invalid_value(path, host, why) for why in names.subdomain(host))


def _rule(rule: _Part, path: str) -> Iterator[FieldError]:
    host = rule.get("host") or ""
    if host and is_address(host):
        yield invalid_value(f"{path}.host", host, "must be a DNS name, not an IP address")
    elif host:
        yield from _host(host, f"{path}.host")
    if rule.get("http") is None:
        return
    paths = rule["http"].get("paths") or []
    if not paths:
        yield required(f"{path}.http.paths")
    for index, each in enumerate(paths):
        where = f"{path}.http.paths[{index}]"
        if each.get("pathType") is None:
            yield required(f"{where}.pathType", "pathType must be specified")
        else:
            yield from _path(each, where)
            yield from _backend(each.get("backend") or {}, f"{where}.backend")


def _path(each: _Part, path: str) -> Iterator[FieldError]:
    kind, text = each["pathType"], text_of(each, "path")
    where = f"{path}.path"
    if kind not in _PATH_TYPES:
        yield not_supported(f"{path}.pathType", kind, _PATH_TYPES)
    elif kind == "ImplementationSpecific":
        if text and not text.startswith("/"):
            yield invalid_value(where, text, "must be an absolute path")
    elif not text.startswith("/"):
        yield invalid_value(where, text, "must be an absolute path")
    elif text:
        yield from (invalid_value(where, text, f"must not contain '{bad}'") for bad in _BAD_IN_PATH if bad in text)
        for bad in _BAD_AT_END:
            if text.endswith(bad):
                yield invalid_value(where, text, f"cannot end with '{bad}'")


def _backend(backend: _Part, path: str) -> Iterator[FieldError]:
    service, resource = backend.get("service"), backend.get("resource")
    if service is not None and resource is not None:
        yield invalid_value(path, "", "cannot set both resource and service backends")
    elif resource is not None:
        yield from _reference(resource, f"{path}.resource")
    elif service is not None:
        yield from _service(service, path)
    else:
        yield invalid_value(path, "", "resource or service backend is required")


def _reference(resource: _Part, path: str) -> Iterator[FieldError]:
    if resource.get("apiGroup") is not None:
        yield from invalid_name(names.subdomain, resource["apiGroup"], f"{path}.apiGroup")
    for key in ("kind", "name"):
        yield from required_name(names.path_segment, text_of(resource, key), f"{path}.{key}")


def _service(service: _Part, path: str) -> Iterator[FieldError]:
    name, where = service.get("name") or "", f"{path}.service.name"
    if not name:
        yield required(where)
    else:
        yield from (invalid_value(where, name, why) for why in names.label(name))
    at = service.get("port") or {}
    if at.get("name") and at.get("number"):
        yield invalid_value(path, "", "cannot set both port name & port number")
    elif at.get("name"):
        yield from port(at["name"], f"{path}.service.port.name")
    elif at.get("number"):
        yield from port_number(at["number"], f"{path}.service.port.number")
    else:
        yield required(path, "port name or number is required")


def _ingress_warnings(new: Object) -> Iterator[str]:
    """Warn about a class that a new Ingress has in an annotation."""
    if _CLASS_ANNOTATION in (new["metadata"].get("annotations") or {}) and new["spec"].get("ingressClassName") is None:
        yield f"annotation {quoted(_CLASS_ANNOTATION)} is deprecated, please use 'spec.ingressClassName' instead"


def _hosts(rules: Sequence[_Part]) -> str:
    """Return up to three host names, and how many rules there are beside them, which may have no host."""
    listed: list[str] = []
    for rule in rules:
        if len(listed) == _MOST_HOSTS:
            return f"{','.join(listed)} + {len(rules) - _MOST_HOSTS} more..."
        if host := rule.get("host"):
            listed.append(host)
    return ",".join(listed) or "*"


def _ingress_cells(obj: Object) -> Cells:
    spec, status = spec_of(obj), status_of(obj)
    return {
        "Class": spec.get("ingressClassName", NONE),
        "Hosts": _hosts(spec.get("rules") or ()),
        "Address": ",".join(load_balancer_addresses(status)),
        "Ports": "80, 443" if spec.get("tls") else "80",
    }


def _default_ingress_class(obj: Object) -> None:
    parameters = obj.setdefault("spec", {}).get("parameters")
    if parameters is not None and parameters.get("scope") is None:
        parameters["scope"] = "Cluster"


def _validate_ingress_class(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check an IngressClass; its controller does not change."""
    spec = new.get("spec") or {}
    controller = text_of(spec, "controller")
    if old is not None and controller != text_of(old.get("spec") or {}, "controller"):
        yield invalid_value("spec.controller", controller, "field is immutable")
    if len(controller) > _LONGEST_CONTROLLER:
        yield too_long("spec.controller", _LONGEST_CONTROLLER)
    yield from domain_prefixed_path(controller, "spec.controller")
    if (parameters := spec.get("parameters")) is not None:
        yield from _class_parameters(parameters, "spec.parameters")


def _class_parameters(parameters: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    if parameters.get("apiGroup") is not None:
        yield from invalid_name(names.subdomain, parameters["apiGroup"], f"{path}.apiGroup")
    for key in ("kind", "name"):
        yield from required_name(names.path_segment, text_of(parameters, key), f"{path}.{key}")
    scope, namespace, where = parameters.get("scope"), parameters.get("namespace"), f"{path}.namespace"
    if scope is None:
        yield required(f"{path}.scope")
    elif scope not in ("Cluster", "Namespace"):
        yield not_supported(f"{path}.scope", scope, ("Cluster", "Namespace"))
    elif scope == "Namespace":
        if namespace is None:
            yield required(where, "`parameters.scope` is set to 'Namespace'")
        else:
            yield from invalid_name(names.label, namespace, where)
    elif namespace is not None:
        yield field_forbidden(where, "`parameters.scope` is set to 'Cluster'")


_DEFAULT_CLASS = "ingressclass.kubernetes.io/is-default-class"


def _ingress_class_cells(obj: Object) -> Cells:
    spec = spec_of(obj)
    parameters = spec.get("parameters")
    shown = NONE
    if parameters:
        group = parameters.get("apiGroup")
        shown = f"{parameters.get('kind')}{'.' + group if group else ''}/{parameters.get('name')}"
    is_default = (obj["metadata"].get("annotations") or {}).get(_DEFAULT_CLASS) == "true"
    name = obj["metadata"].get("name", "")
    return {
        "Name": f"{name} (default)" if is_default else name,
        "Controller": spec.get("controller", ""),
        "Parameters": shown,
    }


RESOURCES: Final = (
    BuiltinResource(
        group="networking.k8s.io",
        kind="Ingress",
        storage_prefix="ingress",
        strategy=Strategy(
            has_generation=True,
            on_update=(MetadataCheck.CHANGE, MetadataCheck.WHOLE),
            validates=(_validate_ingress,),
            warns=_ingress_warnings,
            warns_on_update=lambda _new, _old: False,
            validates_status=(validate_ingress_status,),
        ),
        cells=_ingress_cells,
    ),
    BuiltinResource(
        group="networking.k8s.io",
        kind="IngressClass",
        strategy=Strategy(
            has_generation=True,
            on_update=(MetadataCheck.CHANGE, MetadataCheck.WHOLE),
            defaults=(_default_ingress_class,),
            validates=(_validate_ingress_class,),
        ),
        cells=_ingress_class_cells,
    ),
)
