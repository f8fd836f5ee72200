"""Kubelets' client certificates: approved if their users may have them."""

from __future__ import annotations

import asyncio

import pytest

from pyctrl.api import ObjectMeta
from pyctrl.apiserver import User
from pyctrl.client import Client
from pyctrl.cluster import Cluster
from pyctrl.kinds.certificates.v1 import CertificateSigningRequest
from pyctrl.kinds.rbac.v1 import ClusterRole, ClusterRoleBinding, PolicyRule, RoleRef, Subject
from tests.unit.cluster._certificates import (
    KUBELET_SIGNER,
    NAME,
    create,
    encoded_request,
    issued,
)


@pytest.mark.virtual_time
async def test_a_kubelet_is_approved_automatically() -> None:
    """A request for a kubelet's client certificate is approved and signed if its user may create it."""
    async with Cluster(kubelet=False) as cluster, cluster.client() as client:
        usages = ["digital signature", "client auth"]
        await create(client, encoded_request("system:node:a", "system:nodes"), KUBELET_SIGNER, usages)
        await issued(client)
        (condition,) = (await client.get(CertificateSigningRequest, NAME)).status.conditions
    assert (condition.type, condition.reason) == ("Approved", "AutoApproved")
    assert condition.message == "Auto approving kubelet client certificate after SubjectAccessReview."


@pytest.mark.virtual_time
async def test_a_kubelet_without_permission_stays_pending() -> None:
    """A request for a kubelet's client certificate is not approved if its user may not create it."""
    usages = ["digital signature", "client auth"]
    node = User(name="system:node:a", groups=("system:authenticated", "csr-creators"))
    rules = [{"apiGroups": ["certificates.k8s.io"], "resources": ["certificatesigningrequests"], "verbs": ["create"]}]
    async with Cluster(kubelet=False, rbac=True) as cluster, cluster.client() as client:
        role = ClusterRole(metadata=ObjectMeta(name="csr"), rules=[PolicyRule.model_validate(each) for each in rules])
        await client.create(role)
        subject = Subject(kind="Group", name="csr-creators", api_group="rbac.authorization.k8s.io")
        reference = RoleRef(kind="ClusterRole", name="csr", api_group="rbac.authorization.k8s.io")
        binding = ClusterRoleBinding(metadata=ObjectMeta(name="csr"), subjects=[subject], role_ref=reference)
        await client.create(binding)
        async with Client.connect(cluster.config_for(node)) as kubelet:
            await create(kubelet, encoded_request("system:node:a", "system:nodes"), KUBELET_SIGNER, usages)
        await asyncio.sleep(60)
        csr = await client.get(CertificateSigningRequest, NAME)
        assert (csr.spec.username, csr.status.conditions) == ("system:node:a", [])
