"""TLS contexts that load the system's authorities when somebody trusts them."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from pyctrl._certificates import new_authority
from pyctrl.client._authorities import authorities_loaded_later


@pytest.fixture
def authorities(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that OpenSSL takes for the system's authorities; it is not there yet."""
    path = tmp_path / "authorities.pem"
    monkeypatch.setenv("SSL_CERT_FILE", str(path))
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path / "none"))
    return path


def test_a_context_trusts_the_authorities_from_its_first_use_on(authorities: Path) -> None:
    """Who makes a session with aiohttp in an operator, without a context of its own, finds it as it always was."""
    with authorities_loaded_later():
        asked, used = ssl.create_default_context(), ssl.create_default_context()
    authorities.write_bytes(new_authority("test")[0])
    connection = used.wrap_bio(ssl.MemoryBIO(), ssl.MemoryBIO(), server_hostname="localhost")
    assert asked.cert_store_stats()["x509"] == 1
    assert connection.context.cert_store_stats()["x509"] == 1
    assert used.verify_mode is ssl.CERT_REQUIRED
    assert used.check_hostname


def test_contexts_made_afterwards_load_them_at_once(authorities: Path) -> None:
    """What the block changes of `ssl` ends with it."""
    with authorities_loaded_later():
        pass
    context = ssl.create_default_context()
    authorities.write_bytes(new_authority("test")[0])
    assert context.cert_store_stats()["x509"] == 0
