"""Every exception of pyctrl, in one tree.

    PyctrlError
    ├── ApiError                      a failure answered by the server; ``may_retry`` says if trying again can help
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
    ├── TransportError                no answer came; whether the server acted is unknown
    │   ├── ConnectionFailed          nothing was sent
    │   ├── RequestTimeout            the answer did not come in time
    │   └── StreamBroken              the answer ended in its middle
    ├── ConfigError                   a kubeconfig, certificate or token is missing or wrong
    │   └── NoConfiguration           no source of a login worked; lists each one tried
    ├── DecodeError                   bytes or fields that are not what the type says
    ├── DefinitionError               types that no definition can be made of; lists everything that is wrong
    ├── KindError
    │   ├── UnknownKind               the cluster does not serve this kind
    │   └── NotRegistered             the scheme has no class for this kind
    ├── CacheError
    │   ├── NotCovered                the read is outside of what the cache watches
    │   ├── NotSynced                 the first list has not arrived in time
    │   └── IndexMissing              no index of this name
    ├── SelectorError                 a selector that does not parse (also a ValueError)
    ├── QuantityError                 a quantity that does not parse (also a ValueError)
    ├── PatchError                    a patch that cannot be applied (also a ValueError)
    ├── OwnershipError
    │   ├── AlreadyOwned              another controller owns the object
    │   └── CrossNamespaceOwner       an owner must be in the same namespace, or cluster-scoped
    ├── TerminalError                 raised by a reconciler: do not retry until the object changes
    ├── ControllerError
    │   ├── InvalidResult             a reconciler returned something that is not a Result
    │   ├── DuplicateName             two controllers of one manager have the same name
    │   ├── BuilderError              a controller is wired in a way that cannot work
    │   └── QueueClosed               a queue that has been closed gives out nothing more
    ├── WebhookError                  what a webhook answers instead of yes
    │   ├── Denied                    raised by an admission webhook: the request is not allowed, and why
    │   ├── Rejected                  raised by an admission webhook: the object is invalid, with causes by field
    │   └── ConversionFailed          an object cannot be converted to another version
    ├── RbacError                     rights are declared in a way that cannot be
    │   └── MissingRights             strict: the login may not do what the program needs
    ├── ManagerError
    │   ├── GracePeriodExceeded       something did not stop in the time it was given
    │   ├── LeadershipLost            another replica may lead from now on
    │   ├── NotLeading                a write of elected work that was not sent, as another replica may lead
    │   └── UnknownCluster            the manager is connected to no cluster of this name
    │       └── ClusterGone           the cluster was one of the manager's, and has left
    └── CommandFailed                 a command of the command line cannot do what it was told to

An `ApiError` is chosen by the ``reason`` of the server's Status first and by its code second, because one code
has several meanings (409 is both AlreadyExists and Conflict). Foreign exceptions (aiohttp, OS) are turned into
this tree once, at the transport; the original is the ``__cause__``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, ClassVar

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
    "MissingRights",
    "NoConfiguration",
    "NotAcceptable",
    "NotCovered",
    "NotFound",
    "NotLeading",
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
]


class PyctrlError(Exception):
    """The root: catch it to catch everything that pyctrl raises on purpose."""


# --- answers of the API server ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """One reason of a refusal: which field, which kind of mistake, in words."""

    reason: str
    message: str
    field: str


class ApiError(PyctrlError):
    """Raised when the API server answered with a failure.

    Attributes:
        status: the server's Status as it came (a mapping; empty when the body was not a Status).
        code: HTTP status code.
        reason: ``Status.reason`` ("NotFound", "Conflict", …), or "" when there was none.
        message: the server's sentence.
        request: what was asked, such as ``GET /api/v1/pods``; "" when unknown.
        retry_after: seconds that the server asks to wait, or None.
        cluster: which of several clusters has answered; "" for the manager's own, and where there is only one.
    """

    http_code: ClassVar[int] = 0
    may_retry: ClassVar[bool] = False
    _reason: ClassVar[str] = ""

    def __init_subclass__(
        cls, *, reason: str | None = None, http_code: int | None = None, may_retry: bool | None = None
    ) -> None:
        """Take what the class statement says of its answer; what it does not say is as in the class above."""
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
        """``Status.details``: name, group, kind, uid of the object concerned, and causes."""
        details = self.status.get("details")
        return details if isinstance(details, Mapping) else {}

    @property
    def causes(self) -> tuple[Cause, ...]:
        """The causes that the server listed, in its order; empty when it gave none."""
        causes = self.details.get("causes") or ()
        return tuple(
            Cause(reason=c.get("reason", ""), message=c.get("message", ""), field=c.get("field", "")) for c in causes
        )


class BadRequest(ApiError, reason="BadRequest", http_code=400):
    """Raised on 400: the request cannot be understood. Not retryable."""


class Unauthorized(ApiError, reason="Unauthorized", http_code=401):
    """Raised on 401, after the credentials have been refreshed once. Retryable with other credentials only."""


# The sentence of kube-apiserver's authorizer: k8s.io/apiserver/pkg/endpoints/handlers/responsewriters/errors.go
_FORBIDDEN = re.compile(
    r'User "(?P<user>[^"]*)" cannot (?P<verb>\S+) (?:resource "(?P<resource>[^"]+)"|path "(?P<path>[^"]+)")'
    r'(?: in API group "(?P<group>[^"]*)")?(?: in the namespace "(?P<namespace>[^"]+)")?'
)


class Forbidden(ApiError, reason="Forbidden", http_code=403):
    """Raised on 403. Retryable only after somebody has granted the right.

    ``verb``, ``resource`` or ``path``, ``api_group``, ``namespace`` ("" for the whole cluster) and ``user`` are read
    from the server's sentence; they are "" when it speaks of something else (an admission plugin, a quota).
    """

    def _part(self, name: str) -> str:
        found = _FORBIDDEN.search(self.message)
        return (found[name] or "") if found else ""

    @property
    def user(self) -> str:
        """Who asked, as the server knows them."""
        return self._part("user")

    @property
    def verb(self) -> str:
        """The verb that is not allowed, such as ``list``."""
        return self._part("verb")

    @property
    def resource(self) -> str:
        """The plural resource, with its sub-resource after a slash."""
        return self._part("resource")

    @property
    def path(self) -> str:
        """The path, such as ``/metrics``, when it is about no resource."""
        return self._part("path")

    @property
    def api_group(self) -> str:
        """The API group; "" is the core group."""
        return self._part("group")

    @property
    def namespace(self) -> str:
        """The namespace, or "" when the right is missing for the whole cluster."""
        return self._part("namespace")


class NotFound(ApiError, reason="NotFound", http_code=404):
    """Raised on 404: no such object. `find` returns None instead."""


class MethodNotAllowed(ApiError, reason="MethodNotAllowed", http_code=405):
    """Raised on 405: the resource does not know this verb."""


class NotAcceptable(ApiError, reason="NotAcceptable", http_code=406):
    """Raised on 406: the server cannot answer in the form asked for."""


class AlreadyExists(ApiError, reason="AlreadyExists", http_code=409):
    """Raised on 409 when the name is taken. Not retryable: read the object and decide."""


class Conflict(ApiError, reason="Conflict", http_code=409, may_retry=True):
    """Raised on 409 when the object has changed since it was read, or when a field has another manager.

    Retryable after reading the object again.
    """


class Gone(ApiError, reason="Gone", http_code=410):
    """Raised on 410: what was asked for is no longer there."""


class Expired(Gone, reason="Expired"):
    """Raised on 410 when a resource version or continue token is too old. List again from the start."""


class RequestEntityTooLarge(ApiError, reason="RequestEntityTooLarge", http_code=413):
    """Raised on 413: the object is larger than the server takes."""


class UnsupportedMediaType(ApiError, reason="UnsupportedMediaType", http_code=415):
    """Raised on 415: the server does not take this kind of body or patch here."""


class Invalid(ApiError, reason="Invalid", http_code=422):
    """Raised on 422: the object breaks the kind's rules; ``causes`` says where. Not retryable unchanged."""


class TooManyRequests(ApiError, reason="TooManyRequests", http_code=429, may_retry=True):
    """Raised on 429 after the client has waited and tried as often as it may."""


class InternalError(ApiError, reason="InternalError", http_code=500, may_retry=True):
    """Raised on 500, and on any other answer of 5xx that has no class of its own. Retryable."""


class ServerTimeout(ApiError, reason="ServerTimeout", http_code=500, may_retry=True):
    """Raised when the server could not finish in time and asks to try later. Retryable."""


class ServiceUnavailable(ApiError, reason="ServiceUnavailable", http_code=503, may_retry=True):
    """Raised on 503. Retryable."""


class Timeout(ApiError, reason="Timeout", http_code=504, may_retry=True):
    """Raised on 504: the server gave up; whether it acted is unknown. Retryable when that does not matter."""


def _leaves(root: type[ApiError]) -> Iterable[type[ApiError]]:
    for child in root.__subclasses__():
        yield child
        yield from _leaves(child)


_BY_REASON: dict[str, type[ApiError]] = {cls._reason: cls for cls in _leaves(ApiError)}
_BY_CODE: dict[int, type[ApiError]] = {}
for _cls in _leaves(ApiError):
    _BY_CODE.setdefault(_cls.http_code, _cls)
_BY_CODE[409] = Conflict  # without a reason, "somebody else was faster" is the safer reading


def error_from_status(
    status: Mapping[str, Any], *, http_code: int, request: str = "", retry_after: float | None = None
) -> ApiError:
    """Make the exception for a failed answer: its class by ``reason``, else by code, else by hundred.

    Args:
        status: the decoded Status; ``{"message": text}`` or ``{}`` when the body was something else.
        http_code: the code of the HTTP answer, used when the Status has none.
        request: what was asked, for the message.
        retry_after: seconds from the Retry-After header; ``details.retryAfterSeconds`` is used when None.
    """
    code, reason = status.get("code") or http_code, status.get("reason") or ""
    if not (isinstance(code, int) and isinstance(reason, str)):  # made by something that is no API server
        code, reason = http_code, ""
    cls = _BY_REASON.get(reason) or _BY_CODE.get(code) or (InternalError if code >= 500 else ApiError)
    details = status.get("details")
    if retry_after is None and isinstance(details, Mapping):
        seconds = details.get("retryAfterSeconds")
        retry_after = seconds if isinstance(seconds, int | float) and seconds >= 0 else None
    message = status.get("message") or f"the server answered {code}"
    return cls(message, code=code, reason=reason, status=status, request=request, retry_after=retry_after)


# --- no answer ----------------------------------------------------------------------------------------------------


class TransportError(PyctrlError):
    """Raised when no whole answer came. Retryable for reads; for writes the server may have acted."""


class ConnectionFailed(TransportError):
    """Raised when no connection could be made: nothing was sent. Retryable."""


class RequestTimeout(TransportError):
    """Raised when the answer did not come in time. The server may have acted."""


class StreamBroken(TransportError):
    """Raised when an answer ended in its middle. The server may have acted."""


# --- before a request ---------------------------------------------------------------------------------------------


class ConfigError(PyctrlError):
    """Raised when a login cannot be used as it is written. Names the file and the entry.

    Not retryable while a `Config` is made. From a request it may also mean that a plugin or an identity provider is
    down for now, and a later try can help.
    """


class NoConfiguration(ConfigError):
    """Raised when no source of a login worked; ``attempts`` has each source and why it failed."""

    def __init__(self, attempts: Iterable[tuple[str, str]]) -> None:
        self.attempts: tuple[tuple[str, str], ...] = tuple(attempts)
        lines = "".join(f"\n  - {source}: {why}" for source, why in self.attempts)
        super().__init__(
            f"no way to reach a cluster was found; tried:{lines}\n"
            "Set KUBECONFIG to a kubeconfig file, or pass kubeconfig=… to Config.load()."
        )


class DecodeError(PyctrlError):
    """Raised when bytes or fields are not what the type says; the message ends with the path of the field."""


class DefinitionError(PyctrlError):
    """Types of which no CustomResourceDefinition can be made. Not retryable: it is a mistake in the program.

    Attributes:
        problems: everything that is wrong, each as a line: where, what, and what to do.

    Args:
        subject: the kind.
        problems: as the attribute.
        excerpts: of the source, one for each problem; an empty one is left out of the message.
    """

    def __init__(self, subject: str, problems: Iterable[str], excerpts: Iterable[str] = ()) -> None:
        self.problems: tuple[str, ...] = tuple(problems)
        lines = [f"no definition can be made of {subject}:"]
        for problem, excerpt in zip_longest(self.problems, excerpts, fillvalue=""):
            lines += [f"  {problem}", *(f"  {line}" for line in excerpt.splitlines())]
        super().__init__("\n".join(lines))


class KindError(PyctrlError):
    """The root of mistakes about kinds."""


class UnknownKind(KindError):
    """Raised when the cluster does not serve a kind. Retryable once its definition is installed."""

    def __init__(self, kind: object, *, server: str = "", served: Iterable[str] = ()) -> None:
        at = f" at {server}" if server else ""
        near = ", ".join(served)
        hint = f" (it serves {near})" if near else ""
        super().__init__(f"the cluster{at} does not serve {kind}{hint}; is its definition installed?")
        self.kind = kind


class NotRegistered(KindError):
    """Raised when a scheme has no class for a kind. Not retryable: it is a wiring mistake."""

    def __init__(self, kind: object) -> None:
        super().__init__(
            f"{kind} is not registered; add its class to the Scheme, or use its GroupVersionKind to get it untyped"
        )
        self.kind = kind


# --- the cache ----------------------------------------------------------------------------------------------------


class CacheError(PyctrlError):
    """The root of refusals by the cache."""


class NotCovered(CacheError):
    """Raised when a read is outside of what the cache watches. Not retryable: it is a wiring mistake."""

    def __init__(self, kind: object, *, asked: str, covered: str, remedy: str = "") -> None:
        todo = remedy or "watch the kind with owns or watches of a controller, or cache.informer(); or use client.live"
        super().__init__(
            f"the cache does not cover {asked} of {kind} (it covers {covered or 'nothing of this kind'}): {todo}"
        )
        self.kind = kind


class NotSynced(CacheError):
    """Raised when the first list of a kind has not arrived in time. The message has the last error seen."""


class IndexMissing(CacheError):
    """Raised when a list names an index that was not added. Not retryable."""

    def __init__(self, kind: object, name: str, known: Iterable[str] = ()) -> None:
        names = ", ".join(sorted(known)) or "none"
        super().__init__(f"{kind} has no index {name!r} (it has: {names}); add it with cache.add_index() first")
        self.kind: object = kind
        self.name: str = name


# --- values -------------------------------------------------------------------------------------------------------


class SelectorError(PyctrlError, ValueError):
    """Raised when a label or field selector does not parse."""


class QuantityError(PyctrlError, ValueError):
    """Raised when a quantity does not parse."""


class PatchError(PyctrlError, ValueError):
    """Raised when a patch cannot be applied to a document."""


class OwnershipError(PyctrlError):
    """The root of refusals to set an owner."""


class AlreadyOwned(OwnershipError):
    """Raised when another controller owns the object already. Not retryable until it is released."""

    def __init__(self, obj: str, owner: str) -> None:
        super().__init__(f"{obj} is already controlled by {owner}; an object has at most one controller")


class CrossNamespaceOwner(OwnershipError):
    """Raised when owner and object cannot be related: an owner is in the same namespace or cluster-scoped."""


# --- controllers and managers -------------------------------------------------------------------------------------


class TerminalError(PyctrlError):
    """Raise it from a reconciler to say that trying again cannot help; the next change of the object runs it again."""


class ControllerError(PyctrlError):
    """The root of mistakes in wiring or writing a controller."""


class InvalidResult(ControllerError):
    """Raised (and handled as terminal) when a reconciler returned something that is neither a Result nor None."""

    def __init__(self, controller: str, value: object) -> None:
        super().__init__(
            f"the reconciler of controller {controller!r} returned {value!r}; "
            "return None when done, or Result(requeue_after=timedelta(...)) to run again"
        )
        self.value = value


class DuplicateName(ControllerError):
    """Raised when a controller's name is taken in its manager."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"a controller named {name!r} exists already in this manager; "
            "give this one its own with .options(name=...): names separate metrics and logs"
        )
        self.name = name


class BuilderError(ControllerError):
    """Raised by `build` when a controller is wired in a way that cannot work."""


class QueueClosed(ControllerError):
    """Raised to those who wait for a request when the queue has been closed."""


class WebhookError(PyctrlError):
    """The root of what a webhook answers instead of yes; it reaches the user whose request was asked about."""


class Denied(WebhookError):
    """Raised by an admission webhook: the request is not allowed. The user is answered 403 with this message."""


class Rejected(WebhookError):
    """Raised by an admission webhook: the object is invalid. The user is answered 422 with these causes.

    ``pyctrl.webhook.FieldError`` makes causes in the words of Kubernetes.
    """

    def __init__(self, *causes: Cause) -> None:
        if not causes:
            raise ValueError("Rejected() takes at least one cause, such as FieldError.required('spec.image')")
        sentences = [f"{cause.field}: {cause.message}" for cause in causes]
        super().__init__(sentences[0] if len(sentences) == 1 else f"[{', '.join(sentences)}]")
        self.causes = causes


class ConversionFailed(WebhookError):
    """Raised when an object cannot be converted to another version; the API server fails the user's request with it."""


class RbacError(PyctrlError):
    """Raised when rights are declared in a way that cannot be."""


class MissingRights(RbacError):
    """Raised at start, where that is asked for, when the login may not do what the program needs; lists all of it."""


class ManagerError(PyctrlError):
    """The root of failures to start or stop in order."""


class GracePeriodExceeded(ManagerError):
    """Raised after a stop in which something did not end within the grace period and was cancelled."""


class LeadershipLost(ManagerError):
    """Raised by ``Manager.run`` when the lease could not be kept; all elected work has been stopped. Start it again."""


class NotLeading(ManagerError):
    """Raised instead of sending a write of elected work that the lease no longer covers. The server has not acted.

    The next leader does the work; in this process nothing is to be done but to stop, which the manager sees to.
    """


class UnknownCluster(ManagerError):
    """Raised when a manager is connected to no cluster of this name. It may become one of a fleet."""

    def __init__(self, cluster: str, known: Iterable[str] = ()) -> None:
        names = ", ".join(map(repr, sorted(known))) or "none"
        super().__init__(f"there is no cluster {cluster!r} (connected: {names})")
        self.cluster: str = cluster


class ClusterGone(UnknownCluster):
    """Raised by what belonged to a cluster that has left its fleet, such as its client. Nothing was sent.

    One that comes back under the same name has a new client. A request for an object of the cluster that fails of this
    is not tried again.
    """

    def __init__(self, cluster: str) -> None:
        ManagerError.__init__(self, f"the cluster {cluster!r} has left; what belonged to it can no longer be used")
        self.cluster = cluster


class CommandFailed(PyctrlError):
    """Raised when a command of the command line cannot do what it was told to; its message is all that is shown."""
