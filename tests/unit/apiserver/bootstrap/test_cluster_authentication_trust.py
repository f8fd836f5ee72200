"""The ConfigMap from which extension API servers learn how users authenticate."""

from __future__ import annotations

import json
from typing import Any

from pyctrl.apiserver import ApiServer, CertificateAuthority, ClusterAuthenticationInfo, RequestHeaderInfo

PATH = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"


def read(server: ApiServer) -> dict[str, Any]:
    answer = server.handle_nowait("GET", PATH)
    assert isinstance(answer.body, bytes)
    found: dict[str, Any] = json.loads(answer.body)
    return found


def test_authorities_and_headers_are_published() -> None:
    """The ConfigMap has the entries and the field manager of kube-apiserver."""
    clients, front_proxy = CertificateAuthority.new(), CertificateAuthority.new_front_proxy()
    server = ApiServer()
    assert read(server)["code"] == 404
    info = ClusterAuthenticationInfo(
        client_ca=clients.certificate, request_header=RequestHeaderInfo(client_ca=front_proxy.certificate)
    )
    server.publish_authentication(info, proxy_client=front_proxy.front_proxy_client())

    published = read(server)
    assert published["data"] == {
        "client-ca-file": clients.certificate.decode(),
        "requestheader-allowed-names": '["front-proxy-client"]',
        "requestheader-client-ca-file": front_proxy.certificate.decode(),
        "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
        "requestheader-group-headers": '["X-Remote-Group"]',
        "requestheader-username-headers": '["X-Remote-User"]',
    }
    (entry,) = published["metadata"]["managedFields"]
    assert (entry["manager"], entry["operation"]) == ("kube-apiserver", "Update")
    assert "f:client-ca-file" in entry["fieldsV1"]["f:data"]
    assert server.proxy_client is not None


def test_published_authorities_are_kept() -> None:
    """A second authority is added to the first; publishing the same again changes nothing."""
    first, second = CertificateAuthority.new("first"), CertificateAuthority.new("second")
    server = ApiServer()
    for authority in (first, second, first):
        server.publish_authentication(ClusterAuthenticationInfo(client_ca=authority.certificate))
    version = read(server)["metadata"]["resourceVersion"]
    server.publish_authentication(ClusterAuthenticationInfo(client_ca=second.certificate))

    published = read(server)
    assert published["data"]["client-ca-file"] == (first.certificate + second.certificate).decode()
    assert published["metadata"]["resourceVersion"] == version
