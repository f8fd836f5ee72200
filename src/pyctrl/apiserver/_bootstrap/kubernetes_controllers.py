"""What a kube-apiserver has and an extension API server has not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyctrl.apiserver._authn.openid import OpenIDMetadata
from pyctrl.apiserver._bootstrap.api_services import AutoRegisterController
from pyctrl.apiserver._bootstrap.cluster_authentication_trust import ClusterAuthenticationTrustController

if TYPE_CHECKING:
    from pyctrl.apiserver._aggregator import Aggregator
    from pyctrl.apiserver._authn import ServiceAccountTokens
    from pyctrl.apiserver._endpoints.backend import RESTStorage

__all__ = ["KubernetesControllers"]


class KubernetesControllers:
    """The controllers of built-in objects, the aggregator, and the OpenID documents of service account tokens."""

    def __init__(self, backend: RESTStorage, accounts: ServiceAccountTokens, aggregator: Aggregator) -> None:
        self.aggregator: Aggregator = aggregator
        self.openid: OpenIDMetadata = OpenIDMetadata(accounts)
        self.api_services: AutoRegisterController = AutoRegisterController(backend)
        self.authentication_trust: ClusterAuthenticationTrustController = ClusterAuthenticationTrustController(backend)
