"""Helpers of the tests of services."""

from __future__ import annotations

from typing import Any

from pyctrl.kinds.core.v1 import Service


def service(name: str = "web", *, selector: dict[str, str] | None = None, **spec: Any) -> Service:
    """Make a service of the pods labelled web, at port 80."""
    chosen = {"tier": "web"} if selector is None else selector
    given: dict[str, Any] = {"selector": chosen, "ports": [{"name": "http", "port": 80, "targetPort": "http"}], **spec}
    metadata = {"name": name, "namespace": "default", "labels": {"team": "x"}}
    return Service.from_wire({"metadata": metadata, "spec": given})
