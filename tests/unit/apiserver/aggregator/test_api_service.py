"""APIServices as the aggregator reads them."""

from __future__ import annotations

from typing import Any

from pyctrl.apiserver import ServiceReference
from pyctrl.apiserver._aggregator.api_service import APIService
from tests.unit.apiserver.aggregator._remote import api_service


def read(version: str = "v1", *, status: str = "True", **spec: Any) -> APIService:
    """Return an APIService with the condition Available."""
    conditions = [{"type": "Other", "status": "True"}, {"type": "Available", "status": status}]
    return APIService.from_object({**api_service(version, **spec), "status": {"conditions": conditions}})


def test_it_has_a_service_and_how_to_trust_it() -> None:
    """The port defaults to 443, and the bundle is decoded."""
    found = read(caBundle="Y2E=", service={"namespace": "a", "name": "b"})
    assert (found.service, found.ca, found.skips_tls_verify) == (ServiceReference("a", "b", 443), b"ca", False)
    assert read(insecureSkipTLSVerify=True, service={"namespace": "a", "name": "b", "port": 8}).service == (
        ServiceReference("a", "b", 8)
    )
    assert read(service=None).service is None
    assert read(caBundle="?").ca == b""


def test_it_is_available_by_its_condition() -> None:
    """Only the condition Available counts."""
    assert read().is_available
    assert not read(status="False").is_available
    assert not APIService.from_object(api_service()).is_available
    assert not APIService.from_object({"metadata": {"name": "v1.x"}}).is_available


def test_versions_are_ordered_by_priority_then_by_name() -> None:
    """The highest priority is first; of equal ones, stable versions come before beta and alpha."""
    versions = [read("v1alpha1"), read("v1"), read("v2beta1"), read("v1beta2", versionPriority=20)]
    ordered = sorted(versions, key=lambda each: each.version_order)
    assert [each.version for each in ordered] == ["v1beta2", "v1", "v2beta1", "v1alpha1"]


def test_a_change_of_the_status_is_no_other_service() -> None:
    """A change of the spec makes the server check it again, one of the status does not."""
    assert read().serves_like(read(status="False"))
    assert not read().serves_like(read(versionPriority=1))
    assert not read().serves_like(read(insecureSkipTLSVerify=True))
    assert not read().serves_like(None)
