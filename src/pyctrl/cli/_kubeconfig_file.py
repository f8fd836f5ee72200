"""The kubeconfig that a command writes, and never over somebody else's."""

from __future__ import annotations

import base64
import os
import re
import tempfile
from pathlib import Path

from pyctrl.apiserver import CertificateAuthority
from pyctrl.errors import CommandFailed

NAME = "pyctrl"
MARK = "# Written by pyctrl, which replaces it when it serves again.\n"


def check_kubeconfig(path: Path, *, force: bool) -> None:
    """Refuse to write to a file that was not written by `write_kubeconfig`, unless forced to.

    Raises:
        CommandFailed: somebody else's kubeconfig, or whatever it is, is there.
    """
    if _is_device(path):
        return  # written to as it is, and not read
    try:
        found = path.read_text(errors="replace")
    except FileNotFoundError:
        return
    except OSError as error:
        raise CommandFailed(f"--kubeconfig-out {path}: {error.strerror}") from error
    if found and not found.startswith(MARK) and not force:
        raise CommandFailed(
            f"--kubeconfig-out {path}: there is a file that pyctrl did not write, which it leaves alone; "
            "name another, or add --force to replace it"
        )


def _is_device(path: Path) -> bool:
    """Whether it is /dev/null, /dev/stdout or the like, which root could replace by a file."""
    return path.exists() and not path.is_file() and not path.is_dir()


def server_of(path: Path) -> str:
    """Return the address in a kubeconfig that was written by `write_kubeconfig`; "" when nothing answers there."""
    import http.client  # here and below: mostly there is no such file
    from urllib.parse import urlsplit

    found = re.search(r"^ +server: (http://\S+)$", path.read_text() if path.is_file() else "", re.MULTILINE)
    if found is None:
        return ""
    asked = http.client.HTTPConnection(urlsplit(found[1]).netloc, timeout=1)  # seconds; it is on this machine
    try:
        asked.request("GET", "/version")
        return found[1] if b"gitVersion" in asked.getresponse().read() else ""
    except (OSError, http.client.HTTPException):
        return ""
    finally:
        asked.close()


def write_kubeconfig(path: Path, url: str, token: str, authority: CertificateAuthority | None, *, force: bool) -> None:
    """Write a kubeconfig at once or not at all, readable for its owner only.

    Raises:
        CommandFailed: it cannot be written, or somebody else has put a file there.
    """
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
        raise CommandFailed(f"--kubeconfig-out {path}: {error.strerror}") from error


def _kubeconfig(url: str, token: str, authority: CertificateAuthority | None) -> str:
    """Write what `Config.to_kubeconfig` would, without importing the client before it is needed."""
    import yaml  # here: only who wants a kubeconfig waits for it

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
