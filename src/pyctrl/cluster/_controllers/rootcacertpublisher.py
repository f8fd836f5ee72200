"""The ConfigMap ``kube-root-ca.crt`` of every namespace (upstream's root CA certificate publisher).

The namespace controller creates it with the other default objects.
"""

from __future__ import annotations

from pyctrl.api import ObjectMeta
from pyctrl.kinds.core.v1 import ConfigMap

__all__ = ["PLACEHOLDER_CA", "ROOT_CA_CONFIG_MAP", "root_ca_config_map"]

ROOT_CA_CONFIG_MAP = "kube-root-ca.crt"

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


def root_ca_config_map(namespace: str, root_ca: str) -> ConfigMap:
    """Return the ConfigMap of a namespace with a CA certificate in PEM."""
    return ConfigMap(
        metadata=ObjectMeta(
            name=ROOT_CA_CONFIG_MAP,
            namespace=namespace,
            annotations={"kubernetes.io/description": _ROOT_CA_DESCRIPTION},
        ),
        data={"ca.crt": root_ca},
    )
