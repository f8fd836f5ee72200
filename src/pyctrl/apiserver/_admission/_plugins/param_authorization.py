"""Authorization of policies and bindings: who configures a policy must be able to read its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from pyctrl.api import Access
from pyctrl.apiserver._admission.attributes import CREATE, UPDATE, Attributes
from pyctrl.apiserver._admission.chain import Plugin
from pyctrl.apiserver._errors import field_forbidden, invalid

if TYPE_CHECKING:
    from pyctrl.apiserver._authn import User
    from pyctrl.apiserver._authz import Authorizer
    from pyctrl.apiserver._resources.served_resources import ServedResources
    from pyctrl.apiserver._storage.storage import Storage

__all__ = ["ParamAuthorization"]


_GROUP: Final = "admissionregistration.k8s.io"
_POLICIES: Final = frozenset(("mutatingadmissionpolicies", "validatingadmissionpolicies"))
#: The resource of bindings -> that of their policies.
_BINDINGS: Final[Mapping[str, str]] = {
    "mutatingadmissionpolicybindings": "mutatingadmissionpolicies",
    "validatingadmissionpolicybindings": "validatingadmissionpolicies",
}


class ParamAuthorization(Plugin):
    """Refuses a policy or binding whose user cannot read the parameters that it refers to.

    kube-apiserver checks this in the registry of the kinds, after their validation; it is no plugin there.
    """

    def __init__(self, storage: Storage, registry: ServedResources, authorizer: Authorizer) -> None:
        self._storage, self._registry, self._authorizer = storage, registry, authorizer

    def handles(self, group: str, resource: str) -> bool:
        """Return whether the resource is policies or bindings."""
        return group == _GROUP and (resource in _POLICIES or resource in _BINDINGS)

    def validate(self, attributes: Attributes) -> None:
        """Check a new policy or binding, and one whose parameters change.

        Raises:
            StatusError: 422, the user cannot read the parameters.
        """
        new = attributes.object
        is_written = attributes.operation in (CREATE, UPDATE) and not attributes.subresource
        if new is None or not is_written or "system:masters" in attributes.user.groups:
            return
        old = (attributes.old or {}).get("spec") or {}
        if attributes.request.target.resource in _POLICIES:
            path, why = "spec.paramKind", self._policy_problem(new["spec"], old, attributes.user)
        else:
            path, why = "spec.paramRef", self._binding_problem(new["spec"], old, attributes)
        if why:
            kind = attributes.resource.kind
            raise invalid(kind, attributes.name, [field_forbidden(path, why)], _GROUP)

    def _policy_problem(self, spec: Mapping[str, Any], old: Mapping[str, Any], user: User) -> str:
        kind = spec.get("paramKind")
        if kind is None or kind == old.get("paramKind"):
            return ""
        if self._may(user, "get", kind, name="*", namespace="*"):
            return ""
        names = f"kind={kind['kind']}, apiVersion={kind['apiVersion']}"
        return f'user {_shown(user)} must have "get" permission on all objects of the referenced paramKind ({names})'

    def _binding_problem(self, spec: Mapping[str, Any], old: Mapping[str, Any], attributes: Attributes) -> str:
        reference = spec.get("paramRef")
        if reference is None:
            return ""
        if reference == old.get("paramRef") and spec["policyName"] == old.get("policyName"):
            return ""
        user, resource = attributes.user, attributes.request.target.resource
        stored = self._storage.collection(_GROUP, _BINDINGS[resource]).find("", spec["policyName"])
        kind = (stored.decode().get("spec") or {}).get("paramKind") if stored is not None else None
        verb = "get" if reference.get("name") else "list"
        name, namespace = reference.get("name") or "", reference.get("namespace") or ""
        if self._may(user, verb, kind, name=name, namespace=namespace):
            return ""
        everything = f'user {_shown(user)} does not have "{verb}" permission for all groups, versions and resources'
        if stored is None:
            return (
                f"unable to get policy {spec['policyName']} to determine minimum required permissions and {everything}"
            )
        if kind is not None and self._plural(kind) == "*":
            shown = f"&{{{kind['apiVersion']} {kind['kind']}}}"
            return f"unable to resolve paramKind {shown} to determine minimum required permissions and {everything}"
        pair = _shown(user), verb
        if resource == "mutatingadmissionpolicybindings":
            pair = verb, _shown(user)  # as upstream, which exchanges them
        return f'user {pair[0]} does not have "{pair[1]}" permission on the object referenced by paramRef'

    def _may(self, user: User, verb: str, kind: Mapping[str, Any] | None, *, name: str, namespace: str) -> bool:
        """Return whether a user may read parameters; of any kind, if the kind is unknown."""
        group = "*" if kind is None else kind["apiVersion"].rpartition("/")[0]
        resource = "*" if kind is None else self._plural(kind)
        access = Access(verb, group=group, resource=resource, namespace=namespace, name=name)
        return self._authorizer.decide(user, access).is_allowed

    def _plural(self, kind: Mapping[str, Any]) -> str:
        """Return the resource of a kind; `*` if it is not served."""
        group, _, version = kind["apiVersion"].rpartition("/")
        found = self._registry.by_kind(group, version, kind["kind"])
        return "*" if found is None else found.plural


def _shown(user: User) -> str:
    """Return a user in Go's format."""
    extra = " ".join(f"{key}:[{' '.join(values)}]" for key, values in sorted(user.extra.items()))
    return f"&{{{user.name} {user.uid} [{' '.join(user.groups)}] map[{extra}]}}"
