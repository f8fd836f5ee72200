"""IPAddresses of services."""

from __future__ import annotations

from typing import Any

from tests.unit.apiserver._kit import MERGE, Asker

SERVICES = "/api/v1/namespaces/default/services"
ADDRESSES = "/apis/networking.k8s.io/v1/ipaddresses"


def _make(ask: Asker, name: str, **spec: Any) -> Any:
    code, made = ask("POST", SERVICES, {"metadata": {"name": name}, "spec": {"ports": [{"port": 80}], **spec}})
    assert code == 201, made
    return made


def _parents(ask: Asker) -> dict[str, str]:
    """Return the names of services by their address."""
    _, found = ask("GET", ADDRESSES)
    return {each["metadata"]["name"]: each["spec"]["parentRef"]["name"] for each in found["items"]}


def test_a_service_has_an_address_while_it_exists(ask: Asker) -> None:
    """A service with a cluster IP has an IPAddress, with kube-apiserver's labels; headless ones have none."""
    address = _make(ask, "web")["spec"]["clusterIP"]
    _make(ask, "headless", clusterIP="None")
    _make(ask, "elsewhere", type="ExternalName", externalName="example.com", ports=[])
    assert _parents(ask) == {"10.0.0.1": "kubernetes", address: "web"}
    assert ask("GET", f"{ADDRESSES}/{address}")[1]["metadata"]["labels"] == {
        "ipaddress.kubernetes.io/ip-family": "IPv4",
        "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
    }
    ask("DELETE", f"{SERVICES}/web")
    assert _parents(ask) == {"10.0.0.1": "kubernetes"}


def test_a_service_that_becomes_external_gives_its_address_back(ask: Asker) -> None:
    """A change to the type ExternalName deletes the IPAddress."""
    _make(ask, "web")
    change = {"spec": {"type": "ExternalName", "externalName": "example.com", "clusterIP": "", "clusterIPs": None}}
    code, changed = ask("PATCH", f"{SERVICES}/web", change, headers=MERGE)
    assert code == 200, changed
    assert _parents(ask) == {"10.0.0.1": "kubernetes"}


def test_a_dry_run_allocates_nothing(ask: Asker) -> None:
    """A service that is not stored has no IPAddress."""
    ask("POST", SERVICES, {"metadata": {"name": "web"}, "spec": {"ports": [{"port": 80}]}}, dryRun="All")
    assert _parents(ask) == {"10.0.0.1": "kubernetes"}


def test_a_deleted_address_of_a_service_is_created_again(ask: Asker) -> None:
    """The address of a service stays allocated."""
    address = _make(ask, "web")["spec"]["clusterIP"]
    assert ask("DELETE", f"{ADDRESSES}/{address}")[0] == 200
    assert _parents(ask)[address] == "web"


def test_an_address_of_a_client_is_reserved(ask: Asker) -> None:
    """No service gets an address for which a client has created an IPAddress, until the client deletes it."""
    parent = {"group": "example.com", "resource": "things", "name": "mine"}
    body = {"metadata": {"name": "10.0.0.77"}, "spec": {"parentRef": parent}}
    assert ask("POST", ADDRESSES, body)[0] == 201
    wanted = {"metadata": {"name": "web"}, "spec": {"ports": [{"port": 80}], "clusterIP": "10.0.0.77"}}
    code, refused = ask("POST", SERVICES, wanted)
    assert (code, "provided IP is already allocated" in refused["message"]) == (422, True)
    ask("DELETE", f"{ADDRESSES}/10.0.0.77")
    assert ask("POST", SERVICES, wanted)[0] == 201
