"""Validation of projected and downward API volumes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from pyctrl._validation import names
from pyctrl.apiserver._errors import (
    FieldError,
    field_forbidden,
    invalid_value,
    not_supported,
    required,
    too_long,
)
from pyctrl.apiserver._meta.validation import validate_annotations, validate_selector
from pyctrl.apiserver._registry._pods.environment import validate_field_reference, validate_resource_reference
from pyctrl.apiserver._registry._pods.volume_sources import file_mode, key_to_path
from pyctrl.apiserver._registry.field_validation import local_path, required_texts, text_of
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["downward_api", "projected", "signer_name"]

_Part: TypeAlias = Mapping[str, JSON]
_Errors: TypeAlias = Iterator[FieldError]
_FIELDS = ("metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid")
_SHORTEST_TOKEN, _LONGEST_TOKEN = 600, 1 << 32  # seconds
_KEY_TYPES = ("RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519")
_SHORTEST_CERTIFICATE, _LONGEST_CERTIFICATE, _LONGEST_OF_KUBERNETES = 3600, 91 * 86400, 86400  # seconds
_CERTIFICATE_PATHS = ("credentialBundlePath", "keyPath", "certificateChainPath")
_NO_PATHS = "specify at least one of credentialBundlePath, keyPath, and certificateChainPath"
_CONFLICT = "conflicting duplicate paths"


def downward_api(source: _Part, path: str) -> _Errors:
    """Check a volume with fields of the pod."""
    yield from file_mode(source, path, "defaultMode")
    for item in source.get("items") or ():
        yield from _downward_file(item, path)


def _downward_file(item: _Part, path: str) -> _Errors:
    yield from required_texts(item, path, "path")
    yield from local_path(text_of(item, "path"), f"{path}.path")
    field, resource = item.get("fieldRef"), item.get("resourceFieldRef")
    if field is not None:
        yield from validate_field_reference(field, _FIELDS, f"{path}.fieldRef")
        if resource is not None:
            yield invalid_value(path, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously")
    elif resource is not None:
        yield from validate_resource_reference(resource, f"{path}.resourceFieldRef", needs_container=True)
    else:
        yield required(path, "one of fieldRef and resourceFieldRef is required")
    yield from file_mode(item, path, "mode")


def projected(source: _Part, path: str) -> _Errors:
    """Check a volume with files from several sources."""
    yield from file_mode(source, path, "defaultMode")
    paths = _Paths(path)
    for index, each in enumerate(source.get("sources") or ()):
        where = f"{path}.sources[{index}]"
        for key, check in _PROJECTIONS.items():
            if each.get(key) is not None:
                yield from check(each[key], f"{where}.{key}", paths)
        if sum(value is not None for value in each.values()) > 1:
            yield field_forbidden(where, "may not specify more than 1 volume type per source")


class _Paths:
    """The paths of the files of a volume; each is used once."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._seen: set[str] = set()

    def add(self, file: str, shown: str) -> _Errors:
        """Check that a path is new."""
        if file in self._seen:
            yield invalid_value(self.path, shown, _CONFLICT)
        self._seen.add(file)


def _object(source: _Part, path: str, paths: _Paths) -> _Errors:
    yield from required_texts(source, path, "name")
    for index, item in enumerate(source.get("items") or ()):
        yield from key_to_path(item, f"{path}.items[{index}]")
        if file := text_of(item, "path"):
            yield from paths.add(file, text_of(source, "name"))


def _downward(source: _Part, path: str, paths: _Paths) -> _Errors:
    for item in source.get("items") or ():
        yield from _downward_file(item, path)
        if file := text_of(item, "path"):
            yield from paths.add(file, file)


def _token(source: _Part, path: str, paths: _Paths) -> _Errors:
    seconds = source.get("expirationSeconds") or 0
    if seconds < _SHORTEST_TOKEN:
        yield invalid_value(f"{path}.expirationSeconds", seconds, "may not specify a duration less than 10 minutes")
    if seconds > _LONGEST_TOKEN:
        why = "may not specify a duration larger than 2^32 seconds"
        yield invalid_value(f"{path}.expirationSeconds", seconds, why)
    if file := text_of(source, "path"):
        yield from local_path(file, f"{paths.path}.path")
    else:
        yield required(f"{paths.path}.path")


def _trust_bundle(source: _Part, path: str, paths: _Paths) -> _Errors:
    name, signer = source.get("name"), source.get("signerName")
    if name is not None and signer is not None:
        yield invalid_value(path, dict(source), "only one of name and signerName may be used")
    elif name is not None:
        yield from _bundle_name(name, source, path)
    elif signer is not None:
        if not signer:
            yield required(f"{path}.signerName", "must be a valid signer name")
        yield from signer_name(signer, f"{path}.signerName")
        yield from validate_selector(source.get("labelSelector") or {}, f"{path}.labelSelector")
    else:
        yield required(path, "either name or signerName must be specified")
    file = text_of(source, "path")
    yield from required_texts(source, path, "path")
    yield from local_path(file, f"{path}.path")
    yield from paths.add(file, file)


def _bundle_name(name: str, source: _Part, path: str) -> _Errors:
    if not name:
        yield required(f"{path}.name", "must be a valid object name")
    _signer, colon, rest = name.rpartition(":")
    for why in names.subdomain(rest if colon else name):
        yield invalid_value(f"{path}.name", name, f"not a valid clustertrustbundlename: {why}")
    if source.get("labelSelector") is not None:
        why = "labelSelector must be unset if name is specified"
        yield invalid_value(f"{path}.labelSelector", source["labelSelector"], why)


def _certificate(source: _Part, path: str, paths: _Paths) -> _Errors:
    signer = text_of(source, "signerName")
    yield from signer_name(signer, f"{path}.signerName")
    yield from validate_annotations(source.get("userAnnotations") or {}, f"{path}.userAnnotations")
    if text_of(source, "keyType") not in _KEY_TYPES:
        yield not_supported(f"{path}.keyType", text_of(source, "keyType"), _KEY_TYPES)
    if (seconds := source.get("maxExpirationSeconds")) is not None:
        domain = signer.partition("/")[0]
        is_kubernetes = domain == "kubernetes.io" or domain.endswith(".kubernetes.io")
        longest = _LONGEST_OF_KUBERNETES if is_kubernetes else _LONGEST_CERTIFICATE
        where = f"{path}.maxExpirationSeconds"
        if seconds < _SHORTEST_CERTIFICATE:
            yield invalid_value(where, seconds, "if provided, maxExpirationSeconds must be >= 3600")
        if seconds > longest:
            yield invalid_value(where, seconds, f"if provided, maxExpirationSeconds must be <= {longest}")
    files = [(key, source[key]) for key in _CERTIFICATE_PATHS if source.get(key)]
    for key, file in files:
        yield from local_path(file, f"{path}.{key}")
        yield from paths.add(file, file)
    if not files:
        yield required(path, _NO_PATHS)


def signer_name(name: str, path: str) -> _Errors:
    """Check the name of a signer: a domain and a path."""
    if not name:
        yield required(path)
        return
    segments = name.split("/")
    if len(segments) != 2:
        why = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
        yield invalid_value(path, name, why)
        return
    domain, rest = segments
    if len(domain) > 253:
        yield too_long(path, 253)
    for part in domain.split("."):
        if found := names.label(part):
            yield from (invalid_value(path, domain, f'validating label "{part}": {why}') for why in found)
            break
    if "." not in domain:
        yield invalid_value(path, domain, "should be a domain with at least two segments separated by dots")
    for part in rest.split("."):
        if found := names.subdomain(part):
            yield from (invalid_value(path, rest, f'validating label "{part}": {why}') for why in found)
            break


_PROJECTIONS: Final = {
    "secret": _object,
    "configMap": _object,
    "downwardAPI": _downward,
    "serviceAccountToken": _token,
    "clusterTrustBundle": _trust_bundle,
    "podCertificate": _certificate,
}
