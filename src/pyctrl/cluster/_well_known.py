"""Well-known names that several components of the cluster share."""

from __future__ import annotations

__all__ = ["NODE_LEASE_NAMESPACE", "SELECTED_NODE"]

NODE_LEASE_NAMESPACE = "kube-node-lease"  # NamespaceNodeLease of k8s.io/api/core/v1
SELECTED_NODE = "volume.kubernetes.io/selected-node"  # AnnSelectedNode of k8s.io/component-helpers/storage/volume
