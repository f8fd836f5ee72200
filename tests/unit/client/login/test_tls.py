"""Authorities and client certificates of a handshake, and reloads of their files."""

from __future__ import annotations

import asyncio
import logging
import os
import ssl
import tempfile
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pyctrl.client._login.tls import ClientCertificate, Pem, Tls, TlsContexts
from pyctrl.errors import ConfigError
from tests.unit.client._authority import Authority, Issued, encrypted, shake_hands

CLUSTER = Authority()
SERVER = CLUSTER.server_context("localhost", "kubernetes")
DEV = CLUSTER.client("dev")
OPS = CLUSTER.client("ops")


def pem(content: bytes, origin: str = "the PEM") -> Pem:
    return Pem(origin, data=content)


def shown_by(issued: Issued) -> ClientCertificate:
    return ClientCertificate(pem(issued.certificate, "the certificate"), pem(issued.key, "the key"))


def files_of(issued: Issued, directory: Path) -> ClientCertificate:
    (directory / "tls.crt").write_bytes(issued.certificate)
    (directory / "tls.key").write_bytes(issued.key)
    return ClientCertificate(Pem.of(directory / "tls.crt", "the certificate"), Pem.of(directory / "tls.key", "the key"))


def test_the_clusters_authority_is_trusted_and_no_other() -> None:
    """With an authority, only servers that it has signed are accepted."""
    assert shake_hands(Tls(ca=pem(CLUSTER.pem)).build(), SERVER) is None
    with pytest.raises(ssl.SSLCertVerificationError):
        shake_hands(Tls(ca=pem(Authority("stranger").pem)).build(), SERVER)


def test_without_an_authority_the_systems_are_trusted() -> None:
    """A server that no public authority has signed is refused by default."""
    with pytest.raises(ssl.SSLCertVerificationError):
        shake_hands(Tls().build(), SERVER)


def test_the_name_of_the_server_is_checked() -> None:
    """A certificate of the right authority for another name is refused."""
    context = Tls(ca=pem(CLUSTER.pem)).build()
    shake_hands(context, SERVER, "kubernetes")
    with pytest.raises(ssl.SSLCertVerificationError, match="[Hh]ostname"):
        shake_hands(context, SERVER, "elsewhere")


def test_insecure_accepts_any_certificate_and_name() -> None:
    """insecure-skip-tls-verify accepts any certificate and name."""
    shake_hands(Tls(insecure=True).build(), Authority("stranger").server_context("x"), "elsewhere")


def test_insecure_together_with_an_authority_is_refused() -> None:
    """insecure-skip-tls-verify together with an authority is an error, as in kubectl."""
    with pytest.raises(ConfigError, match="the PEM is set, and verification is turned off"):
        Tls(ca=pem(CLUSTER.pem), insecure=True)


def test_authorities_without_key_identifiers_are_trusted_unless_strict() -> None:
    """Python 3.13's strict checks, which many clusters' authorities fail, are off by default."""
    old = Authority("old", identifiers=False)
    lenient = Tls(ca=pem(old.pem))
    shake_hands(lenient.build(), old.server_context())
    with pytest.raises(ssl.SSLCertVerificationError):
        shake_hands(replace(lenient, strict=True).build(), old.server_context())


def test_an_intermediate_may_be_the_authority() -> None:
    """A listed intermediate certificate is trusted as an authority, as in Go."""
    intermediate = Authority("intermediate", parent=CLUSTER)
    shake_hands(Tls(ca=pem(intermediate.pem)).build(), intermediate.server_context())


def test_a_bundle_may_have_comments_in_any_language() -> None:
    """Text between the certificates of a bundle is ignored, ASCII or not."""
    bundle = "# Behörde für alles\n".encode() + Authority("other").pem + "# и эта\n".encode() + CLUSTER.pem
    shake_hands(Tls(ca=pem(bundle)).build(), SERVER)


def test_a_client_certificate_is_shown_from_bytes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A client certificate from inline data is used in the handshake, and leaves no file on disk."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert shake_hands(Tls(ca=pem(CLUSTER.pem), certificate=shown_by(DEV)).build(), SERVER) == "dev"
    assert list(tmp_path.iterdir()) == []


def test_a_client_certificate_is_shown_where_memory_files_are_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without memory files, a temporary file is used and removed at once."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.delattr(os, "memfd_create", raising=False)
    assert shake_hands(Tls(ca=pem(CLUSTER.pem), certificate=shown_by(DEV)).build(), SERVER) == "dev"
    assert list(tmp_path.iterdir()) == []


def test_a_client_certificate_is_shown_from_files(tmp_path: Path) -> None:
    """A client certificate from files is used in the handshake."""
    assert shake_hands(Tls(ca=pem(CLUSTER.pem), certificate=files_of(DEV, tmp_path)).build(), SERVER) == "dev"


@pytest.mark.parametrize(
    ("tls", "message"),
    [
        (Tls(ca=Pem.of("/no/ca.crt", "authority")), "authority /no/ca.crt: cannot read /no/ca.crt: No such file"),
        (Tls(ca=pem(b"hello", "authority")), "authority has no certificate"),
        (
            Tls(ca=pem(b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "authority")),
            "authority does not parse as a certificate",
        ),
        (Tls(certificate=ClientCertificate(pem(b"x", "cert"), pem(DEV.key, "key"))), "cert has no certificate"),
        (
            Tls(certificate=ClientCertificate(pem(DEV.certificate, "cert"), pem(b"x", "key"))),
            "key does not parse as a private key",
        ),
        (
            Tls(certificate=ClientCertificate(pem(DEV.certificate, "cert"), pem(OPS.key, "key"))),
            "key is not the key of cert",
        ),
        (
            Tls(certificate=ClientCertificate(pem(DEV.certificate, "cert"), pem(encrypted(DEV), "key"))),
            "key is encrypted",
        ),
    ],
    ids=["missing", "no PEM", "broken", "no certificate", "no key", "mismatch", "encrypted"],
)
def test_what_is_wrong_is_named(tls: Tls, message: str) -> None:
    """An invalid certificate or key is one error with its name and the reason."""
    with pytest.raises(ConfigError, match=message):
        tls.build()


def test_content_is_never_shown() -> None:
    """The text of a Tls names the sources and shows neither keys nor certificates."""
    text = repr(Tls(ca=pem(CLUSTER.pem), certificate=shown_by(DEV)))
    assert "the key" in text
    assert "BEGIN" not in text
    assert DEV.key.decode().splitlines()[1] not in text


@pytest.mark.parametrize("content", [CLUSTER.pem, CLUSTER.pem.decode()])
def test_pem_is_told_from_a_path(content: bytes | str) -> None:
    """An argument that takes PEM or a path is PEM if it has PEM's first line."""
    assert Pem.of(content, "x").read() == CLUSTER.pem
    assert Pem.of("some/file.pem", "x").path == Path("some/file.pem")


class SkippingLoop(asyncio.SelectorEventLoop):
    """A real loop, for contexts built in a thread, whose clock can be advanced."""

    skipped = 0.0

    def time(self) -> float:
        return super().time() + self.skipped


def in_skipping_loop(test: Callable[[SkippingLoop], Coroutine[Any, Any, None]]) -> None:
    with asyncio.Runner(loop_factory=SkippingLoop) as runner:
        loop = runner.get_loop()
        assert isinstance(loop, SkippingLoop)
        runner.run(test(loop))


def replace_file(path: Path, content: bytes) -> None:
    new = path.with_suffix(".new")
    new.write_bytes(content)
    new.replace(path)


def test_a_renewed_file_gives_a_new_context_within_a_minute(tmp_path: Path) -> None:
    """Connections use a replaced certificate within a minute."""
    contexts = TlsContexts(Tls(ca=pem(CLUSTER.pem), certificate=files_of(DEV, tmp_path)))

    async def check(loop: SkippingLoop) -> None:
        first = await contexts.current()
        assert contexts.generation == 1
        loop.skipped += 61
        assert await contexts.current() is first
        replace_file(tmp_path / "tls.crt", OPS.certificate)
        replace_file(tmp_path / "tls.key", OPS.key)
        assert await contexts.current() is first
        loop.skipped += 61
        assert shake_hands(await contexts.current(), SERVER) == "ops"
        assert contexts.generation == 2

    in_skipping_loop(check)


def test_files_are_looked_at_after_a_refusal(tmp_path: Path) -> None:
    """After a 401 a renewed certificate is used at once; without one the request is not retried."""
    contexts = TlsContexts(Tls(ca=pem(CLUSTER.pem), certificate=files_of(DEV, tmp_path)))

    async def check(_: SkippingLoop) -> None:
        await contexts.current()
        assert await contexts.refresh() is False
        replace_file(tmp_path / "tls.crt", OPS.certificate)
        replace_file(tmp_path / "tls.key", OPS.key)
        assert await contexts.refresh() is True
        assert shake_hands(await contexts.current(), SERVER) == "ops"

    in_skipping_loop(check)


def test_a_half_written_renewal_does_no_harm(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """While a new certificate lacks its key, the old pair stays in use, with a warning that names the file."""
    contexts = TlsContexts(Tls(ca=pem(CLUSTER.pem), certificate=files_of(DEV, tmp_path)))

    async def check(_: SkippingLoop) -> None:
        first = await contexts.current()
        replace_file(tmp_path / "tls.crt", OPS.certificate)
        with caplog.at_level(logging.WARNING, "pyctrl.client"):
            assert await contexts.refresh() is False
        assert "tls.key is not the key of" in caplog.records[-1].__dict__["error"]
        assert await contexts.current() is first
        replace_file(tmp_path / "tls.key", OPS.key)
        assert await contexts.refresh() is True

    in_skipping_loop(check)


def test_a_renewal_that_could_not_be_read_is_tried_again(tmp_path: Path) -> None:
    """A renewed file that cannot be read yet, as before a chmod, is tried again although it looks the same."""
    unreadable = True

    class Locked(Tls):
        def build(self, certificate: ClientCertificate | None = None) -> ssl.SSLContext:
            if unreadable:
                raise ConfigError("cannot read tls.key: Permission denied")
            return super().build(certificate)

    contexts = TlsContexts(Locked(ca=pem(CLUSTER.pem), certificate=files_of(DEV, tmp_path)))

    async def check(_: SkippingLoop) -> None:
        nonlocal unreadable
        unreadable = False
        await contexts.current()
        replace_file(tmp_path / "tls.crt", OPS.certificate)
        replace_file(tmp_path / "tls.key", OPS.key)
        unreadable = True
        assert await contexts.refresh() is False
        unreadable = False
        assert await contexts.refresh() is True
        assert shake_hands(await contexts.current(), SERVER) == "ops"

    in_skipping_loop(check)


def test_a_first_context_that_cannot_be_built_is_an_error() -> None:
    """An invalid first certificate is an error."""
    contexts = TlsContexts(Tls(ca=Pem.of("/no/ca.crt", "authority")))

    async def check(_: SkippingLoop) -> None:
        with pytest.raises(ConfigError, match="/no/ca.crt"):
            await contexts.current()

    in_skipping_loop(check)


class Plugin:
    """A source of certificates, like an exec plugin."""

    def __init__(self, issued: Issued) -> None:
        self.issued = issued

    async def certificate(self) -> ClientCertificate | None:
        return shown_by(self.issued)


def test_a_certificate_from_a_plugin_is_shown_and_followed() -> None:
    """The next TLS context uses the plugin's new certificate."""
    plugin = Plugin(DEV)
    contexts = TlsContexts(Tls(ca=pem(CLUSTER.pem)), plugin)

    async def check(_: SkippingLoop) -> None:
        assert shake_hands(await contexts.current(), SERVER) == "dev"
        plugin.issued = OPS
        assert shake_hands(await contexts.current(), SERVER) == "ops"
        assert contexts.generation == 2

    in_skipping_loop(check)


def test_many_connections_share_one_context() -> None:
    """Concurrent connections share one TLS context."""
    contexts = TlsContexts(Tls(ca=pem(CLUSTER.pem)))

    async def check(_: SkippingLoop) -> None:
        built = await asyncio.gather(*(contexts.current() for _ in range(20)))
        assert len(set(map(id, built))) == 1
        assert contexts.generation == 1

    in_skipping_loop(check)
