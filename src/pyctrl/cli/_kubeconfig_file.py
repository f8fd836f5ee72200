"""Kubeconfig that a command writes, without overwriting files of others."""

from __future__ import annotations

import base64
import os
import re
from pathlib import Path

from pyctrl.apiserver import CertificateAuthority
from pyctrl.errors import CommandFailed

__all__ = ["check_kubeconfig", "server_of", "write_kubeconfig"]

NAME = "pyctrl"
MARK = "# Written by pyctrl, which replaces it when it serves again.\n"


def check_kubeconfig(path: Path, *, force: bool) -> None:
    """Check that a file does not exist, or was written by `write_kubeconfig`.

    Raises:
        CommandFailed: the file has other content, and ``force`` is not set.
    """
    if _is_device(path):
        return  # a device is written to, and not read
    try:
        found = path.read_text(errors="replace")
    except FileNotFoundError:
        return
    except OSError as error:
        raise CommandFailed(f"--write-kubeconfig {path}: {error.strerror}") from error
    if found and not found.startswith(MARK) and not force:
        raise CommandFailed(
            f"--write-kubeconfig {path}: the file exists and pyctrl did not write it; "
            "name another one, or add --force to overwrite it"
        )


def _is_device(path: Path) -> bool:
    """Return whether a path is a device such as /dev/null or /dev/stdout, which root could replace by a file."""
    return path.exists() and not path.is_file() and not path.is_dir()


def server_of(path: Path) -> str:
    """Return the address in a kubeconfig of `write_kubeconfig`; "" if no server answers there."""
    import http.client  # here and below: usually there is no such file
    from urllib.parse import urlsplit

    found = re.search(r"^ +server: (http://\S+)$", path.read_text() if path.is_file() else "", re.MULTILINE)
    if found is None:
        return ""
    asked = http.client.HTTPConnection(urlsplit(found[1]).netloc, timeout=1)  # seconds; the server is on this machine
    try:
        asked.request("GET", "/version")
        return found[1] if b"gitVersion" in asked.getresponse().read() else ""
    except (OSError, http.client.HTTPException):
        return ""
    finally:
        asked.close()


def write_kubeconfig(path: Path, url: str, token: str, authority: CertificateAuthority | None, *, force: bool) -> None:
    """Write a kubeconfig atomically, readable by its owner only.

    Raises:
        CommandFailed: it cannot be written, or another program wrote a file there meanwhile.
    """
    import tempfile  # here: it imports a lot, and a server need not write its kubeconfig

    check_kubeconfig(path, force=force)
    try:
        if _is_device(path):
            path.write_text(MARK + _kubeconfig(url, token, authority))
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)  # 0600
        with os.fdopen(descriptor, "w") as file:
            file.write(MARK + _kubeconfig(url, token, authority))
        Path(name).replace(path)
    except OSError as error:
        raise CommandFailed(f"--write-kubeconfig {path}: {error.strerror}") from error


def _kubeconfig(url: str, token: str, authority: CertificateAuthority | None) -> str:
    """Return a kubeconfig as `Config.to_kubeconfig` does. The client is imported here only."""
    import yaml  # here: a slow import, for --write-kubeconfig only

    cluster = {"server": url}
    if authority is not None:
        cluster["certificate-authority-data"] = base64.b64encode(authority.certificate).decode()
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": NAME, "cluster": cluster}],
        "users": [{"name": NAME, "user": {"token": token}}],
        "contexts": [{"name": NAME, "context": {"cluster": NAME, "user": NAME}}],
        "current-context": NAME,
    }
    return yaml.safe_dump(document, sort_keys=False)
