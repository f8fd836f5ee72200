"""Credentials from the exec plugins of a kubeconfig (`aws eks get-token`, `gke-gcloud-auth-plugin`, …).

kubernetes_asyncio's runner is not used: it has no time limit, runs the plugin while the kubeconfig is loaded, runs it
again for each call if its output has no expiry, drops a client certificate that accompanies a token, drops the expiry
of one that does not, and supports neither provideClusterInfo nor interactiveMode.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from pyctrl import _clock
from pyctrl.client._login.credentials import checked_token
from pyctrl.client._login.single_flight import SingleFlight
from pyctrl.client._login.tls import ClientCertificate, Pem
from pyctrl.errors import ConfigError

__all__ = [
    "INTERACTIVE_SECONDS",
    "RUN_SECONDS",
    "ExecCredentials",
    "ExecPlugin",
    "InteractiveMode",
    "renewal_time",
    "resolved_command",
]

log = logging.getLogger("pyctrl.client")

InteractiveMode = Literal["Never", "IfAvailable", "Always"]

API_VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
RUN_SECONDS = 60.0  # a cloud's token endpoint answers within a few; a plugin that hangs must not stop an operator
INTERACTIVE_SECONDS = 600.0  # for users who answer a second factor at a terminal
RENEW_BEFORE = timedelta(seconds=30)  # longer than a request takes, shorter than the lifetime of any token
SHOWN_STDERR = 2000  # characters, from the end, where the reason is


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecPlugin:
    """The exec plugin of a kubeconfig's user. ``environment`` may have secrets and is not in its repr."""

    command: str
    api_version: str
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    interactive_mode: InteractiveMode = "IfAvailable"
    install_hint: str = ""
    cluster: Mapping[str, Any] | None = field(default=None, repr=False)
    origin: str = "the exec plugin"

    def __post_init__(self) -> None:
        if self.api_version not in API_VERSIONS:
            raise ConfigError(f"{self.origin}: apiVersion {self.api_version!r} is not one of {', '.join(API_VERSIONS)}")

    def info(self, *, interactive: bool) -> str:
        """Return the value of KUBERNETES_EXEC_INFO."""
        cluster = {} if self.cluster is None else {"cluster": dict(self.cluster)}
        spec = {**cluster, "interactive": interactive}
        return json.dumps({"apiVersion": self.api_version, "kind": "ExecCredential", "spec": spec})


@dataclass(frozen=True, slots=True)
class _ExecCredentialStatus:
    """Output of one run of a plugin."""

    token: str | None = field(repr=False)
    certificate: ClientCertificate | None
    renew_at: datetime | None
    """None if the output has no expiry: it is renewed after a 401."""


class ExecCredentials:
    """Credentials that a plugin issues: a token, a client certificate, or both.

    The plugin runs when credentials are first needed, shortly before they expire, and after a 401, never twice at the
    same time. Until the current credentials expire, a failing run is only logged.
    """

    def __init__(self, plugin: ExecPlugin, *, entry: Mapping[str, Any] | None = None) -> None:
        self._plugin = plugin
        self._entry = entry
        self._issued: _ExecCredentialStatus | None = None
        self._expires_at: datetime | None = None
        self._flight = SingleFlight()

    async def authorization(self) -> str | None:
        """Return the Bearer header, or None if the plugin issues certificates only."""
        token = (await self._current()).token
        return None if token is None else f"Bearer {token}"

    async def certificate(self) -> ClientCertificate | None:
        """Return the client certificate, or None if the plugin issues tokens only."""
        return (await self._current()).certificate

    async def refresh(self, rejected: str | None = None) -> bool:
        """Run the plugin again. Return True if it issued other credentials."""
        before = self._issued
        if rejected is not None and before is not None and rejected != f"Bearer {before.token}":
            return True
        await self._flight.run(self._issue)
        after = self._issued
        assert after is not None
        return before is None or (before.token, before.certificate) != (after.token, after.certificate)

    def to_kubeconfig_user(self) -> dict[str, Any]:
        """Return the user with its plugin as read from the kubeconfig."""
        if self._entry is None:
            raise ConfigError(f"{self._plugin.origin} was not read from a kubeconfig, so it cannot be written to one")
        return {"exec": dict(self._entry)}

    def __str__(self) -> str:
        return f"the credentials of {self._plugin.command!r} ({self._plugin.origin})"

    def __repr__(self) -> str:
        return f"ExecCredentials({self._plugin.command!r})"

    async def _current(self) -> _ExecCredentialStatus:
        if self._is_due():
            try:
                await self._flight.run(self._issue)
            except ConfigError as error:
                if self._expires_at is None or _clock.now() >= self._expires_at:
                    raise
                log.warning("Exec plugin failed, keeping its current credentials", extra={"error": str(error)})
        assert self._issued is not None
        return self._issued

    def _is_due(self) -> bool:
        if self._issued is None:
            return True
        return self._issued.renew_at is not None and _clock.now() >= self._issued.renew_at

    async def _issue(self) -> None:
        status = _parse_status(self._plugin, await _run(self._plugin))
        expires_at = _expiry(self._plugin, status)
        token, certificate = _token(self._plugin, status), _certificate(self._plugin, status)
        self._issued = _ExecCredentialStatus(token, certificate, renewal_time(expires_at))
        self._expires_at = expires_at


def renewal_time(expires_at: datetime | None) -> datetime | None:
    """Return when to run a plugin again for credentials with this expiry; None for never."""
    if expires_at is None:
        return None
    early = expires_at - RENEW_BEFORE
    # Plugins with a cache return the same token until it expires: an earlier run would be followed by many others.
    return early if early > _clock.now() else expires_at


async def _run(plugin: ExecPlugin) -> bytes:
    """Run the plugin and return its output. Raises ConfigError with its stderr if that fails."""
    interactive = _is_interactive(plugin)
    seconds = INTERACTIVE_SECONDS if interactive else RUN_SECONDS
    process = await _start(plugin, interactive=interactive)
    try:
        async with asyncio.timeout(seconds):
            output, stderr = await process.communicate()
    except TimeoutError:
        raise ConfigError(f"{plugin.origin}: {plugin.command!r} did not exit within {seconds:.0f} s") from None
    finally:
        if process.returncode is None:
            await _kill(process, whole_group=not interactive)
    if process.returncode != 0:
        reason = stderr.decode(errors="replace").strip()[-SHOWN_STDERR:] or "no message"
        raise ConfigError(f"{plugin.origin}: {plugin.command!r} exited with code {process.returncode}: {reason}")
    return output


def _is_interactive(plugin: ExecPlugin) -> bool:
    if plugin.interactive_mode == "Never":
        return False
    available = sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()
    if plugin.interactive_mode == "Always" and not available:
        raise ConfigError(f"{plugin.origin}: {plugin.command!r} is interactive, and there is no terminal")
    return available


async def _start(plugin: ExecPlugin, *, interactive: bool) -> asyncio.subprocess.Process:
    environment = {**os.environ, **plugin.environment, "KUBERNETES_EXEC_INFO": plugin.info(interactive=interactive)}
    try:
        return await asyncio.create_subprocess_exec(
            plugin.command,
            *plugin.arguments,
            env=environment,
            stdin=None if interactive else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=not interactive,  # its own process group, so that its children can be killed too
        )
    except OSError as error:
        hint = f"\n{plugin.install_hint}" if plugin.install_hint else ""
        reason = "no such program" if isinstance(error, FileNotFoundError) else error.strerror or str(error)
        raise ConfigError(f"{plugin.origin}: cannot run {plugin.command!r}: {reason}{hint}") from error


async def _kill(process: asyncio.subprocess.Process, *, whole_group: bool) -> None:
    try:
        if whole_group and hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except ProcessLookupError:
        pass
    await process.wait()


def _parse_status(plugin: ExecPlugin, output: bytes) -> Mapping[str, Any]:
    where = f"{plugin.origin}: the output of {plugin.command!r}"
    try:
        answer = json.loads(output)
    except ValueError as error:
        raise ConfigError(f"{where} is not JSON: {error}") from error
    if not isinstance(answer, dict) or answer.get("kind") != "ExecCredential":
        raise ConfigError(f"{where} is not an ExecCredential")
    if answer.get("apiVersion") != plugin.api_version:
        raise ConfigError(f"{where} has apiVersion {answer.get('apiVersion')!r}; expected {plugin.api_version!r}")
    status = answer.get("status")
    if not isinstance(status, dict):
        raise ConfigError(f"{where} has no status")
    has_certificate, has_key = bool(status.get("clientCertificateData")), bool(status.get("clientKeyData"))
    if has_certificate != has_key:
        raise ConfigError(f"{where} has only one of clientCertificateData and clientKeyData")
    if not has_certificate and not status.get("token"):
        raise ConfigError(f"{where} has neither a token nor a client certificate")
    return status


def _token(plugin: ExecPlugin, status: Mapping[str, Any]) -> str | None:
    token = status.get("token")
    return checked_token(str(token), f"the token of {plugin.origin}") if token else None


def _certificate(plugin: ExecPlugin, status: Mapping[str, Any]) -> ClientCertificate | None:
    if not status.get("clientCertificateData"):
        return None
    return ClientCertificate(
        Pem(f"clientCertificateData of {plugin.origin}", data=str(status["clientCertificateData"]).encode()),
        Pem(f"clientKeyData of {plugin.origin}", data=str(status["clientKeyData"]).encode()),
    )


def _expiry(plugin: ExecPlugin, status: Mapping[str, Any]) -> datetime | None:
    text = status.get("expirationTimestamp")
    if not text:
        return None
    try:
        expires_at = datetime.fromisoformat(str(text))
    except ValueError as error:
        raise ConfigError(f"{plugin.origin}: expirationTimestamp {text!r} is not an RFC 3339 time") from error
    if expires_at.tzinfo is None:
        raise ConfigError(f"{plugin.origin}: expirationTimestamp {text!r} has no time zone")
    return expires_at


def resolved_command(command: str, directory: Path) -> str:
    """Return the command to start: with a slash it is relative to the kubeconfig, without one it is found in PATH."""
    return str(directory / command) if "/" in command or os.sep in command else command
