"""Graph of the objects that a node may read, because they belong to its pods.

The edges are those of kube-apiserver's node authorizer (plugin/pkg/auth/authorizer/node/graph.go). They follow the
storage, so a pod grants access from the moment in which it is bound to a node.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from pyctrl.apiserver._meta.pod_references import config_map_names, secret_names
from pyctrl.apiserver._storage.storage import Collection, Storage, WatchCacheEvent

__all__ = ["NodeGraph", "Vertex"]


_MIRROR = "kubernetes.io/config.mirror"
#: Volume sources with one secret, which the kubelet reads.
_SECRET_REFS = ("cephfs", "cinder", "flexVolume", "rbd", "scaleIO", "iscsi", "storageos")
_CSI_SECRETS = ("nodePublishSecretRef", "nodeStageSecretRef", "nodeExpandSecretRef")


class Vertex(NamedTuple):
    """An object, by the plural of its resource. No two resources of the graph have the same plural."""

    resource: str
    namespace: str
    name: str


_Edges: TypeAlias = Iterable[tuple[Vertex, Vertex]]
_MakeEdges: TypeAlias = Callable[[Vertex, Mapping[str, Any]], _Edges]


class NodeGraph:
    """Directed graph of objects. An object is related to a node if a path leads from it to the node."""

    def __init__(self, storage: Storage) -> None:
        self._next: defaultdict[Vertex, set[Vertex]] = defaultdict(set)
        self._edges: dict[Vertex, set[tuple[Vertex, Vertex]]] = {}  # those of a stored object
        for (group, resource), make_edges in _EDGES.items():
            self._follow(resource, storage.collection(group, resource), make_edges)

    def has_path(self, start: Vertex, node: str) -> bool:
        """Return whether a node may read an object."""
        end, seen, pending = Vertex("nodes", "", node), {start}, [start]
        while pending:
            for vertex in self._next.get(pending.pop(), ()):
                if vertex == end:
                    return True
                if vertex not in seen:
                    seen.add(vertex)
                    pending.append(vertex)
        return False

    def _follow(self, resource: str, collection: Collection, make_edges: _MakeEdges) -> None:
        def changed(event: WatchCacheEvent) -> None:
            stored = event.current or event.previous
            assert stored is not None  # an event has at least one of them
            vertex = Vertex(resource, stored.namespace, stored.name)
            self._replace(vertex, () if event.current is None else make_edges(vertex, stored.decode()))

        for stored in collection.current(""):
            changed(WatchCacheEvent("ADDED", stored.version, stored, None))
        collection.listen(changed)

    def _replace(self, vertex: Vertex, edges: _Edges) -> None:
        """Replace the edges of a stored object. Each begins or ends there, so no two objects have the same edge."""
        for start, end in self._edges.pop(vertex, ()):
            ends = self._next[start]
            ends.discard(end)
            if not ends:
                del self._next[start]
        found = set(edges)
        if found:
            self._edges[vertex] = found
        for start, end in found:
            self._next[start].add(end)


def _pod_edges(pod: Vertex, obj: Mapping[str, Any]) -> Iterator[tuple[Vertex, Vertex]]:
    """Yield the edges of a pod on a node. A mirror pod, which nodes create, gives access to itself only."""
    spec, namespace = obj["spec"], pod.namespace
    if not spec.get("nodeName"):
        return
    yield pod, Vertex("nodes", "", spec["nodeName"])
    if _MIRROR in (obj["metadata"].get("annotations") or {}):
        return
    related = {
        "serviceaccounts": [spec.get("serviceAccountName") or ""],
        "secrets": secret_names(spec),
        "configmaps": config_map_names(spec),
        "persistentvolumeclaims": _claim_names(pod.name, spec),
        "resourceclaims": _resource_claim_names(obj),
    }
    for resource, names in related.items():
        for name in names:
            if name:
                yield Vertex(resource, namespace, name), pod


def _claim_names(pod: str, spec: Mapping[str, Any]) -> Iterator[str]:
    for volume in spec.get("volumes") or ():
        if volume.get("persistentVolumeClaim"):
            yield volume["persistentVolumeClaim"]["claimName"]
        elif volume.get("ephemeral"):
            yield f"{pod}-{volume['name']}"


def _resource_claim_names(pod: Mapping[str, Any]) -> Iterator[str]:
    status = pod.get("status") or {}
    made = {each["name"]: each.get("resourceClaimName") for each in status.get("resourceClaimStatuses") or ()}
    for claim in pod["spec"].get("resourceClaims") or ():
        yield claim.get("resourceClaimName") or made.get(claim["name"]) or ""
    yield (status.get("extendedResourceClaimStatus") or {}).get("resourceClaimName") or ""


def _volume_edges(volume: Vertex, obj: Mapping[str, Any]) -> Iterator[tuple[Vertex, Vertex]]:
    """Yield the edges of a volume that is bound to a claim."""
    spec = obj["spec"]
    claim = spec.get("claimRef")
    if not claim:
        return
    namespace = claim.get("namespace") or ""
    yield volume, Vertex("persistentvolumeclaims", namespace, claim.get("name") or "")
    for reference in _volume_secrets(spec):
        if reference.get("name"):
            yield Vertex("secrets", reference.get("namespace") or namespace, reference["name"]), volume


def _volume_secrets(spec: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the references of a volume to the secrets that the kubelet reads."""
    azure = spec.get("azureFile") or {}
    yield {"namespace": azure.get("secretNamespace"), "name": azure.get("secretName")}
    for source in _SECRET_REFS:
        yield (spec.get(source) or {}).get("secretRef") or {}
    for key in _CSI_SECRETS:
        yield (spec.get("csi") or {}).get(key) or {}


def _node_edges(vertex: Vertex, obj: Mapping[str, Any]) -> Iterator[tuple[Vertex, Vertex]]:
    """Yield the edge of an object that names a node: a VolumeAttachment or a ResourceSlice."""
    if node := obj["spec"].get("nodeName"):
        yield vertex, Vertex("nodes", "", node)


_EDGES: Mapping[tuple[str, str], _MakeEdges] = {
    ("", "pods"): _pod_edges,
    ("", "persistentvolumes"): _volume_edges,
    ("storage.k8s.io", "volumeattachments"): _node_edges,
    ("resource.k8s.io", "resourceslices"): _node_edges,
}
