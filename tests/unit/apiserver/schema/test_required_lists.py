"""Lists that are written even if they are absent."""

from __future__ import annotations

from typing import Any

from tests.unit.apiserver._kit import Asker

SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"


def _slice(**more: Any) -> dict[str, Any]:
    return {"metadata": {"name": "a"}, "addressType": "IPv4", **more}


def test_an_empty_list_has_an_owner_and_is_stored_as_null(ask: Asker) -> None:
    """The sender of an empty list that is always written owns it, although the object shows null."""
    code, made = ask("POST", SLICES, _slice(endpoints=[], ports=[]))
    assert (code, made["endpoints"], made["ports"]) == (201, None, None)
    [entry] = made["metadata"]["managedFields"]
    assert entry["fieldsV1"] == {"f:addressType": {}, "f:endpoints": {}, "f:ports": {}}


def test_an_empty_list_is_no_change(ask: Asker) -> None:
    """An update with an empty list instead of an absent one keeps the generation."""
    ask("POST", SLICES, _slice())
    code, put = ask("PUT", f"{SLICES}/a", _slice(endpoints=[]))
    assert (code, put["metadata"]["generation"], put["endpoints"]) == (200, 1, None)


def test_errors_show_an_empty_list(ask: Asker) -> None:
    """The error of an update tells an empty list from null."""
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
    names = {"plural": "things", "kind": "Thing"}
    spec = {"group": "g.example.com", "scope": "Cluster", "names": names, "versions": [version]}
    ask("POST", path, {"metadata": {"name": "things.g.example.com"}, "spec": spec})
    for versions, shown in (([], "[]"), (None, "null")):
        _, made = ask("GET", f"{path}/things.g.example.com")
        made["spec"]["versions"] = versions
        code, refused = ask("PUT", f"{path}/things.g.example.com", made)
        assert code == 422
        assert refused["details"]["causes"][0]["message"].startswith(f"Invalid value: {shown}: must have exactly one")
