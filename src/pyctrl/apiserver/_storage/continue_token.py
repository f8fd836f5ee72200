"""Continue tokens: position and resource version of the next page of a list, in kube-apiserver's encoding."""

from __future__ import annotations

import base64
import binascii
from typing import Any, NamedTuple

import msgspec

from pyctrl._go.json_errors import syntax_error
from pyctrl.apiserver._errors import bad_request
from pyctrl.apiserver._serializer.decoding import json_kind

__all__ = ["INCONSISTENT", "ContinueToken", "decode_continue", "encode_continue"]

_ALPHABET = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_\r\n")
_VERSION = "meta.k8s.io/v1"
INCONSISTENT = -1  # the version of a token that continues with the current state


class ContinueToken(NamedTuple):
    """The first key of the next page, relative to the namespace of the list, and the version of the list."""

    version: int
    key: str


def encode_continue(version: int, last: str) -> str:
    """Return the token of the position after the object with the key `last`."""
    token = {"v": _VERSION, "rv": version, "start": f"/{last}\0"}
    return base64.urlsafe_b64encode(msgspec.json.encode(token)).rstrip(b"=").decode()


def decode_continue(text: str) -> ContinueToken:
    """Decode a token.

    Raises:
        StatusError: 400, it is invalid.
    """
    token = _decode(text)
    if token.get("v") != _VERSION:
        raise _refused(f"server does not recognize this encoded version {token.get('v', '')}")
    version, start = token.get("rv", 0), token.get("start", "")
    if not version:
        raise _refused("incorrect encoded start resourceVersion (version meta.k8s.io/v1)")
    if not start:
        raise _refused("encoded start key empty (version meta.k8s.io/v1)")
    if any(part in ("", ".", "..") for part in start.removeprefix("/").split("/")):
        raise _refused(start)
    return ContinueToken(version, start.removeprefix("/"))


def _decode(text: str) -> dict[str, Any]:
    if "=" in text:  # tokens have no padding
        raise _refused(f"illegal base64 data at input byte {text.index('=')}")
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise _refused(f"illegal base64 data at input byte {_corrupt_byte(text)}") from None
    try:
        token = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise _refused(syntax_error(data) or "invalid text") from None
    if not isinstance(token, dict):
        raise _refused("json: cannot unmarshal into Go value of type storage.continueToken")
    for key, kind, name in (("v", str, "string"), ("rv", int, "int64"), ("start", str, "string")):
        if (value := token.get(key)) is not None and type(value) is not kind:
            field = f"Go struct field continueToken.{key} of type {name}"
            raise _refused(f"json: cannot unmarshal {json_kind(value)} into {field}")
    return token


def _corrupt_byte(text: str) -> int:
    """Return the byte at which Go reports a text that is not base64 of the URL alphabet without padding."""
    wrong = (index for index, byte in enumerate(text.encode()) if byte not in _ALPHABET)
    return next(wrong, len(text) - 1)


def _refused(why: str) -> Exception:
    return bad_request(f"invalid continue token: continue key is not valid: {why}")
