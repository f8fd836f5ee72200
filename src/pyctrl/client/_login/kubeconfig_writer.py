"""Conversion of a `Config` to a kubeconfig, for kubectl on servers that pyctrl has started."""

from __future__ import annotations

import base64
from typing import Any

import yaml

from pyctrl.client._login.config import Config
from pyctrl.client._login.credentials import StorableCredentials
from pyctrl.client._login.impersonation import Impersonation
from pyctrl.client._login.tls import Pem
from pyctrl.errors import ConfigError

__all__ = ["write"]


def write(config: Config, context_name: str) -> str:
    """Return YAML with one cluster, one user and one context, all of the same name."""
    if config.application is not None:
        raise ConfigError("a server in this process has no address; serve it over HTTP to get a kubeconfig for it")
    context = {"cluster": context_name, "user": context_name, "namespace": config.namespace}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": context_name, "cluster": _cluster(config)}],
        "users": [{"name": context_name, "user": _user(config)}],
        "contexts": [{"name": context_name, "context": context}],
        "current-context": context_name,
    }
    return yaml.safe_dump(document, sort_keys=False)


def _cluster(config: Config) -> dict[str, Any]:
    cluster: dict[str, Any] = {"server": config.server}
    if config.tls.ca is not None:
        cluster["certificate-authority-data"] = _encoded(config.tls.ca)
    if config.tls.insecure:
        cluster["insecure-skip-tls-verify"] = True
    if config.tls.server_name:
        cluster["tls-server-name"] = config.tls.server_name
    if config.proxy:
        cluster["proxy-url"] = config.proxy
    return cluster


def _user(config: Config) -> dict[str, Any]:
    if not isinstance(config.credentials, StorableCredentials):
        raise ConfigError(f"{config.credentials!r} cannot be written to a kubeconfig: it has no to_kubeconfig_user()")
    user = config.credentials.to_kubeconfig_user()
    if config.tls.certificate is not None:
        user["client-certificate-data"] = _encoded(config.tls.certificate.certificate)
        user["client-key-data"] = _encoded(config.tls.certificate.key)
    return user if config.impersonate is None else {**user, **_impersonated(config.impersonate)}


def _impersonated(user: Impersonation) -> dict[str, Any]:
    extra = {name: list(values) for name, values in user.extra.items()}
    fields = {"as": user.user, "as-uid": user.uid, "as-groups": list(user.groups), "as-user-extra": extra}
    return {key: value for key, value in fields.items() if value}


def _encoded(pem: Pem) -> str:
    return base64.b64encode(pem.read()).decode()
