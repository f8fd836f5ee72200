"""CertificateSigningRequests: the requester, and what the subresources approval and status may change.

The rules are those of kube-apiserver 1.36. The encoded request, the signer name and the certificate are not validated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from pyctrl._go.durations import human_duration
from pyctrl._validation import names
from pyctrl.apiserver._errors import FieldError, duplicate, field_forbidden, invalid_value, not_supported, required
from pyctrl.apiserver._meta.system_fields import timestamp
from pyctrl.apiserver._meta.validation import MetadataCheck
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.strategy import Object, Strategy, SubresourceStrategy, fields_at
from pyctrl.apiserver._registry.table_cells import NONE, Cells, spec_of, status_of

if TYPE_CHECKING:
    from pyctrl.apiserver._authn import User

__all__ = ["RESOURCES"]


_APPROVED: Final = "Approved"
_DENIED: Final = "Denied"
_PERMANENT: Final = (_APPROVED, _DENIED, "Failed")  # conditions that are not removed and have no other status than True
_PATH = "status.conditions"
_CERTIFICATE = "status.certificate"


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
    conditions = _conditions(new)
    new["status"] = {"conditions": conditions, **status} if conditions else status


def _validate_approval(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check the conditions."""
    assert old is not None
    yield from _validate_conditions(_conditions(new))
    yield from _validate_removals(new, old)


def _keep_approval(new: Object, old: Object | None) -> None:
    """Put back the conditions Approved and Denied; adding or removing one is an error later."""
    assert old is not None
    after = _conditions(new)
    for kind in (_APPROVED, _DENIED):
        kept, places = _of_type(old, kind), [i for i, each in enumerate(after) if each.get("type") == kind]
        if len(kept) == len(places):
            for place, condition in zip(places, kept, strict=True):
                after[place] = condition
    _set_times(new, old)


def _validate_status(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check the conditions, which may not approve or deny, and that the certificate is set once."""
    assert old is not None
    yield from _validate_approval(new, old)
    for kind in (_APPROVED, _DENIED):
        if len(_of_type(new, kind)) > len(_of_type(old, kind)):
            yield field_forbidden(_PATH, f'updates may not add a condition of type "{kind}"')
    before, after = (((obj.get("status") or {}).get("certificate") or "") for obj in (old, new))
    if before and before != after:
        yield field_forbidden(_CERTIFICATE, "updates may not modify existing certificate content")


def _conditions(obj: Object) -> list[Object]:
    return (obj.get("status") or {}).get("conditions") or []


def _of_type(obj: Object, kind: str) -> list[Object]:
    return [each for each in _conditions(obj) if each.get("type") == kind]


def _set_times(new: Object, old: Object) -> None:
    """Set missing times; a condition with unchanged status keeps its lastTransitionTime."""
    now = timestamp()
    for condition in _conditions(new):
        if not condition.get("lastUpdateTime"):
            condition["lastUpdateTime"] = now
        if not condition.get("lastTransitionTime"):
            same = (each for each in _of_type(old, condition.get("type", "")) if _same_status(each, condition))
            times = (each.get("lastTransitionTime") for each in same)
            condition["lastTransitionTime"] = next(filter(None, times), now)


def _same_status(left: Object, right: Object) -> bool:
    return left.get("status") == right.get("status")


def _validate_conditions(conditions: Iterable[Object]) -> Iterator[FieldError]:
    seen = set[str]()
    for index, condition in enumerate(conditions):
        where, kind, status = f"{_PATH}[{index}]", condition.get("type") or "", condition.get("status") or ""
        supported = ("True",) if kind in _PERMANENT else ("False", "True", "Unknown")
        if not kind:
            yield required(f"{where}.type")
        if not status:
            yield required(f"{where}.status")
        elif status not in supported:
            yield not_supported(f"{where}.status", status, supported)
        if (kind == _APPROVED and _DENIED in seen) or (kind == _DENIED and _APPROVED in seen):
            yield invalid_value(_PATH, kind, "Approved and Denied conditions are mutually exclusive")
        if kind in seen:
            yield duplicate(f"{where}.type", kind)
        seen.add(kind)


def _validate_removals(new: Object, old: Object) -> Iterator[FieldError]:
    for kind in _PERMANENT:
        if len(_of_type(new, kind)) < len(_of_type(old, kind)):
            yield field_forbidden(_PATH, f'updates may not remove a condition of type "{kind}"')


_SIGNING_REQUEST: Final = Strategy(
    name_rule=names.path_segment,
    on_update=(MetadataCheck.WHOLE, MetadataCheck.CHANGE),
    fields=fields_at("spec.signerName"),
    prepares=(_keep_spec,),
    prepares_creator=_set_requester,
    subresources={
        "approval": SubresourceStrategy(keep=_keep_all_but_conditions, validate=_validate_approval),
        "status": SubresourceStrategy(keep=_keep_approval, validate=_validate_status),
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
