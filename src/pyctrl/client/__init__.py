"""Everything that speaks to an API server: login, transport, discovery, reads and writes.

`Config` says which server and how to log in; `Client.connect(config)` reads and writes objects there. Underneath is
one seam, `Transport`: over HTTP with aiohttp, or into an API server in this process. `Reader` and `Writer` are what
a reconciler is given, whether a cache stands behind them or not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyctrl._door import opened_by_name
from pyctrl.client._client import Client
from pyctrl.client._config import Config
from pyctrl.client._connection import SwitchableTransport, is_same_login
from pyctrl.client._converging import OperationResult, Written
from pyctrl.client._credentials import Anonymous, BasicAuth, BearerToken, Credentials, TokenFile
from pyctrl.client._discovery import Discovery
from pyctrl.client._dropped_status import reporting_dropped_status
from pyctrl.client._exchange import ServerWarning, WarningHandler, log_warning
from pyctrl.client._gate import WriteGate, context_behind
from pyctrl.client._inprocess import InProcessTransport
from pyctrl.client._keys import checked_key
from pyctrl.client._lines import LineSplitter
from pyctrl.client._list import ObjectList
from pyctrl.client._mapping import ResourceMapping, path_for
from pyctrl.client._observers import WriteObserver, WriteVerb
from pyctrl.client._options import (
    ClientOptions,
    Fields,
    FieldValidation,
    Labels,
    Preconditions,
    Propagation,
    VersionMatch,
)
from pyctrl.client._patch import JsonPatch, MergeFrom, MergePatch, Patch, StrategicMergePatch, merge_from
from pyctrl.client._reader import Reader
from pyctrl.client._refusals import refusals
from pyctrl.client._retry import RetryPolicy
from pyctrl.client._subresources import HasSubResources, StatusResource, SubResource
from pyctrl.client._tls import CertificateSource, ClientCertificate, Pem, Tls
from pyctrl.client._transport import (
    Answer,
    Application,
    Headers,
    HttpRequest,
    HttpResponse,
    HttpStream,
    Transport,
    deliver,
)
from pyctrl.client._watch import EventType, WatchEvent
from pyctrl.client._writer import StatusWriter, Writer

if TYPE_CHECKING:
    from pyctrl.client._actions import Scale, ServiceAccountToken, bind, create_token, evict, get_scale, set_scale
    from pyctrl.client._aiohttp import AiohttpTransport
    from pyctrl.client._event_backlog import EventStatistics
    from pyctrl.client._event_correlator import EventCorrelator, EventGroup
    from pyctrl.client._event_recorder import EventRecorder
    from pyctrl.client._event_writer import EventWriter
    from pyctrl.client._impersonation import Impersonation
    from pyctrl.client._kubeconfig_contexts import KubeconfigContext, kubeconfig_contexts
    from pyctrl.client._waiting import wait_for, wait_for_list, wait_until_gone
    from pyctrl.client._wrappers import (
        Derivable,
        dry_run,
        impersonate,
        in_namespace,
        with_field_owner,
        with_field_validation,
    )

__all__ = [
    "AiohttpTransport",
    "Anonymous",
    "Answer",
    "Application",
    "BasicAuth",
    "BearerToken",
    "CertificateSource",
    "Client",
    "ClientCertificate",
    "ClientOptions",
    "Config",
    "Credentials",
    "Derivable",
    "Discovery",
    "EventCorrelator",
    "EventGroup",
    "EventRecorder",
    "EventStatistics",
    "EventType",
    "EventWriter",
    "FieldValidation",
    "Fields",
    "HasSubResources",
    "Headers",
    "HttpRequest",
    "HttpResponse",
    "HttpStream",
    "Impersonation",
    "InProcessTransport",
    "JsonPatch",
    "KubeconfigContext",
    "Labels",
    "LineSplitter",
    "MergeFrom",
    "MergePatch",
    "ObjectList",
    "OperationResult",
    "Patch",
    "Pem",
    "Preconditions",
    "Propagation",
    "Reader",
    "ResourceMapping",
    "RetryPolicy",
    "Scale",
    "ServerWarning",
    "ServiceAccountToken",
    "StatusResource",
    "StatusWriter",
    "StrategicMergePatch",
    "SubResource",
    "SwitchableTransport",
    "Tls",
    "TokenFile",
    "Transport",
    "VersionMatch",
    "WarningHandler",
    "WatchEvent",
    "WriteGate",
    "WriteObserver",
    "WriteVerb",
    "Writer",
    "Written",
    "bind",
    "checked_key",
    "context_behind",
    "create_token",
    "deliver",
    "dry_run",
    "evict",
    "get_scale",
    "impersonate",
    "in_namespace",
    "is_same_login",
    "kubeconfig_contexts",
    "log_warning",
    "merge_from",
    "path_for",
    "refusals",
    "reporting_dropped_status",
    "set_scale",
    "wait_for",
    "wait_for_list",
    "wait_until_gone",
    "with_field_owner",
    "with_field_validation",
]


#: Imported when they are used: programs on an in-process server do without aiohttp, and most without the others.
_FILES = {
    "AiohttpTransport": "_aiohttp",
    "EventCorrelator": "_event_correlator",
    "EventGroup": "_event_correlator",
    "EventRecorder": "_event_recorder",
    "EventStatistics": "_event_backlog",
    "EventWriter": "_event_writer",
    "Impersonation": "_impersonation",
    "KubeconfigContext": "_kubeconfig_contexts",
    "Scale": "_actions",
    "ServiceAccountToken": "_actions",
    "bind": "_actions",
    "create_token": "_actions",
    "evict": "_actions",
    "get_scale": "_actions",
    "kubeconfig_contexts": "_kubeconfig_contexts",
    "set_scale": "_actions",
    **dict.fromkeys(("wait_for", "wait_for_list", "wait_until_gone"), "_waiting"),
    **dict.fromkeys(
        ("Derivable", "dry_run", "impersonate", "in_namespace", "with_field_owner", "with_field_validation"),
        "_wrappers",
    ),
}

if not TYPE_CHECKING:  # type checkers would take it as a promise of any name
    __getattr__, __dir__ = opened_by_name(__name__, _FILES)
