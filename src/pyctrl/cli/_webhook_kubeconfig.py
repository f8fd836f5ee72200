"""Kubeconfig files that name authentication and authorization webhooks, as for kube-apiserver."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pyctrl.errors import CommandFailed

__all__ = ["webhook_target"]


def webhook_target(flag: str, file: Path) -> tuple[str, bytes]:
    """Return the URL and CA of the current context of a kubeconfig.

    Raises:
        CommandFailed: the file is not a kubeconfig of a webhook.
    """
    from pyctrl.apiserver import read_documents  # here: help and completion need none of it

    try:
        config: Any = next(read_documents(file.read_bytes()), None)
        context = _named(config, "contexts", config["current-context"])["context"]
        cluster = _named(config, "clusters", context["cluster"])["cluster"]
        user = _named(config, "users", context["user"]).get("user") if context.get("user") else None
        url, ca = cluster["server"], _authorities(cluster, file)
    except OSError as error:
        raise CommandFailed(f"{flag} {file}: {error.strerror}: {error.filename}") from error
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise CommandFailed(
            f"{flag} {file}: expected a kubeconfig whose current context names a cluster with the "
            "webhook's server and certificate-authority"
        ) from error
    if user or cluster.get("insecure-skip-tls-verify"):
        raise CommandFailed(
            f"{flag} {file}: credentials and insecure-skip-tls-verify are not supported; leave them out"
        )
    return url, ca


def _named(config: Mapping[str, Any], kind: str, name: str) -> dict[str, Any]:
    return next(({**each} for each in config.get(kind) or () if each["name"] == name), {})


def _authorities(cluster: Mapping[str, Any], file: Path) -> bytes:
    if data := cluster.get("certificate-authority-data"):
        return base64.b64decode(data, validate=True)
    named = cluster.get("certificate-authority")
    return (file.parent / named).read_bytes() if named else b""
