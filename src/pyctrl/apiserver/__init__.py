"""Embedded API server: the API of kube-apiserver 1.36 over storage in memory.

`ApiServer.handle` takes a request and returns its response; the in-process transport calls it without a socket. `serve`
serves the same server over HTTP for kubectl and other clients. The controllers of a cluster are in `pyctrl.cluster`.
"""

from pyctrl.apiserver._admission import (
    AdmissionConfiguration,
    AdmissionPluginName,
    enabled_plugins,
)
from pyctrl.apiserver._aggregator import ProxyRequest, ServiceTransport, ServiceUnreachable, user_headers
from pyctrl.apiserver._authn import (
    FRONT_PROXY,
    AuthenticationWebhook,
    DelegatingRequestAuthenticator,
    Peer,
    RequestAuthenticator,
    RequestHeaderConfig,
    User,
    read_token_file,
)
from pyctrl.apiserver._authority import CertificateAuthority, KeyPair, serving_context
from pyctrl.apiserver._authz import AuthorizationWebhook
from pyctrl.apiserver._bootstrap.cluster_authentication_trust import ClusterAuthenticationInfo, RequestHeaderInfo
from pyctrl.apiserver._errors import Response, Upgrade, UpgradedConnection
from pyctrl.apiserver._extension.registry import ExtensionResourceRegistry
from pyctrl.apiserver._extension.subresource_functions import SubresourceFunctions
from pyctrl.apiserver._feature_gates import FeatureGate, enabled_features, is_feature_gate, parse_feature_gates
from pyctrl.apiserver._filters.audit import AuditLog
from pyctrl.apiserver._filters.audit_policy import AuditLevel, AuditPolicy
from pyctrl.apiserver._http.server import serve, serve_kubelet
from pyctrl.apiserver._kubelet import (
    ContainerStreams,
    ExecHandler,
    KubeletError,
    KubeletServer,
    PodLogOptions,
    PortForwardHandler,
    TerminalSize,
    TerminalSizeQueue,
)
from pyctrl.apiserver._offline_validation import OfflineValidation, OfflineValidator, ValidationProblem
from pyctrl.apiserver._registry.resource_registry import ResourceRegistry
from pyctrl.apiserver._resources.resource_storage import ResourceStorage, StorageList, StorageRequest
from pyctrl.apiserver._resources.resource_type import ConnectedSubresource, ResourceType
from pyctrl.apiserver._serializer.decoding import read_documents
from pyctrl.apiserver._serializer.yaml_reader import read_yaml_nodes
from pyctrl.apiserver._server import ApiServer
from pyctrl.apiserver._storage.backend import Backend, BackendState, Revision
from pyctrl.apiserver._storage.heartbeats import Heartbeats, HeartbeatWriter
from pyctrl.apiserver._storage.sqlite import SQLiteBackend
from pyctrl.apiserver._webhooks import (
    EndpointServiceResolver,
    HttpsCaller,
    ServiceReference,
    ServiceResolver,
    WebhookCaller,
    WebhookCredentials,
    WebhookRequest,
    WebhookResponse,
    WebhookUnreachable,
)

__all__ = [
    "FRONT_PROXY",
    "AdmissionConfiguration",
    "AdmissionPluginName",
    "ApiServer",
    "AuditLevel",
    "AuditLog",
    "AuditPolicy",
    "AuthenticationWebhook",
    "AuthorizationWebhook",
    "Backend",
    "BackendState",
    "CertificateAuthority",
    "ClusterAuthenticationInfo",
    "ConnectedSubresource",
    "ContainerStreams",
    "DelegatingRequestAuthenticator",
    "EndpointServiceResolver",
    "ExecHandler",
    "ExtensionResourceRegistry",
    "FeatureGate",
    "HeartbeatWriter",
    "Heartbeats",
    "HttpsCaller",
    "KeyPair",
    "KubeletError",
    "KubeletServer",
    "OfflineValidation",
    "OfflineValidator",
    "Peer",
    "PodLogOptions",
    "PortForwardHandler",
    "ProxyRequest",
    "RequestAuthenticator",
    "RequestHeaderConfig",
    "RequestHeaderInfo",
    "ResourceRegistry",
    "ResourceStorage",
    "ResourceType",
    "Response",
    "Revision",
    "SQLiteBackend",
    "ServiceReference",
    "ServiceResolver",
    "ServiceTransport",
    "ServiceUnreachable",
    "StorageList",
    "StorageRequest",
    "SubresourceFunctions",
    "TerminalSize",
    "TerminalSizeQueue",
    "Upgrade",
    "UpgradedConnection",
    "User",
    "ValidationProblem",
    "WebhookCaller",
    "WebhookCredentials",
    "WebhookRequest",
    "WebhookResponse",
    "WebhookUnreachable",
    "enabled_features",
    "enabled_plugins",
    "is_feature_gate",
    "parse_feature_gates",
    "read_documents",
    "read_token_file",
    "read_yaml_nodes",
    "serve",
    "serve_kubelet",
    "serving_context",
    "user_headers",
]
