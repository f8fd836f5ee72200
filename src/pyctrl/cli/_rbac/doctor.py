"""Diagnosis of roles and bindings."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from pyctrl.api import Key
from pyctrl.cli._client_flags import ClientFlags
from pyctrl.cli._output import has_colour
from pyctrl.cli._progress import Progress
from pyctrl.cli._rbac.objects import CollectedObjects, read_cluster, read_files
from pyctrl.cli._rbac.report import as_json, as_text
from pyctrl.errors import CommandFailed, TransportError, Unauthorized
from pyctrl.program import offline_manager
from pyctrl.rbac import Diagnosis, Grants, diagnose

__all__ = ["doctor"]

ACCOUNT_USER = "system:serviceaccount:"


def doctor(
    account: str | None,
    target: str | None,
    *,
    files: Sequence[Path],
    watched: Collection[str],
    output: str,
    login: ClientFlags,
) -> int:
    """Print the findings; return the exit code, 1 if there are errors."""
    diagnosis, unread = asyncio.run(_examined(account, target, files, watched, login, quiet=output == "json"))
    shown = (
        as_json(diagnosis, unread) if output == "json" else as_text(diagnosis, unread, colour=has_colour(sys.stdout))
    )
    sys.stdout.write(f"{shown}\n")
    return int(diagnosis.has_errors)


async def _examined(
    account: str | None,
    target: str | None,
    files: Sequence[Path],
    watched: Collection[str],
    login: ClientFlags,
    *,
    quiet: bool,
) -> tuple[Diagnosis, list[str]]:
    if files:
        key = _account(account, login.namespace or "default")
        return _diagnosed(read_files(files), key, await _needed(target, watched, key), login.namespace or "default")
    config = login.config()
    key = _account(account, config.namespace)
    granted = await _needed(target, watched, key)
    async with login.client(config) as client:
        namespace = key.namespace if key is not None else login.namespace
        try:
            with Progress(f"the API server at {config.server}", quiet=quiet):
                read = await read_cluster(client, namespace=namespace, own_namespace=namespace or config.namespace)
        except (TransportError, Unauthorized) as error:
            from pyctrl.cli._login_errors import explain_login_error  # here: needed for errors only

            raise await explain_login_error(error, config) from error
    return _diagnosed(read, key, granted, config.namespace)


def _diagnosed(
    read: CollectedObjects, account: Key | None, granted: Grants | None, namespace: str
) -> tuple[Diagnosis, list[str]]:
    found = diagnose(
        read.objects,
        account=account,
        namespace=namespace,
        complete=read.complete,
        served=read.served,
        granted=granted,
    )
    return replace(found, findings=(*found.findings, *read.findings)), read.unread


async def _needed(target: str | None, watched: Collection[str], account: Key | None) -> Grants | None:
    if target is None or account is None:
        return None
    async with offline_manager(target, namespaces=watched) as manager:
        return manager.grants(own_namespace=account.namespace)


def _account(text: str | None, namespace: str) -> Key | None:
    """Parse a service account: ``jenkins``, ``default:jenkins`` or ``default/jenkins``."""
    if text is None:
        return None
    found, separator, name = text.removeprefix(ACCOUNT_USER).replace("/", ":").partition(":")
    key = Key(found, name) if separator else Key(namespace, found)
    if not key.name or not key.namespace or ":" in key.name:
        raise CommandFailed(
            f"expected a service account, NAME or NAMESPACE:NAME, such as default:jenkins; got {text!r}"
        )
    return key
