"""Tests of the manager that `pyctrl run` creates from its flags."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from pyctrl.api import Key, KubernetesObject
from pyctrl.cli._run.flags import RunFlags
from pyctrl.client import Config
from pyctrl.errors import CommandFailed
from pyctrl.extension_apiserver import ExtensionAPIServer
from pyctrl.manager import ConfigMapFingerprints, FileFingerprints, NoServer
from pyctrl.program._program_manager import ProgramManager, fingerprints, program_manager, watch_namespaces
from pyctrl.webhook import ManagedCertificates, Service, Webhooks, WebhookServer


def made(**flags: Any) -> ProgramManager:
    config = Config.in_process(NoServer())
    return program_manager(RunFlags(**flags), config, name="op", metrics=None, certificates=None)


@pytest.mark.parametrize(
    ("flag", "variable", "expected"),
    [
        ((), None, None),
        ((), "", None),
        ((), "web, shop", {"web", "shop"}),
        (("a,b", "c"), "web", {"a", "b", "c"}),
    ],
)
def test_namespaces_are_those_of_the_flag_or_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, flag: tuple[str, ...], variable: str | None, expected: set[str] | None
) -> None:
    """The flag overrides WATCH_NAMESPACE, which may be empty; commas and repeated flags both add namespaces."""
    monkeypatch.delenv("WATCH_NAMESPACE", raising=False)
    if variable is not None:
        monkeypatch.setenv("WATCH_NAMESPACE", variable)
    found = watch_namespaces(RunFlags(watch_namespace=flag))
    assert (None if found is None else set(found)) == expected


@pytest.mark.parametrize(
    ("flag", "variable", "served"),
    [(None, None, True), (None, "false", False), (None, "true", True), (True, "false", True), (False, None, False)],
)
async def test_webhooks_are_served_unless_the_flag_or_the_environment_says_no(
    monkeypatch: pytest.MonkeyPatch, flag: bool | None, variable: str | None, served: bool
) -> None:
    """``--no-webhooks`` overrides ENABLE_WEBHOOKS; without webhooks neither server nor certificates run."""
    monkeypatch.delenv("ENABLE_WEBHOOKS", raising=False)
    if variable is not None:
        monkeypatch.setenv("ENABLE_WEBHOOKS", variable)
    async with made(webhooks=flag, webhook_port=7000) as manager:
        certificates = ManagedCertificates(manager.live_client, secret=_key(), target=Service("a", "b"))
        manager.add(certificates)
        manager.add(certificates.rotation)
        server = WebhookServer(Webhooks(), certificates=certificates)
        manager.add(server)
        running = {each.name for each in manager.members} & {"webhook", "webhook-certificates"}
        assert running == ({"webhook", "webhook-certificates"} if served else set())
        assert server.port == 7000
        assert len(manager.webhooks) == 1


async def test_a_certificate_that_is_named_replaces_the_programs_own(tmp_path: Path) -> None:
    """With ``--webhook-cert-dir`` the program issues no certificate."""
    async with made(webhooks=True, webhook_cert_dir=tmp_path) as manager:
        certificates = ManagedCertificates(manager.live_client, secret=_key(), target=Service("a", "b"))
        manager.add(certificates)
        manager.add(certificates.rotation)
        manager.add(WebhookServer(Webhooks(), certificates=certificates))
        assert [each.name for each in manager.members if "webhook" in each.name] == ["webhook"]


async def test_shards_of_the_flags_make_the_manager_a_member_of_a_ring() -> None:
    """With ``--shards=auto`` the manager takes part in sharding and in leader election, and needs the permissions."""
    async with made(shards="auto", leader_election_namespace="ops") as manager:
        assert manager.shard_member is not None
        assert manager.elector is not None
        leases = [rule for rule in manager.grants().rules["ops"] if "leases" in rule.resources]
        assert {"create", "delete", "get", "list", "update"} == {verb for rule in leases for verb in rule.verbs}
    async with made(leader_elect=True) as manager:
        assert manager.shard_member is None


def test_fingerprints_are_kept_where_a_flag_says(tmp_path: Path) -> None:
    """A flag names a file or a ConfigMap, not both; the limit is that of the flag, or ten hours."""
    assert fingerprints(RunFlags()) is None
    assert fingerprints(RunFlags(fingerprints_verify_within=timedelta(hours=1))) is None
    file = fingerprints(RunFlags(fingerprints_file=tmp_path, fingerprints_verify_within=timedelta(hours=1)))
    assert isinstance(file, FileFingerprints)
    assert (file.path, file.verify_within) == (tmp_path, timedelta(hours=1))
    config_map = fingerprints(RunFlags(fingerprints_config_map="op"))
    assert isinstance(config_map, ConfigMapFingerprints)
    assert (config_map.name, config_map.verify_within) == ("op", timedelta(hours=10))
    with pytest.raises(CommandFailed, match="contradict each other"):
        fingerprints(RunFlags(fingerprints_file=tmp_path, fingerprints_config_map="op"))


async def test_the_flag_alone_makes_the_manager_keep_fingerprints() -> None:
    """With ``--fingerprints-config-map`` the manager keeps them, and needs the permissions for the ConfigMap."""
    async with made(fingerprints_config_map="op") as manager:
        assert "fingerprints" in {each.name for each in manager.members}
    async with made() as manager:
        assert "fingerprints" not in {each.name for each in manager.members}


def _key() -> Key:
    return Key("default", "certificates")


async def test_an_extension_api_server_is_served_as_the_flags_say(tmp_path: Path) -> None:
    """The port and certificates are those of flags; a Service gets a managed certificate, unless there is another."""

    class Fischer(KubernetesObject, group="wardle.example.com", version="v1"):
        """A kind of the program."""

    async with made(apiserver_port=7000, apiserver_service="fischers") as manager:
        server = ExtensionAPIServer(Fischer, client=manager.live_client)
        manager.add(server)
        assert (server.port, server.has_certificates) == (7000, True)
        running = {each.name for each in manager.members}
        assert {server.name, "extension-apiserver-certificates", "extension-apiserver-certificate-rotation"} <= running
        assert manager.api_servers == (server,)
    async with made(apiserver_cert_dir=tmp_path, apiserver_service="fischers") as manager:
        server = ExtensionAPIServer(Fischer, client=manager.live_client)
        manager.add(server)
        assert server.has_certificates
        assert "extension-apiserver-certificates" not in {each.name for each in manager.members}
