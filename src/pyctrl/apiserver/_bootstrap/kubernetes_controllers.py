"""What a kube-apiserver has and an extension API server has not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyctrl.apiserver._authn.openid import OpenIDMetadata
from pyctrl.apiserver._bootstrap.api_services import AutoRegisterController
from pyctrl.apiserver._bootstrap.cluster_authentication_trust import (
    ClusterAuthenticationInfo,
    ClusterAuthenticationTrustController,
)
from pyctrl.apiserver._bootstrap.component_statuses import ComponentStatuses
from pyctrl.apiserver._bootstrap.flow_schema_status import FlowSchemaStatusController
from pyctrl.apiserver._bootstrap.service_ip_addresses import ServiceIPAddressController
from pyctrl.apiserver._bootstrap.system_objects import SystemObjectsController
from pyctrl.apiserver._registry.resource_registry import ResourceRegistry

if TYPE_CHECKING:
    from pyctrl.apiserver._aggregator import Aggregator
    from pyctrl.apiserver._authn import ServiceAccountTokens
    from pyctrl.apiserver._endpoints.backend import RESTStorage

__all__ = ["KubernetesControllers"]


class KubernetesControllers:
    """The controllers of built-in objects, the aggregator, and the OpenID documents of service account tokens.

    Args:
        backend: The storage of the server, whose registry is a `ResourceRegistry`.
        accounts: The service account tokens of the server.
        aggregator: Proxies requests to other servers.
    """

    def __init__(self, backend: RESTStorage, accounts: ServiceAccountTokens, aggregator: Aggregator) -> None:
        assert isinstance(backend.registry, ResourceRegistry)  # extension API servers have another one
        self.aggregator: Aggregator = aggregator
        self.openid: OpenIDMetadata = OpenIDMetadata(accounts)
        self._authentication_trust = ClusterAuthenticationTrustController(backend)
        self.component_statuses: ComponentStatuses = ComponentStatuses(backend.registry)
        self._api_services = AutoRegisterController(backend)
        self._system_objects = SystemObjectsController(backend, backend.registry.service_cluster_ip_range)
        self._flow_schemas = FlowSchemaStatusController(backend)
        self._ip_addresses = ServiceIPAddressController(backend)
        self.sync()

    def publish(self, info: ClusterAuthenticationInfo) -> None:
        """Create the ConfigMaps of a server that other programs call."""
        self._authentication_trust.publish(info)
        self._system_objects.publish()

    def sync(self) -> None:
        """Make the objects consistent with the state that a request has left."""
        self._api_services.sync()
        self._system_objects.sync()
        self._flow_schemas.sync()
        self._ip_addresses.sync()
