"""ConfigMaps and Secrets."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from pyctrl._go.json_errors import syntax_error
from pyctrl._validation import names
from pyctrl.apiserver._errors import FieldError, field_forbidden, invalid_value, required
from pyctrl.apiserver._meta.validation import MetadataCheck
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.strategy import Object, Strategy, fields_at
from pyctrl.apiserver._registry.table_cells import Cells
from pyctrl.apiserver._schema.defaulting import set_defaults
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["RESOURCES"]

_LIMIT = 1024 * 1024  # bytes of all values together
_ACCOUNT = "kubernetes.io/service-account.name"
_IMMUTABLE = "field is immutable when `immutable` is set"
_DOCKER = {"kubernetes.io/dockercfg": ".dockercfg", "kubernetes.io/dockerconfigjson": ".dockerconfigjson"}
_TLS = "kubernetes.io/tls"


def _default_secret(obj: Object) -> None:
    """Default the type to Opaque, and move `stringData` into `data`."""
    set_defaults(obj, type="Opaque")
    for key, text in (obj.pop("stringData", None) or {}).items():
        data = obj.get("data") or {}
        obj["data"] = {**data, key: base64.b64encode(text.encode()).decode()}


def _validate_config_map(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check keys and size of a ConfigMap, and that an immutable one does not change."""
    if old is not None:
        yield from _validate_immutable(new, old, "data", "binaryData")
    data, binary = new.get("data") or {}, new.get("binaryData") or {}
    for key in data:
        yield from _key(key, f"data[{key}]")
        if key in binary:
            yield invalid_value(f"data[{key}]", key, "duplicate of key present in binaryData")
    for key in binary:
        yield from _key(key, f"binaryData[{key}]")
    if sum(len(each.encode()) for each in data.values()) + _size(binary) > _LIMIT:
        yield _too_long("[]")


def _validate_secret(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check a Secret: its type does not change and may require keys."""
    data = new.get("data") or {}
    if old is not None:
        if new.get("type") != old.get("type"):
            yield invalid_value("type", new.get("type"), "field is immutable")
        yield from _validate_immutable(new, old, "data")
    for key in data:
        yield from _key(key, f"data[{key}]")
    if _size(data) > _LIMIT:
        yield _too_long("data")
    yield from _validate_keys_of_type(new, data)


def _validate_immutable(new: Object, old: Object, *parts: str) -> Iterator[FieldError]:
    if not old.get("immutable"):
        return
    if not new.get("immutable"):
        yield field_forbidden("immutable", _IMMUTABLE)
    for part in parts:
        if new.get(part) != old.get(part):
            yield field_forbidden(part, _IMMUTABLE)


def _key(key: str, path: str) -> Iterator[FieldError]:
    for why in names.config_key(key):
        yield invalid_value(path, key, why)


def _size(data: Mapping[str, str]) -> int:
    return sum(len(each) * 3 // 4 - each.count("=", -2) for each in data.values())


def _too_long(path: str) -> FieldError:
    return FieldError("FieldValueTooLong", f"Too long: may not be more than {_LIMIT} bytes", path)


def _validate_keys_of_type(new: Object, data: Mapping[str, str]) -> Iterator[FieldError]:
    kind = new["type"]
    if kind == "kubernetes.io/service-account-token":
        if not (new["metadata"].get("annotations") or {}).get(_ACCOUNT):
            yield required(f"metadata.annotations[{_ACCOUNT}]")
    elif kind in _DOCKER:
        yield from _validate_docker_config(data, _DOCKER[kind])
    elif kind == "kubernetes.io/basic-auth" and not {"username", "password"} & data.keys():
        yield required("data[username]")
        yield required("data[password]")
    elif kind == "kubernetes.io/ssh-auth" and not data.get("ssh-privatekey"):
        yield required("data[ssh-privatekey]")
    elif kind == _TLS:
        yield from (required(f"data[{key}]") for key in ("tls.crt", "tls.key") if key not in data)


def _validate_docker_config(data: Mapping[str, str], key: str) -> Iterator[FieldError]:
    """Check that registry credentials are a JSON object; errors do not show the content."""
    if key not in data:
        yield required(f"data[{key}]")
        return
    text = base64.b64decode(data[key])
    why = syntax_error(text)
    if not why and not isinstance(msgspec.json.decode(text), dict | None):
        kind = {str: "string", bool: "bool", list: "array"}.get(type(msgspec.json.decode(text)), "number")
        why = f"json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}"
    if why:
        yield invalid_value(f"data[{key}]", "<secret contents redacted>", why)


def _secret_warnings(new: Mapping[str, JSON]) -> Iterator[str]:
    """Warn about a certificate or key that is not PEM."""
    if new["type"] != _TLS:
        return
    data = new.get("data") or {}
    for key, content in (("tls.crt", "certificate"), ("tls.key", "key")):
        if b"-----BEGIN " not in base64.b64decode(data.get(key, "")):
            yield f"tls: failed to find any PEM data in {content} input"
            return


def _data_cells(obj: Object) -> Cells:
    return {"Data": len(obj.get("data") or {}) + len(obj.get("binaryData") or {}), "Type": obj.get("type", "")}


RESOURCES: Final = (
    BuiltinResource(
        group="",
        kind="ConfigMap",
        strategy=Strategy(on_update=(MetadataCheck.CHANGE, MetadataCheck.WHOLE), validates=(_validate_config_map,)),
        cells=_data_cells,
    ),
    BuiltinResource(
        group="",
        kind="Secret",
        strategy=Strategy(
            on_update=(MetadataCheck.CHANGE, MetadataCheck.WHOLE),
            fields=fields_at("type"),
            defaults=(_default_secret,),
            validates=(_validate_secret,),
            warns=_secret_warnings,
        ),
        cells=_data_cells,
    ),
)
