"""ServiceAccounts, and their subresource token, which issues tokens for a TokenRequest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any, Final

from pyctrl._clock import now
from pyctrl._go.text import quoted
from pyctrl.apiserver._admission import CREATE, Attributes
from pyctrl.apiserver._authn import ISSUER, BoundObject
from pyctrl.apiserver._endpoints.backend import check_kind, check_namespace_matches, metadata_of
from pyctrl.apiserver._endpoints.response_writers import value_response
from pyctrl.apiserver._endpoints.typed_bodies import TOKEN_REQUEST
from pyctrl.apiserver._errors import Response, bad_request, conflict, invalid, invalid_value, not_found
from pyctrl.apiserver._fieldmanager.managed_fields import update_managed_fields
from pyctrl.apiserver._meta.system_fields import omit_empty, timestamp
from pyctrl.apiserver._meta.validation import MetadataCheck
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource, RESTContext
from pyctrl.apiserver._registry.builtin_type import BuiltinResourceType
from pyctrl.apiserver._registry.strategy import Object, Strategy
from pyctrl.apiserver._request.options import WriteOptions, write_options
from pyctrl.apiserver._request.request import ResourceRequest
from pyctrl.apiserver._resources.resource_type import with_type_meta
from pyctrl.apiserver._serializer.decoding import decode_object, duplicate_members
from pyctrl.apiserver._storage.storage import StoredObject

__all__ = ["MAX_SECONDS", "RESOURCES"]

_DEFAULT_SECONDS = 3600
_MIN_SECONDS = 600  # kube-apiserver's own limits
MAX_SECONDS = 1 << 32
_DESCRIBED = {
    "resource": "serviceaccounts",
    "singularResource": "serviceaccount",
    "responseKind": {"kind": TOKEN_REQUEST.kind},
    "scope": "Namespaced",
    "verbs": ["create"],
}
_BINDABLE = {"Pod": "pods", "Secret": "secrets", "Node": "nodes"}


class _TokenREST:
    """POST of a TokenRequest."""

    def __init__(self, context: RESTContext) -> None:
        self._backend = context.backend
        self._accounts = context.accounts
        self._type = BuiltinResourceType(
            BuiltinResource(group=TOKEN_REQUEST.group, kind=TOKEN_REQUEST.kind),
            TOKEN_REQUEST.version,
            _DESCRIBED,
            context.backend.registry.components,
        )
        self._type.document = "core_v1"  # the document of the core group describes it

    async def create(self, request: ResourceRequest) -> Response:
        """Issue a token for the service account."""
        options = write_options(request.query, "CreateOptions")
        token_request = self._decoded(request, options)
        admission, name = self._backend.admission, request.target.name
        attributes = Attributes(
            operation=CREATE, request=request, object=token_request, name=name, options=options, own_kind=TOKEN_REQUEST
        )
        await admission.mutate(attributes)
        await admission.validate(attributes)
        token_request = attributes.object or token_request
        self._make(self._backend.live(request), token_request)
        return value_response(with_type_meta(token_request, self._type), request.form, 201)

    def _decoded(self, request: ResourceRequest, options: WriteOptions) -> dict[str, Any]:
        token_request = decode_object(request.body, request.headers, TOKEN_REQUEST.kind)
        duplicates = duplicate_members(request.body, token_request)
        check_kind(token_request, self._type, self._backend.registry)
        metadata_of(token_request, self._type)
        validation, warnings = options.field_validation, request.warnings
        self._type.decode(token_request, field_validation=validation, warnings=warnings, duplicates=duplicates)
        check_namespace_matches(token_request["metadata"], request)
        if token_request["spec"].get("expirationSeconds") is None:
            token_request["spec"]["expirationSeconds"] = _DEFAULT_SECONDS
        omit_empty(token_request["metadata"])
        update_managed_fields(
            token_request,
            None,
            manager=request.manager,
            operation="Update",
            api_version=self._type.api_version,
            subresource="token",
            type=self._type,
        )
        return token_request

    def _make(self, account: StoredObject, token_request: dict[str, Any]) -> None:
        """Write a token into the status of a TokenRequest."""
        metadata, spec = token_request["metadata"], token_request["spec"]
        _check_name(metadata.get("name", ""), account.name)
        if (uid := metadata.get("uid")) and uid != account.uid:
            why = f"the UID in the token request ({uid}) does not match the UID of the service account ({account.uid})"
            raise conflict(TOKEN_REQUEST.kind, account.name, TOKEN_REQUEST.group, why)
        _check_lifetime(spec["expirationSeconds"])
        spec["audiences"] = spec.get("audiences") or [ISSUER]
        bound = list(self._bound(account, spec.setdefault("boundObjectRef", None)))
        metadata |= {"name": account.name, "namespace": account.namespace, "uid": account.uid}
        metadata["creationTimestamp"] = timestamp()
        seconds = spec["expirationSeconds"]
        token_request["status"] = {
            "token": self._accounts.make(account, seconds=seconds, audiences=spec["audiences"], bound=bound),
            "expirationTimestamp": timestamp(now() + timedelta(seconds=seconds)),
        }

    def _bound(self, account: StoredObject, reference: Mapping[str, Any] | None) -> Iterator[BoundObject]:
        """Return the objects that a token is bound to: that of the reference, and the node of a pod."""
        if reference is None:
            return
        kind, name = reference.get("kind", ""), reference.get("name", "")
        if kind not in _BINDABLE:
            group, _, version = reference.get("apiVersion", "").rpartition("/")
            raise bad_request(f"cannot bind token to object of type {group}/{version}, Kind={kind}")
        if not name:
            raise bad_request("Name parameter required.")
        found = self._find(kind, "" if kind == "Node" else account.namespace, name)
        if found is None:
            raise not_found(_BINDABLE[kind], name)
        if kind == "Pod":
            yield from self._checked_pod(found, account)
        _check_uid(kind, found, reference.get("uid", ""))
        yield BoundObject(kind.lower(), name, found.uid)

    def _checked_pod(self, pod: StoredObject, account: StoredObject) -> Iterator[BoundObject]:
        spec = pod.decode()["spec"]
        if spec.get("serviceAccountName", "") != account.name:
            raise bad_request(
                f"cannot bind token for serviceaccount {quoted(account.name)} to pod running with different "
                "serviceaccount name."
            )
        if node := spec.get("nodeName"):
            found = self._find("Node", "", node)
            yield BoundObject("node", node, found.uid if found else "")

    def _find(self, kind: str, namespace: str, name: str) -> StoredObject | None:
        return self._backend.storage.collection("", _BINDABLE[kind]).find(namespace, name)


def _check_name(name: str, account: str) -> None:
    if name and name != account:
        cause = invalid_value("metadata.name", name, "must match the service account name if specified")
        raise invalid(TOKEN_REQUEST.kind, account, [cause], TOKEN_REQUEST.group)


def _check_lifetime(seconds: int) -> None:
    field, causes = "spec.expirationSeconds", []
    if seconds < _MIN_SECONDS:
        causes.append(invalid_value(field, seconds, "may not specify a duration less than 10 minutes"))
    if seconds > MAX_SECONDS:
        causes.append(invalid_value(field, seconds, "may not specify a duration larger than 2^32 seconds"))
    if causes:
        raise invalid(TOKEN_REQUEST.kind, "", causes, TOKEN_REQUEST.group)


def _check_uid(kind: str, found: StoredObject, uid: str) -> None:
    if uid and uid != found.uid:
        why = (
            f"the UID in the bound object reference ({uid}) does not match the UID in record. "
            "The object might have been deleted and then recreated"
        )
        raise conflict(kind, found.name, why=why)


def _keep_names(new: Object, _old: Object | None) -> None:
    """Keep the names of the secrets only."""
    for each in new.get("secrets") or ():
        name = each.get("name")
        each.clear()
        if name:
            each["name"] = name


RESOURCES: Final = (
    BuiltinResource(
        group="",
        kind="ServiceAccount",
        strategy=Strategy(
            on_update=(MetadataCheck.CHANGE, MetadataCheck.WHOLE),
            returns_deleted_object=True,
            prepares=(_keep_names,),
        ),
        rest={"token": _TokenREST},
    ),
)
