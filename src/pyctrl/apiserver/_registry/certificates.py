"""CertificateSigningRequests: the requester, and what the subresources approval and status may change.

The rules are those of kube-apiserver 1.36.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyctrl._go.durations import human_duration
from pyctrl._validation import names
from pyctrl.apiserver._meta.system_fields import timestamp
from pyctrl.apiserver._meta.validation import MetadataCheck
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.certificates_validation import (
    APPROVED,
    DENIED,
    conditions_of,
    conditions_of_type,
    validate_approval_update,
    validate_certificate_signing_request,
    validate_status_update,
)
from pyctrl.apiserver._registry.strategy import Object, Strategy, SubresourceStrategy, fields_at
from pyctrl.apiserver._registry.table_cells import NONE, Cells, spec_of, status_of

if TYPE_CHECKING:
    from pyctrl.apiserver._authn import User

__all__ = ["RESOURCES"]


def _set_requester(obj: Object, user: User) -> None:
    """Write the user into the spec of a new request, in place of what the client sent."""
    spec = obj["spec"]
    extra = {key: list(values) for key, values in user.extra.items()}
    identity = {"username": user.name, "uid": user.uid, "groups": list(user.groups), "extra": extra}
    for key, value in identity.items():
        spec.pop(key, None)
        if value:
            spec[key] = value


def _keep_spec(new: Object, old: Object | None) -> None:
    """Put the spec back: updates do not change it."""
    if old is not None:
        new["spec"] = old["spec"]


def _keep_all_but_conditions(new: Object, old: Object | None) -> None:
    """Put back the spec and the certificate; metadata may change."""
    assert old is not None  # a subresource is never created
    _set_times(new, old)
    _keep_spec(new, old)
    status = {key: value for key, value in (old.get("status") or {}).items() if key != "conditions"}
    conditions = conditions_of(new)
    new["status"] = {"conditions": conditions, **status} if conditions else status


def _keep_approval(new: Object, old: Object | None) -> None:
    """Put back the conditions Approved and Denied; adding or removing one is an error later."""
    assert old is not None
    after = conditions_of(new)
    for kind in (APPROVED, DENIED):
        kept, places = conditions_of_type(old, kind), [i for i, each in enumerate(after) if each.get("type") == kind]
        if len(kept) == len(places):
            for place, condition in zip(places, kept, strict=True):
                after[place] = condition
    _set_times(new, old)


def _set_times(new: Object, old: Object) -> None:
    """Set missing times; a condition with unchanged status keeps its lastTransitionTime."""
    now = timestamp()
    for condition in conditions_of(new):
        if not condition.get("lastUpdateTime"):
            condition["lastUpdateTime"] = now
        if not condition.get("lastTransitionTime"):
            same = (
                each for each in conditions_of_type(old, condition.get("type", "")) if _same_status(each, condition)
            )
            times = (each.get("lastTransitionTime") for each in same)
            condition["lastTransitionTime"] = next(filter(None, times), now)


def _same_status(left: Object, right: Object) -> bool:
    return left.get("status") == right.get("status")


_SIGNING_REQUEST: Final = Strategy(
    name_rule=names.path_segment,
    on_update=(MetadataCheck.WHOLE, MetadataCheck.CHANGE),
    fields=fields_at("spec.signerName"),
    prepares=(_keep_spec,),
    prepares_creator=_set_requester,
    validates=(validate_certificate_signing_request,),
    subresources={
        "approval": SubresourceStrategy(keep=_keep_all_but_conditions, validate=validate_approval_update),
        "status": SubresourceStrategy(keep=_keep_approval, validate=validate_status_update),
    },
    reset_fields={
        "": {"f:spec": {}, "f:status": {}},
        "status": {"f:spec": {}, "f:status": {"f:conditions": {}}},
        "approval": {"f:spec": {}, "f:status": {"f:certificate": {}}},
    },
)
_DECISIONS = ("Approved", "Denied")  # conditions that decide a request


def _cells(obj: Object) -> Cells:
    spec, conditions = spec_of(obj), [each["type"] for each in status_of(obj).get("conditions") or ()]
    shown = [each for each in _DECISIONS if each in conditions][-1:] or ["Pending"]
    if "Failed" in conditions:
        shown.append("Failed")
    if status_of(obj).get("certificate"):
        shown.append("Issued")
    seconds = spec.get("expirationSeconds")
    return {
        "SignerName": spec.get("signerName") or NONE,
        "Requestor": spec.get("username", ""),
        "RequestedDuration": NONE if seconds is None else human_duration(seconds),
        "Condition": ",".join(shown),
    }


RESOURCES: Final = (
    BuiltinResource(
        group="certificates.k8s.io",
        kind="CertificateSigningRequest",
        strategy=_SIGNING_REQUEST,
        cells=_cells,
    ),
)
