"""Admission plugin ServiceAccount: gives pods their service account, its token and its image pull secrets."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any, Final

from pyctrl.apiserver._admission.attributes import CREATE, UPDATE, Attributes
from pyctrl.apiserver._admission.chain import Plugin
from pyctrl.apiserver._meta.system_fields import generated_name
from pyctrl.apiserver._storage.storage import Collection

__all__ = ["ServiceAccount"]


_DEFAULT: Final = "default"
_MIRROR: Final = "kubernetes.io/config.mirror"
_ENFORCES_SECRETS: Final = "kubernetes.io/enforce-mountable-secrets"
_TRUE: Final = ("1", "t", "T", "TRUE", "true", "True")
_VOLUME: Final = "kube-api-access-"
_MOUNT_PATH: Final = "/var/run/secrets/kubernetes.io/serviceaccount"
_TOKEN_SECONDS: Final = 3607  # an hour, and 7 seconds that mark tokens of this plugin
_TOKEN_VOLUME: Final = {
    "defaultMode": 0o644,
    "sources": [
        {"serviceAccountToken": {"expirationSeconds": _TOKEN_SECONDS, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {
            "downwardAPI": {
                "items": [{"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}]
            }
        },
    ],
}


class ServiceAccount(Plugin):
    """Sets `serviceAccountName`, the volume of the token and `imagePullSecrets` of new pods."""

    def __init__(self, accounts: Collection, random: Random) -> None:
        self._accounts = accounts
        self._random = random

    def handles(self, group: str, resource: str) -> bool:
        """Return whether the resource is pods."""
        return (group, resource) == ("", "pods")

    def mutate(self, attributes: Attributes) -> None:
        """Set the fields; reject (403) a pod whose account does not exist."""
        pod = attributes.object
        if attributes.operation != CREATE or attributes.subresource or pod is None:
            return
        if not _is_mirror(pod):
            spec = pod["spec"]
            spec["serviceAccountName"] = spec.get("serviceAccountName") or _DEFAULT
            spec["serviceAccount"] = spec["serviceAccountName"]  # the deprecated name of the field
            account = self._account(attributes, spec["serviceAccountName"])
            if _mounts_token(account, spec):
                self._mount_token(spec)
            if not spec.get("imagePullSecrets") and (secrets := account.get("imagePullSecrets")):
                spec["imagePullSecrets"] = [{"name": each.get("name") or ""} for each in secrets]
        self.validate(attributes)

    def validate(self, attributes: Attributes) -> None:
        """Reject (403) a mirror pod with secrets, a pod without account, and secrets that the account may not mount."""
        pod = attributes.object
        if pod is None:
            return
        is_debug = attributes.subresource == "ephemeralcontainers" and attributes.operation == UPDATE
        if not is_debug and (attributes.operation != CREATE or attributes.subresource):
            return
        spec = pod["spec"]
        if not is_debug and _is_mirror(pod):
            _check_mirror(attributes, spec)
            return
        name = spec.get("serviceAccountName")
        if not name:
            where = f"{attributes.namespace}/{pod['metadata'].get('name') or ''}"
            raise attributes.forbidden(f"no service account specified for pod {where}")
        account = self._account(attributes, name)
        enforced = (account["metadata"].get("annotations") or {}).get(_ENFORCES_SECRETS)
        if enforced in _TRUE:
            problems = _debug_problems(account, spec) if is_debug else _secret_problems(account, spec)
            if problem := next(problems, ""):
                raise attributes.forbidden(problem)

    def _account(self, attributes: Attributes, name: str) -> dict[str, Any]:
        stored = self._accounts.find(attributes.namespace, name)
        if stored is None:
            where = f"{attributes.namespace}/{name}"
            raise attributes.forbidden(f'error looking up service account {where}: serviceaccount "{name}" not found')
        return stored.decode()

    def _mount_token(self, spec: dict[str, Any]) -> None:
        """Mount the token in every container that has nothing mounted at its path."""
        volumes = spec.get("volumes") or []
        found = next((each["name"] for each in volumes if each["name"].startswith(_VOLUME)), "")
        name = found or generated_name(_VOLUME, self._random)
        is_needed = False
        for container in (*(spec.get("initContainers") or ()), *(spec.get("containers") or ())):
            mounts = container.get("volumeMounts") or []
            if not any(mount.get("mountPath") == _MOUNT_PATH for mount in mounts):
                mount = {"name": name, "readOnly": True, "mountPath": _MOUNT_PATH}
                container["volumeMounts"] = [*mounts, mount]
                is_needed = True
        if is_needed and not found:
            spec["volumes"] = [*volumes, {"name": name, "projected": copy.deepcopy(_TOKEN_VOLUME)}]


def _is_mirror(pod: Mapping[str, Any]) -> bool:
    return _MIRROR in (pod["metadata"].get("annotations") or {})


def _mounts_token(account: Mapping[str, Any], spec: Mapping[str, Any]) -> bool:
    for each in (spec, account):
        wanted = each.get("automountServiceAccountToken")
        if wanted is not None:
            return bool(wanted)
    return True


def _check_mirror(attributes: Attributes, spec: Mapping[str, Any]) -> None:
    if spec.get("serviceAccountName"):
        raise attributes.forbidden("a mirror pod may not reference service accounts")
    volumes = spec.get("volumes") or ()
    secrets = [*(spec.get("imagePullSecrets") or ()), *(each["secret"] for each in volumes if each.get("secret"))]
    containers = [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
    if secrets or any(True for each in containers for _ in _references(each)):
        raise attributes.forbidden("a mirror pod may not reference secrets")
    for volume in volumes:
        if any(each.get("serviceAccountToken") for each in (volume.get("projected") or {}).get("sources") or ()):
            raise attributes.forbidden("a mirror pod may not use ServiceAccountToken volume projections")


def _references(container: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the secrets in the environment of a container, each with the words for its place."""
    for each in container.get("env") or ():
        if reference := (each.get("valueFrom") or {}).get("secretKeyRef"):
            yield f"envVar {each.get('name') or ''}", reference.get("name") or ""
    for each in container.get("envFrom") or ():
        if reference := each.get("secretRef"):
            yield "envFrom", reference.get("name") or ""


def _secret_problems(account: Mapping[str, Any], spec: Mapping[str, Any]) -> Iterator[str]:
    name, allowed = account["metadata"]["name"], _names(account.get("secrets"))
    why = f"is not allowed because service account {name} does not reference that"
    for volume in spec.get("volumes") or ():
        if (secret := volume.get("secret")) and secret.get("secretName") not in allowed:
            yield f'volume with secret.secretName="{secret.get("secretName") or ""}" {why} secret'
    for kind, word in (("initContainers", "init container"), ("containers", "container")):
        yield from _environment_problems(account, spec.get(kind) or (), word)
    pull_secrets = _names(account.get("imagePullSecrets"))
    for index, each in enumerate(spec.get("imagePullSecrets") or ()):
        if each.get("name") not in pull_secrets:
            yield f'imagePullSecrets[{index}].name="{each.get("name") or ""}" {why} imagePullSecret'


def _debug_problems(account: Mapping[str, Any], spec: Mapping[str, Any]) -> Iterator[str]:
    return _environment_problems(account, spec.get("ephemeralContainers") or (), "ephemeral container")


def _environment_problems(account: Mapping[str, Any], containers: Any, word: str) -> Iterator[str]:
    name, allowed = account["metadata"]["name"], _names(account.get("secrets"))
    why = f"is not allowed because service account {name} does not reference that secret"
    for container in containers:
        for place, secret in _references(container):
            if secret not in allowed:
                where = f"{word} {container.get('name') or ''} with {place}"
                yield f'{where} referencing secret.secretName="{secret}" {why}'


def _names(references: Any) -> set[str]:
    return {each.get("name") or "" for each in references or ()}
