"""Embedded API server: the API of kube-apiserver 1.36 over storage in memory.

`ApiServer.handle` takes a request and returns its response; the in-process transport calls it without a socket. `serve`
serves the same server over HTTP for kubectl and other clients. The controllers of a cluster are in `pyctrl.cluster`.
"""

from pyctrl.apiserver._admission import AdmissionPluginName
from pyctrl.apiserver._authn import AuthenticationWebhook, Peer, User, read_token_file
from pyctrl.apiserver._authority import CertificateAuthority, KeyPair
from pyctrl.apiserver._authz import AuthorizationWebhook
from pyctrl.apiserver._errors import Response
from pyctrl.apiserver._filters.audit import AuditLevel, AuditLog
from pyctrl.apiserver._http.server import serve
from pyctrl.apiserver._offline_validation import OfflineValidation, OfflineValidator, ValidationProblem
from pyctrl.apiserver._registry.resource_registry import ResourceRegistry
from pyctrl.apiserver._resources.resource_type import ResourceType
from pyctrl.apiserver._serializer.decoding import read_documents
from pyctrl.apiserver._serializer.yaml_reader import read_yaml_nodes
from pyctrl.apiserver._server import ApiServer
from pyctrl.apiserver._storage.backend import Backend, BackendState, Revision
from pyctrl.apiserver._storage.sqlite import SQLiteBackend
from pyctrl.apiserver._webhooks import (
    EndpointServiceResolver,
    HttpsCaller,
    ServiceReference,
    ServiceResolver,
    WebhookCaller,
    WebhookRequest,
    WebhookResponse,
    WebhookUnreachable,
)

__all__ = [
    "AdmissionPluginName",
    "ApiServer",
    "AuditLevel",
    "AuditLog",
    "AuthenticationWebhook",
    "AuthorizationWebhook",
    "Backend",
    "BackendState",
    "CertificateAuthority",
    "EndpointServiceResolver",
    "HttpsCaller",
    "KeyPair",
    "OfflineValidation",
    "OfflineValidator",
    "Peer",
    "ResourceRegistry",
    "ResourceType",
    "Response",
    "Revision",
    "SQLiteBackend",
    "ServiceReference",
    "ServiceResolver",
    "User",
    "ValidationProblem",
    "WebhookCaller",
    "WebhookRequest",
    "WebhookResponse",
    "WebhookUnreachable",
    "read_documents",
    "read_token_file",
    "read_yaml_nodes",
    "serve",
]
