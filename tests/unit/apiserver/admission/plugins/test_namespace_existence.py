"""The admission plugins NamespaceExists and NamespaceAutoProvision."""

from __future__ import annotations

from tests.unit.apiserver.admission.plugins._admitted import asking


def test_namespaces_are_created_on_demand() -> None:
    """With NamespaceAutoProvision, an object creates its namespace."""
    ask = asking("NamespaceAutoProvision")
    assert ask("POST", "/api/v1/namespaces/fresh/configmaps", {"metadata": {"name": "a"}})[0] == 201
    assert ask("GET", "/api/v1/namespaces/fresh")[1]["status"] == {"phase": "Active"}


def test_a_missing_namespace_is_refused() -> None:
    """With NamespaceExists, an object of a namespace that does not exist is not found."""
    ask = asking("NamespaceExists")
    code, status = ask("POST", "/api/v1/namespaces/fresh/configmaps", {"metadata": {"name": "a"}})
    assert (code, status["message"]) == (404, 'namespaces "fresh" not found')
