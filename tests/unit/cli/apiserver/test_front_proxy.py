"""Flags of `pyctrl apiserver` for the certificate of its aggregator."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyctrl.apiserver import ApiServer, CertificateAuthority
from pyctrl.cli._apiserver.front_proxy import FrontProxyFlags
from pyctrl.errors import CommandFailed


def published(server: ApiServer) -> dict[str, str]:
    """Return what extension API servers read."""
    found = server.storage.collection("", "configmaps").find("kube-system", "extension-apiserver-authentication")
    assert found is not None
    data: dict[str, str] = found.decode()["data"]
    return data


def test_without_flags_the_server_makes_a_certificate(tmp_path: Path) -> None:
    """Its authority is stored in the directory of certificates, and reused."""
    first, second = ApiServer(), ApiServer()
    for server in (first, second):
        FrontProxyFlags().publish(server, b"", tmp_path)
    assert published(first) == published(second)
    assert published(first)["requestheader-allowed-names"] == '["front-proxy-client"]'
    assert first.proxy_client is not None
    assert published(first)["requestheader-client-ca-file"] == (tmp_path / "front-proxy-ca.crt").read_text()


def test_a_certificate_can_be_given(tmp_path: Path) -> None:
    """The names that are trusted are those of the flag."""
    authority = CertificateAuthority.new()
    (tmp_path / "ca").write_bytes(authority.certificate)
    (tmp_path / "crt").write_text("crt")
    (tmp_path / "key").write_text("key")
    flags = FrontProxyFlags(
        requestheader_client_ca_file=tmp_path / "ca",
        proxy_client_cert_file=tmp_path / "crt",
        proxy_client_key_file=tmp_path / "key",
        requestheader_allowed_names=("a", "b"),
    )
    server = ApiServer()
    flags.publish(server, b"", None)
    assert server.proxy_client == (b"crt", b"key")
    assert published(server)["requestheader-allowed-names"] == '["a","b"]'
    assert published(server)["requestheader-client-ca-file"] == authority.certificate.decode()


def test_a_flag_that_is_missing_is_named(tmp_path: Path) -> None:
    """The three files belong together."""
    with pytest.raises(
        CommandFailed, match="--proxy-client-cert-file needs --requestheader-client-ca-file and --proxy"
    ):
        FrontProxyFlags(proxy_client_cert_file=tmp_path).publish(ApiServer(), b"", None)
    path = tmp_path / "nosuch"
    flags = FrontProxyFlags(requestheader_client_ca_file=path, proxy_client_cert_file=path, proxy_client_key_file=path)
    with pytest.raises(CommandFailed, match="nosuch: No such file or directory"):
        flags.publish(ApiServer(), b"", None)
