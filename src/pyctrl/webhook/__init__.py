"""Admission and conversion webhooks: typed handlers, and the server that serves them.

A `Defaulter` sets defaults, a `Validator` accepts or rejects objects, a `Conversion` converts between the versions of
a kind. `WebhookBuilder` adds them to the program's `Webhooks`. `review` and `review_conversion` answer a review
document without a server, for tests. A `WebhookServer` serves webhooks over HTTPS and reloads its certificate when the
files change. `configurations` returns the webhook configurations for the API server.

Reviews are served in v1, which Kubernetes has had since 1.16.
"""

from pyctrl._http_server import ServerLimits
from pyctrl.webhook._admission.admission import (
    AdmissionHandler,
    AdmissionRequest,
    AdmissionResponse,
    Operation,
    UserInfo,
)
from pyctrl.webhook._admission.field_error import FieldError
from pyctrl.webhook._admission.handlers import Defaulter, Validator, Warnings
from pyctrl.webhook._admission.review import review
from pyctrl.webhook._admission.typed import defaulting, validating
from pyctrl.webhook._authentication import (
    Authenticator,
    AuthorizationDecision,
    Authorizer,
    Decision,
    review_access,
    review_token,
)
from pyctrl.webhook._builder import WebhookBuilder
from pyctrl.webhook._certificates.certificate_watcher import ServingCertificate
from pyctrl.webhook._certificates.keys import Lifetimes
from pyctrl.webhook._certificates.rotation import CertificateRotation, ManagedCertificates
from pyctrl.webhook._configuration import (
    FailurePolicy,
    Registration,
    Service,
    Url,
    configurations,
    conversion_stanza,
)
from pyctrl.webhook._conversion.conversion import Conversion, Spoke, review_conversion
from pyctrl.webhook._conversion.round_trip import check_round_trip
from pyctrl.webhook._conversion.same_fields import same_fields
from pyctrl.webhook._server import CertificateProvider, WebhookServer
from pyctrl.webhook._webhooks import Reply, Webhooks

__all__ = [
    "AdmissionHandler",
    "AdmissionRequest",
    "AdmissionResponse",
    "Authenticator",
    "AuthorizationDecision",
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
