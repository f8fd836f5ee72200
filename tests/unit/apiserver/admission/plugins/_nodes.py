"""A server with the plugin NodeRestriction and two nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyctrl.apiserver import User
from tests.unit.apiserver._kit import MERGE, Asker
from tests.unit.apiserver.admission.plugins._admitted import NAMESPACE, PODS, asking, pod

NODES = "/api/v1/nodes"


class NodeCluster:
    """A server with the nodes n1 and n2, asked by an administrator or by the kubelet of n1."""

    def __init__(self) -> None:
        self.ask: Asker = asking("NodeRestriction")
        self.tokens = {
            name: self.ask.server.issue_token(User(name=f"system:node:{name}", groups=("system:nodes",)))
            for name in ("n1", "")
        }
        self.uids = {
            name: self.ask("POST", NODES, {"metadata": {"name": name}})[1]["metadata"]["uid"] for name in ("n1", "n2")
        }
        self.ask("POST", "/api/v1/namespaces", {"metadata": {"name": "kube-node-lease"}})
        self.ask("POST", f"{NAMESPACE}/serviceaccounts", {"metadata": {"name": "sa"}})

    def refusal(
        self, method: str, path: str, body: Any = None, *, headers: Mapping[str, str] | None = None, node: str = "n1"
    ) -> str:
        """Ask as a kubelet; return why the request was refused, or ""."""
        headers = {"Authorization": f"Bearer {self.tokens[node]}", **(headers or {})}
        code, answer = self.ask(method, path, body, headers=headers)
        return str(answer["message"]).partition(" is forbidden: ")[2] or str(answer["message"]) if code >= 400 else ""

    def change(self, path: str, patch: Any) -> str:
        """Merge a patch as the kubelet of n1."""
        return self.refusal("PATCH", path, patch, headers=MERGE)

    def bound_pod(self, name: str, node: str, **spec: Any) -> str:
        """Create a pod on a node; return its uid."""
        code, made = self.ask("POST", PODS, pod(name, nodeName=node, serviceAccountName="sa", **spec))
        assert code == 201, made
        return str(made["metadata"]["uid"])

    def mirror_pod(self, *, owner: Any = None, annotated: bool = True, **spec: Any) -> dict[str, Any]:
        """Return a mirror pod of n1."""
        owners = [{"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": self.uids["n1"], "controller": True}]
        made = pod("mirror", **{"nodeName": "n1", **spec})
        made["metadata"]["ownerReferences"] = owners if owner is None else [{**owners[0], **each} for each in owner]
        made["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"} if annotated else {}
        return made
