"""The embedded API server: Kubernetes' API over storage in memory, faithful to kube-apiserver 1.36.

`ApiServer.handle` takes a request and gives its answer: what the in-process transport calls, with no socket between.
`serve` puts the same server behind HTTP for kubectl and everybody else. No controllers run here; `pyctrl.cluster` has
those.
"""

from ._admission import AdmissionPlugin
from ._answers import Answer
from ._audit import AuditLevel, AuditLog
from ._authentication import AuthenticationWebhook, Peer, User, read_token_file
from ._authority import Authority, Issued
from ._authorization import AuthorizationWebhook
from ._bodies import read_documents
from ._examiner import Complaint, Examination, Examiner
from ._http import serve
from ._resources import Registry, ResourceType
from ._server import ApiServer
from ._webhooks import (
    HttpsCaller,
    ServiceReference,
    ServiceResolver,
    Services,
    WebhookAnswer,
    WebhookCaller,
    WebhookRequest,
    WebhookUnreachable,
)
from ._yaml import read_marked

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
