"""Ranges of cluster IPs."""

from __future__ import annotations

import asyncio

from pyctrl.api import Key, ObjectMeta, find_condition
from pyctrl.client import Client, wait_for, wait_until_gone
from pyctrl.kinds.core.v1 import Service, ServicePort, ServiceSpec
from pyctrl.kinds.networking.v1 import IPAddress, IPAddressSpec, ParentReference, ServiceCIDR, ServiceCIDRSpec

MORE = Key("", "more")


def _ready(cidr: ServiceCIDR) -> tuple[str, str, str] | None:
    found = find_condition(cidr.status.conditions, "Ready")
    return None if found is None else (found.status, found.reason, found.message)


async def _create(client: Client) -> None:
    await client.create(ServiceCIDR(metadata=ObjectMeta(name="more"), spec=ServiceCIDRSpec(cidrs=["10.9.0.0/24"])))
    await wait_for(client, ServiceCIDR, MORE, lambda cidr: _ready(cidr) is not None)


async def test_a_range_is_protected_and_ready(client: Client) -> None:
    """New ranges, and that of the cluster, have the finalizer and the condition Ready."""
    await _create(client)
    for name in ("kubernetes", "more"):
        cidr = await wait_for(client, ServiceCIDR, Key("", name), lambda each: bool(each.metadata.finalizers))
        assert cidr.metadata.finalizers == ["networking.k8s.io/service-cidr-finalizer"]
        await wait_for(
            client,
            ServiceCIDR,
            Key("", name),
            lambda each: _ready(each) == ("True", "", "Kubernetes Service CIDR is ready"),
        )


async def test_a_range_without_addresses_goes_after_a_while(client: Client) -> None:
    """A deleted range stays for ten seconds, until no allocator uses it any more."""
    await _create(client)
    await client.delete(ServiceCIDR, MORE)
    await asyncio.sleep(8)
    assert await client.find(ServiceCIDR, MORE) is not None
    await wait_until_gone(client, ServiceCIDR, MORE, timeout=10)


async def test_a_range_with_addresses_stays_until_they_are_gone(client: Client) -> None:
    """A deleted range is not ready while an address of a service is in no other range."""
    await _create(client)
    spec = ServiceSpec(cluster_ip="10.9.0.7", ports=[ServicePort(port=80)])
    service = await client.create(Service(metadata=ObjectMeta(name="web", namespace="default"), spec=spec))
    await client.delete(ServiceCIDR, MORE)
    cidr = await wait_for(client, ServiceCIDR, MORE, lambda each: (_ready(each) or ("",))[0] == "False")
    assert (_ready(cidr) or ("", ""))[1] == "Terminating"
    await client.delete(service)
    await wait_until_gone(client, ServiceCIDR, MORE, timeout=30)


async def test_addresses_of_others_do_not_hold_a_range(client: Client) -> None:
    """An IPAddress that a client has made for itself does not count."""
    await _create(client)
    parent = ParentReference(group="example.com", resource="things", name="mine")
    await client.create(IPAddress(metadata=ObjectMeta(name="10.9.0.9"), spec=IPAddressSpec(parent_ref=parent)))
    await client.delete(ServiceCIDR, MORE)
    await wait_until_gone(client, ServiceCIDR, MORE, timeout=30)
