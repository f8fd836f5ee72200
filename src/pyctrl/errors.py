"""Every exception of pyctrl, in one tree.

    PyctrlError
    ├── ApiError                      the server answered with a failure; ``may_retry`` says if a retry can help
    │   ├── BadRequest                400
    │   ├── Unauthorized              401
    │   ├── Forbidden                 403, with verb, resource and scope parsed
    │   ├── NotFound                  404
    │   ├── MethodNotAllowed          405
    │   ├── NotAcceptable             406
    │   ├── AlreadyExists             409, the name is taken
    │   ├── Conflict                  409, the object has changed since it was read
    │   ├── Gone                      410
    │   │   └── Expired               410, the version or continue token is too old: list again
    │   ├── RequestEntityTooLarge     413
    │   ├── UnsupportedMediaType      415
    │   ├── Invalid                   422, with causes by field
    │   ├── TooManyRequests           429
    │   ├── InternalError             500
    │   ├── ServerTimeout             500, the server could not finish in time: try later
    │   ├── ServiceUnavailable        503
    │   └── Timeout                   504
    ├── TransportError                no complete answer; whether the server acted is unknown
    │   ├── ConnectionFailed          nothing was sent
    │   ├── RequestTimeout            no answer within the timeout
    │   └── StreamBroken              the connection broke in the middle of an answer
    ├── ConfigError                   a kubeconfig, certificate or token is missing or invalid
    │   └── NoConfiguration           no source gave a login; lists each source tried
    ├── DecodeError                   bytes or fields do not fit the type
    ├── DefinitionError               no CustomResourceDefinition can be generated from the types; lists every problem
    ├── KindError
    │   ├── UnknownKind               the cluster does not serve this kind
    │   └── NotRegistered             the scheme has no class for this kind
    ├── CacheError
    │   ├── NotCovered                the read is outside of what the cache watches
    │   ├── NotSynced                 the first list did not arrive in time
    │   └── IndexMissing              no index has this name
    ├── SelectorError                 a selector that does not parse (also a ValueError)
    ├── QuantityError                 a quantity that does not parse (also a ValueError)
    ├── PatchError                    a patch that cannot be applied (also a ValueError)
    ├── OwnershipError
    │   ├── AlreadyOwned              another controller owns the object
    │   ├── NotOwned                  the object has no controller: another user made it
    │   └── CrossNamespaceOwner       an owner must be in the same namespace, or cluster-scoped
    ├── TerminalError                 raised by a reconciler: do not retry until the object changes
    ├── ControllerError
    │   ├── InvalidResult             a reconciler returned something that is not a Result
    │   ├── DuplicateName             two controllers of one manager have the same name
    │   ├── BuilderError              the configuration of a controller cannot work
    │   └── QueueClosed               the work queue is shut down
    ├── WebhookError                  a webhook does not allow the request
    │   ├── Denied                    raised by an admission webhook: the request is not allowed, with the reason
    │   ├── Rejected                  raised by an admission webhook: the object is invalid, with causes by field
    │   └── ConversionFailed          an object cannot be converted to another version
    ├── RbacError                     a declaration of permissions is invalid
    │   └── MissingPermissions        the login lacks permissions that the program needs, and the check is strict
    ├── ManagerError
    │   ├── GracePeriodExceeded       a runnable did not stop within the grace period
    │   ├── LeadershipLost            the lease was lost: another replica may lead
    │   ├── NotLeading                a write was not sent because this replica no longer leads
    │   └── UnknownCluster            the manager is connected to no cluster of this name
    │       └── ClusterGone           the cluster left the manager
    ├── StorageError                  the storage of the embedded API server cannot be read or written
    └── CommandFailed                 a command of the command line failed

The ``reason`` of the server's Status decides the class of an `ApiError`, or the code when there is no reason,
because one code has several meanings (409 is both AlreadyExists and Conflict). The transport maps foreign exceptions
(aiohttp, OS) to this tree; the original is the ``__cause__``.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from pathlib import Path

    from kubernetes_asyncio.client import ApiException

__all__ = [
    "AlreadyExists",
    "AlreadyOwned",
    "ApiError",
    "BadRequest",
    "BuilderError",
    "CacheError",
    "Cause",
    "ClusterGone",
    "CommandFailed",
    "ConfigError",
    "Conflict",
    "ConnectionFailed",
    "ControllerError",
    "ConversionFailed",
    "CrossNamespaceOwner",
    "DecodeError",
    "DefinitionError",
    "Denied",
    "DuplicateName",
    "Expired",
    "Forbidden",
    "Gone",
    "GracePeriodExceeded",
    "IndexMissing",
    "InternalError",
    "Invalid",
    "InvalidResult",
    "KindError",
    "LeadershipLost",
    "ManagerError",
    "MethodNotAllowed",
    "MissingPermissions",
    "NoConfiguration",
    "NotAcceptable",
    "NotCovered",
    "NotFound",
    "NotLeading",
    "NotOwned",
    "NotRegistered",
    "NotSynced",
    "OwnershipError",
    "PatchError",
    "PyctrlError",
    "QuantityError",
    "QueueClosed",
    "RbacError",
    "Rejected",
    "RequestEntityTooLarge",
    "RequestTimeout",
    "SelectorError",
    "ServerTimeout",
    "ServiceUnavailable",
    "StorageError",
    "StreamBroken",
    "TerminalError",
    "Timeout",
    "TooManyRequests",
    "TransportError",
    "Unauthorized",
    "UnknownCluster",
    "UnknownKind",
    "UnsupportedMediaType",
    "WebhookError",
    "error_from_status",
    "from_api_exception",
    "is_api_exception",
    "to_api_exception",
]


class PyctrlError(Exception):
    """The root of the tree: catches everything that pyctrl raises on purpose."""


# --- answers of the API server ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """One cause of an invalid object (metav1.StatusCause): the field, the reason and a message."""

    reason: str
    message: str
    field: str


class ApiError(PyctrlError):
    """Raised when the API server answered with a failure.

    Attributes:
        status: the server's Status as received (a mapping; empty when the body was not a Status).
        code: HTTP status code.
        reason: ``Status.reason`` ("NotFound", "Conflict", …), or "" when there was none.
        message: the server's message.
        request: the request, such as ``GET /api/v1/pods``; "" when unknown.
        retry_after: seconds to wait before a retry, from the server; None when it gave none.
        cluster: the name of the cluster that answered; "" for the manager's own cluster.
    """

    http_code: ClassVar[int] = 0
    may_retry: ClassVar[bool] = False
    _reason: ClassVar[str] = ""

    def __init_subclass__(
        cls, *, reason: str | None = None, http_code: int | None = None, may_retry: bool | None = None
    ) -> None:
        """Set the class attributes given in the class statement; the others are inherited."""
        super().__init_subclass__()
        cls._reason = cls._reason if reason is None else reason
        cls.http_code = cls.http_code if http_code is None else http_code
        cls.may_retry = cls.may_retry if may_retry is None else may_retry

    def __init__(
        self,
        message: str,
        *,
        code: int | None = None,
        reason: str | None = None,
        status: Mapping[str, Any] | None = None,
        request: str = "",
        retry_after: float | None = None,
    ) -> None:
        super().__init__(f"{message} ({request})" if request else message)
        self.message = message
        self.code: int = self.http_code if code is None else code
        self.reason: str = self._reason if reason is None else reason
        self.status: Mapping[str, Any] = status or {}
        self.request = request
        self.retry_after = retry_after
        self.cluster: str = ""

    @property
    def details(self) -> Mapping[str, Any]:
        """``Status.details``: name, group, kind and uid of the object, and the causes."""
        details = self.status.get("details")
        return details if isinstance(details, Mapping) else {}

    @property
    def causes(self) -> tuple[Cause, ...]:
        """The causes, in the server's order; empty when it gave none."""
        causes = self.details.get("causes") or ()
        return tuple(
            Cause(reason=c.get("reason", ""), message=c.get("message", ""), field=c.get("field", "")) for c in causes
        )


class BadRequest(ApiError, reason="BadRequest", http_code=400):
    """Raised on 400: the request is malformed. Not retryable."""


class Unauthorized(ApiError, reason="Unauthorized", http_code=401):
    """Raised on 401, after one refresh of the credentials. Retryable with other credentials only."""


# The message of kube-apiserver's authorizer: k8s.io/apiserver/pkg/endpoints/handlers/responsewriters/errors.go
_FORBIDDEN = re.compile(
    r'User "(?P<user>[^"]*)" cannot (?P<verb>\S+) (?:resource "(?P<resource>[^"]+)"|path "(?P<path>[^"]+)")'
    r'(?: in API group "(?P<group>[^"]*)")?(?: in the namespace "(?P<namespace>[^"]+)")?'
)


class Forbidden(ApiError, reason="Forbidden", http_code=403):
    """Raised on 403. Retryable only after the permission is granted.

    ``verb``, ``resource`` or ``path``, ``api_group``, ``namespace`` ("" for the whole cluster) and ``user`` are parsed
    from the server's message. They are "" when the message has another form (an admission plugin, a quota).
    """

    def _part(self, name: str) -> str:
        found = _FORBIDDEN.search(self.message)
        return (found[name] or "") if found else ""

    @property
    def user(self) -> str:
        """The user name, as the server authenticated it."""
        return self._part("user")

    @property
    def verb(self) -> str:
        """The verb that is not allowed, such as ``list``."""
        return self._part("verb")

    @property
    def resource(self) -> str:
        """The plural resource, with the sub-resource after a slash."""
        return self._part("resource")

    @property
    def path(self) -> str:
        """The path of a non-resource request, such as ``/metrics``."""
        return self._part("path")

    @property
    def api_group(self) -> str:
        """The API group; "" is the core group."""
        return self._part("group")

    @property
    def namespace(self) -> str:
        """The namespace, or "" when the permission is missing for the whole cluster."""
        return self._part("namespace")


class NotFound(ApiError, reason="NotFound", http_code=404):
    """Raised on 404: no such object. `find` returns None instead."""


class MethodNotAllowed(ApiError, reason="MethodNotAllowed", http_code=405):
    """Raised on 405: the resource does not support this verb."""


class NotAcceptable(ApiError, reason="NotAcceptable", http_code=406):
    """Raised on 406: the server has no representation that the request accepts."""


class AlreadyExists(ApiError, reason="AlreadyExists", http_code=409):
    """Raised on 409 when the name is taken. Not retryable: read the object and decide."""


class Conflict(ApiError, reason="Conflict", http_code=409, may_retry=True):
    """Raised on 409 when the object has changed since it was read, or when a field has another manager.

    Retryable after reading the object again.
    """


class Gone(ApiError, reason="Gone", http_code=410):
    """Raised on 410: the resource is no longer available."""


class Expired(Gone, reason="Expired"):
    """Raised on 410 when a resource version or continue token is too old. List again from the start."""


class RequestEntityTooLarge(ApiError, reason="RequestEntityTooLarge", http_code=413):
    """Raised on 413: the request body is larger than the server's limit."""


class UnsupportedMediaType(ApiError, reason="UnsupportedMediaType", http_code=415):
    """Raised on 415: the server does not accept this media type or type of patch for the resource."""


class Invalid(ApiError, reason="Invalid", http_code=422):
    """Raised on 422: the object fails validation; ``causes`` lists the fields. Not retryable unchanged."""


class TooManyRequests(ApiError, reason="TooManyRequests", http_code=429, may_retry=True):
    """Raised on 429 when the client has used up its retries."""


class InternalError(ApiError, reason="InternalError", http_code=500, may_retry=True):
    """Raised on 500, and on every 5xx code without a class of its own. Retryable."""


class ServerTimeout(ApiError, reason="ServerTimeout", http_code=500, may_retry=True):
    """Raised when the server could not finish in time. Retryable."""


class ServiceUnavailable(ApiError, reason="ServiceUnavailable", http_code=503, may_retry=True):
    """Raised on 503. Retryable."""


class Timeout(ApiError, reason="Timeout", http_code=504, may_retry=True):
    """Raised on 504: the request timed out in the server; whether the server acted is unknown.

    Retryable when the request is idempotent.
    """


def _leaves(root: type[ApiError]) -> Iterable[type[ApiError]]:
    for child in root.__subclasses__():
        yield child
        yield from _leaves(child)


_BY_REASON: dict[str, type[ApiError]] = {cls._reason: cls for cls in _leaves(ApiError)}
_BY_CODE: dict[int, type[ApiError]] = {}
for _cls in _leaves(ApiError):
    _BY_CODE.setdefault(_cls.http_code, _cls)
_BY_CODE[409] = Conflict  # without a reason, Conflict is safer than AlreadyExists: a retry reads the object first


def error_from_status(
    status: Mapping[str, Any], *, http_code: int, request: str = "", retry_after: float | None = None
) -> ApiError:
    """Return the exception for a failed answer: its class by ``reason``, else by code, else by 5xx or not.

    Args:
        status: the decoded Status; ``{"message": text}`` or ``{}`` when the body was something else.
        http_code: the HTTP status code, used when the Status has none.
        request: the request, for the message.
        retry_after: seconds from the Retry-After header; ``details.retryAfterSeconds`` is used when None.
    """
    code, reason = status.get("code") or http_code, status.get("reason") or ""
    if not (isinstance(code, int) and isinstance(reason, str)):  # not from an API server: a proxy, for instance
        code, reason = http_code, ""
    cls = _BY_REASON.get(reason) or _BY_CODE.get(code) or (InternalError if code >= 500 else ApiError)
    details = status.get("details")
    if retry_after is None and isinstance(details, Mapping):
        seconds = details.get("retryAfterSeconds")
        retry_after = seconds if isinstance(seconds, int | float) and seconds >= 0 else None
    message = status.get("message") or f"the server answered {code}"
    return cls(message, code=code, reason=reason, status=status, request=request, retry_after=retry_after)


def is_api_exception(error: BaseException) -> bool:
    """Return whether an error is an ``ApiException`` of kubernetes_asyncio, or of a client of the same form."""
    return any(
        cls.__name__ == "ApiException" and cls.__module__.endswith(".client.exceptions") for cls in type(error).__mro__
    )


def from_api_exception(error: Exception) -> ApiError:
    """Return the error for an ``ApiException`` of kubernetes_asyncio, which becomes its cause.

        except ApiException as error:
            raise from_api_exception(error) from error

    The class is chosen as for an answer of the server, by the Status in the exception's body.

    Raises:
        TypeError: it is another exception.
    """
    if not is_api_exception(error):
        raise TypeError(f"expected an ApiException of kubernetes_asyncio, got {error!r}")
    import json  # here: this and the following imports cost milliseconds, and most programs do without them

    given: Any = error
    try:
        status = json.loads(given.body)
    except (TypeError, ValueError):  # no body, or that of a proxy
        status = None
    if not isinstance(status, dict) or status.get("kind") != "Status":
        status = {"message": f"the server answered {given.status}: {given.reason}"}
    seconds = str((given.headers or {}).get("Retry-After", ""))
    after = float(seconds) if seconds.isdecimal() else None
    found = error_from_status(status, http_code=given.status or 0, retry_after=after)
    found.__cause__ = error
    return found


def to_api_exception(error: ApiError) -> ApiException:
    """Return an ``ApiException`` of kubernetes_asyncio for an error, for code that catches that class.

    Its status, reason, body and headers are those of the library; the error is its cause.
    """
    import json

    from kubernetes_asyncio.client import ApiException

    status = error.status or {"kind": "Status", "status": "Failure", "reason": error.reason, "message": error.message}
    found: Any = ApiException(status=error.code, reason=_phrase(error))
    found.body = json.dumps({"code": error.code, **status})
    found.headers = {} if error.retry_after is None else {"Retry-After": f"{error.retry_after:g}"}
    found.__cause__ = error
    exception: ApiException = found
    return exception


def _phrase(error: ApiError) -> str:
    from http import HTTPStatus

    try:
        return HTTPStatus(error.code).phrase
    except ValueError:
        return error.reason


# --- no answer ----------------------------------------------------------------------------------------------------


class TransportError(PyctrlError):
    """Raised when no complete answer arrived. Retryable for reads; for writes the server may have acted."""


class ConnectionFailed(TransportError):
    """Raised when the connection could not be established. Nothing was sent. Retryable."""


class RequestTimeout(TransportError):
    """Raised when the answer did not arrive in time. The server may have acted."""


class StreamBroken(TransportError):
    """Raised when the connection broke in the middle of an answer. The server may have acted."""


# --- before a request ---------------------------------------------------------------------------------------------


class ConfigError(PyctrlError):
    """Raised when a login is missing or invalid. The message names the file and the entry.

    Not retryable when loading a `Config` raises it. Raised by a request, it may also mean that a credential plugin
    or an identity provider is down; then a later retry can help.
    """


class NoConfiguration(ConfigError):
    """Raised when no source gave a login; ``attempts`` has each source and the reason why it failed."""

    def __init__(self, attempts: Iterable[tuple[str, str]]) -> None:
        self.attempts: tuple[tuple[str, str], ...] = tuple(attempts)
        lines = "".join(f"\n  - {source}: {why}" for source, why in self.attempts)
        super().__init__(
            f"no configuration of a cluster found; tried:{lines}\n"
            "Set KUBECONFIG to a kubeconfig file, or pass kubeconfig=… to Config.load()."
        )


class DecodeError(PyctrlError):
    """Raised when bytes or fields do not fit the type; the message ends with the path of the field."""


class DefinitionError(PyctrlError):
    """Raised when no CustomResourceDefinition can be generated from types. Not retryable: the program has to change.

    Attributes:
        problems: every problem, one line each: where, what, and what to do.

    Args:
        subject: the kind.
        problems: see the attribute.
        excerpts: excerpts of the source code, one for each problem; empty ones are left out of the message.
    """

    def __init__(self, subject: str, problems: Iterable[str], excerpts: Iterable[str] = ()) -> None:
        self.problems: tuple[str, ...] = tuple(problems)
        lines = [f"no CustomResourceDefinition can be generated from {subject}:"]
        for problem, excerpt in zip_longest(self.problems, excerpts, fillvalue=""):
            lines += [f"  {problem}", *(f"  {line}" for line in excerpt.splitlines())]
        super().__init__("\n".join(lines))


class KindError(PyctrlError):
    """The root of errors about kinds."""


class UnknownKind(KindError):
    """Raised when the cluster does not serve a kind. Retryable once its CustomResourceDefinition is installed."""

    def __init__(self, kind: object, *, server: str = "", served: Iterable[str] = ()) -> None:
        at = f" at {server}" if server else ""
        near = ", ".join(served)
        hint = f" (it serves {near})" if near else ""
        super().__init__(f"the cluster{at} does not serve {kind}{hint}; is its definition installed?")
        self.kind = kind


class NotRegistered(KindError):
    """Raised when a scheme has no class for a kind. Not retryable: the program has to change."""

    def __init__(self, kind: object) -> None:
        super().__init__(
            f"{kind} is not registered; add its class to the Scheme, or use its GroupVersionKind to get it untyped"
        )
        self.kind = kind


# --- the cache ----------------------------------------------------------------------------------------------------


class CacheError(PyctrlError):
    """The root of the cache's errors."""


class NotCovered(CacheError):
    """Raised when a read is outside of what the cache watches. Not retryable: the program has to change."""

    def __init__(self, kind: object, *, asked: str, covered: str, remedy: str = "") -> None:
        todo = remedy or "declare the kind in reads, owns or watches of the reconciler, or use client.live"
        super().__init__(
            f"the cache does not cover {asked} of {kind} (it covers {covered or 'nothing of this kind'}): {todo}"
        )
        self.kind = kind


class NotSynced(CacheError):
    """Raised when the first list of a kind did not arrive in time, or when the cache is not up to date.

    The message has the last error. ``wait`` waits until the first list is complete, or is known not to come; None if
    that would not help.
    """

    def __init__(self, message: str, *, wait: Callable[[], Awaitable[None]] | None = None) -> None:
        super().__init__(message)
        self.wait: Callable[[], Awaitable[None]] | None = wait


class IndexMissing(CacheError):
    """Raised when a list names an index that does not exist. Not retryable."""

    def __init__(self, kind: object, name: str, known: Iterable[str] = ()) -> None:
        names = ", ".join(sorted(known)) or "none"
        super().__init__(f"{kind} has no index {name!r} (it has: {names}); add it with cache.add_index() first")
        self.kind: object = kind
        self.name: str = name


# --- values -------------------------------------------------------------------------------------------------------


class SelectorError(PyctrlError, ValueError):
    """Raised when a label, field or shard selector does not parse."""


class QuantityError(PyctrlError, ValueError):
    """Raised when a quantity does not parse."""


class PatchError(PyctrlError, ValueError):
    """Raised when a patch cannot be applied to a document."""


class OwnershipError(PyctrlError):
    """The root of errors about owner references."""


class AlreadyOwned(OwnershipError):
    """Raised when another controller owns the object. Not retryable until that controller releases it."""

    def __init__(self, obj: str, owner: str) -> None:
        super().__init__(f"{obj} is already controlled by {owner}; an object has at most one controller")


class NotOwned(OwnershipError):
    """Raised instead of a change of an object that has no controller: another user made it under this name."""

    def __init__(self, obj: str, owner: str) -> None:
        super().__init__(
            f"{obj} exists and is not controlled by {owner}: another user made it; delete or rename one of the two"
        )


class CrossNamespaceOwner(OwnershipError):
    """Raised when the owner is in another namespace: an owner is in the object's namespace, or cluster-scoped."""


# --- controllers and managers -------------------------------------------------------------------------------------


class TerminalError(PyctrlError):
    """Raised by a reconciler when a retry cannot help. The next change of the object reconciles it again."""


class ControllerError(PyctrlError):
    """The root of errors in the configuration or the code of a controller."""


class InvalidResult(ControllerError):
    """Raised when a reconciler returned something that is neither a Result nor None. Handled as a `TerminalError`."""

    def __init__(self, controller: str, value: object) -> None:
        super().__init__(
            f"the reconciler of controller {controller!r} returned {value!r}; "
            "return None when done, or Result(requeue_after=timedelta(...)) to run again"
        )
        self.value = value


class DuplicateName(ControllerError):
    """Raised when another controller of the manager has the same name."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"a controller named {name!r} already exists in this manager; "
            "set another name with .options(name=...): metrics and logs are by name"
        )
        self.name = name


class BuilderError(ControllerError):
    """Raised by `build` when the configuration of a controller cannot work."""


class QueueClosed(ControllerError):
    """Raised by the work queue's `take` when the queue is shut down."""


class WebhookError(PyctrlError):
    """The root of errors that a webhook answers with. The user who made the request sees the message."""


class Denied(WebhookError):
    """Raised by an admission webhook: the request is not allowed. The user gets 403 with this message."""


class Rejected(WebhookError):
    """Raised by an admission webhook: the object is invalid. The user gets 422 with these causes.

    ``pyctrl.webhook.FieldError`` builds causes with the messages of Kubernetes.
    """

    def __init__(self, *causes: Cause) -> None:
        if not causes:
            raise ValueError("Rejected() takes at least one cause, such as FieldError.required('spec.image')")
        sentences = [f"{cause.field}: {cause.message}" for cause in causes]
        super().__init__(sentences[0] if len(sentences) == 1 else f"[{', '.join(sentences)}]")
        self.causes = causes


class ConversionFailed(WebhookError):
    """Raised when an object cannot be converted to another version. The API server fails the user's request with it."""


class RbacError(PyctrlError):
    """Raised when a declaration of permissions is invalid."""


class MissingPermissions(RbacError):
    """Raised at start when the check of permissions is strict and the login lacks some; lists all of them."""


class ManagerError(PyctrlError):
    """The root of the manager's errors."""


class GracePeriodExceeded(ManagerError):
    """Raised after a stop when a runnable did not end within the grace period and was cancelled."""


class LeadershipLost(ManagerError):
    """Raised by ``Manager.run`` when the lease is lost; work under leader election has stopped. Restart the program."""


class NotLeading(ManagerError):
    """Raised when a write under leader election is not sent because the lease no longer covers it.

    The server has not acted. The next leader does the work; the manager stops this process's work.
    """


class UnknownCluster(ManagerError):
    """Raised when a manager is connected to no cluster of this name. A fleet may connect to it later."""

    def __init__(self, cluster: str, known: Iterable[str] = ()) -> None:
        names = ", ".join(map(repr, sorted(known))) or "none"
        super().__init__(f"there is no cluster {cluster!r} (connected: {names})")
        self.cluster: str = cluster


class ClusterGone(UnknownCluster):
    """Raised by the client (and other parts) of a cluster that has left its fleet. Nothing was sent.

    A cluster that comes back under the same name has a new client. A reconcile of an object of that cluster is not
    retried after this error; one of an object of another cluster is.
    """

    def __init__(self, cluster: str) -> None:
        ManagerError.__init__(self, f"the cluster {cluster!r} has left the fleet; its client can no longer be used")
        self.cluster = cluster


class StorageError(PyctrlError):
    """Raised when what an embedded API server keeps on disk cannot be read or written.

    Attributes:
        problem: what happened, without the name of the file.
    """

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.problem = problem


class CommandFailed(PyctrlError):
    """Raised when a command of the command line fails. The user sees only its message."""
