"""What every namespace starts with, as kube-controller-manager makes it."""

from __future__ import annotations

from pyctrl.api import ObjectMeta
from pyctrl.kinds.core.v1 import ConfigMap, ServiceAccount

__all__ = ["FURNITURE", "NO_TLS", "furniture"]

ROOT_CA = "kube-root-ca.crt"

#: The names that are made anew when somebody deletes them.
FURNITURE = frozenset(("default", ROOT_CA))

#: What stands for the server's authority while it is served without TLS: a certificate whose key nobody has.
NO_TLS = """\
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

_ROOT_CA_NOTE = (  # the words of kube-controller-manager
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the "
    "internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes "
    "clusters."
)


def furniture(namespace: str, *, root_ca: str) -> tuple[ServiceAccount | ConfigMap, ...]:
    """Return the objects of a new namespace."""
    return (
        ServiceAccount(metadata=ObjectMeta(name="default", namespace=namespace)),
        ConfigMap(
            metadata=ObjectMeta(
                name=ROOT_CA, namespace=namespace, annotations={"kubernetes.io/description": _ROOT_CA_NOTE}
            ),
            data={"ca.crt": root_ca},
        ),
    )
