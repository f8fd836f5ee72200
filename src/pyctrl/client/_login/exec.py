"""Credentials from a program: the exec plugins of a kubeconfig (`aws eks get-token`, `gke-gcloud-auth-plugin`, …).

kubernetes_asyncio has a runner of its own, which is not used: it has no time limit, runs the plugin while the
kubeconfig is loaded, runs it again for each call when the answer has no expiry, drops a client certificate that
comes with a token and forgets the expiry of one that comes without, and knows neither provideClusterInfo nor
interactiveMode.
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
RUN_SECONDS = 60.0  # a cloud's token endpoint answers within a few; an operator must not hang on one that does not
INTERACTIVE_SECONDS = 600.0  # somebody at a terminal may have to find a telephone first
RENEW_BEFORE = timedelta(seconds=30)  # longer than a request takes, shorter than any token lives
SHOWN_STDERR = 2000  # characters of it, from the end: that is where the reason stands


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecPlugin:
    """What a kubeconfig says about a plugin. ``environment`` may hold secrets and is not shown."""

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
            raise ConfigError(f"{self.origin}: apiVersion {self.api_version!r} is none of {', '.join(API_VERSIONS)}")

    def info(self, *, interactive: bool) -> str:
        """Return the text for KUBERNETES_EXEC_INFO."""
        cluster = {} if self.cluster is None else {"cluster": dict(self.cluster)}
        spec = {**cluster, "interactive": interactive}
        return json.dumps({"apiVersion": self.api_version, "kind": "ExecCredential", "spec": spec})


@dataclass(frozen=True, slots=True)
class _ExecCredentialStatus:
    """What one run of a plugin gave."""

    token: str | None = field(repr=False)
    certificate: ClientCertificate | None
    renew_at: datetime | None
    """None: the plugin named no expiry, so it is good until the server says 401."""


class ExecCredentials:
    """Credentials that a plugin issues: a token, a client certificate, or both.

    The plugin runs when credentials are first needed, shortly before they expire, and when the server refused them;
    never twice at the same time. While what it gave last has not expired, a failing run is logged and nothing more.
    """

    def __init__(self, plugin: ExecPlugin, *, entry: Mapping[str, Any] | None = None) -> None:
        self._plugin = plugin
        self._entry = entry
        self._issued: _ExecCredentialStatus | None = None
        self._expires_at: datetime | None = None
        self._flight = SingleFlight()

    async def authorization(self) -> str | None:
        """Return the Bearer header, or None if the plugin gives certificates only."""
        token = (await self._current()).token
        return None if token is None else f"Bearer {token}"

    async def certificate(self) -> ClientCertificate | None:
        """Return the client certificate, or None if the plugin gives tokens only."""
        return (await self._current()).certificate

    async def refresh(self, rejected: str | None = None) -> bool:
        """Run the plugin again; True if it gave something else."""
        before = self._issued
        if rejected is not None and before is not None and rejected != f"Bearer {before.token}":
            return True
        await self._flight.run(self._issue)
        after = self._issued
        assert after is not None
        return before is None or (before.token, before.certificate) != (after.token, after.certificate)

    def to_kubeconfig_user(self) -> dict[str, Any]:
        """Return the user with its plugin as it was read."""
        if self._entry is None:
            raise ConfigError(f"{self._plugin.origin} was not read from a kubeconfig, so it cannot be written to one")
        return {"exec": dict(self._entry)}

    def __str__(self) -> str:
        return f"what {self._plugin.command!r} gave ({self._plugin.origin})"

    def __repr__(self) -> str:
        return f"ExecCredentials({self._plugin.command!r})"

    async def _current(self) -> _ExecCredentialStatus:
        if self._is_due():
            try:
                await self._flight.run(self._issue)
            except ConfigError as error:
                if self._expires_at is None or _clock.now() >= self._expires_at:
                    raise
                log.warning("exec plugin failed, its last credentials still hold", extra={"error": str(error)})
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
    """Return when to ask a plugin again for what expires then; None for never."""
    if expires_at is None:
        return None
    early = expires_at - RENEW_BEFORE
    # Plugins with a cache of their own hand out the same token until it expires: asking earlier would ask forever.
    return early if early > _clock.now() else expires_at


async def _run(plugin: ExecPlugin) -> bytes:
    """Run the plugin and return what it printed. Raises ConfigError with its words if that fails."""
    interactive = _is_interactive(plugin)
    seconds = INTERACTIVE_SECONDS if interactive else RUN_SECONDS
    process = await _start(plugin, interactive=interactive)
    try:
        async with asyncio.timeout(seconds):
            output, complaint = await process.communicate()
    except TimeoutError:
        raise ConfigError(f"{plugin.origin}: {plugin.command!r} did not end within {seconds:.0f} s") from None
    finally:
        if process.returncode is None:
            await _kill(process, whole_group=not interactive)
    if process.returncode != 0:
        words = complaint.decode(errors="replace").strip()[-SHOWN_STDERR:]
        ending = f"ended with {process.returncode}: {words or 'no message'}"
        raise ConfigError(f"{plugin.origin}: {plugin.command!r} {ending}")
    return output


def _is_interactive(plugin: ExecPlugin) -> bool:
    if plugin.interactive_mode == "Never":
        return False
    available = sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()
    if plugin.interactive_mode == "Always" and not available:
        raise ConfigError(
            f"{plugin.origin}: {plugin.command!r} asks questions, and no terminal is there to answer them"
        )
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
            start_new_session=not interactive,  # a group of its own, so that what it started can be ended with it
        )
    except OSError as error:
        hint = f"\n{plugin.install_hint}" if plugin.install_hint else ""
        why = "no such program" if isinstance(error, FileNotFoundError) else error.strerror or str(error)
        raise ConfigError(f"{plugin.origin}: cannot run {plugin.command!r}: {why}{hint}") from error


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
    where = f"{plugin.origin}: what {plugin.command!r} printed"
    try:
        answer = json.loads(output)
    except ValueError as error:
        raise ConfigError(f"{where} is not JSON: {error}") from error
    if not isinstance(answer, dict) or answer.get("kind") != "ExecCredential":
        raise ConfigError(f"{where} is not an ExecCredential")
    if answer.get("apiVersion") != plugin.api_version:
        raise ConfigError(f"{where} is of version {answer.get('apiVersion')!r}, {plugin.api_version!r} was asked for")
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
        raise ConfigError(f"{plugin.origin}: expirationTimestamp {text!r} is not a time as RFC 3339 has it") from error
    if expires_at.tzinfo is None:
        raise ConfigError(f"{plugin.origin}: expirationTimestamp {text!r} has no time zone")
    return expires_at


def resolved_command(command: str, directory: Path) -> str:
    """Return the command as it is started: one with a slash is relative to the kubeconfig, a bare name is in PATH."""
    return str(directory / command) if "/" in command or os.sep in command else command
