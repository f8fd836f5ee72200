"""Keys and certificates for a control plane that lives as long as a test session."""

from __future__ import annotations

from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from pyctrl.apiserver import Authority

__all__ = ["write_serving_certificate", "write_signing_key"]


def write_serving_certificate(directory: Path) -> None:
    """Write ``ca.crt``, ``serving.crt`` and ``serving.key`` for 127.0.0.1 and localhost."""
    authority = Authority.new("pyctrl test authority")
    serving = authority.server()
    (directory / "ca.crt").write_bytes(authority.certificate)
    (directory / "serving.crt").write_bytes(serving.certificate)
    _write_secret(directory / "serving.key", serving.key)


def write_signing_key(path: Path) -> None:
    """Write the key that signs service account tokens; Kubernetes takes its public half from the same file."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    form = serialization.PrivateFormat.TraditionalOpenSSL
    _write_secret(path, key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()))


def _write_secret(path: Path, content: bytes) -> None:
    path.touch(mode=0o600)
    path.write_bytes(content)
