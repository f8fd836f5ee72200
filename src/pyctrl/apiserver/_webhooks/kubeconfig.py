"""Kubeconfigs for webhooks: the credentials for the host of a webhook, and the webhook of the current context."""

from __future__ import annotations

import base64
import posixpath
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from pyctrl._go.text import quoted
from pyctrl.apiserver._webhooks.caller import WebhookCredentials

__all__ = ["WebhookTarget", "WebhookUsers", "read_webhook_target", "read_webhook_users"]


_ReadFile: TypeAlias = Callable[[str], bytes]
_JSON: TypeAlias = Mapping[str, Any]
_NO_CREDENTIALS: Final = WebhookCredentials()


@dataclass(frozen=True, slots=True)
class WebhookUsers:
    """The users of a kubeconfig. Their names are the hosts of webhooks; `current` is that of the current context."""

    users: Mapping[str, WebhookCredentials]
    current: str = ""

    def find(self, target: str) -> WebhookCredentials:
        """Return the credentials for ``HOST:PORT``; none if no user fits.

        The most specific user wins: ``host:port``, ``*.suffix:port``, both without the port 443, ``*``, the current.
        """
        name = next((each for each in self._names(target) if each in self.users), "")
        return self.users.get(name, _NO_CREDENTIALS)

    def _names(self, target: str) -> Iterator[str]:
        host, _, port = target.rpartition(":")
        for each in (target, host) if port == "443" else (target,):
            yield each
            steps = each.split(".")
            yield from ("*." + ".".join(steps[index:]) for index in range(1, len(steps)))
        yield "*"
        yield self.current


@dataclass(frozen=True, slots=True)
class WebhookTarget:
    """One webhook: its URL, the certificate authority of its certificate, and the credentials of the server."""

    url: str
    ca: bytes = b""
    credentials: WebhookCredentials = _NO_CREDENTIALS


def read_webhook_users(path: str, read_file: _ReadFile) -> WebhookUsers:
    """Read the users of a kubeconfig. Other files that it names are relative to it.

    Raises:
        ValueError: It is not a kubeconfig, or a user needs a plugin, which is not supported.
        OSError: A file cannot be read.
    """
    config = _read(path, read_file)
    users = {each["name"]: each.get("user") or {} for each in config.get("users") or ()}
    found = {name: _credentials(user, path, read_file) for name, user in users.items()}
    return WebhookUsers(found, _named(config, "contexts", config.get("current-context")).get("user") or "")


def read_webhook_target(path: str, read_file: _ReadFile) -> WebhookTarget:
    """Read the webhook of the current context of a kubeconfig, with the credentials of its user.

    Raises:
        ValueError: It is not a kubeconfig of a webhook, or it needs what is not supported.
        OSError: A file cannot be read.
    """
    config = _read(path, read_file)
    context = _named(config, "contexts", config.get("current-context"))
    cluster = _named(config, "clusters", context.get("cluster"))
    if not cluster.get("server"):
        raise ValueError("invalid configuration: no configuration has been provided")
    if cluster.get("insecure-skip-tls-verify"):
        raise ValueError(f"{path}: insecure-skip-tls-verify is not supported")
    user = _named(config, "users", context.get("user"))
    ca = _content(cluster, "certificate-authority", path, read_file)
    return WebhookTarget(cluster["server"], ca, _credentials(user, path, read_file))


def _read(path: str, read_file: _ReadFile) -> _JSON:
    from pyctrl.apiserver._serializer.yaml_reader import read_yaml  # here: most servers have no such file

    config = read_yaml(read_file(path), [])
    if not isinstance(config, Mapping):
        raise ValueError(f"{path}: expected a kubeconfig")  # noqa: TRY004 (of a file's content)
    return config


def _named(config: _JSON, kind: str, name: str | None) -> _JSON:
    """Return the context, cluster or user of a name; empty if there is none."""
    found: _JSON = next((each for each in config.get(kind) or () if each.get("name") == name), {})
    return found.get(kind.removesuffix("s")) or {}


def _credentials(user: _JSON, path: str, read_file: _ReadFile) -> WebhookCredentials:
    for key in ("exec", "auth-provider"):
        if user.get(key):
            raise ValueError(f"{path}: {quoted(key)} of a user is not supported; use a token or a client certificate")
    return WebhookCredentials(
        headers=tuple(_headers(user, path, read_file)),
        certificate=_content(user, "client-certificate", path, read_file),
        key=_content(user, "client-key", path, read_file),
    )


def _headers(user: _JSON, path: str, read_file: _ReadFile) -> Iterator[tuple[str, str]]:
    token = user.get("token") or ""
    if not token and user.get("tokenFile"):
        token = read_file(_beside(path, user["tokenFile"])).decode().strip()
    if token:
        yield "Authorization", f"Bearer {token}"
    elif user.get("username") or user.get("password"):
        pair = f"{user.get('username') or ''}:{user.get('password') or ''}"
        yield "Authorization", f"Basic {base64.b64encode(pair.encode()).decode()}"
    if user.get("as"):
        yield "Impersonate-User", user["as"]
        yield from (("Impersonate-Uid", each) for each in [user.get("as-uid")] if each)
        yield from (("Impersonate-Group", each) for each in user.get("as-groups") or ())
        extra = user.get("as-user-extra") or {}
        yield from ((f"Impersonate-Extra-{key}", each) for key, values in extra.items() for each in values)


def _content(fields: _JSON, key: str, path: str, read_file: _ReadFile) -> bytes:
    """Return the data of a field, or the content of the file that it names."""
    if data := fields.get(f"{key}-data"):
        return base64.b64decode(data, validate=True)
    return read_file(_beside(path, fields[key])) if fields.get(key) else b""


def _beside(path: str, other: str) -> str:
    return posixpath.join(posixpath.dirname(path), other)
