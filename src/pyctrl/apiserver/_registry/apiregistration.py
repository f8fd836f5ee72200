"""APIServices."""

from __future__ import annotations

from typing import Final

from pyctrl._validation import names
from pyctrl.apiserver._meta.system_fields import timestamp
from pyctrl.apiserver._meta.validation import MetadataCheck
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.strategy import Object, Strategy
from pyctrl.apiserver._registry.table_cells import Cells, spec_of, status_of
from pyctrl.apiserver._schema.defaulting import set_defaults

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
        strategy=Strategy(
            name_rule=names.path_segment,
            on_create=MetadataCheck.PLAIN_WHOLE,
            on_update=(MetadataCheck.PLAIN_CHANGE, MetadataCheck.PLAIN_WHOLE),
            allows_unconditional_update=False,
            defaults=(_default_api_service,),
            prepares=(_prepare_api_service,),
        ),
        cells=_api_service_cells,
    ),
)
