"""Root CA certificate publisher: the ConfigMap ``kube-root-ca.crt`` of every namespace.

By the rules of upstream's `pkg/controller/certificates/rootcacertpublisher`.
"""

from __future__ import annotations

from pyctrl.api import Key, ObjectMeta, is_deleting
from pyctrl.controller import Builder, Controller, ManagedCluster, Reconciler, Request, Result, mapped
from pyctrl.errors import AlreadyExists, Conflict, Forbidden, NotFound
from pyctrl.kinds.core.v1 import ConfigMap, Namespace

__all__ = ["PLACEHOLDER_CA", "add_root_ca_publisher"]

ROOT_CA_CONFIG_MAP = "kube-root-ca.crt"
DESCRIPTION = "kubernetes.io/description"

#: The root CA of a server without TLS: a certificate whose private key does not exist any more.
PLACEHOLDER_CA = """\
-----BEGIN CERTIFICATE-----
MIIBkzCCATigAwIBAgIBATAKBggqhkjOPQQDAjAuMSwwKgYDVQQDDCNweWN0cmwg
ZW1iZWRkZWQgY2x1c3RlciB3aXRob3V0IFRMUzAgFw0yNjAxMDEwMDAwMDBaGA8y
MTI2MDEwMTAwMDAwMFowLjEsMCoGA1UEAwwjcHljdHJsIGVtYmVkZGVkIGNsdXN0
ZXIgd2l0aG91dCBUTFMwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQckqA/VOz9
8zEEyTqhxz96pwsJ0v7WKb46IZdzk0quSltBiOcojgFKC0beU0PM69Rby744RF6q
lI3tps5UJxFfo0UwQzASBgNVHRMBAf8ECDAGAQH/AgEAMB0GA1UdDgQWBBS/ibK+
OmhTojKkZ0dmmi0l/3GjNTAOBgNVHQ8BAf8EBAMCAQYwCgYIKoZIzj0EAwIDSQAw
RgIhAL/KVU2MMPcsUphJ2Wb1iratoNb3sSBRc80piwxUqm6HAiEA5C52PE55XQ42
RqaW03lwQy4lF7yCMu8fad5PbVP0X0A=
-----END CERTIFICATE-----
"""

_ROOT_CA_DESCRIPTION = (  # the text of kube-controller-manager
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the "
    "internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes "
    "clusters."
)


def add_root_ca_publisher(host: ManagedCluster, *, root_ca: str) -> Controller:
    """Run the publisher in a manager. ``root_ca`` is the CA certificate, in PEM, for pods."""
    return (
        Builder(host)
        .reconciles(Namespace)
        .watches(ConfigMap, mapped(_published_namespace))
        .options(name="root-ca-certificate-publisher", workers=2)
        .build(RootCAPublisher(root_ca))
    )


def _published_namespace(obj: ConfigMap) -> list[Request]:
    return [Request("", obj.metadata.namespace)] if obj.metadata.name == ROOT_CA_CONFIG_MAP else []


class RootCAPublisher(Reconciler[Namespace]):
    """Creates the ConfigMap in active namespaces, and restores it when it is changed or deleted."""

    def __init__(self, root_ca: str) -> None:
        self._data = {"ca.crt": root_ca}

    async def reconcile(self, request: Request) -> Result | None:
        namespace = await self.client.find(Namespace, request.key)
        if namespace is None or is_deleting(namespace):
            return None
        found = await self.client.find(ConfigMap, Key(request.name, ROOT_CA_CONFIG_MAP))
        try:
            if found is None:
                await self.client.create(self._config_map(request.name))
            elif found.data != self._data or DESCRIPTION not in found.metadata.annotations:
                changed = found.deep_copy()
                changed.data = self._data
                changed.metadata.annotations = {**found.metadata.annotations, DESCRIPTION: _ROOT_CA_DESCRIPTION}
                await self.client.update(changed)
        except (AlreadyExists, Conflict, Forbidden, NotFound):
            return None  # written by another client, whose event follows, or the namespace is terminating
        return None

    def _config_map(self, namespace: str) -> ConfigMap:
        metadata = ObjectMeta(
            name=ROOT_CA_CONFIG_MAP, namespace=namespace, annotations={DESCRIPTION: _ROOT_CA_DESCRIPTION}
        )
        return ConfigMap(metadata=metadata, data=self._data)
