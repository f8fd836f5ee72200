"""Admission and conversion webhooks: typed Python that decides, and a server that carries the questions.

A `Defaulter` completes objects, a `Validator` refuses them, a `Conversion` makes one version of another.
`WebhookBuilder` adds them to the program's `Webhooks`; `review` and `review_conversion` are the decisions as functions
over documents, to be tested without anything else. A `WebhookServer` serves them over HTTPS and follows its
certificate's files; `configurations` says what the API server has to be told.

Reviews are spoken in v1, which is there since Kubernetes 1.16.
"""

from pyctrl._serving import ServerLimits
from pyctrl.webhook._access import Authenticator, Authorizer, Decision, Opinion, review_access, review_token
from pyctrl.webhook._admission import AdmissionHandler, AdmissionRequest, AdmissionResponse, Operation, UserInfo
from pyctrl.webhook._builder import WebhookBuilder
from pyctrl.webhook._certificate import ServingCertificate
from pyctrl.webhook._configuration import (
    FailurePolicy,
    Registration,
    Service,
    Url,
    configurations,
    conversion_stanza,
)
from pyctrl.webhook._conversion import Conversion, Spoke, review_conversion
from pyctrl.webhook._fields import FieldError
from pyctrl.webhook._handlers import Defaulter, Validator, Warnings
from pyctrl.webhook._keys import Lifetimes
from pyctrl.webhook._managed import CertificateRotation, ManagedCertificates
from pyctrl.webhook._review import review
from pyctrl.webhook._round_trip import check_round_trip
from pyctrl.webhook._same_fields import same_fields
from pyctrl.webhook._server import CertificateProvider, WebhookServer
from pyctrl.webhook._typed import defaulting, validating
from pyctrl.webhook._webhooks import Reply, Webhooks

__all__ = [
    "AdmissionHandler",
    "AdmissionRequest",
    "AdmissionResponse",
    "Authenticator",
    "Authorizer",
    "CertificateProvider",
    "CertificateRotation",
    "Conversion",
    "Decision",
    "Defaulter",
    "FailurePolicy",
    "FieldError",
    "Lifetimes",
    "ManagedCertificates",
    "Operation",
    "Opinion",
    "Registration",
    "Reply",
    "ServerLimits",
    "Service",
    "ServingCertificate",
    "Spoke",
    "Url",
    "UserInfo",
    "Validator",
    "Warnings",
    "WebhookBuilder",
    "WebhookServer",
    "Webhooks",
    "check_round_trip",
    "configurations",
    "conversion_stanza",
    "defaulting",
    "review",
    "review_access",
    "review_conversion",
    "review_token",
    "same_fields",
    "validating",
]
