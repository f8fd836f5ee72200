"""Client of an API server: login, transport, discovery, reads and writes.

`Config` holds the server's address and the login; `Client.connect(config)` reads and writes objects there. Requests go
through a `Transport`: over HTTP with aiohttp, or directly into an API server of this process. A reconciler depends on
`Reader` and `Writer`, which live and cached clients implement.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyctrl._lazy_imports import lazy_names
from pyctrl.client._client import Client
from pyctrl.client._client_connection import ClientConnection
from pyctrl.client._create_or_update import OperationResult, Written
from pyctrl.client._discovery.discovery import Discovery
from pyctrl.client._discovery.resource_mapping import ResourceMapping
from pyctrl.client._interfaces import Reader, StatusWriter, Writer
from pyctrl.client._login.config import Config
from pyctrl.client._login.credentials import Anonymous, BasicAuth, BearerToken, Credentials, TokenFile
from pyctrl.client._login.tls import CertificateSource, ClientCertificate, Pem, Tls
from pyctrl.client._requests.dropped_status import reporting_dropped_status
from pyctrl.client._requests.list import ObjectList
from pyctrl.client._requests.options import (
    ClientOptions,
    Fields,
    FieldValidation,
    Labels,
    Preconditions,
    Propagation,
    Shards,
    VersionMatch,
)
from pyctrl.client._requests.patch import JsonPatch, MergeFrom, MergePatch, Patch, StrategicMergePatch, merge_from
from pyctrl.client._requests.resource_client import checked_key, path_for
from pyctrl.client._requests.watch import EventType, WatchEvent
from pyctrl.client._requests.write_observers import WriteMutator, WriteObserver, WriteVerb
from pyctrl.client._subresources import HasSubResources, StatusResource, SubResource
from pyctrl.client._transport.connection import SwitchableTransport, is_same_login
from pyctrl.client._transport.in_process import InProcessTransport
from pyctrl.client._transport.leader_gate import WriteGate, gated_context, write_gates
from pyctrl.client._transport.line_splitter import LineSplitter
from pyctrl.client._transport.rest_client import ServerWarning, WarningHandler, forbidden_log, live_reads, log_warning
from pyctrl.client._transport.retry import RetryPolicy
from pyctrl.client._transport.transport import (
    Application,
    ApplicationConnection,
    ApplicationResponse,
    ApplicationUpgrade,
    Headers,
    HttpRequest,
    HttpResponse,
    HttpStream,
    Transport,
    UpgradedStream,
    deliver,
)

if TYPE_CHECKING:
    from pyctrl.client._events.backlog import EventStatistics
    from pyctrl.client._events.correlator import EventCorrelator, EventGroup
    from pyctrl.client._events.recorder import EventRecorder
    from pyctrl.client._events.writer import EventWriter
    from pyctrl.client._expansions import (
        CurrentScale,
        ServiceAccountToken,
        bind,
        create_token,
        evict,
        get_scale,
        set_scale,
    )
    from pyctrl.client._login.impersonation import Impersonation
    from pyctrl.client._login.kubeconfig_context import KubeconfigContext, kubeconfig_contexts
    from pyctrl.client._logs import follow_logs, read_logs
    from pyctrl.client._streaming.port_forward import PortForwarder, port_forward
    from pyctrl.client._streaming.remote_command import (
        ExecResult,
        RemoteProcess,
        attach,
        exec_command,
        exec_process,
    )
    from pyctrl.client._transport.aiohttp import AiohttpTransport
    from pyctrl.client._wait import wait_for, wait_for_list, wait_until_gone
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
    "Application",
    "ApplicationConnection",
    "ApplicationResponse",
    "ApplicationUpgrade",
    "BasicAuth",
    "BearerToken",
    "CertificateSource",
    "Client",
    "ClientCertificate",
    "ClientConnection",
    "ClientOptions",
    "Config",
    "Credentials",
    "CurrentScale",
    "Derivable",
    "Discovery",
    "EventCorrelator",
    "EventGroup",
    "EventRecorder",
    "EventStatistics",
    "EventType",
    "EventWriter",
    "ExecResult",
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
    "PortForwarder",
    "Preconditions",
    "Propagation",
    "Reader",
    "RemoteProcess",
    "ResourceMapping",
    "RetryPolicy",
    "ServerWarning",
    "ServiceAccountToken",
    "Shards",
    "StatusResource",
    "StatusWriter",
    "StrategicMergePatch",
    "SubResource",
    "SwitchableTransport",
    "Tls",
    "TokenFile",
    "Transport",
    "UpgradedStream",
    "VersionMatch",
    "WarningHandler",
    "WatchEvent",
    "WriteGate",
    "WriteMutator",
    "WriteObserver",
    "WriteVerb",
    "Writer",
    "Written",
    "attach",
    "bind",
    "checked_key",
    "create_token",
    "deliver",
    "dry_run",
    "evict",
    "exec_command",
    "exec_process",
    "follow_logs",
    "forbidden_log",
    "gated_context",
    "get_scale",
    "impersonate",
    "in_namespace",
    "is_same_login",
    "kubeconfig_contexts",
    "live_reads",
    "log_warning",
    "merge_from",
    "path_for",
    "port_forward",
    "read_logs",
    "reporting_dropped_status",
    "set_scale",
    "wait_for",
    "wait_for_list",
    "wait_until_gone",
    "with_field_owner",
    "with_field_validation",
    "write_gates",
]


#: Imported on first use: programs with an in-process server need no aiohttp, and most need none of the others.
_FILES = {
    "AiohttpTransport": "_transport.aiohttp",
    "EventCorrelator": "_events.correlator",
    "EventGroup": "_events.correlator",
    "EventRecorder": "_events.recorder",
    "EventStatistics": "_events.backlog",
    "EventWriter": "_events.writer",
    "Impersonation": "_login.impersonation",
    "KubeconfigContext": "_login.kubeconfig_context",
    "CurrentScale": "_expansions",
    "ServiceAccountToken": "_expansions",
    "bind": "_expansions",
    "create_token": "_expansions",
    **dict.fromkeys(("PortForwarder", "port_forward"), "_streaming.port_forward"),
    **dict.fromkeys(
        ("ExecResult", "RemoteProcess", "attach", "exec_command", "exec_process"), "_streaming.remote_command"
    ),
    "evict": "_expansions",
    "follow_logs": "_logs",
    "read_logs": "_logs",
    "get_scale": "_expansions",
    "kubeconfig_contexts": "_login.kubeconfig_context",
    "set_scale": "_expansions",
    **dict.fromkeys(("wait_for", "wait_for_list", "wait_until_gone"), "_wait"),
    **dict.fromkeys(
        ("Derivable", "dry_run", "impersonate", "in_namespace", "with_field_owner", "with_field_validation"),
        "_wrappers",
    ),
}

if not TYPE_CHECKING:  # to type checkers it would define every name
    __getattr__, __dir__ = lazy_names(__name__, _FILES)
