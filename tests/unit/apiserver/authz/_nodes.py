"""Access reviews of kubelets, and the objects that their pods use."""

from __future__ import annotations

from random import Random
from typing import Any

from pyctrl.apiserver import ApiServer
from tests.unit.apiserver._kit import Asker

NODE = "n1"
CORE = "/api/v1/namespaces/default"
SECRET_REF = {"secretRef": {"name": "s-volume"}}
#: A pod that refers to objects of all kinds.
POD: dict[str, Any] = {
    "metadata": {"name": "web"},
    "spec": {
        "nodeName": NODE,
        "serviceAccountName": "sa",
        "imagePullSecrets": [{"name": "s-pull"}],
        "containers": [
            {
                "name": "c",
                "image": "i",
                "envFrom": [{"secretRef": {"name": "s-from"}}, {"configMapRef": {"name": "c-from"}}],
                "env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "s-key", "key": "k"}}}],
            }
        ],
        "volumes": [
            {"name": "a", "secret": {"secretName": "s-file"}},
            {"name": "b", "configMap": {"name": "c-file"}},
            {
                "name": "c",
                "projected": {"sources": [{"secret": {"name": "s-part"}}, {"configMap": {"name": "c-part"}}]},
            },
            {"name": "d", "persistentVolumeClaim": {"claimName": "claim"}},
            {
                "name": "e",
                "ephemeral": {
                    "volumeClaimTemplate": {
                        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
                    }
                },
            },
        ],
        "resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu-claim"}],
    },
}
VOLUME: dict[str, Any] = {
    "metadata": {"name": "volume"},
    "spec": {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "claimRef": {"namespace": "default", "name": "claim"},
        "csi": {
            "driver": "d.example.com",
            "volumeHandle": "h",
            "nodePublishSecretRef": {"namespace": "default", "name": "s-publish"},
            "controllerPublishSecretRef": {"namespace": "default", "name": "s-controller"},
        },
    },
}
ATTACHMENT: dict[str, Any] = {
    "metadata": {"name": "attachment"},
    "spec": {"attacher": "d.example.com", "nodeName": NODE, "source": {"persistentVolumeName": "volume"}},
}


class Nodes(Asker):
    """A server with the Node authorizer before RBAC."""

    def __init__(self) -> None:
        super().__init__(ApiServer(random=Random(1), authorization=("Node", "RBAC")))

    def answer(self, method: str, path: str, body: Any = None, *, headers: Any = None, **query: str) -> Any:
        own = {"Authorization": f"Bearer {self.server.loopback_token}"}
        return super().answer(method, path, body, headers={**own, **(headers or {})}, **query)

    def create(self, path: str, obj: dict[str, Any]) -> None:
        """Create an object."""
        code, body = self("POST", path, obj)
        assert code == 201, body

    def create_pod(self, **spec: Any) -> None:
        """Create the pod, with other fields of its spec."""
        self.create(f"{CORE}/pods", {**POD, "spec": {**POD["spec"], **spec}})

    def review(self, access: str, *, user: str = f"system:node:{NODE}", **more: Any) -> str | None:
        """Return why a node may not `VERB RESOURCE[.GROUP][/SUBRESOURCE] [NAMESPACE/][NAME]`; None if it may."""
        verb, what, where, *_ = (*access.split(), "")
        named, _, subresource = what.partition("/")
        resource, _, group = named.partition(".")
        namespace, _, name = where.rpartition("/")
        parts = {"verb": verb, "resource": resource, "group": group, "subresource": subresource}
        attributes = {**parts, "namespace": namespace, "name": name, **more}
        spec = {"user": user, "groups": ["system:nodes"], "resourceAttributes": attributes}
        _, body = self("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {"spec": spec})
        return None if body["status"]["allowed"] else body["status"].get("reason", "")
