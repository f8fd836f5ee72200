"""Services: cluster IPs and node ports."""

from __future__ import annotations

from typing import Any

from pyctrl.apiserver import ResourceRegistry
from tests.unit.apiserver._objects import create, update


def test_services_get_cluster_ips_and_node_ports() -> None:
    """Each service gets its own cluster IP and node port and keeps them on update; headless services get none."""
    registry = ResourceRegistry()

    def service(**spec: Any) -> dict[str, Any]:
        return {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "s"},
            "spec": {"ports": [{"port": 80}], **spec},
        }

    first, _ = create(registry, service(type="NodePort"))
    second, _ = create(registry, service(type="NodePort"))
    assert first["spec"]["clusterIP"] != second["spec"]["clusterIP"]
    assert first["spec"]["ports"][0]["nodePort"] != second["spec"]["ports"][0]["nodePort"]
    replaced = update(registry, service(type="NodePort"), first)
    assert replaced["spec"] == first["spec"]
    headless, _ = create(registry, service(clusterIP="None", selector={"a": "b"}))
    assert headless["spec"]["clusterIPs"] == ["None"]
