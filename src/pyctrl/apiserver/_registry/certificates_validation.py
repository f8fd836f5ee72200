"""Validation of CertificateSigningRequests: the request, usages, signer name, duration, conditions, certificate."""

from __future__ import annotations

import binascii
from collections.abc import Iterator
from typing import Final

from pyctrl._certificate_requests import check_certificates, check_request
from pyctrl._go.text import quoted
from pyctrl._validation import names
from pyctrl.apiserver._errors import (
    FieldError,
    duplicate,
    field_forbidden,
    invalid_value,
    not_supported,
    required,
    too_long,
)
from pyctrl.apiserver._registry.strategy import Object

__all__ = [
    "APPROVED",
    "DENIED",
    "conditions_of",
    "conditions_of_type",
    "signer_name_errors",
    "validate_approval_update",
    "validate_certificate_signing_request",
    "validate_status_update",
]

APPROVED: Final = "Approved"
DENIED: Final = "Denied"
_PERMANENT: Final = (APPROVED, DENIED, "Failed")  # conditions that are not removed and have no other status than True
_CONDITIONS = "status.conditions"
_CERTIFICATE = "status.certificate"
_LEGACY_SIGNER: Final = "kubernetes.io/legacy-unknown"
_LEAST_SECONDS: Final = 600
_LEGACY = "the legacy signerName is not allowed via this API version"
_TOO_SHORT = "may not specify a duration less than 600 seconds (10 minutes)"

_USAGES: Final = (
    "any",
    "cert sign",
    "client auth",
    "code signing",
    "content commitment",
    "crl sign",
    "data encipherment",
    "decipher only",
    "digital signature",
    "email protection",
    "encipher only",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "key agreement",
    "key encipherment",
    "microsoft sgc",
    "netscape sgc",
    "ocsp signing",
    "s/mime",
    "server auth",
    "signing",
    "timestamping",
)
_DOMAIN_LIMIT = 253  # of a DNS subdomain
_SIGNER_LIMIT = 2 * _DOMAIN_LIMIT + 63 + 2  # the domain, a slash, and a path of a label, a dot and a subdomain


def validate_certificate_signing_request(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check a request and its conditions. What was stored already is not reported again."""
    spec = new["spec"]
    yield from _validate_request(spec.get("request"))
    yield from _validate_usages(spec.get("usages") or [])
    signer = spec.get("signerName") or ""
    if signer == _LEGACY_SIGNER and (old is None or old["spec"].get("signerName") != signer):
        yield invalid_value("spec.signerName", signer, _LEGACY)
    else:
        yield from signer_name_errors("spec.signerName", signer)
    seconds = spec.get("expirationSeconds")
    if seconds is not None and seconds < _LEAST_SECONDS:
        yield invalid_value("spec.expirationSeconds", seconds, _TOO_SHORT)
    yield from _validate_conditions(conditions_of(new))


def _validate_request(request: str | None) -> Iterator[FieldError]:
    try:
        check_request(binascii.a2b_base64(request or ""))
    except ValueError as error:
        yield invalid_value("spec.request", request, str(error))


def _validate_usages(usages: list[str]) -> Iterator[FieldError]:
    if not usages:
        yield required("spec.usages")
    for index, usage in enumerate(usages):
        if usage not in _USAGES:
            yield not_supported(f"spec.usages[{index}]", usage, _USAGES)
    for index, usage in enumerate(usages):
        if usage in usages[:index]:
            yield duplicate(f"spec.usages[{index}]", usage)


def signer_name_errors(path: str, signer: str) -> Iterator[FieldError]:
    """Check a signer name: a domain, a slash, and a path of DNS subdomains."""
    if not signer:
        yield required(path)
        return
    domain, *paths = signer.split("/")
    if len(paths) != 1:
        form = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
        yield invalid_value(path, signer, form)
        return
    if len(domain) > _DOMAIN_LIMIT:
        yield too_long(path, _DOMAIN_LIMIT)
    yield from _label_errors(path, domain, names.label)
    if "." not in domain:
        yield invalid_value(path, domain, "should be a domain with at least two segments separated by dots")
    yield from _label_errors(path, paths[0], names.subdomain)
    if len(signer) > _SIGNER_LIMIT:
        yield too_long(path, _SIGNER_LIMIT)


def _label_errors(path: str, text: str, rule: names.Rule) -> Iterator[FieldError]:
    """Yield the errors of the first invalid part between dots."""
    for label in text.split("."):
        if problems := rule(label):
            yield from (invalid_value(path, text, f"validating label {quoted(label)}: {each}") for each in problems)
            return


# -- updates ---------------------------------------------------------------------------------------------------


def validate_approval_update(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check a write to `/approval`."""
    assert old is not None  # a subresource is never created
    yield from validate_certificate_signing_request(new, old)
    yield from _validate_removals(new, old)


def validate_status_update(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check a write to `/status`: it may not approve or deny, and sets the certificate once."""
    assert old is not None
    before, after = (_certificate(each) for each in (old, new))
    yield from validate_certificate_signing_request(new, old)
    if before != after:
        yield from _validate_certificate(after, before)
    yield from _validate_removals(new, old)
    for kind in (APPROVED, DENIED):
        if len(conditions_of_type(new, kind)) > len(conditions_of_type(old, kind)):
            yield field_forbidden(_CONDITIONS, f'updates may not add a condition of type "{kind}"')
    if before and before != after:
        yield field_forbidden(_CERTIFICATE, "updates may not modify existing certificate content")


def _certificate(obj: Object) -> str:
    return (obj.get("status") or {}).get("certificate") or ""


def _validate_certificate(certificate: str, before: str) -> Iterator[FieldError]:
    if not certificate or (before and _certificate_error(before)):
        return
    if why := _certificate_error(certificate):
        yield invalid_value(_CERTIFICATE, "<certificate data>", why)


def _certificate_error(certificate: str) -> str:
    try:
        check_certificates(binascii.a2b_base64(certificate))
    except ValueError as error:
        return str(error)
    return ""


def conditions_of(obj: Object) -> list[Object]:
    """Return the conditions of a request."""
    return (obj.get("status") or {}).get("conditions") or []


def conditions_of_type(obj: Object, kind: str) -> list[Object]:
    """Return the conditions of one type."""
    return [each for each in conditions_of(obj) if each.get("type") == kind]


def _validate_conditions(conditions: list[Object]) -> Iterator[FieldError]:
    seen = set[str]()
    for index, condition in enumerate(conditions):
        where, kind, status = f"{_CONDITIONS}[{index}]", condition.get("type") or "", condition.get("status") or ""
        supported = ("True",) if kind in _PERMANENT else ("False", "True", "Unknown")
        if not kind:
            yield required(f"{where}.type")
        if not status:
            yield required(f"{where}.status")
        elif status not in supported:
            yield not_supported(f"{where}.status", status, supported)
        if (kind == APPROVED and DENIED in seen) or (kind == DENIED and APPROVED in seen):
            yield invalid_value(_CONDITIONS, kind, "Approved and Denied conditions are mutually exclusive")
        if kind in seen:
            yield duplicate(f"{where}.type", kind)
        seen.add(kind)


def _validate_removals(new: Object, old: Object) -> Iterator[FieldError]:
    for kind in _PERMANENT:
        if len(conditions_of_type(new, kind)) < len(conditions_of_type(old, kind)):
            yield field_forbidden(_CONDITIONS, f'updates may not remove a condition of type "{kind}"')
