"""TokenRequest: a service account's `token` sub-resource, which makes tokens for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from pyctrl._clock import now
from pyctrl.apiserver._admission import CREATE, Attributes
from pyctrl.apiserver._answers import Answer, bad_request, conflict, invalid, invalid_value, not_found, quoted
from pyctrl.apiserver._authentication import ISSUER, AccountTokens, BoundObject
from pyctrl.apiserver._backend import Backend, check_kind, check_namespace_matches, metadata_of
from pyctrl.apiserver._bodies import decode_object, duplicates_in
from pyctrl.apiserver._builtin_type import BuiltinType
from pyctrl.apiserver._builtins_strategy import Strategy
from pyctrl.apiserver._forms import answer_value, typed_first
from pyctrl.apiserver._identity import tidy, timestamp
from pyctrl.apiserver._managed_fields import track
from pyctrl.apiserver._options import WriteOptions, write_options
from pyctrl.apiserver._own_kinds import TOKEN_REQUEST
from pyctrl.apiserver._request import Request
from pyctrl.apiserver._storage import Stored

DEFAULT_SECONDS = 3600
LEAST_SECONDS = 600  # kube-apiserver's own limits
MOST_SECONDS = 1 << 32

_DESCRIBED = {
    "resource": "serviceaccounts",
    "singularResource": "serviceaccount",
    "responseKind": {"kind": TOKEN_REQUEST.kind},
    "scope": "Namespaced",
    "verbs": ["create"],
}
_BINDABLE = {"Pod": "pods", "Secret": "secrets", "Node": "nodes"}


class TokenRequests:
    """Makes the tokens that are asked for."""

    def __init__(self, backend: Backend, accounts: AccountTokens) -> None:
        self._backend = backend
        self._accounts = accounts
        self._type = BuiltinType(
            TOKEN_REQUEST.group, TOKEN_REQUEST.version, _DESCRIBED, backend.registry.components, Strategy()
        )
        self._type.document = "core_v1"  # which describes what is posted to its resources

    async def create(self, request: Request) -> Answer:
        """POST a TokenRequest to a service account."""
        options = write_options(request.query, "CreateOptions")
        wanted = self._decoded(request, options)
        admission, name = self._backend.admission, request.target.name
        attributes = Attributes(
            operation=CREATE, request=request, object=wanted, name=name, options=options, own_kind=TOKEN_REQUEST
        )
        await admission.mutate(attributes)
        await admission.validate(attributes)
        wanted = attributes.object or wanted
        self._make(self._backend.live(request), wanted)
        return answer_value(typed_first(wanted, self._type), request.form, 201)

    def _decoded(self, request: Request, options: WriteOptions) -> dict[str, Any]:
        wanted = decode_object(request.body, request.headers, TOKEN_REQUEST.kind)
        duplicates = duplicates_in(request.body, wanted)
        check_kind(wanted, self._type, self._backend.registry)
        metadata_of(wanted, self._type)
        validation, warnings = options.field_validation, request.warnings
        self._type.decode(wanted, field_validation=validation, warnings=warnings, duplicates=duplicates)
        check_namespace_matches(wanted["metadata"], request)
        if wanted["spec"].get("expirationSeconds") is None:
            wanted["spec"]["expirationSeconds"] = DEFAULT_SECONDS
        tidy(wanted["metadata"])
        track(
            wanted,
            None,
            manager=request.manager,
            operation="Update",
            api_version=self._type.api_version,
            subresource="token",
            type=self._type,
        )
        return wanted

    def _make(self, account: Stored, wanted: dict[str, Any]) -> None:
        """Write a token into what was asked for."""
        metadata, spec = wanted["metadata"], wanted["spec"]
        _check_name(metadata.get("name", ""), account.name)
        _check_lifetime(spec["expirationSeconds"])
        spec["audiences"] = spec.get("audiences") or [ISSUER]
        bound = list(self._bound(account, spec.setdefault("boundObjectRef", None)))
        metadata |= {"name": account.name, "namespace": account.namespace, "uid": account.uid}
        metadata["creationTimestamp"] = timestamp()
        seconds = spec["expirationSeconds"]
        wanted["status"] = {
            "token": self._accounts.make(account, seconds=seconds, audiences=spec["audiences"], bound=bound),
            "expirationTimestamp": timestamp(now() + timedelta(seconds=seconds)),
        }

    def _bound(self, account: Stored, reference: Mapping[str, Any] | None) -> Iterator[BoundObject]:
        """Give what a token is to be bound to; with a pod comes the node that it runs on."""
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

    def _checked_pod(self, pod: Stored, account: Stored) -> Iterator[BoundObject]:
        spec = pod.decode()["spec"]
        if spec.get("serviceAccountName", "") != account.name:
            raise bad_request(
                f"cannot bind token for serviceaccount {quoted(account.name)} to pod running with different "
                "serviceaccount name."
            )
        if node := spec.get("nodeName"):
            found = self._find("Node", "", node)
            yield BoundObject("node", node, found.uid if found else "")

    def _find(self, kind: str, namespace: str, name: str) -> Stored | None:
        return self._backend.storage.collection("", _BINDABLE[kind]).find(namespace, name)


def _check_name(name: str, account: str) -> None:
    if name and name != account:
        cause = invalid_value("metadata.name", name, "must match the service account name if specified")
        raise invalid(TOKEN_REQUEST.kind, account, [cause], TOKEN_REQUEST.group)


def _check_lifetime(seconds: int) -> None:
    field, causes = "spec.expirationSeconds", []
    if seconds < LEAST_SECONDS:
        causes.append(invalid_value(field, seconds, "may not specify a duration less than 10 minutes"))
    if seconds > MOST_SECONDS:
        causes.append(invalid_value(field, seconds, "may not specify a duration larger than 2^32 seconds"))
    if causes:
        raise invalid(TOKEN_REQUEST.kind, "", causes, TOKEN_REQUEST.group)


def _check_uid(kind: str, found: Stored, uid: str) -> None:
    if uid and uid != found.uid:
        why = (
            f"the UID in the bound object reference ({uid}) does not match the UID in record. "
            "The object might have been deleted and then recreated"
        )
        raise conflict(kind, found.name, why=why)
