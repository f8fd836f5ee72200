"""ConfigMaps and Secrets: how they are written, and what is refused."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping

import msgspec

from pyctrl._go.json_errors import syntax_error
from pyctrl._validation import names
from pyctrl.apiserver._errors import FieldError, field_forbidden, invalid_value, required
from pyctrl.apiserver._registry.strategy import Object
from pyctrl.apiserver._schema.defaulting import set_defaults
from pyctrl.apiserver._schema.schema import JSON

_LIMIT = 1024 * 1024  # bytes of all values together
_ACCOUNT = "kubernetes.io/service-account.name"
_IMMUTABLE = "field is immutable when `immutable` is set"
_DOCKER = {"kubernetes.io/dockercfg": ".dockercfg", "kubernetes.io/dockerconfigjson": ".dockerconfigjson"}
_TLS = "kubernetes.io/tls"


def default_secret(obj: Object) -> None:
    """Opaque; `stringData` is only another way to write `data`, and is never read back."""
    set_defaults(obj, type="Opaque")
    for key, text in (obj.pop("stringData", None) or {}).items():
        data = obj.get("data") or {}
        obj["data"] = {**data, key: base64.b64encode(text.encode()).decode()}


def validate_config_map(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check the keys and the size of a ConfigMap, and that an immutable one stays as it is."""
    if old is not None:
        yield from _frozen(new, old, "data", "binaryData")
    data, binary = new.get("data") or {}, new.get("binaryData") or {}
    for key in data:
        yield from _key(key, f"data[{key}]")
        if key in binary:
            yield invalid_value(f"data[{key}]", key, "duplicate of key present in binaryData")
    for key in binary:
        yield from _key(key, f"binaryData[{key}]")
    if sum(len(each.encode()) for each in data.values()) + _size(binary) > _LIMIT:
        yield _too_long("[]")


def validate_secret(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check a secret: its type never changes, and asks for some data."""
    data = new.get("data") or {}
    if old is not None:
        if new.get("type") != old.get("type"):
            yield invalid_value("type", new.get("type"), "field is immutable")
        yield from _frozen(new, old, "data")
    for key in data:
        yield from _key(key, f"data[{key}]")
    if _size(data) > _LIMIT:
        yield _too_long("data")
    yield from _of_type(new, data)


def _frozen(new: Object, old: Object, *parts: str) -> Iterator[FieldError]:
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


def _of_type(new: Object, data: Mapping[str, str]) -> Iterator[FieldError]:
    kind = new["type"]
    if kind == "kubernetes.io/service-account-token":
        if not (new["metadata"].get("annotations") or {}).get(_ACCOUNT):
            yield required(f"metadata.annotations[{_ACCOUNT}]")
    elif kind in _DOCKER:
        yield from _docker(data, _DOCKER[kind])
    elif kind == "kubernetes.io/basic-auth" and not {"username", "password"} & data.keys():
        yield required("data[username]")
        yield required("data[password]")
    elif kind == "kubernetes.io/ssh-auth" and not data.get("ssh-privatekey"):
        yield required("data[ssh-privatekey]")
    elif kind == _TLS:
        yield from (required(f"data[{key}]") for key in ("tls.crt", "tls.key") if key not in data)


def _docker(data: Mapping[str, str], key: str) -> Iterator[FieldError]:
    """The logins of registries are a JSON object; what is wrong with it is told without showing it."""
    if key not in data:
        yield required(f"data[{key}]")
        return
    text = base64.b64decode(data[key])
    why = syntax_error(text)
    if not why and not isinstance(msgspec.json.decode(text), dict | None):
        what = {str: "string", bool: "bool", list: "array"}.get(type(msgspec.json.decode(text)), "number")
        why = f"json: cannot unmarshal {what} into Go value of type map[string]interface {{}}"
    if why:
        yield invalid_value(f"data[{key}]", "<secret contents redacted>", why)


def secret_warnings(new: Mapping[str, JSON]) -> Iterator[str]:
    """Tell of a certificate or key that is none."""
    if new["type"] != _TLS:
        return
    data = new.get("data") or {}
    for key, what in (("tls.crt", "certificate"), ("tls.key", "key")):
        if b"-----BEGIN " not in base64.b64decode(data.get(key, "")):
            yield f"tls: failed to find any PEM data in {what} input"
            return
