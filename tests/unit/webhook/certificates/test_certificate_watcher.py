"""A certificate that follows its files: failures to read or parse them, and the time after."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from pathlib import Path

import pytest

from pyctrl.errors import ConfigError
from pyctrl.webhook._certificates.certificate_watcher import ServingCertificate
from tests.unit.client._authority import Authority, Issued, shake_hands

AUTHORITY = Authority()
ONE, TWO = AUTHORITY.server("localhost", "one"), AUTHORITY.server("localhost", "two")


def write(directory: Path, issued: Issued) -> None:
    (directory / "tls.crt").write_bytes(issued.certificate)
    (directory / "tls.key").write_bytes(issued.key)


def serves(context: ssl.SSLContext, name: str) -> bool:
    """Return whether new connections get the certificate with this name."""
    try:
        shake_hands(ssl.create_default_context(cadata=AUTHORITY.pem.decode()), context, name)
    except ssl.SSLCertVerificationError:
        return False
    return True


@pytest.fixture
def certificate(tmp_path: Path) -> ServingCertificate:
    """A certificate that was loaded once."""
    write(tmp_path, ONE)
    return ServingCertificate(tmp_path / "tls.crt", tmp_path / "tls.key")


def missing(directory: Path) -> None:
    (directory / "tls.key").unlink()


def half_written(directory: Path) -> None:
    (directory / "tls.crt").write_bytes(TWO.certificate)


def empty(directory: Path) -> None:
    (directory / "tls.crt").write_bytes(b"")


@pytest.mark.parametrize("damage", [missing, half_written, empty])
async def test_a_file_that_cannot_be_used_is_tried_again(
    damage: Callable[[Path], None],
    certificate: ServingCertificate,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """After a failure each poll tries the files again and logs it once; once they are complete, they are served."""
    context = certificate.load()
    following = asyncio.create_task(certificate.follow(seconds=10))
    await asyncio.sleep(5)
    damage(tmp_path)
    await asyncio.sleep(30)
    assert (certificate.reads, certificate.failed_reads) == (4, 3)
    assert {record.__dict__["error"] for record in caplog.records} == {certificate.read_error}
    assert serves(context, "one")

    write(tmp_path, TWO)
    await asyncio.sleep(10)
    assert (certificate.failed_reads, certificate.read_error) == (3, "")
    assert serves(context, "two")
    assert not serves(context, "one")
    assert caplog.messages.count("Error re-reading certificate") == 1
    following.cancel()
    await asyncio.wait([following])


def test_the_previous_files_are_no_failure_when_they_are_back(certificate: ServingCertificate, tmp_path: Path) -> None:
    """A damaged file that is restored as it was is not a failure any more."""
    certificate.load()
    empty(tmp_path)
    with pytest.raises(ConfigError, match="not a certificate and its key"):
        certificate.refresh()
    assert certificate.read_error

    write(tmp_path, ONE)
    assert not certificate.refresh()
    assert certificate.read_error == ""


def test_files_that_are_replaced_while_they_are_read(tmp_path: Path) -> None:
    """If OpenSSL reads other files than those that were compared, and fails, the next poll loads them."""

    class Torn(type(tmp_path)):  # type: ignore[misc]  # the class of paths of this system
        def read_bytes(self) -> bytes:
            content: bytes = super().read_bytes()
            if is_torn:
                empty(tmp_path)
            return content

    is_torn = False
    write(tmp_path, ONE)
    certificate = ServingCertificate(tmp_path / "tls.crt", Torn(tmp_path / "tls.key"))
    context = certificate.load()
    write(tmp_path, TWO)
    is_torn = True
    with pytest.raises(ConfigError):
        certificate.refresh()
    is_torn = False
    write(tmp_path, TWO)

    assert certificate.refresh()
    assert serves(context, "two")


def test_a_first_certificate_that_is_not_complete_can_be_loaded_later(tmp_path: Path) -> None:
    """A load that fails leaves nothing behind: the same object loads the files once they are complete."""
    certificate = ServingCertificate(tmp_path / "tls.crt", tmp_path / "tls.key")
    with pytest.raises(ConfigError, match="cannot be read"):
        certificate.load()
    write(tmp_path, ONE)
    assert serves(certificate.load(), "one")


def test_another_authority_of_clients_and_another_key_are_changes(tmp_path: Path) -> None:
    """A change of any of the files is loaded, also of the CA of clients alone, and of the key alone is tried."""
    write(tmp_path, ONE)
    (tmp_path / "ca.crt").write_bytes(AUTHORITY.pem)
    certificate = ServingCertificate(tmp_path / "tls.crt", tmp_path / "tls.key", client_ca=tmp_path / "ca.crt")
    certificate.load()
    assert not certificate.refresh()

    (tmp_path / "ca.crt").write_bytes(Authority("other").pem)
    assert certificate.refresh()
    (tmp_path / "tls.key").write_bytes(TWO.key)
    with pytest.raises(ConfigError, match="not a certificate and its key"):
        certificate.refresh()
