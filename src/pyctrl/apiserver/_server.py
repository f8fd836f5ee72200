"""API server: `handle` takes a request and returns its response, without sockets and threads.

A request passes the filters (`_filters`: authentication, impersonation, authorization, audit). The server then finds
the resource of the URL (`_request.request`) and the accepted representation (`_request.negotiation`), and calls the
handler of the verb (`_endpoints`), which is one transaction on the storage. Only watches, waits for a resource version
and webhooks take time. Every other request is answered without waiting.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any

import msgspec

from pyctrl._headers import Headers
from pyctrl.api import RequestTarget
from pyctrl.apiserver._admission import (
    AdmissionChain,
    AdmissionConfiguration,
    AdmissionPluginName,
    default_admission_chain,
    enabled_plugins,
)
from pyctrl.apiserver._aggregator import Aggregator, HttpsTransport, ProxyHandler, ServiceTransport
from pyctrl.apiserver._apiextensions.conversion_webhook import WebhookConverter
from pyctrl.apiserver._apiextensions.establishing import EstablishingController
from pyctrl.apiserver._authn import AuthenticationWebhook, Peer, RequestAuthenticator, User
from pyctrl.apiserver._authority import KeyPair
from pyctrl.apiserver._authz import AuthorizationWebhook
from pyctrl.apiserver._bootstrap.cluster_authentication_trust import ClusterAuthenticationInfo
from pyctrl.apiserver._bootstrap.kubernetes_controllers import KubernetesControllers
from pyctrl.apiserver._bootstrap.rbac_policy import reconcile_bootstrap_policy
from pyctrl.apiserver._discovery.documents import NonResourcePaths
from pyctrl.apiserver._endpoints.backend import RESTStorage
from pyctrl.apiserver._endpoints.response_writers import refusal_response
from pyctrl.apiserver._errors import (
    Response,
    StatusError,
    bad_request,
    internal_error,
    resource_not_served,
    unknown_error,
)
from pyctrl.apiserver._feature_gates import FeatureGate, enabled_features
from pyctrl.apiserver._filters.access_control import AccessControl, AuthorizationMode
from pyctrl.apiserver._filters.audit import AuditLog
from pyctrl.apiserver._filters.headers import first_values, with_warnings
from pyctrl.apiserver._filters.priority_and_fairness import PriorityAndFairness
from pyctrl.apiserver._healthz import NOT_FOUND
from pyctrl.apiserver._kubelet import KubeletServer
from pyctrl.apiserver._metrics.request_metrics import RequestMetrics
from pyctrl.apiserver._metrics.server_metrics import ServerMetrics
from pyctrl.apiserver._registry.resource_registry import ResourceRegistry
from pyctrl.apiserver._registry.serviceaccounts import MAX_SECONDS
from pyctrl.apiserver._request.options import requested_version
from pyctrl.apiserver._request.request import QueryParameters, ResourceRequest, WouldBlock, parse_target
from pyctrl.apiserver._request.request_context import RequestContext, accepted_form, check_timeout, misses_namespace
from pyctrl.apiserver._resources.resource_type import ResourceType
from pyctrl.apiserver._router import Handler, Router
from pyctrl.apiserver._storage.backend import Backend
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
from pyctrl.errors import StorageError

if TYPE_CHECKING:
    from pyctrl.apiserver._resources.served_resources import ServedResources

__all__ = ["ApiServer"]

log = logging.getLogger("pyctrl.apiserver")

VERSION_WAIT_SECONDS = 3.0  # how long kube-apiserver waits for a version in the future


class ApiServer:
    """A Kubernetes API server in memory.

    All objects are lost with the server, unless a `backend` keeps them. It is deterministic: names and uids come from
    `random`, times from pyctrl's clock, timeouts from the running loop. One server belongs to one event loop. It has no
    tasks and need not be closed.

    Args:
        tokens: Users by bearer token. Without tokens and webhooks every user is an administrator.
        authorization: `"RBAC"` evaluates roles and bindings, and creates kube-apiserver's default ones; `"AlwaysAllow"`
            allows everything; `"Node"` lets kubelets read what their pods need; `"Webhook"` calls the
            `authorization_webhook`. Several modes are tried in order until one allows or denies. The default is RBAC
            with `tokens` or an `authentication_webhook`, preceded by Webhook with an `authorization_webhook`, and
            AlwaysAllow without any of them.
        authentication_webhook: Authenticates tokens that the server does not know.
        authorization_webhook: Authorizes requests.
        request_authenticator: Authenticates requests by headers of a proxy and by client certificates. By default each
            certificate that TLS has verified authenticates its user.
        always_allow_paths: Paths that every user may get, such as those of health checks.
        registry: The resources; by default all built-in ones. A server with an `ExtensionResourceRegistry` is an
            extension API server: it has neither built-in objects, admission plugins nor an OpenID configuration.
        history: Events kept for each resource, for watches and lists at older versions. Older versions answer 410.
        audit: Records every request that was answered.
        webhooks: Calls webhooks of all kinds. An async function in this process works, also in virtual time. By default
            they are called over HTTPS.
        resolve_service: Resolves the service of a webhook or of an APIService to an address, for calls over HTTPS. By
            default it is any ready endpoint of the service; of a simulated pod, the address in `ports` of its script.
        enable_admission_plugins: Admission plugins to enable that are off by default, by kube-apiserver's names.
        disable_admission_plugins: Admission plugins to disable that are on by default.
        admission_configuration: The configurations of admission plugins.
        anonymous_auth: Whether requests without credentials are made by `system:anonymous`; otherwise they get 401.
        backend: Keeps the objects, their history, and the keys that sign tokens over restarts, such as a
            `SQLiteBackend`. The server does not close it. Use another `random` in each run: uids come from it.
        feature_gates: Features to enable that are alpha in 1.36, by kube-apiserver's names.

    Raises:
        ValueError: An admission plugin does not exist, is not implemented or needs a configuration, the authorization
            modes do not fit the webhooks, or a feature gate does not exist.
        StorageError: The backend cannot be read or written.
    """

    #: The client certificate with which the aggregator calls extension API servers; see `publish_authentication`.
    proxy_client: KeyPair | None = None
    _audit: AuditLog | None = None

    def __init__(
        self,
        *,
        random: Random | None = None,
        tokens: Mapping[str, User] | None = None,
        history: int = HISTORY,
        registry: ServedResources | None = None,
        audit: AuditLog | None = None,
        webhooks: WebhookCaller | None = None,
        resolve_service: ServiceResolver | None = None,
        authorization: AuthorizationMode | Sequence[AuthorizationMode] | None = None,
        authentication_webhook: AuthenticationWebhook | None = None,
        authorization_webhook: AuthorizationWebhook | None = None,
        enable_admission_plugins: Collection[AdmissionPluginName] = (),
        disable_admission_plugins: Collection[AdmissionPluginName] = (),
        admission_configuration: AdmissionConfiguration | None = None,
        request_authenticator: RequestAuthenticator | None = None,
        always_allow_paths: Collection[str] = (),
        anonymous_auth: bool = True,
        backend: Backend | None = None,
        feature_gates: Mapping[FeatureGate, bool] | None = None,
    ) -> None:
        self.storage: Storage = Storage(history=history, backend=backend)
        self.registry: ServedResources = ResourceRegistry() if registry is None else registry
        random = random or Random()
        is_extension = not isinstance(self.registry, ResourceRegistry)
        if isinstance(self.registry, ResourceRegistry):
            self.registry.observe(self.storage)
        #: The kubelets of nodes by name, through which `pods/exec` reaches containers.
        self.kubelets: dict[str, KubeletServer] = {}
        resolve_service = resolve_service or EndpointServiceResolver(self.storage, self.kubelets)
        client = WebhookClient(webhooks or HttpsCaller(resolve_service))
        self._access = access = AccessControl(
            self.storage,
            random,
            client,
            tokens=tokens,
            authorization=authorization,
            webhooks=(authentication_webhook, authorization_webhook),
            request_authenticator=request_authenticator,
            always_allow_paths=always_allow_paths,
        )
        self._request_authenticator, access.authenticator.anonymous_auth = request_authenticator, anonymous_auth
        self._conversions = WebhookConverter(client, self.registry.components, random)
        plugins = enabled_plugins(enable_admission_plugins, disable_admission_plugins)
        admission = self._admission(random, client, plugins, admission_configuration)
        #: Whether RBAC is one of the authorization modes.
        self.has_rbac: bool = access.escalation is not None
        rest = self._rest_storage(random, admission, enabled_features(feature_gates or {}))
        self._router = Router(rest, access, self.kubelets)
        self._metrics = RequestMetrics()
        self._establishing, self._synced_version = EstablishingController(rest), 0
        #: Carry requests to extension API servers in this process, also in virtual time, by the host names to which the
        #: services of their APIServices resolve, such as that of an `ExternalName`. Others are sent over HTTPS.
        self.service_transports: dict[str, ServiceTransport] = {}
        self._https = HttpsTransport(lambda: self.proxy_client)
        self._load(rest)
        self._kubernetes = None if is_extension else self._new_controllers(rest, resolve_service)
        #: Components of the control plane that run, `scheduler` and `controller-manager`; see ComponentStatuses.
        self.components: set[str] = set() if self._kubernetes is None else self._kubernetes.component_statuses.running
        self._fairness = None if is_extension else PriorityAndFairness(self.storage)
        self._documents, self._audit = self._new_documents(), audit

    def _rest_storage(self, random: Random, admission: AdmissionChain, features: frozenset[str]) -> RESTStorage:
        access = (self._access.authorizer, self._access.escalation)
        return RESTStorage(self.storage, self.registry, random, admission, *access, self._conversions, features)

    def _load(self, rest: RESTStorage) -> None:
        self.storage.load()
        self._establishing.resume()
        if self.has_rbac:
            reconcile_bootstrap_policy(rest)

    def _new_controllers(self, rest: RESTStorage, resolve_service: ServiceResolver) -> KubernetesControllers:
        proxy = ProxyHandler(resolve_service, self._https, self.service_transports)
        return KubernetesControllers(rest, self._access.accounts, Aggregator(self.storage, proxy, self._handle_own))

    @property
    def flags(self) -> Mapping[str, str]:
        """The command line of the server, which `/flagz` shows."""
        return self._documents.flags

    @flags.setter
    def flags(self, flags: Mapping[str, str]) -> None:
        self._documents.flags = flags

    def _new_documents(self) -> NonResourcePaths:
        aggregator = None if self._kubernetes is None else self._kubernetes.aggregator
        metrics = ServerMetrics(self._metrics, self.storage, () if aggregator is None else (aggregator,))
        return NonResourcePaths(self.registry, None if aggregator is None else aggregator.documents, metrics)

    def _admission(
        self,
        random: Random,
        client: WebhookClient,
        enabled: Collection[str],
        configuration: AdmissionConfiguration | None,
    ) -> AdmissionChain:
        if not isinstance(self.registry, ResourceRegistry):
            return AdmissionChain()  # of an extension API server
        return default_admission_chain(
            self.storage,
            self.registry,
            random,
            client,
            self._conversions,
            self._access.authorizer,
            enabled,
            configuration or AdmissionConfiguration(),
        )

    @property
    def loopback_token(self) -> str:
        """A token of the administrator `system:apiserver`, for code in the same process."""
        return self._access.authenticator.loopback

    def issue_token(self, user: User) -> str:
        """Issue a token for a user, who may be new. It is valid as long as the server exists."""
        return self._access.authenticator.issue(user)

    def issue_account_token(self, namespace: str, name: str) -> str:
        """Issue a token for a service account. It is valid while the account exists.

        Raises:
            LookupError: The service account does not exist.
        """
        account = self.storage.collection("", "serviceaccounts").find(namespace, name)
        if account is None:
            raise LookupError(f"service account {name!r} does not exist in namespace {namespace!r}; create it first")
        return self._access.accounts.make(account, seconds=MAX_SECONDS)

    def issue_long_lived_token(self, namespace: str, name: str, uid: str, secret: str) -> str:
        """Issue the token that a Secret stores for a service account. It is valid while both exist."""
        return self._access.accounts.issue_long_lived(namespace, name, uid, secret)

    def publish_authentication(self, info: ClusterAuthenticationInfo, *, proxy_client: KeyPair | None = None) -> None:
        """Publish how users authenticate in ConfigMap ``extension-apiserver-authentication`` of ``kube-system``.

        Extension API servers read it. Certificates and names that were published before are kept.

        Args:
            proxy_client: The client certificate with which this server calls extension API servers
                (``--proxy-client-cert-file``), signed by the CA of ``info.request_header``.
        """
        if self._kubernetes is None:
            raise ValueError("an extension API server publishes nothing: its kube-apiserver does")
        self._kubernetes.publish(info)
        self.proxy_client = proxy_client or self.proxy_client

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Check the availability of extension API servers, and fetch their documents, until the block ends.

        `serve` and `Cluster` do so; only a server that is used without them needs it. Blocks may overlap.
        """
        if self._kubernetes is None:
            yield
            return
        with self._https.keeping_connections():
            async with self._kubernetes.aggregator.running():
                yield

    def compact(self) -> None:
        """Drop all history: watches and lists at older versions answer 410 from now on."""
        self.storage.compact()

    # -- requests ----------------------------------------------------------------------------------------------

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
        """Return the response to a request. No request makes it raise. The response of a watch streams until closed.

        Args:
            peer: The client of the connection, if there is one.
        """
        for name, value in query:
            version = requested_version(value) if name == "resourceVersion" else 0
            if version > self.storage.version and self._is_stored(path):
                await self.storage.reaches(version, seconds=VERSION_WAIT_SECONDS)
        return await self._audited(self._context(method, path, query, headers, body, peer))

    def _context(
        self,
        method: str,
        path: str,
        query: Sequence[tuple[str, str]],
        headers: Mapping[str, str],
        body: bytes,
        peer: Peer | None,
    ) -> RequestContext:
        sent = Headers.of(headers)
        lowered = first_values(sent, self._request_authenticator)
        parameters = QueryParameters(query) if query else _NO_PARAMETERS
        return RequestContext(method, path, parameters, lowered, body, peer, sent_headers=sent.pairs)

    def _is_stored(self, path: str) -> bool:
        """Return whether the objects of a URL are in the storage of the server, and have its versions."""
        if self._kubernetes is not None and self._kubernetes.aggregator.find(path) is not None:
            return False
        target = parse_target(path)
        resource = None if target is None else self.registry.find(target.group, target.version, target.resource)
        return resource is None or resource.rest_storage is None

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
        """Return the response to a request without waiting. It does not wait for a resource version as `handle` does.

        Raises:
            RuntimeError: The request has to wait for a webhook. Nothing was changed.
        """
        context = self._context(method, path, query, headers or {}, body, peer)
        context.may_wait = False
        pending = self._audited(context)
        try:
            pending.send(None)
        except StopIteration as done:
            response: Response = done.value
            return response
        pending.close()
        raise WouldBlock(f"{method} {path} has to wait: await ApiServer.handle instead")

    async def _handle_own(self, method: str, path: str, obj: dict[str, Any]) -> Response:
        loopback = {"authorization": f"Bearer {self.loopback_token}", "user-agent": "kube-apiserver"}
        return await self.handle(method, path, (), loopback, msgspec.json.encode(obj))

    async def _audited(self, context: RequestContext) -> Response:
        self.storage.heartbeats.catch_up()
        with self._metrics.running(context.method):
            response = self._metrics.completed(context, await self._respond(context))
        if self._fairness is not None and context.peer is not None:  # clients in the process do not read the headers
            response = replace(response, headers=(*response.headers, *self._fairness.headers(context)))
        return response if self._audit is None else self._audit.completed(context, response)

    async def _respond(self, context: RequestContext) -> Response:
        try:
            if self._access.asks and context.may_wait:
                response = await resolve_reviews(lambda: self._dispatch(context))
            else:
                response = await self._dispatch(context)
        except ReviewPending as pending:
            raise WouldBlock(str(pending)) from None
        except StatusError as refusal:
            response = refusal_response(refusal, context.headers)
        except WouldBlock:
            raise
        except StorageError as error:
            log.error("Storage error", extra={"method": context.method, "path": context.path, "error": str(error)})  # noqa: TRY400 (the traceback tells nothing)
            response = unknown_error(f"the storage refused the write: {error.problem}").response()
        except RecursionError:
            response = bad_request("the object is nested too deeply").response()
        except Exception as error:
            log.exception("Request failed", extra={"method": context.method, "path": context.path})
            context.panic = f"{type(error).__name__}: {error}"
            response = internal_error(context.panic).response()
        return with_warnings(response, context.warnings) if context.warnings else response

    async def _dispatch(self, context: RequestContext) -> Response:
        headers = context.headers
        target = context.target = parse_target(context.path)
        if context.query.first:
            check_timeout(context)
        user = self._access.enter(context)
        if self._kubernetes is not None and (api := self._kubernetes.aggregator.find(context.path)) is not None:
            return await self._kubernetes.aggregator.handle(api, context, user)
        if target is None:
            openid = None if self._kubernetes is None else self._kubernetes.openid
            response = None if openid is None else openid.answer(context.method, context.path, headers)
            accept, etag = headers.get("accept", ""), headers.get("if-none-match", "")
            return response or self._documents.response(context.method, context.path, context.query, accept, etag)
        resource = self._resource(target)
        if resource is None or misses_namespace(context, target, resource):
            return NOT_FOUND
        request = _resource_request(context, target, resource, user)
        context.warn(resource.deprecation if resource.is_custom else "")  # also if it does not have the subresource
        handler, context.is_routed = self._router.handler(request), True
        request.form = accepted_form(context, target, resource)  # a path that is not served has no form
        context.warn("" if resource.is_custom else resource.deprecation)
        if resource.converts:
            response = await self._call_converted(handler, request)
        else:
            called = handler(request)
            response = called if isinstance(called, Response) else await called
        self._sync()
        return response

    def _sync(self) -> None:
        """Let the server's own controllers follow a write. If the storage refuses, the next request continues."""
        version = self.storage.version
        if version == self._synced_version:
            return
        try:
            self._establishing.sync()
            if self._kubernetes is not None:
                self._kubernetes.sync()
            self._synced_version = version  # the next request follows what was written here
        except StorageError as error:
            log.warning("Storage error", extra={"error": str(error)})

    async def _call_converted(self, handler: Handler, request: ResourceRequest) -> Response:
        """Call a handler for a resource with a conversion webhook: convert the objects of the request first."""
        conversions = self._conversions
        await conversions.prepare(request, self.storage.collection(request.target.group, request.target.resource))
        while True:
            try:
                return await _call(handler, request)
            except NotConverted as error:  # an older state, or one stored in the meantime; nothing was written yet
                await conversions.show([error.stored], error.resource, request)

    def _resource(self, target: RequestTarget) -> ResourceType | None:
        """Return the resource of the URL; None when nothing of its group is served there."""
        resource = self.registry.find(target.group, target.version, target.resource)
        if resource is not None and (resource.namespaced or not target.namespace):
            return resource
        if self.registry.is_builtin_group(target.group):
            raise resource_not_served()
        return None


_NO_PARAMETERS = QueryParameters(())


def _resource_request(
    context: RequestContext, target: RequestTarget, resource: ResourceType, user: User
) -> ResourceRequest:
    """Return a request for a resource."""
    return ResourceRequest(
        method=context.method,
        path=context.path,
        target=target,
        resource=resource,
        query=context.query,
        headers=context.headers,
        body=context.body,
        user=user,
        warnings=context.warnings,
        annotations=context.annotations,
        may_wait=context.may_wait,
        sent_headers=context.sent_headers,
        address=context.address,
    )


async def _call(handler: Handler, request: ResourceRequest) -> Response:
    response = handler(request)
    return response if isinstance(response, Response) else await response
