"""ConfigMap `kube-system/extension-apiserver-authentication` (upstream's clusterauthenticationtrust controller).

Extension API servers read it to authenticate requests: the CAs of client certificates, and the CA and the headers of
the front proxy, which is the aggregator of this server.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from pyctrl.apiserver._authority import FRONT_PROXY_CLIENT
from pyctrl.apiserver._bootstrap.bootstrap_object import managed_by, put_new_object

if TYPE_CHECKING:
    from pyctrl.apiserver._endpoints.backend import RESTStorage

__all__ = ["ClusterAuthenticationInfo", "ClusterAuthenticationTrustController", "RequestHeaderInfo"]

NAMESPACE, NAME = "kube-system", "extension-apiserver-authentication"
_CERTIFICATE = re.compile(rb"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----\n?", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestHeaderInfo:
    """The front proxy: which client certificates prove it, and the headers in which it sends the user.

    The defaults are those of kubeadm.
    """

    client_ca: bytes
    """The CA of the front proxy's client certificate, in PEM (`--requestheader-client-ca-file`)."""
    allowed_names: tuple[str, ...] = (FRONT_PROXY_CLIENT,)
    """Common names of that certificate; empty for any."""
    username_headers: tuple[str, ...] = ("X-Remote-User",)
    uid_headers: tuple[str, ...] = ()
    group_headers: tuple[str, ...] = ("X-Remote-Group",)
    extra_header_prefixes: tuple[str, ...] = ("X-Remote-Extra-",)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterAuthenticationInfo:
    """What extension API servers need to authenticate the users of this cluster."""

    client_ca: bytes = b""
    """The CAs of users' client certificates, in PEM (`--client-ca-file`)."""
    request_header: RequestHeaderInfo | None = None


class ClusterAuthenticationTrustController:
    """Publishes `ClusterAuthenticationInfo` in the ConfigMap."""

    def __init__(self, backend: RESTStorage) -> None:
        self._backend = backend
        self._type = backend.registry.require("", "v1", "configmaps")

    def publish(self, info: ClusterAuthenticationInfo) -> None:
        """Write the ConfigMap. Certificates and names that it has already are kept, as in kube-apiserver."""
        stored = self._backend.collection(self._type).find(NAMESPACE, NAME)
        old: dict[str, str] = {} if stored is None else stored.decode().get("data") or {}
        data = {**old, **_data(info, old)}
        if not data or data == old:
            return
        managers = [managed_by("kube-apiserver", "v1", {"f:data": {".": {}, **{f"f:{key}": {} for key in data}}})]
        if stored is None:
            metadata = {"name": NAME, "namespace": NAMESPACE}
            put_new_object(self._backend, self._type, {"metadata": metadata, "data": data}, managers=managers)
            return
        changed = stored.decode()
        changed["data"], changed["metadata"]["managedFields"] = data, managers
        self._backend.put(changed, self._type)


def _data(info: ClusterAuthenticationInfo, old: dict[str, str]) -> dict[str, str]:
    """Return the entries of the ConfigMap for `info`, each combined with its old value."""
    data = {"client-ca-file": _certificates(old.get("client-ca-file", ""), info.client_ca)} if info.client_ca else {}
    front_proxy = info.request_header
    if front_proxy is None:
        return data
    lists = {
        "requestheader-username-headers": front_proxy.username_headers,
        "requestheader-uid-headers": front_proxy.uid_headers,
        "requestheader-group-headers": front_proxy.group_headers,
        "requestheader-extra-headers-prefix": front_proxy.extra_header_prefixes,
        "requestheader-allowed-names": front_proxy.allowed_names,
    }
    key = "requestheader-client-ca-file"
    data[key] = _certificates(old.get(key, ""), front_proxy.client_ca)
    for key, values in lists.items():
        combined = list(dict.fromkeys((*_strings(old.get(key, "")), *values)))
        if combined or key != "requestheader-uid-headers":
            data[key] = msgspec.json.encode(combined).decode()
    return data


def _certificates(old: str, new: bytes) -> str:
    """Return the certificates of both in PEM, each once."""
    return "".join(dict.fromkeys((*_blocks(old.encode()), *_blocks(new))))


def _blocks(pem: bytes) -> Iterator[str]:
    for block in _CERTIFICATE.findall(pem):
        yield block.decode("ascii", "replace").rstrip("\n") + "\n"


def _strings(text: str) -> Iterable[str]:
    found: Any = msgspec.json.decode(text) if text else []
    return found if isinstance(found, list) else []
