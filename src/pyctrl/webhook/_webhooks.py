"""The webhooks of a program by path, independent of the server that receives the requests."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from pyctrl._json import decode_json
from pyctrl._metrics import WebhookMetrics
from pyctrl.api import KindLike, kind_of
from pyctrl.errors import (
    ApiError,
    BadRequest,
    BuilderError,
    DecodeError,
    RequestEntityTooLarge,
    Timeout,
    UnsupportedMediaType,
)
from pyctrl.webhook._admission.admission import AdmissionHandler
from pyctrl.webhook._admission.review import review
from pyctrl.webhook._authentication import Authenticator, Authorizer, review_access, review_token
from pyctrl.webhook._configuration import Registration
from pyctrl.webhook._conversion.conversion import Conversion, review_conversion

__all__ = ["Reply", "Webhooks", "error_status", "path_of"]

log = logging.getLogger("pyctrl.webhook")

CONVERT_PATH = "/convert"
BODY_LIMIT = 7 * 1024 * 1024  # bytes; controller-runtime's: new and old object, at most 3 MiB each in etcd
TIMEOUT_SECONDS = 30.0  # the maximum of a webhook configuration
_PATH = re.compile(r"(/[a-zA-Z0-9_-]+)+|/")  # controller-runtime's
_TIMEOUT = re.compile(r"([0-9]+)s")  # kube-apiserver's query parameter: ?timeout=10s


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The JSON response to one POST."""

    body: bytes
    status: int = 200


_Responder = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]


class Webhooks:
    """The webhooks of a program, by path.

    A `WebhookServer` serves them over HTTPS, and ``pyctrl.testing.webhook_caller`` lets an API server in this process
    call them without a socket. `WebhookBuilder` builds typed webhooks; `add` takes any handler, `add_conversion` the
    versions of a kind.
    """

    def __init__(self, *, body_limit: int = BODY_LIMIT) -> None:
        """Create an empty registry.

        Args:
            body_limit: the maximum size of a review in bytes; larger ones get a 413.
        """
        self.body_limit = body_limit
        #: Metrics of the requests; a manager that runs a `WebhookServer` exposes them.
        self.meter: WebhookMetrics = WebhookMetrics()
        self._answerers: dict[str, _Responder] = {}
        self._registrations: list[Registration] = []
        self._conversions: list[Conversion[Any]] = []

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of all webhooks, in the order in which they were added."""
        return tuple(self._answerers)

    @property
    def registrations(self) -> tuple[Registration, ...]:
        """The registrations of all admission webhooks, for `configurations`."""
        return tuple(self._registrations)

    @property
    def conversions(self) -> tuple[Conversion[Any], ...]:
        """The conversions of all kinds."""
        return tuple(self._conversions)

    def add(self, path: str, handler: AdmissionHandler) -> None:
        """Serve AdmissionReviews at a path.

        Raises:
            BuilderError: the path is taken, or is not valid in a webhook configuration.
        """

        async def answer(document: Mapping[str, Any]) -> Mapping[str, Any]:
            return await review(handler, document, on_bug=self.meter.failed)

        self._add(path, answer)

    def register(self, registration: Registration, handler: AdmissionHandler) -> None:
        """Serve AdmissionReviews at the path of a registration, which `configurations` includes."""
        self.add(registration.path, handler)
        self._registrations.append(registration)
        log.info(
            "Registering a %s webhook",
            registration.type,
            extra={"GVK": str(registration.kind), "path": registration.path},
        )

    def add_conversion(self, conversion: Conversion[Any]) -> None:
        """Serve the conversions of a kind at ``/convert``, which all kinds share.

        Raises:
            BuilderError: the kind has a conversion already.
        """
        if any(each.kind == conversion.kind for each in self._conversions):
            raise BuilderError(f"{conversion.kind} has a conversion already; give one Conversion all of its spokes")
        if not self._conversions:
            self._add(CONVERT_PATH, self._convert)
        self._conversions.append(conversion)
        log.info("Conversion webhook enabled", extra={"GVK": str(conversion.hub.gvk)})

    def add_authentication(self, path: str, authenticator: Authenticator) -> None:
        """Serve TokenReviews at a path. The API server needs the flag --authentication-token-webhook-config-file."""

        async def answer(document: Mapping[str, Any]) -> Mapping[str, Any]:
            return await review_token(authenticator, document)

        self._add(path, answer)

    def add_authorization(self, path: str, authorizer: Authorizer) -> None:
        """Serve SubjectAccessReviews at a path. The API server needs the flag --authorization-webhook-config-file."""

        async def answer(document: Mapping[str, Any]) -> Mapping[str, Any]:
            return await review_access(authorizer, document)

        self._add(path, answer)

    async def _convert(self, document: Mapping[str, Any]) -> Mapping[str, Any]:

        def failed() -> None:
            self.meter.failed(is_conversion=True)

        return review_conversion(self._conversions, document, on_bug=failed)

    def _add(self, path: str, responder: _Responder) -> None:
        if not _PATH.fullmatch(path):
            raise BuilderError(f"expected a path such as /validate-podset of letters, digits, - and _; got {path!r}")
        if path in self._answerers:
            raise BuilderError(f"two webhooks have the path {path}; give one of them another with options(path=...)")
        self._answerers[path] = responder
        log.info("Registering webhook", extra={"path": path})
        self.meter.register(path)

    async def answer(
        self, path: str, body: bytes, *, content_type: str = "application/json", timeout: str = ""
    ) -> Reply:
        """Answer one POST.

        A review is always answered with a 200 and a review. Any other body is answered with a 4xx and a Status, whose
        message the API server shows.

        Args:
            path: the URL's path, without the query.
            body: the review.
            content_type: the request's header of that name.
            timeout: the API server's timeout from the query (``10s``); by default 30 seconds.
        """
        responder = self._answerers.get(path)
        if responder is None:
            known = ", ".join(self._answerers) or "none"
            return error_status(404, "NotFound", f"there is no webhook at {path}; there are: {known}")
        with self.meter.request(path) as answered:
            reply = await self._answer(path, responder, body, content_type, timeout)
            answered(reply.status)
            return reply

    async def _answer(self, path: str, responder: _Responder, body: bytes, content_type: str, timeout: str) -> Reply:
        try:
            document = self._document(body, content_type)
            async with asyncio.timeout(_seconds(timeout)):
                return Reply(body=msgspec.json.encode(await responder(document)))
        except ApiError as error:
            return error_status(error.code, error.reason, error.message)
        except RecursionError:
            return error_status(400, BadRequest("").reason, "the review is nested too deeply")
        except TimeoutError:
            log.warning("Webhook timed out", extra={"path": path, "timeout": timeout})
            return error_status(
                504, Timeout("").reason, f"the webhook at {path} took longer than {_seconds(timeout):g} s"
            )

    def _document(self, body: bytes, content_type: str) -> Mapping[str, Any]:
        if content_type.partition(";")[0].strip().lower() != "application/json":
            raise UnsupportedMediaType(f"contentType={_printable(content_type)}, expected application/json")
        if len(body) > self.body_limit:
            raise RequestEntityTooLarge(f"the review has {len(body)} bytes; the limit is {self.body_limit}")
        try:
            document = decode_json(body)
        except DecodeError as error:
            raise BadRequest(f"the body is not valid JSON: {error}") from error
        if not isinstance(document, Mapping):
            raise BadRequest(f"expected a review, got {type(document).__name__}")
        return document


def path_of(kind: KindLike, prefix: str) -> str:
    """Return controller-runtime's path for a kind: ``/mutate-apps-jicki-cn-v1alpha1-podset``."""
    group, version, name = kind_of(kind)
    return f"/{prefix}-{group.replace('.', '-')}-{version}-{name.lower()}"


def _seconds(timeout: str) -> float:
    found = _TIMEOUT.fullmatch(timeout)
    return min(float(found[1]), TIMEOUT_SECONDS) if found and found[1].strip("0") else TIMEOUT_SECONDS


def _printable(header: str) -> str:
    """Replace the bytes of a header that are not UTF-8, which aiohttp keeps as surrogates."""
    return header.encode("utf-8", "replace").decode()


def error_status(code: int, reason: str, message: str) -> Reply:
    """Return a Status that explains why no decision was made."""
    status = {
        "apiVersion": "v1",
        "kind": "Status",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "code": code,
    }
    return Reply(body=msgspec.json.encode(status), status=code)
