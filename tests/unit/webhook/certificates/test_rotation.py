"""Managed certificates: use, trust and startup."""

from __future__ import annotations

import asyncio
import base64
from datetime import timedelta
from ipaddress import ip_address
from typing import Any

import pytest
from cryptography import x509

from pyctrl.api import Key, Unstructured
from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, InProcessTransport
from pyctrl.errors import ConfigError
from pyctrl.testing import ConnectionRefused, FaultyTransport, Rule
from pyctrl.webhook import Lifetimes, ManagedCertificates, Service, Url
from pyctrl.webhook._certificates.ca_injection import API_SERVICE, CONFIGURATIONS
from tests.unit.webhook._replicas import KEY, SECRET, running


def keeper(server: ApiServer, target: Service | Url, *configurations: str) -> ManagedCertificates:
    client = Client(InProcessTransport(server))
    return ManagedCertificates(client, secret=KEY, target=target, configurations=configurations)


async def test_replicas_that_start_together_agree() -> None:
    """Replicas that start together share one new certificate, which is trusted at once."""
    async with running() as site:
        async with asyncio.TaskGroup() as group:
            starts = [group.create_task(site.start(name)) for name in "ab"]
        first, second = [start.result().certificates.keys for start in starts]
        await site.ask()
        secret = await site.client.get(SECRET, KEY)

    assert first == second
    assert secret["type"] == "kubernetes.io/tls"
    assert set(secret["data"]) == {"ca.crt", "ca.key", "tls.crt", "tls.key"}


async def test_configurations_of_others_are_left_alone() -> None:
    """In a managed configuration, only webhooks of the target get the CA bundle."""
    async with running() as site:
        mutating = await site.client.get(CONFIGURATIONS[0], Key("", "sets"))
        other = {"service": {"namespace": "default", "name": "other", "path": "/x"}}
        mutating["webhooks"].append({**mutating["webhooks"][0], "name": "other.example.com", "clientConfig": other})
        await site.client.update(mutating)
        await site.start("a")
        found = await site.client.get(CONFIGURATIONS[0], Key("", "sets"))

    assert ["caBundle" in each["clientConfig"] for each in found["webhooks"]] == [True, False]


async def test_who_is_trusted_without_a_secret_stays_trusted_if_it_was_pyctrls() -> None:
    """Without a Secret, earlier authorities of pyctrl for this target stay trusted; others are removed."""
    server = ApiServer()
    client, target = Client(InProcessTransport(server)), Service("default", "webhooks")
    earlier, stranger = keeper(ApiServer(), target), keeper(ApiServer(), Service("default", "other"))
    await earlier.keep()
    await stranger.keep()
    assert earlier.keys is not None
    assert stranger.keys is not None
    bundle = base64.b64encode(stranger.keys.bundle + earlier.keys.bundle).decode()
    webhook = {
        "name": "a.example.com",
        "clientConfig": target.client_config("/") | {"caBundle": bundle},
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
    }
    await client.create(Unstructured.new(CONFIGURATIONS[0], name="sets", webhooks=[webhook]))
    keeping = keeper(server, target, "sets")
    await keeping.keep()
    assert keeping.keys is not None
    found = await client.get(CONFIGURATIONS[0], Key("", "sets"))

    assert keeping.keys.authorities[:-1] == earlier.keys.authorities
    assert base64.b64decode(found["webhooks"][0]["clientConfig"]["caBundle"]) == keeping.keys.bundle


async def test_a_start_waits_for_the_api_server() -> None:
    """Without write access to the Secret the server is not ready, and says why; it starts automatically afterwards."""
    network = FaultyTransport(
        InProcessTransport(ApiServer()), [Rule(ConnectionRefused(), path="*/secrets*", times=None)]
    )
    certificates = ManagedCertificates(Client(network), secret=KEY, target=Url("https://10.0.0.1:9443"))
    task = asyncio.create_task(certificates.run())
    await asyncio.sleep(60)
    assert certificates.why_not_ready == "there is no certificate yet"
    network.clear()
    await certificates.wait_until_ready()
    assert certificates.why_not_ready == ""
    assert certificates.keys is not None
    leaf = x509.load_pem_x509_certificate(certificates.keys.certificate)
    names: Any = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.IPAddress) == [ip_address("10.0.0.1")]
    assert (certificates.directory / "tls.crt").read_bytes() == certificates.keys.certificate
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_service_may_have_a_long_name() -> None:
    """A certificate supports a service name longer than the 64 characters of a common name."""
    certificates = keeper(ApiServer(), Service("n" * 63, "default"))
    await certificates.keep()
    assert certificates.keys is not None
    leaf = x509.load_pem_x509_certificate(certificates.keys.certificate)
    names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName)[0] == f"default.{'n' * 63}.svc"


def test_lifetimes_have_to_overlap() -> None:
    """An authority with too short a lifetime for its certificates is refused."""
    with pytest.raises(ConfigError, match="at least three times that of its certificates"):
        Lifetimes(authority=timedelta(days=100), certificate=timedelta(days=90))


async def test_apiservices_trust_the_certificate() -> None:
    """The CA is written into APIServices that name the Service, and into no others."""
    server = ApiServer()
    async with Client(InProcessTransport(server)) as client:
        for name, service in (("v1.a.example.com", "webhooks"), ("v1.b.example.com", "other")):
            version, _, group = name.partition(".")
            spec = {"group": group, "version": version, "groupPriorityMinimum": 1000, "versionPriority": 100}
            spec["service"] = {"namespace": "default", "name": service}
            await client.create(Unstructured.new(API_SERVICE, name=name, spec=spec))
        names = ["v1.a.example.com", "v1.b.example.com", "v1.missing.example.com"]
        certificates = ManagedCertificates(
            client, secret=KEY, target=Service("default", "webhooks"), api_services=names
        )
        await certificates.keep()
        bundles = [(await client.get(API_SERVICE, Key("", name)))["spec"].get("caBundle") for name in names[:2]]
        assert certificates.keys is not None
        assert bundles == [base64.b64encode(certificates.keys.bundle).decode(), None]
    (written,) = [each for each in certificates.rbac if each.rule.resources == ("apiservices",)]
    assert written.rule.names == tuple(names)
