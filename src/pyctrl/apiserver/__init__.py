"""The embedded API server: Kubernetes' API over storage in memory, faithful to kube-apiserver 1.36.

`ApiServer.handle` takes a request and gives its answer: what the in-process transport calls, with no socket between.
`serve` puts the same server behind HTTP for kubectl and everybody else. No controllers run here; `pyctrl.cluster` has
those.
"""

from pyctrl.apiserver._admission import AdmissionPlugin
from pyctrl.apiserver._answers import Answer
from pyctrl.apiserver._audit import AuditLevel, AuditLog
from pyctrl.apiserver._authentication import AuthenticationWebhook, Peer, User, read_token_file
from pyctrl.apiserver._authority import Authority, Issued
from pyctrl.apiserver._authorization import AuthorizationWebhook
from pyctrl.apiserver._bodies import read_documents
from pyctrl.apiserver._examiner import Complaint, Examination, Examiner
from pyctrl.apiserver._http import serve
from pyctrl.apiserver._resources import Registry, ResourceType
from pyctrl.apiserver._server import ApiServer
from pyctrl.apiserver._webhooks import (
    HttpsCaller,
    ServiceReference,
    ServiceResolver,
    Services,
    WebhookAnswer,
    WebhookCaller,
    WebhookRequest,
    WebhookUnreachable,
)
from pyctrl.apiserver._yaml import read_marked

__all__ = [
    "AdmissionPlugin",
    "Answer",
    "ApiServer",
    "AuditLevel",
    "AuditLog",
    "AuthenticationWebhook",
    "Authority",
    "AuthorizationWebhook",
    "Complaint",
    "Examination",
    "Examiner",
    "HttpsCaller",
    "Issued",
    "Peer",
    "Registry",
    "ResourceType",
    "ServiceReference",
    "ServiceResolver",
    "Services",
    "User",
    "WebhookAnswer",
    "WebhookCaller",
    "WebhookRequest",
    "WebhookUnreachable",
    "read_documents",
    "read_marked",
    "read_token_file",
    "serve",
]
