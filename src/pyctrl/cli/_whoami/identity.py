"""Identity of a login: its user on the server, its credentials and source, as text, JSON or YAML."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pyctrl.cli._credential import Credential, auth_info_of
from pyctrl.client import Client, Config, Impersonation
from pyctrl.errors import Forbidden, UnknownKind
from pyctrl.kinds.authentication.v1 import SelfSubjectReview

__all__ = ["identify", "shown"]

Output = Literal["text", "json", "yaml"]

_LABEL = 13  # columns for the longest label, "skipped", and two blanks


@dataclass(frozen=True, slots=True, kw_only=True)
class UserInfo:
    """A user as the server sees it. ``note`` says which fields are unknown, and why."""

    username: str = ""
    uid: str = ""
    groups: Sequence[str] = ()
    extra: Mapping[str, Sequence[str]] = field(default_factory=dict)
    note: str = ""

    def to_wire(self) -> dict[str, Any]:
        """Return the known fields, for JSON and YAML."""
        fields = {
            "username": self.username,
            "uid": self.uid,
            "groups": list(self.groups),
            "extra": {name: list(values) for name, values in self.extra.items()},
            "note": self.note,
        }
        return {name: value for name, value in fields.items() if value}


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginIdentity:
    """A login, and its user on the server."""

    user: UserInfo
    config: Config
    credentials: Sequence[Credential]

    def to_wire(self) -> dict[str, Any]:
        """Return all fields, for JSON and YAML."""
        config = self.config
        passed_over = [{"source": source, "reason": reason} for source, reason in config.passed_over]
        wire: dict[str, Any] = {
            "user": self.user.to_wire(),
            "server": config.server,
            "tls": _tls_to_wire(config),
            "namespace": config.namespace,
            "login": {"source": config.source, "passedOver": passed_over},
            "credentials": [credential.to_wire() for credential in self.credentials],
        }
        return wire | ({"actingAs": _acting_to_wire(config.impersonate)} if config.impersonate else {})


async def identify(client: Client, config: Config) -> LoginIdentity:
    """Request the user of a login from the server.

    Raises:
        Unauthorized: the server rejects the login.
    """
    credentials = (await auth_info_of(config)).credentials
    return LoginIdentity(user=await _ask(client, credentials), config=config, credentials=credentials)


def shown(identity: LoginIdentity, output: Output) -> str:
    """Return an identity in an output format."""
    if output == "json":
        return json.dumps(identity.to_wire(), indent=2, ensure_ascii=False)
    if output == "yaml":
        import yaml  # here: a slow import, for YAML only

        return str(yaml.safe_dump(identity.to_wire(), sort_keys=False, allow_unicode=True)).rstrip()
    return "\n".join(f"{label:{_LABEL}}{text}" for label, text in _lines(identity))


async def _ask(client: Client, credentials: Sequence[Credential]) -> UserInfo:
    try:
        user = (await client.create(SelfSubjectReview())).status.user_info
    except Forbidden as refused:  # the message names the user; system:basic-user grants the request
        return UserInfo(username=refused.user, note="from the error message; more needs system:basic-user")
    except UnknownKind:
        subject = next((each.subject for each in credentials if each.subject), "")
        where = "from the credential; " if subject else ""
        return UserInfo(username=subject, note=f"{where}this server has no SelfSubjectReview, which came with 1.28")
    return UserInfo(username=user.username or "", uid=user.uid or "", groups=user.groups, extra=user.extra)


def _lines(identity: LoginIdentity) -> Iterator[tuple[str, str]]:
    """Return label and text of each line. Only the first line of a label has it."""
    user, config = identity.user, identity.config
    yield "user", f"{user.username or 'unknown'} ({user.note})" if user.note else user.username
    if user.uid:
        yield "uid", user.uid
    yield from _listed("groups", user.groups)
    yield from _listed("extra", [f"{name}: {', '.join(values)}" for name, values in sorted(user.extra.items())])
    yield from _listed("acting as", _acting(config.impersonate))
    yield "server", config.server
    yield "tls", _tls(config)
    yield "namespace", config.namespace
    yield "login", config.source
    yield from _listed("skipped", [f"{source}: {why}" for source, why in config.passed_over])
    yield from _listed("sent", [str(each) for each in identity.credentials] or ["no token, no certificate"])


def _listed(label: str, texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    for number, text in enumerate(texts):
        yield "" if number else label, text


def _tls(config: Config) -> str:
    if not config.server.startswith("https:"):
        return "none: anyone on the network can read and change everything"
    if config.tls.insecure:
        return "not verified: anyone on the network can impersonate the server (insecure-skip-tls-verify)"
    authority = config.tls.ca.origin if config.tls.ca else "the CAs of this system"
    name = f", as {config.tls.server_name}" if config.tls.server_name else ""
    return f"verified by {authority}{name}"


def _tls_to_wire(config: Config) -> dict[str, Any]:
    if not config.server.startswith("https:"):
        return {"verified": False}
    authority = config.tls.ca.origin if config.tls.ca else "system"
    wire: dict[str, Any] = {"verified": False} if config.tls.insecure else {"verified": True, "authority": authority}
    return wire | ({"serverName": config.tls.server_name} if config.tls.server_name else {})


def _acting(who: Impersonation | None) -> list[str]:
    if who is None:
        return []
    groups = [f"group {group}" for group in who.groups]
    return [f"{who.user} (--as, or `as` of the kubeconfig's user)", *groups]


def _acting_to_wire(who: Impersonation) -> dict[str, Any]:
    extra = {name: list(values) for name, values in who.extra.items()}
    fields = {"user": who.user, "uid": who.uid, "groups": list(who.groups), "extra": extra}
    return {name: value for name, value in fields.items() if value}
