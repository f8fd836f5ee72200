"""APIServices."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator, Mapping
from typing import Final

from pyctrl._go.text import quoted
from pyctrl._validation import names
from pyctrl.apiserver._errors import FieldError, invalid_value, required
from pyctrl.apiserver._meta.generation import STATUS_RESET_FIELDS
from pyctrl.apiserver._meta.system_fields import timestamp
from pyctrl.apiserver._meta.validation import MetadataCheck
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.field_validation import invalid_name, port_number, required_texts, text_of
from pyctrl.apiserver._registry.strategy import Object, Strategy
from pyctrl.apiserver._registry.table_cells import Cells, spec_of, status_of
from pyctrl.apiserver._schema.defaulting import set_defaults
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["RESOURCES"]

_SERVICE_PORT = 443  # of an aggregated API server


def _default_api_service(obj: Object) -> None:
    service = obj.setdefault("spec", {}).get("service")
    if service is not None:
        set_defaults(service, port=_SERVICE_PORT)


def _prepare_api_service(new: Object, old: Object | None) -> None:
    """Mark a new APIService without a service, whose group version this server serves, as available."""
    if old is None and not (new.get("spec") or {}).get("service"):
        condition = {
            "type": "Available",
            "status": "True",
            "lastTransitionTime": timestamp(),
            "reason": "Local",
            "message": "Local APIServices are always available",
        }
        new["status"] = {"conditions": [condition]}


def _validate_api_service(new: Object, _old: Object | None) -> Iterator[FieldError]:
    """Check the version that an APIService serves, and where."""
    spec = new.get("spec") or {}
    group, version = text_of(spec, "group"), text_of(spec, "version")
    for field in ("generateName", "name"):
        name = new["metadata"].get(field)
        if name and not names.path_segment(name) and name != f"{version}.{group}":
            why = f'must be `spec.version+"."+spec.group`: {quoted(f"{version}.{group}")}'
            yield invalid_value(f"metadata.{field}", name, why)
    if not group and version != "v1":
        yield required("spec.group", "only v1 may have an empty group and it better be legacy kube")
    if group:
        yield from invalid_name(names.subdomain, group, "spec.group")
    yield from invalid_name(names.label_1035, version, "spec.version")
    for key, limit in (("groupPriorityMinimum", 20000), ("versionPriority", 1000)):
        value = spec.get(key) or 0
        if not 0 < value <= limit:
            yield invalid_value(f"spec.{key}", value, f"must be positive and less than {limit}")
    yield from _service(spec)


def _service(spec: Mapping[str, JSON]) -> Iterator[FieldError]:
    service, bundle, is_insecure = spec.get("service"), spec.get("caBundle"), spec.get("insecureSkipTLSVerify")
    if service is None:
        if bundle:
            shown = f"{len(b64decode(bundle))} bytes"
            yield invalid_value("spec.caBundle", shown, "local APIServices may not have a caBundle")
        if is_insecure:
            why = "local APIServices may not have insecureSkipTLSVerify"
            yield invalid_value("spec.insecureSkipTLSVerify", True, why)
        return
    yield from required_texts(service, "spec.service", "namespace", "name")
    for each in port_number(service.get("port") or 0, "spec.service.port"):
        yield each._replace(message=each.message.replace(": must", ": port is not valid: must", 1))
    if is_insecure and bundle:
        yield invalid_value("spec.insecureSkipTLSVerify", True, "may not be true if caBundle is present")


def _api_service_cells(obj: Object) -> Cells:
    service = spec_of(obj).get("service")
    conditions = {each["type"]: each for each in status_of(obj).get("conditions") or ()}
    available = conditions.get("Available", {"status": "Unknown"})
    reason = f" ({available['reason']})" if available["status"] != "True" and available.get("reason") else ""
    return {
        "Service": f"{service.get('namespace')}/{service.get('name')}" if service else "Local",
        "Available": available["status"] + reason,
    }


RESOURCES: Final = (
    BuiltinResource(
        group="apiregistration.k8s.io",
        kind="APIService",
        repeats_columns=True,
        has_status_table=False,
        storage_prefix="apiregistration.k8s.io/apiservices",
        strategy=Strategy(
            name_rule=names.path_segment,
            on_create=MetadataCheck.PLAIN_WHOLE,
            on_update=(MetadataCheck.PLAIN_CHANGE, MetadataCheck.PLAIN_WHOLE),
            allows_unconditional_update=False,
            status_reset_fields=STATUS_RESET_FIELDS,
            defaults=(_default_api_service,),
            prepares=(_prepare_api_service,),
            validates=(_validate_api_service,),
            validates_status=(),
        ),
        cells=_api_service_cells,
    ),
)
