"""The server: one `handle` that takes a request and gives its answer, without sockets and without threads.

The way of a request: who asks and whether they may (`_access_control`), which resource the URL means (`_request`),
which form is wanted (`_forms`), then the verb (`_verbs_*`), one transaction over the storage. Only watches, waits for a
version, and webhooks (`_admission`) take time; everything else is answered in the same turn of the loop.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from random import Random
from typing import Any

import msgspec

from pyctrl._clock import now
from pyctrl._go.durations import duration_problem
from pyctrl._headers import Headers
from pyctrl.api import RequestTarget
from pyctrl.apiserver._admission import AdmissionPluginName, default_admission_chain
from pyctrl.apiserver._apiextensions.conversion_webhook import WebhookConverter
from pyctrl.apiserver._apiextensions.establishing import EstablishingController
from pyctrl.apiserver._authn import AuthenticationWebhook, Peer, User
from pyctrl.apiserver._authn.openid import OpenIDMetadata
from pyctrl.apiserver._authz import AuthorizationWebhook
from pyctrl.apiserver._bootstrap.api_services import AutoRegisterController
from pyctrl.apiserver._bootstrap.rbac_policy import store_bootstrap_policy
from pyctrl.apiserver._bootstrap.system_objects import bootstrap_objects
from pyctrl.apiserver._discovery.documents import NonResourcePaths
from pyctrl.apiserver._endpoints.backend import RESTStorage
from pyctrl.apiserver._endpoints.delete import Deletes
from pyctrl.apiserver._endpoints.read import Reads
from pyctrl.apiserver._endpoints.write import Writes
from pyctrl.apiserver._errors import (
    Response,
    StatusError,
    bad_request,
    internal_error,
    method_not_allowed,
    not_found,
    resource_not_served,
    too_large_resource_version,
)
from pyctrl.apiserver._filters.access_control import AccessControl, AuthorizationMode
from pyctrl.apiserver._filters.audit import AuditLog
from pyctrl.apiserver._filters.impersonation import EXTRA, GROUP, REPEATED
from pyctrl.apiserver._healthz import NO_PAGE
from pyctrl.apiserver._registry.builtin_resource import RESTContext, RESTFactory
from pyctrl.apiserver._registry.resources import ResourceRegistry, ResourceType
from pyctrl.apiserver._registry.scale import ScaleREST
from pyctrl.apiserver._registry.serviceaccounts import MAX_SECONDS
from pyctrl.apiserver._request.negotiation import is_custom, negotiate_media_type, with_table_options
from pyctrl.apiserver._request.request import QueryParameters, ResourceRequest, WouldBlock, parse_target
from pyctrl.apiserver._request.request_info import RequestContext
from pyctrl.apiserver._storage.storage import HISTORY, NotConverted, Storage
from pyctrl.apiserver._webhooks import (
    EndpointServiceResolver,
    HttpsCaller,
    ReviewPending,
    ServiceResolver,
    WebhookCaller,
    WebhookClient,
    resolve_reviews,
)

log = logging.getLogger("pyctrl.apiserver")

VERSION_WAIT_SECONDS = 3.0  # kube-apiserver's patience for a version in the future

VERSION_DIGITS = 20  # of the largest 64-bit number

_LONG_RUNNING = frozenset(("attach", "exec", "log", "portforward", "proxy"))

_REST_METHODS = {"GET": "get", "POST": "create", "PUT": "replace", "PATCH": "patch"}  # of the handler of a sub-resource
_CUSTOM_RESOURCE_REST: Mapping[str, RESTFactory] = {"scale": ScaleREST}

Handler = Callable[[ResourceRequest], Response | Coroutine[Any, Any, Response]]


class ApiServer:
    """A Kubernetes API server in memory.

    Everything is lost with the object. Deterministic: names and uids come from `random`, times from pyctrl's clock,
    timeouts from the running loop. One server belongs to one event loop; it has no tasks of its own and needs no end.

    Args:
        tokens: Users by their bearer tokens. Without, everybody is an administrator.
        authorization: `"RBAC"` asks the roles and bindings, and has those that every cluster begins with;
            `"AlwaysAllow"` lets everybody do everything; `"Webhook"` asks the `authorization_webhook`. Several are
            asked in their order until one allows or denies. By default RBAC for a server that has `tokens` or an
            `authentication_webhook`, and Webhook before it where there is one.
        authentication_webhook: Says whose the tokens are that nobody else knows.
        authorization_webhook: Says who may do what.
        history: Events kept for each resource, for watches and older versions; after that they answer 410.
        audit: Told of every request that was answered.
        webhooks: Calls webhooks of all kinds; an async function in this process will do, and works in virtual time.
            Without, they are called over HTTPS.
        resolve_service: Says where a service is that a webhook names, for calls over HTTPS; by default its first ready
            endpoint.
        enable_admission_plugins: Plugins of admission that are off by default, by kube-apiserver's names;
            `"OwnerReferencesPermissionEnforcement"` is the one there is.

    Raises:
        ValueError: There is no such admission plugin, or the authorization does not fit the webhook.
    """

    def __init__(
        self,
        *,
        random: Random | None = None,
        tokens: Mapping[str, User] | None = None,
        history: int = HISTORY,
        registry: ResourceRegistry | None = None,
        audit: AuditLog | None = None,
        webhooks: WebhookCaller | None = None,
        resolve_service: ServiceResolver | None = None,
        authorization: AuthorizationMode | Sequence[AuthorizationMode] | None = None,
        authentication_webhook: AuthenticationWebhook | None = None,
        authorization_webhook: AuthorizationWebhook | None = None,
        enable_admission_plugins: Collection[AdmissionPluginName] = (),
    ) -> None:
        self.storage: Storage = Storage(history=history)
        self.registry: ResourceRegistry = registry or ResourceRegistry()
        random = random or Random()
        self.registry.observe(self.storage)
        client = WebhookClient(webhooks or HttpsCaller(resolve_service or EndpointServiceResolver(self.storage)))
        asked = authentication_webhook, authorization_webhook
        self._access = access = AccessControl(
            self.storage, random, client, tokens=tokens, authorization=authorization, webhooks=asked
        )
        self._conversions = conversions = WebhookConverter(client, self.registry.components, random)
        admission = default_admission_chain(
            self.storage, self.registry, random, client, conversions, access.authorizer, enable_admission_plugins
        )
        #: Whether roles and bindings decide who may do what.
        self.has_rbac: bool = access.escalation is not None
        who = access.authorizer, access.escalation
        backend = RESTStorage(self.storage, self.registry, random, admission, *who, conversions)
        if self.has_rbac:
            store_bootstrap_policy(backend)
        self._reads = Reads(backend)
        self._writes = Writes(backend)
        self._deletes = Deletes(backend, self._reads)
        self._context = RESTContext(backend, self._writes, self._deletes, access.authenticator, access.accounts)
        self._handlers: dict[RESTFactory, object] = {}
        self._openid = OpenIDMetadata(access.accounts)
        self._documents = NonResourcePaths(self.registry)
        self._establishing = EstablishingController(backend)
        self._api_services = AutoRegisterController(backend)
        self._verbs = self._routes()
        self._audit: AuditLog | None = None
        own = {"authorization": f"Bearer {self.loopback_token}"}
        for path, obj in bootstrap_objects():
            self.handle_nowait("POST", path, headers=own, body=msgspec.json.encode(obj))
        self._audit = audit  # now: nobody has asked for the default objects

    @property
    def loopback_token(self) -> str:
        """A token of this server's own administrator, `system:apiserver`: for what lives in the same process."""
        return self._access.authenticator.loopback

    def issue_token(self, user: User) -> str:
        """Make a token for a user, who need not be known before; it is good as long as the server."""
        return self._access.authenticator.issue(user)

    def issue_account_token(self, namespace: str, name: str) -> str:
        """Make a token for a service account; it is good while the account is there.

        Raises:
            LookupError: there is no such service account.
        """
        account = self.storage.collection("", "serviceaccounts").find(namespace, name)
        if account is None:
            raise LookupError(f"there is no service account {name!r} in namespace {namespace!r}; create it first")
        return self._access.accounts.make(account, seconds=MAX_SECONDS)

    def issue_long_lived_token(self, namespace: str, name: str, uid: str, secret: str) -> str:
        """Make the token that a Secret keeps for a service account: it is good while both are there."""
        return self._access.accounts.issue_long_lived(namespace, name, uid, secret)

    def compact(self) -> None:
        """Forget all history: watches and lists of older versions answer 410 from now on."""
        self.storage.compact()

    # -- the way of a request ----------------------------------------------------------------------------------

    async def handle(
        self,
        method: str,
        path: str,
        query: Sequence[tuple[str, str]],
        headers: Mapping[str, str],
        body: bytes,
        *,
        peer: Peer | None = None,
    ) -> Response:
        """Answer one request. Never raises for what a client sent; a watch's answer streams until it is closed.

        Args:
            peer: who is at the other end of the connection, if there is one.
        """
        for name, value in query:
            if name == "resourceVersion" and (version := _number(value)) > self.storage.version:
                await self.storage.reaches(version, seconds=VERSION_WAIT_SECONDS)
        return await self._exchanged(
            RequestContext(method, path, QueryParameters(query), _lowered(headers), body, peer)
        )

    def handle_nowait(
        self,
        method: str,
        path: str,
        query: Sequence[tuple[str, str]] = (),
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
        *,
        peer: Peer | None = None,
    ) -> Response:
        """Answer one request at once; what `handle` does but for waiting until a version is reached.

        Raises:
            RuntimeError: the answer takes time, because a webhook has to be called; nothing was changed.
        """
        exchange = RequestContext(method, path, QueryParameters(query), _lowered(headers), body, peer, may_wait=False)
        pending = self._exchanged(exchange)
        try:
            pending.send(None)
        except StopIteration as done:
            answer: Response = done.value
            return answer
        pending.close()
        raise WouldBlock(f"{method} {path} takes time: await ApiServer.handle for it")

    async def _exchanged(self, exchange: RequestContext) -> Response:
        if self._audit is None:
            return await self._answer(exchange)
        exchange.received = now()
        return self._audit.completed(exchange, await self._answer(exchange))

    async def _answer(self, exchange: RequestContext) -> Response:
        try:
            if self._access.asks and exchange.may_wait:
                answer = await resolve_reviews(lambda: self._dispatch(exchange))
            else:
                answer = await self._dispatch(exchange)
        except ReviewPending as lacking:
            raise WouldBlock(str(lacking)) from None
        except StatusError as refusal:
            answer = refusal.answer()
        except WouldBlock:
            raise
        except RecursionError:
            answer = bad_request("the object is nested too deeply").answer()
        except Exception as error:
            log.exception("request failed", extra={"method": exchange.method, "path": exchange.path})
            answer = internal_error(f"{type(error).__name__}: {error}").answer()
        return _with_warnings(answer, exchange.warnings) if exchange.warnings else answer

    async def _dispatch(self, exchange: RequestContext) -> Response:
        headers = exchange.headers
        target = exchange.target = parse_target(exchange.path)
        _check_timeout(exchange)
        user = self._access.enter(exchange)
        if target is None:
            found = self._openid.answer(exchange.method, exchange.path, headers)
            accept, known = headers.get("accept", ""), headers.get("if-none-match", "")
            return found or self._documents.answer(exchange.method, exchange.path, exchange.query, accept, known)
        resource = self._resource(target)
        if resource is None or _misses_namespace(exchange, target, resource):
            return NO_PAGE
        is_collection = exchange.method == "GET" and not target.name
        accepted = negotiate_media_type(headers.get("accept", ""), may_stream=is_collection)
        form = with_table_options(accepted, exchange.query.get("includeObject"))
        if resource.deprecation:
            exchange.warnings.append(resource.deprecation)
        request = ResourceRequest(
            method=exchange.method,
            path=exchange.path,
            target=target,
            resource=resource,
            query=exchange.query,
            headers=headers,
            body=exchange.body,
            user=user,
            form=form,
            warnings=exchange.warnings,
            annotations=exchange.annotations,
            may_wait=exchange.may_wait,
        )
        handler = self._handler(request)
        if resource.converts:
            answer = await self._converted(handler, request)
        else:
            answered = handler(request)
            answer = answered if isinstance(answered, Response) else await answered
        self._establishing.settle()
        self._api_services.sync()
        return answer

    async def _converted(self, handler: Handler, request: ResourceRequest) -> Response:
        """Answer a request for a resource with a conversion webhook: everything it is about is converted first."""
        conversions = self._conversions
        await conversions.prepare(request, self.storage.collection(request.target.group, request.target.resource))
        while True:
            try:
                answered = handler(request)
                return answered if isinstance(answered, Response) else await answered
            except NotConverted as lacking:  # an older state, or one that came meanwhile; nothing was written yet
                await conversions.show([lacking.stored], lacking.resource, request)

    def _resource(self, target: RequestTarget) -> ResourceType | None:
        """Find what the URL means; None when not even its group and version are served."""
        resource = self.registry.find(target.group, target.version, target.resource)
        if resource is None:
            if self.registry.knows(target.group, target.version):
                raise resource_not_served()
            return None
        if target.namespace and not resource.namespaced:
            raise resource_not_served()
        return resource

    # -- which verb --------------------------------------------------------------------------------------------

    def _routes(self) -> dict[tuple[str, str], tuple[str, Handler]]:
        """Handlers by method and shape of the URL, with the verb that the kind must have; sub-resources need none."""
        return {
            ("POST", "collection"): ("create", self._writes.create),
            ("GET", "collection"): ("list", self._list_or_watch),
            ("DELETE", "collection"): ("deletecollection", self._deletes.delete_collection),
            ("GET", "object"): ("get", self._get),
            ("PUT", "object"): ("update", self._writes.replace),
            ("PATCH", "object"): ("patch", self._writes.patch),
            ("DELETE", "object"): ("delete", self._deletes.delete),
            ("GET", "part"): ("", self._reads.get),
            ("PUT", "part"): ("", self._writes.replace),
            ("PATCH", "part"): ("", self._writes.patch),
        }

    def _handler(self, request: ResourceRequest) -> Handler:
        target, resource = request.target, request.resource
        if target.name and resource.namespaced and not target.namespace and not is_custom(resource):
            raise resource_not_served()
        if "list" not in resource.verbs and (target.name or (resource.namespaced and not target.namespace)):
            raise resource_not_served()  # what is only created has no URL but that of its collection
        if target.subresource and target.subresource not in resource.subresources:
            raise self._no_subresource(request)
        verb, handler = self._find_handler(request)
        if handler is None or (verb and verb not in resource.verbs):
            raise method_not_allowed()
        if target.name and resource.namespaced and not target.namespace:
            raise resource_not_served()
        return handler

    def _find_handler(self, request: ResourceRequest) -> tuple[str, Handler | None]:
        """Return the verb that the kind must have, and the handler, None where the method is not allowed."""
        target, resource, method = request.target, request.resource, request.method
        if target.subresource in resource.parts:
            return self._verbs.get((method, "part"), ("", None))
        if target.subresource:
            factories = _CUSTOM_RESOURCE_REST if is_custom(resource) else resource.rest
            return "", self._rest(factories.get(target.subresource), method)
        if method == "POST" and not target.name and "" in resource.rest:
            return "create", self._rest(resource.rest[""], method)
        return self._verbs.get((method, "object" if target.name else "collection"), ("", None))

    def _rest(self, factory: RESTFactory | None, method: str) -> Handler | None:
        if factory is None:
            return None
        if factory not in self._handlers:
            self._handlers[factory] = factory(self._context)
        handler: Handler | None = getattr(self._handlers[factory], _REST_METHODS.get(method, ""), None)
        return handler

    @staticmethod
    def _no_subresource(request: ResourceRequest) -> StatusError:
        target = request.target
        if is_custom(request.resource):
            return not_found(target.resource, target.name, target.group)
        return resource_not_served()

    def _list_or_watch(self, request: ResourceRequest) -> Response:
        if request.target.watch or request.query.flag("watch"):
            return self._reads.watch(request)
        self._check_version(request)
        return self._reads.list(request)

    def _get(self, request: ResourceRequest) -> Response:
        if request.target.watch:
            return self._reads.watch(request)
        self._check_version(request)
        return self._reads.get(request)

    def _check_version(self, request: ResourceRequest) -> None:
        """Refuse a version that the storage has not reached; `handle` has waited for it already."""
        version = _number(request.query.get("resourceVersion"))
        if version > self.storage.version:
            raise too_large_resource_version(version, self.storage.version)


def _check_timeout(exchange: RequestContext) -> None:
    """Refuse a `timeout` that is no duration, as kube-apiserver does before it knows who asks."""
    text, target = exchange.query.get("timeout"), exchange.target
    is_long = target is not None and (
        target.subresource in _LONG_RUNNING or target.verb(exchange.method, exchange.query.first) == "watch"
    )
    if text and not is_long and (problem := duration_problem(text)):
        raise bad_request(f"invalid timeout specified in the request URL - {problem}")


def _misses_namespace(exchange: RequestContext, target: RequestTarget, resource: ResourceType) -> bool:
    """Whether a custom resource is asked for without its namespace; only lists and watches reach over all of them."""
    if target.namespace or not resource.namespaced or not is_custom(resource):
        return False
    return target.verb(exchange.method, exchange.query.first) not in ("list", "watch")


def _number(version: str) -> int:
    """Read a version; 0 when it is none, which is told where it is used."""
    return int(version) if version.isascii() and version.isdecimal() and len(version) < VERSION_DIGITS else 0


def _lowered(headers: Mapping[str, str] | None) -> Mapping[str, str]:
    """Return headers by their names in lower case; of a repeated one the first, as in Go, but all that impersonate."""
    every = Headers.of(headers or {})
    names = [name for name in every.lowered if name == GROUP or name.startswith(EXTRA)]
    return {**every.lowered, **{name: REPEATED.join(every.get_all(name)) for name in names}} if names else every.lowered


def _with_warnings(answer: Response, warnings: list[str]) -> Response:
    told = [("Warning", f'299 - "{_escaped(warning)}"') for warning in dict.fromkeys(warnings)]
    return Response(status=answer.status, headers=(*answer.headers, *told), body=answer.body)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
